"""Ranges of ordinal values beside a population, which knows no order by itself."""

from pathlib import Path

import pytest

import shoal
from shoal.io.reading import Reading

ORDER = ("low", "mid", "high")


@pytest.mark.parametrize("promise", [{"k_map": 4}, {"presence": 0.5}])
def test_a_range_means_in_the_population_what_it_means_in_the_table(
    tmp_path: Path, promise: dict[str, float]
) -> None:
    table, population = tmp_path / "table.csv", tmp_path / "population.csv"
    table.write_text("q,s\n" + "".join(f"{value},{number}\n" for number in "ab" for value in ORDER))
    population.write_text("q\n" + "".join(f"{value}\n" for value in (*ORDER, "unheard-of")) * 6)
    run = shoal.anonymize(
        str(table),
        "mondrian",
        k=4,
        quasi="q",
        sensitive="s",
        population=str(population),
        reading=Reading(orders={"q": ORDER}),
        **promise,
    )
    assert run.holds
    assert set(run.release.to_polars()["q"]) == {"[low,high]"}
    run.write(tmp_path / "out")
    shown = Reading(orders={"q": ORDER})
    verdicts = shoal.verify(
        tmp_path / "out" / "release",
        population=str(population),
        reading=shown,
        **({"k": 4} | promise),
        quasi="q",
    )
    assert all(verdict.holds for verdict in verdicts)
