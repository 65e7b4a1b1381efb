"""Rule hiding of files: raw ones, anonymous ones, and releases to go on from."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.cli import main
from shoal.data.table import Table
from shoal.errors import Infeasible, WrongUse
from shoal.io.reading import Reading
from shoal.methods.table_rule_hiding.method import TableRuleHiding

SEED_QUASI = ("birth", "race", "gender", "zip")

SEED = """birth,race,gender,zip,disease
1967/01/01,Black,Male,40121,Cancer
1967/02/02,Black,Male,40121,Hypertension
1967/03/03,Black,Male,40121,Cancer
1968/04/04,White,Male,40242,Heart disease
1968/05/05,White,Male,40242,Heart disease
1968/06/06,White,Male,40242,Heart disease
1969/07/07,Black,Female,40373,Cancer
1969/08/08,Black,Female,40373,Hypertension
1969/09/09,Black,Female,40373,Hypertension
1970/10/10,White,Female,40404,Heart disease
1970/11/11,White,Female,40404,Cancer
1970/12/12,White,Female,40404,Hypertension
"""


@pytest.fixture
def seed_file(tmp_path: Path) -> Path:
    path = tmp_path / "seed.csv"
    path.write_text(SEED)
    return path


@pytest.mark.parametrize(("more", "stars"), [((), 1), (("--fewer-than", "2"), 2)])
def test_seed_002(
    more: tuple[str, ...], stars: int, seed_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From raw dates; k 3 and c 0.7 star one cell, step 3b two; verify fails when a star is turned back."""
    out = tmp_path / "out"
    roles = ("--quasi", ",".join(SEED_QUASI), "--sensitive", "disease", "--hierarchy", "birth=dates:year")
    begin = ("anonymize", "table-rule-hiding", str(seed_file), "--k", "3", "--confidence", "0.7")
    assert main([*begin, *more, *roles, "-o", str(out)]) == 0
    data = out / "release" / "data.csv"
    lines = data.read_text().splitlines()
    assert Counter(line for line in lines if line.startswith("1968")) == {
        "1968,White,Male,40242,*": stars,
        "1968,White,Male,40242,Heart disease": 3 - stars,
    }
    assert Counter(line.rpartition(",")[2] for line in lines)["*"] == stars
    assert main(["verify", str(out)]) == 0
    capsys.readouterr()
    data.write_text(data.read_text().replace("*", "Heart disease", 1))
    assert main(["verify", str(out)]) == 1
    assert "1968" in capsys.readouterr().out


def test_seed_002_from_its_anonymous_table(tmp_path: Path) -> None:
    years = "\n".join(line[:4] + line[10:] if line[0] == "1" else line for line in SEED.splitlines())
    path = tmp_path / "years.csv"
    path.write_text(years)
    run = shoal.anonymize(
        path,
        "table-rule-hiding",
        k=3,
        confidence=0.7,
        anonymize_with="none",
        quasi=SEED_QUASI,
        sensitive=["disease"],
    )
    frame = run.release.to_polars()
    assert frame.filter(frame["disease"] == "*")["birth"].to_list() == [1968]
    with pytest.raises(Infeasible, match="reaches 3") as refusal:
        TableRuleHiding(k=4, confidence=0.7, anonymize_with="none").anonymize(run.original)
    assert refusal.value.best == 3


def test_published_cells_are_read_for_none(tmp_path: Path) -> None:
    path = tmp_path / "anonymous.csv"
    path.write_text(
        'age,city,ill\n"[20,30]",{a|b},flu\n"[20,30]",{a|b},flu\n"[31,40]",*,flu\n"[31,40]",*,cold\n'
    )
    parameters = {"k": 2, "confidence": 0.5, "anonymize_with": "none"}
    roles = {"quasi": ["age", "city"], "sensitive": ["ill"]}
    with pytest.raises(shoal.errors.BadData, match="published=…"):
        shoal.anonymize(path, "table-rule-hiding", **parameters, **roles)
    run = shoal.anonymize(path, "table-rule-hiding", reading=Reading(published=True), **parameters, **roles)
    assert sorted(run.release.to_polars().rows()) == [
        ("[20,30]", "{a|b}", "*"),
        ("[20,30]", "{a|b}", "flu"),
        ("[31,40]", "*", "cold"),
        ("[31,40]", "*", "flu"),
    ]
    with pytest.raises(Infeasible, match=r"least confidence is 0\.75"):
        shoal.anonymize(
            path,
            "table-rule-hiding",
            reading=Reading(published=True),
            strategy="merge",
            **parameters,
            **roles,
        )
    path.write_text(path.read_text().replace("flu\n", "mumps\n", 1) + '"[41,50]",c,gout\n"[41,50]",c,gout\n')
    joined = shoal.anonymize(
        path, "table-rule-hiding", reading=Reading(published=True), strategy="merge", **parameters, **roles
    )
    assert set(joined.release.to_polars()["age"]) == {"[20,30]", "{[31,40]|[41,50]}"}
    assert set(joined.release.to_polars()["city"]) == {"*", "{a|b}"}


def test_a_release_with_stars_can_be_gone_on_from(tmp_path: Path) -> None:
    """Stars that are there already stay, and count for the class; the values that they hide cannot be asked for."""
    path = tmp_path / "release.csv"
    path.write_text("zip,ill\n1,*\n1,flu\n1,flu\n1,ulcer\n2,cold\n2,flu\n2,ulcer\n")
    parameters: dict[str, Any] = {"k": 3, "confidence": 0.4, "anonymize_with": "none"}
    roles = {"quasi": ["zip"], "sensitive": ["ill"]}
    with pytest.raises(shoal.errors.BadData, match="published=…"):
        shoal.anonymize(path, "table-rule-hiding", **parameters, **roles)
    reading = Reading(published=True)
    run = shoal.anonymize(path, "table-rule-hiding", reading=reading, **parameters, **roles)
    assert run.holds
    data = run.release.data
    assert isinstance(data, Table)
    cells = [data.column("ill").domain.labels[code] for code in data.column("ill").codes]
    assert cells == ["*", "*", "flu", "ulcer", "cold", "flu", "ulcer"]
    with pytest.raises(WrongUse, match="stars of this table hide theirs already"):
        shoal.anonymize(path, "table-rule-hiding", reading=reading, strategy="decoy", **parameters, **roles)
    path.write_text("zip,ill\n1,{flu|cold}\n1,flu\n")
    with pytest.raises(shoal.errors.BadData, match=r"'\{flu\|cold\}' looks like a published one"):
        shoal.anonymize(path, "table-rule-hiding", reading=reading, **parameters, **roles)
