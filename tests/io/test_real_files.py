"""Files as they come: codes for missing values, other encodings, decimal commas, days in several forms."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.parts import MemoryEngine

import shoal
from shoal.data.domain import Domain, Kind
from shoal.data.role import Roles
from shoal.data.table import Table
from shoal.errors import BadData, UnknownName, WrongUse
from shoal.io.baskets.load import load_baskets
from shoal.io.reading import Reading
from shoal.io.tables.load import load_table

ROLES = Roles(others="insensitive")
TEXT = """age;visit;kg
34;2024-02-29;61,5
999;29.02.2024;1.061,25
41;03/14/2024;70
52;2024-03-01;55,5
44;2024-03-02;50
"""
FORMATS = ("YYYY-MM-DD", "DD.MM.YYYY", "MM/DD/YYYY")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "visits.csv"
    path.write_text(TEXT)
    return path


def domains(found: Any) -> dict[str, Domain]:
    table = found.table if isinstance(found.table, Table) else found.table.schema
    return {column.name: column.domain for column in table.columns}


def test_a_code_is_missing_in_its_column_alone(file: Path) -> None:
    file.write_text("age,weight\n34,999\n999,70\n?,80\n")
    here = domains(load_table(file, ROLES, Reading(missing=("age=999",))))
    assert here["age"].labels == ("34", "")
    assert here["weight"].labels == ("70", "80", "999")


def test_codes_for_all_columns_replace_the_defaults_and_those_of_one_are_added() -> None:
    reading = Reading(missing=("-", "age=999", "age=-9", "a\\=b=0", "x\\=y"))
    assert reading.missing_in("age") == ("-", "x=y", "999", "-9")
    assert reading.missing_in("a=b") == ("-", "x=y", "0")
    assert Reading(missing=("age=999",)).missing_in("zip") == ("", "?", "NA")


def test_a_code_of_a_column_that_is_not_there_is_refused(file: Path) -> None:
    with pytest.raises(UnknownName, match="agee"):
        load_table(file, ROLES, Reading(missing=("agee=999",)))


@pytest.mark.parametrize("missing", [("age=999",), ("age=999", "kg=50")])
def test_incomplete_rows_are_left_out_by_the_codes_of_each_column(
    file: Path, missing: tuple[str, ...]
) -> None:
    found = load_table(file, ROLES, Reading(missing=missing, drop_missing=True))
    assert found.left_out == len(missing)


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        (("34", "41", "52", "999"), ["999"]),
        (("-9", "-8", "0", "3", "4"), ["-8", "-9"]),
        (("0", "1", "2", "99"), ["99"]),
        (("9.5", "10.5", "11.0", "9999"), ["9999"]),
        (("97", "98", "96", "99"), []),
        (("-12", "-9", "3", "7"), []),
        (("500", "700", "2000", "999"), []),
        (("-1", "0", "1", "2"), []),
        (("999", "1"), []),
    ],
)
def test_numbers_that_look_like_codes_are_told(values: tuple[str, ...], codes: list[str]) -> None:
    frame = pl.DataFrame({"x": values})
    said = " ".join(load_table(frame, ROLES, Reading()).remarks)
    assert [code for code in sorted(values) if f"--missing x={code}" in said] == codes
    assert not load_table(frame, ROLES, Reading(kinds={"x": "numeric"})).remarks


def test_names_that_look_like_codes_are_told() -> None:
    frame = pl.DataFrame({"job": ["clerk", "N/A", "nurse", "."]})
    (said,) = load_table(frame, ROLES, Reading()).remarks
    assert said.startswith("'.' and 'N/A' in the column 'job' look like codes for a missing value")


def test_days_in_three_forms_are_told_with_their_lines(file: Path) -> None:
    said = next(one for one in load_table(file, ROLES, Reading()).remarks if "'visit'" in one)
    assert "holds days in 3 forms, and is taken as names" in said
    assert "2024-02-29 (line 2) is YYYY-MM-DD" in said
    assert "29.02.2024 (line 3) is DD.MM.YYYY" in said
    assert "03/14/2024 (line 4) is MM/DD/YYYY" in said


def test_days_of_one_form_are_not(file: Path) -> None:
    file.write_text("visit\n03/14/2024\n03/04/2024\n")
    assert not load_table(file, ROLES, Reading()).remarks


@pytest.mark.parametrize("engine", [None, MemoryEngine()])
def test_formats_of_days_and_the_decimal_comma(file: Path, engine: Any) -> None:
    reading = Reading(date_formats={"visit": FORMATS}, decimal=",", missing=("age=999",))
    source: Any = file
    if engine is not None:
        source = pl.read_csv(file, separator=";", infer_schema=False)
    found = (
        engine.load_table(source, ROLES, reading)
        if engine is not None
        else load_table(source, ROLES, reading)
    )
    here = domains(found)
    assert here["visit"].kind is Kind.DATE
    assert here["visit"].labels == ("2024-02-29", "2024-03-01", "2024-03-02", "2024-03-14")
    assert here["kg"].labels == ("50", "55.5", "61.5", "70", "1061.25")
    assert here["age"].labels == ("34", "41", "44", "52", "")
    assert not found.taken or engine is not None


def test_numbers_of_a_typed_source_have_no_decimal_comma() -> None:
    here = domains(load_table(pl.DataFrame({"x": [1.234, 2.5]}), ROLES, Reading(decimal=",")))
    assert here["x"].labels == ("1.234", "2.5")


def test_a_day_of_no_format_is_refused_with_its_line(file: Path) -> None:
    with pytest.raises(BadData, match=r"line 3.*'29.02.2024' is not a day in the format YYYY-MM-DD"):
        load_table(file, ROLES, Reading(date_formats={"visit": ("YYYY-MM-DD",)}))


def test_a_day_of_two_meanings_is_refused_with_its_line(file: Path) -> None:
    file.write_text("visit\n31/01/2024\n03/04/2024\n")
    formats = {"visit": ("DD/MM/YYYY", "MM/DD/YYYY")}
    with pytest.raises(BadData, match=r"line 3.*'03/04/2024' is a day in two of the date formats"):
        load_table(file, ROLES, Reading(date_formats=formats))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"decimal": ";"}, "is . or ,"),
        ({"encoding": "klingon"}, "no encoding 'klingon'"),
        ({"date_formats": {"visit": ("MM/YYYY",)}}, "day, month and year"),
        ({"date_formats": {"visit": ("DD/MM/YYYY",)}, "kinds": {"visit": "nominal"}}, "no other kind"),
    ],
)
def test_what_cannot_be_meant_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(WrongUse, match=said):
        Reading(**options)


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-8"])
def test_other_encodings(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "towns.csv"
    path.write_bytes("town,age\nKöln,3\nSão Paulo,4\n".encode(encoding))
    here = domains(load_table(path, ROLES, Reading(encoding=encoding)))
    assert here["town"].labels == ("Köln", "São Paulo")


def test_a_byte_that_is_not_of_the_encoding_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "towns.csv"
    path.write_bytes("town\nBonn\nKöln\n".encode("latin-1"))
    with pytest.raises(BadData, match=r"line 3: byte 0xF6 is not ascii"):
        load_table(path, ROLES, Reading(encoding="ascii"))
    with pytest.raises(BadData, match=r"encoding.* latin-1"):
        load_table(path, ROLES, Reading())


def test_baskets_of_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "baskets.dat"
    path.write_bytes("Müsli Tee\nTee\n".encode("latin-1"))
    assert load_baskets(path, None, Reading(encoding="latin-1")).baskets.vocabulary == ("Müsli", "Tee")


def test_parts_are_read_as_utf_8(file: Path) -> None:
    engine = shoal.engines.Stream()
    with pytest.raises(WrongUse, match="not text in latin-1"):
        engine.load_table(str(file), ROLES, Reading(encoding="latin-1"))
    engine.close()
