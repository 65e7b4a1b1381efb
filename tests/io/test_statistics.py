"""Files of SPSS, Stata and SAS."""

import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path

import polars as pl
import pytest

from shoal.data.domain import Kind
from shoal.errors import BadData, MissingExtra
from shoal.io.tables.load import read_table

pyreadstat = pytest.importorskip("pyreadstat")

PEOPLE = pl.DataFrame(
    {
        "age": [41.0, 38.0, None, 99.0],
        "sex": [1.0, 2.0, 2.0, 1.0],
        "town": ["Köln", "Wien", "", "Bern"],
        "born": [date(1983, 4, 1), date(1986, 12, 24), None, date(1900, 1, 1)],
        "weight": [80.5, 60.0, 70.25, None],
    }
)
ASCII = PEOPLE.with_columns(pl.col("town").replace("Köln", "Koeln"))
LABELS = {"sex": {1: "male", 2: "female"}, "age": {99: "or older"}}
WRITERS: dict[str, Callable[[Path], None]] = {
    ".sav": lambda path: pyreadstat.write_sav(PEOPLE, path, variable_value_labels=LABELS),
    ".zsav": lambda path: pyreadstat.write_sav(PEOPLE, path, compress=True, variable_value_labels=LABELS),
    ".por": lambda path: pyreadstat.write_por(ASCII, path),
    ".dta": lambda path: pyreadstat.write_dta(PEOPLE, path, variable_value_labels={"sex": LABELS["sex"]}),
    ".xpt": lambda path: pyreadstat.write_xport(PEOPLE, path),
}


@pytest.mark.parametrize("ending", WRITERS)
def test_a_table_of_a_statistics_package(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"people{ending}"
    WRITERS[ending](path)
    table = read_table(path, others="insensitive")
    age, sex, town, born, weight = table.columns
    labeled = ending in (".sav", ".zsav", ".dta")
    assert (age.domain.kind, age.domain.labels) == (Kind.NUMERIC, ("38", "41", "99", ""))
    assert sex.domain.labels == (("female", "male") if labeled else ("1", "2"))
    assert sex.codes.tolist() == ([1, 0, 0, 1] if labeled else [0, 1, 1, 0])
    assert town.domain.labels[-1] == ""
    assert len(town.domain) == 4
    if ending != ".por":
        assert "Köln" in town.domain.labels
    assert (born.domain.kind, born.domain.labels) == (
        Kind.DATE,
        ("1900-01-01", "1983-04-01", "1986-12-24", ""),
    )
    assert weight.domain.labels == ("60.0", "70.25", "80.5", "")


@pytest.mark.parametrize("ending", WRITERS)
def test_files_that_are_cut_off(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"people{ending}"
    WRITERS[ending](path)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(BadData, match=r"people\.\w+: the file cannot be read"):
        read_table(path, others="insensitive")
    path.unlink()
    with pytest.raises(BadData, match="there is no such file"):
        read_table(path, others="insensitive")


def test_a_damaged_sas_file(tmp_path: Path) -> None:
    path = tmp_path / "people.sas7bdat"
    path.write_bytes(b"not a SAS file" * 100)
    with pytest.raises(BadData, match="the file cannot be read"):
        read_table(path, others="insensitive")


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(MissingExtra, match=r'pip install "shoal\[statistics\]"'):
        read_table(tmp_path / "people.sav", others="insensitive")
