"""Identifiers among the quasi-identifiers are refused unless they are insisted on; how columns are taken is said."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parts import MemoryEngine
from tests.tables import column as library_column

import shoal
from shoal.data.domain import Domain, Kind, nominal
from shoal.data.profile import profile_column
from shoal.data.role import Role
from shoal.data.table import Column
from shoal.errors import WrongUse
from shoal.models.t_closeness import TCloseness
from shoal.risks.role_guards import identifier

ROWS = 60
STROKE = pl.DataFrame(
    {
        "patient_id": [f"P{4000 + 7 * row}" for row in range(ROWS)],
        "contacts": [f"{900 + 3 * row}; {5000 + 11 * row}" for row in range(ROWS)],
        "siblings": [" ".join(f"P{4000 + 7 * one}" for one in {row, row // 2 * 2}) for row in range(ROWS)],
        "age": [50 + row % 30 for row in range(ROWS)],
        "birth_date": [f"{1930 + row % 50}-{1 + row % 12:02}-{1 + row % 28:02}" for row in range(ROWS)],
        "postcode": [10000 + row * 3 for row in range(ROWS)],
        "pair": [row // 2 for row in range(ROWS)],
        "alive": [row % 2 for row in range(ROWS)],
        "outcome": [1 + row * 7 % 5 for row in range(ROWS)],
    }
)
GIVEN: dict[str, Any] = {"k": 3, "sensitive": ["outcome"], "others": "drop"}


def numbers(*values: float) -> Domain:
    return Domain(Kind.NUMERIC, tuple(f"{value:g}" for value in values), np.array(values, dtype=np.float64))


def named(name: str, domain: Domain) -> Column:
    return Column(name, Role.QUASI, domain, np.zeros(1, dtype=np.int32))


@pytest.mark.parametrize("name", ["patient_id", "contacts", "siblings"])
@pytest.mark.parametrize("engine", [None, "parts"])
def test_identifiers_are_no_quasi_identifiers(name: str, engine: str | None) -> None:
    where = {} if engine is None else {"engine": MemoryEngine()}
    with pytest.raises(WrongUse, match=rf"{name}' looks like an identifier.*insist"):
        shoal.anonymize(STROKE, "mondrian", quasi=["age", name], **GIVEN, **where)


@pytest.mark.filterwarnings("ignore::shoal.errors.ShoalWarning")
def test_they_are_taken_where_they_are_insisted_on_and_warned_of() -> None:
    run = shoal.anonymize(STROKE, "mondrian", quasi=["age", "patient_id"], insist="patient_id", **GIVEN)
    assert any(
        "'patient_id' looks like one that names persons, and 60 rows publish it" in one
        for one in run.warnings
    )
    with pytest.raises(WrongUse, match="not a quasi-identifier"):
        shoal.anonymize(STROKE, "mondrian", quasi=["age"], insist=["pair"], **GIVEN)


@pytest.mark.parametrize(
    ("name", "domain", "refused"),
    [
        ("patient_id", nominal(("a", "b", "c", "d")), True),
        ("x", numbers(*range(100, 160)), True),  # numbered one after the other
        ("x", nominal(tuple(f"name {row}" for row in range(60))), True),
        ("age", numbers(*range(60)), False),
        ("zip", nominal(tuple(f"0{row + 1000}" for row in range(60))), False),
        ("income", numbers(*(row * 100 for row in range(60))), False),
        ("when", nominal(tuple(f"2024-01-01 10:{row:02}:00" for row in range(60))), False),  # timestamps
        ("weight", nominal(tuple(f"{row + 40},{row % 10}" for row in range(60))), False),
        ("flag", numbers(0, 1), False),
    ],
)
def test_what_looks_like_an_identifier(name: str, domain: Domain, refused: bool) -> None:
    rows = 2000 if name == "flag" else domain.present
    assert bool(identifier(named(name, domain), rows)) is refused
    assert not identifier(named(name, domain), domain.present * 3), "values repeat"


def test_lists_of_codes_that_many_have_are_no_lists_of_persons() -> None:
    """Half of the rows may have a list of their own: codes of illnesses stand in many of them."""
    persons = nominal(tuple(f"P{row} P{row + row % 2}" for row in range(60)))
    illnesses = nominal(tuple(f"I{row % 12} G{row // 12}" for row in range(60)))
    assert "lists of numbers" in identifier(named("siblings", persons), 100)
    assert not identifier(named("illnesses", illnesses), 100)
    assert not identifier(named("siblings", persons), 200), "lists that repeat"


@settings(max_examples=150)
@given(
    st.sampled_from(["x", "patient_id", "zip", "name", "contacts", "code", "age"]),
    st.sampled_from(["number", "name", "list"]),
    st.lists(st.integers(0, 60), min_size=2, max_size=60),
)
def test_what_inspect_suggests_as_quasi_is_never_refused(name: str, form: str, drawn: list[int]) -> None:
    """So that the command that it proposes runs."""
    made = {"number": str, "name": lambda n: f"n{n}", "list": lambda n: f"P{n}; Q{n + 100}"}
    column = library_column(name, [made[form](n) for n in drawn])
    if profile_column(column).role is Role.QUASI:
        assert not identifier(column, len(drawn))


@pytest.mark.filterwarnings("ignore::shoal.errors.ShoalWarning")
def test_every_unsafe_column_of_the_trial_is_warned_of() -> None:
    """Exact birth date, postcode, a number that occurs twice: published unchanged, each is named; a flag is not."""
    run = shoal.anonymize(
        STROKE.drop("contacts", "siblings"),
        "mondrian",
        quasi=["age"],
        k=3,
        sensitive=["outcome"],
        others="insensitive",
    )
    said = " ".join(run.warnings)
    for name in ("patient_id", "birth_date", "postcode", "pair"):
        assert repr(name) in said
    assert "'alive' looks like" not in said
    assert "names persons, and its name" not in said
    assert "Rows, not persons" not in said


def test_the_run_says_how_columns_are_taken(tmp_path: Path) -> None:
    run = shoal.anonymize(STROKE, "mondrian", quasi=["age", "postcode", "birth_date"], **GIVEN)
    taken, doubt = run.trace.notes["intake"]
    assert taken == "Taken: age, postcode, outcome as numbers; birth_date as dates."
    assert doubt.startswith(
        "postcode (its name says 'postcode'), outcome (5 small whole numbers) may be codes, and are"
    )
    shown = run.write(tmp_path / "out") / "report.html"
    assert "number (5 small whole numbers?)" in shown.read_text()


def test_closeness_asks_for_a_distance_between_codes() -> None:
    quasi: dict[str, Any] = {"quasi": ["age"], **GIVEN, "t": 0.9}
    with pytest.raises(WrongUse, match=r"how far apart the values of 'outcome'.*distance"):
        shoal.anonymize(STROKE, "mondrian", **quasi)
    for distance, words in (("equal", "distances of 1 between"), ("ordered", "by the ranks of")):
        run = shoal.anonymize(STROKE, "mondrian", distance=distance, **quasi)
        assert words in next(one.remark for one in run.verdicts if one.model == "t-closeness")
    assert TCloseness(t=0.5).fitted(named("alive", numbers(0, 1))).distance == "ordered"
    for domain in (numbers(0, 1, 2, 3), numbers(*range(1, 11)), numbers(*range(10, 19))):
        name = (
            "children" if domain.present < 5 else "x"
        )  # a scale from 1 to 10, and amounts that begin above 1
        assert TCloseness(t=0.5).fitted(named(name, domain)).distance == "ordered"


@pytest.mark.parametrize("step", ["pseudonym", "shift-dates"])
def test_a_key_that_is_made_is_reported(step: str, tmp_path: Path) -> None:
    key, given = str(tmp_path / "key"), {"pseudonym": "pair", "shift-dates": "birth_date"}
    options: dict[str, Any] = {"name": step, "columns": [given[step]], "key": key}
    more = {"person": "patient_id"} if step == "shift-dates" else {}
    for made in (True, False):
        roles: dict[str, Any] = {
            "quasi": ["age"],
            "insensitive": [given[step]],
            "sensitive": ["outcome"],
            "others": "drop",
        }
        with pytest.warns(shoal.ShoalWarning):
            run = shoal.anonymize(STROKE, "mondrian", k=3, preparation=[{**options, **more}], **roles)
        said = [one for one in run.trace.notes["intake"] if "new key" in one]
        assert [key in one for one in said] == [True] * made
