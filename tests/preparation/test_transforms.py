"""Each step of the preparation on hand-made values, and what it refuses."""

import stat
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.parts import MemoryEngine

import shoal
from shoal.data.domain import Domain, Kind
from shoal.data.role import Roles
from shoal.errors import BadData, UnknownName, WrongUse
from shoal.io.reading import Reading
from shoal.io.tables.load import load_table
from shoal.recipe import make_transform

FRAME = pl.DataFrame(
    {
        "id": ["7", "8", "7", "9", "9", "8"],
        "age": ["89", "95", "90", "101", None, "18"],
        "visit": ["2024-02-29", "2024-03-01", "2023-12-31", "2024-05-06", None, "2024-02-28"],
        "income": ["1499.5", "2500", "3500", "-700", "10", "20"],
        "sex": ["1", "2", "1", "2", "1", "2"],
    }
)
ROLES = Roles(others="insensitive")


def prepared(*steps: dict[str, Any], frame: Any = FRAME, roles: Roles = ROLES, engine: Any = None) -> Any:
    made = tuple(make_transform(step) for step in steps)
    if engine is None:
        return load_table(frame, roles, Reading(), (), made).table
    return engine.load_table(frame, roles, Reading(), (), made).table


def domain(name: str, *steps: dict[str, Any]) -> Domain:
    found: Domain = prepared(*steps).column(name).domain
    return found


def test_top_and_bottom_codes_are_numbers_with_open_ends() -> None:
    steps = [{"name": "top-coding", "limits": {"age": 90}}, {"name": "bottom-coding", "limits": {"age": 18}}]
    age = domain("age", *steps)
    assert (age.kind, age.labels) == (Kind.NUMERIC, ("<=18", "89", "90+", ""))
    assert age.values is not None
    assert age.values[:3].tolist() == [18.0, 89.0, 90.0]


def test_rounding_is_decimal_and_to_even() -> None:
    income = domain("income", {"name": "rounding", "bases": {"income": 1000}})
    assert income.labels == ("-1000", "0", "1000", "2000", "4000")


@pytest.mark.parametrize(
    ("part", "kind", "labels"),
    [
        ("month", Kind.DATE, ("2023-12", "2024-02", "2024-03", "2024-05", "")),
        ("quarter", Kind.DATE, ("2023-Q4", "2024-Q1", "2024-Q2", "")),
        ("year", Kind.NUMERIC, ("2023", "2024", "")),
        ("decade", Kind.NOMINAL, ("2020s", "")),
    ],
)
def test_parts_of_the_calendar(part: str, kind: Kind, labels: tuple[str, ...]) -> None:
    visit = domain("visit", {"name": "date-part", "parts": {"visit": part}})
    assert (visit.kind, visit.labels) == (kind, labels)
    if kind is Kind.DATE:
        assert visit.values is not None
        first = {"month": date(2024, 2, 1), "quarter": date(2024, 1, 1)}[part]
        assert visit.values[1] == (first - date(1970, 1, 1)).days


def test_values_are_recoded_and_dropped() -> None:
    steps = [
        {"name": "recode", "values": {"sex": {"1": "male", "2": "female"}}},
        {"name": "drop-values", "values": {"sex": ["male"]}},
    ]
    assert domain("sex", *steps).labels == ("female", "")


def test_microaggregation_of_one_column_keeps_missing_and_equal_values() -> None:
    step = {"name": "microaggregation", "columns": ["income"], "size": 3}
    column = prepared(step).column("income")
    assert np.bincount(column.codes).min() >= 3
    total = sum(float(column.domain.labels[code]) for code in column.codes.tolist())
    assert total == pytest.approx(1499.5 + 2500 + 3500 - 700 + 10 + 20, abs=0.5)


def test_microaggregation_of_several_columns(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    frame = pl.DataFrame({"a": random.integers(0, 50, 60), "b": random.integers(0, 5, 60)})
    step = {"name": "microaggregation", "columns": ["a", "b"], "size": 4}
    table = prepared(step, frame=frame)
    pairs = list(zip(*(column.codes.tolist() for column in table.columns), strict=True))
    assert min(pairs.count(pair) for pair in set(pairs)) >= 4
    order = random.permutation(60)
    again = prepared(step, frame=frame[order.tolist()])
    for column, other in zip(table.columns, again.columns, strict=True):
        assert column.domain.labels == other.domain.labels
        assert column.codes[order].tolist() == other.codes.tolist()
    with pytest.raises(WrongUse, match="has them in parts"):
        prepared(step, frame=frame, engine=MemoryEngine())


def key_step(tmp_path: Path, name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "key": str(tmp_path / "key"), **more}


def test_shifts_keep_intervals_and_need_the_key(tmp_path: Path) -> None:
    step = key_step(tmp_path, "shift-dates", columns=["visit"], person="id")
    table = prepared(step)
    visit = table.column("visit").domain
    days = {row: visit.values[code] for row, code in enumerate(table.column("visit").codes.tolist())}
    real = {row: date.fromisoformat(text) for row, text in enumerate(FRAME["visit"]) if text}
    moved = {row: days[row] - (day - date(1970, 1, 1)).days for row, day in real.items()}
    assert moved[0] == moved[2]  # one person
    assert moved[1] == moved[5]
    assert all(0 < abs(shift) <= 182 for shift in moved.values())
    assert visit.labels[table.column("visit").codes[4]] == ""
    assert prepared(step).column("visit").domain.labels == visit.labels
    (tmp_path / "key").unlink()
    assert prepared(step).column("visit").domain.labels != visit.labels


def test_the_person_is_the_entity_or_the_one_identifier(tmp_path: Path) -> None:
    step = key_step(tmp_path, "shift-dates", columns=["visit"])
    named = prepared({**step, "person": "id"}).column("visit").domain.labels
    for roles in (Roles(entity="id", others="insensitive"), Roles(identifying=("id",), others="insensitive")):
        assert prepared(step, roles=roles).column("visit").domain.labels == named
    with pytest.raises(WrongUse, match="person"):
        prepared(step)


def test_pseudonyms_are_one_for_each_value_and_need_the_key(tmp_path: Path) -> None:
    step = key_step(tmp_path, "pseudonym", columns=["id"])
    column = prepared(step, roles=Roles(others="drop", quasi=("age",))).column("id")
    assert column.role.value == "insensitive"
    assert len(column.domain) == 3
    assert all(len(label) == 16 and label.isalnum() for label in column.domain.labels)
    codes = column.codes.tolist()
    assert codes[0] == codes[2] != codes[1] == codes[5]
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
    assert prepared(step).column("id").domain.labels == column.domain.labels


def test_keys_that_others_read_or_could_guess_are_refused(tmp_path: Path) -> None:
    step = key_step(tmp_path, "pseudonym", columns=["id"])
    place = tmp_path / "key"
    place.write_text("x" * 64)
    place.chmod(0o644)
    with pytest.raises(BadData, match="others can read the key"):
        prepared(step)
    place.write_text("short")
    place.chmod(0o600)
    with pytest.raises(BadData, match="could be guessed"):
        prepared(step)


STEPS: list[dict[str, Any]] = [
    {"name": "top-coding", "limits": {"age": 90}},
    {"name": "rounding", "bases": {"income": 1000}},
    {"name": "microaggregation", "columns": ["sex"], "size": 3},
    {"name": "date-part", "parts": {"visit": "month"}},
]


def test_rows_in_parts_are_prepared_alike(tmp_path: Path) -> None:
    steps = [
        key_step(tmp_path, "shift-dates", columns=["visit"], person="id"),
        *STEPS,
        key_step(tmp_path, "pseudonym", columns=["id"]),
    ]
    here, there = prepared(*steps), prepared(*steps, engine=MemoryEngine())
    for column, other in zip(here.columns, there.schema.columns, strict=True):
        assert column.domain.labels == other.domain.labels
        assert column.domain.kind == other.domain.kind
    rows = pl.DataFrame({column.name: column.codes for column in here.columns})
    assert sorted(there.parts.collect().rows()) == sorted(rows.rows())


def test_rows_in_files_are_prepared_alike(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    FRAME.write_csv(path)
    step = key_step(tmp_path, "shift-dates", columns=["visit"], person="id")
    engine = shoal.engines.Stream()
    there = prepared(step, *STEPS, frame=str(path), engine=engine)
    here = prepared(step, *STEPS, frame=path)
    assert [one.domain.labels for one in here.columns] == [one.domain.labels for one in there.schema.columns]
    engine.close()


@pytest.mark.parametrize(
    ("step", "error", "said"),
    [
        ({"name": "top-coding", "limits": {"sexx": 1}}, UnknownName, "sexx"),
        ({"name": "date-part", "parts": {"age": "month"}}, BadData, "is for dates"),
        ({"name": "rounding", "bases": {"age": 0}}, WrongUse, "above 0"),
        ({"name": "recode", "values": {"sex": {"3": "x"}}}, WrongUse, "no value '3'"),
        ({"name": "microaggregation", "columns": ["age"], "size": 9}, WrongUse, "a group needs 9"),
        ({"name": "microaggregation", "columns": ["age", "income"], "size": 2}, BadData, "without missing"),
        ({"name": "top"}, UnknownName, "top"),
        ({"limits": {"age": 1}}, WrongUse, "has no name"),
        ({"name": "top-coding", "limit": {"age": 1}}, WrongUse, "limit"),
    ],
)
def test_what_cannot_be_done_is_refused(step: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        prepared(step)


def test_a_step_for_a_column_that_is_dropped_is_refused() -> None:
    with pytest.raises(WrongUse, match="has no effect"):
        prepared({"name": "top-coding", "limits": {"age": 90}}, roles=Roles(quasi=("sex",), others="drop"))


def pseudonymous(numbers: list[str], key: Path) -> shoal.Run:
    frame = pl.DataFrame({"id": numbers, "age": [20 + row % 3 for row in range(len(numbers))]})
    step = {"name": "pseudonym", "columns": ["id"], "key": str(key)}
    return shoal.anonymize(frame, "mondrian", k=2, quasi="age", insensitive="id", preparation=[step])


def test_a_pseudonym_a_person_is_no_warning_but_one_that_repeats_is(tmp_path: Path) -> None:
    run = pseudonymous([f"P{row}" for row in range(30)], tmp_path / "key")
    assert not run.warnings
    report = run.write(tmp_path / "out", strict=True) / "report.html"
    text = report.read_text()
    assert "prepared (pseudonyms by a secret key: id)" in text
    assert "releases made with the same key can be linked" in text
    with pytest.warns(shoal.ShoalWarning):
        run = pseudonymous([f"P{row // 2}" for row in range(30)], tmp_path / "key")
    assert any("Rows, not persons, are counted" in one for one in run.warnings)


def test_a_hierarchy_that_does_not_fit_names_the_preparation() -> None:
    frame = pl.DataFrame(
        {"born": [f"19{60 + row}-03-01" for row in range(9)], "ill": ["flu", "cold", "cough"] * 3}
    )
    options = {"k": 3, "quasi": ["born"], "sensitive": ["ill"], "hierarchies": {"born": "dates"}}
    step = {"name": "date-part", "parts": {"born": "year"}}
    with pytest.raises(
        WrongUse, match=r"the column is numeric\. The preparation left it so \(dates: born as years\)"
    ):
        shoal.anonymize(frame, "mondrian", preparation=[step], **options)
    assert shoal.anonymize(frame, "mondrian", **options).verdicts
