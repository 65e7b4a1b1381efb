"""How a file is read, from the command line into the recipe and back."""

import tomllib
from collections.abc import Callable
from pathlib import Path

from shoal.io.reading import Reading
from shoal.recommendation.command_line import typed_options


def test_codes_formats_and_commas_go_into_the_recipe(shoal: Callable[..., object], folder: Path) -> None:
    rows = "".join(f"{20 + row};{row % 28 + 1:02d}/03/2024;{row},5\n" for row in range(6))
    Path("visits.csv").write_text("age;visit;kg\n999;01/03/2024;3,5\n" + rows)
    words = ("--missing", "age=999,998", "--missing", "none", "--date-format", "visit=DD/MM/YYYY")
    answer = shoal(
        "anonymize",
        *("mondrian", "visits.csv", "--k", "2", "--quasi", "age,visit,kg", "--decimal", ",", *words),
        *("--save-recipe", "recipe.toml", "-o", "out"),
    )
    assert (answer.code, answer.err) == (0, "")
    assert "WARNING" not in answer.out
    reading = tomllib.loads(Path("recipe.toml").read_text())["source"]["reading"]
    assert reading == {
        "missing": ["age=999", "age=998", "none"],
        "decimal": ",",
        "date_formats": {"visit": ["DD/MM/YYYY"]},
    }
    again = shoal("run", "recipe.toml", "--force")
    assert again.code == 0


def test_a_reading_is_typed_again() -> None:
    reading = Reading(missing=("age=999", "-"), decimal=",", date_formats={"visit": ("DD/MM/YYYY", "%Y%m%d")})
    assert typed_options(reading) == [
        *("--missing", "age=999", "--missing=-", "--decimal", ","),
        *("--date-format", "visit=DD/MM/YYYY,%Y%m%d"),
    ]
