"""Several rows a person: whatever a method releases keeps its promises about persons."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.contract.data import with_hierarchy
from tests.full_domain import tables as small_lattices
from tests.methods.test_lattice import is_optimum
from tests.models.promises import QUASI, SENSITIVE, promises
from tests.models.test_persons import OF_PERSONS, OF_ROWS, everybody_has_both, visits
from tests.naive import full_domain as naive
from tests.naive.models import keeps
from tests.tables import column, table, texts

from shoal import registry
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.errors import Infeasible, ShoalError, WrongUse
from shoal.methods.lattice import Lattice
from shoal.methods.mondrian.method import Mondrian
from shoal.models.alpha_k_anonymity import AlphaKAnonymity
from shoal.outcome import judge

METHODS: list[tuple[str, dict[str, Any]]] = [
    ("mondrian", {}),
    ("mondrian", {"partitioning": "relaxed"}),
    ("mondrian", {"publish": "sets"}),
    ("lattice", {"suppression_limit": 0.5}),
    ("lattice", {}),
    ("lattice", {"suppression_limit": 0.3, "local": True, "time_limit": 1}),
    ("samarati", {"max_suppressed": 3}),
    ("samarati", {}),
]


def released(data: Table, name: str, **parameters: Any) -> Table | None:
    """The published table, proved by the models and by their twins; None where it is refused."""
    try:
        release, _ = registry.load("method", name)(**parameters).anonymize(data, seed=1)
    except (Infeasible, WrongUse):
        return None
    assert isinstance(release.data, Table)
    verdicts = judge(release)
    assert all(verdict.holds for verdict in verdicts), verdicts
    for promise in release.promises:
        assert promise["entity"] == "who"
        assert keeps(dict(promise), told(release.data), QUASI, SENSITIVE), promise
    return release.data


def told(data: Table) -> list[dict[str, str]]:
    """The published rows that tell anything."""
    return [row for row in texts(data) if any(row[name] != "*" for name in (*QUASI, *SENSITIVE))]


def along_hierarchies(data: Table) -> Table:
    columns = (with_hierarchy(one, "suppress") if one.role is Role.QUASI else one for one in data.columns)
    return Table(tuple(columns))


@pytest.mark.parametrize(("name", "parameters"), METHODS, ids=str)
@given(data=visits(), model=st.sampled_from(OF_PERSONS), place=st.integers(0, 10))
@settings(max_examples=30)
def test_every_release_keeps_its_promises_about_persons(
    name: str, parameters: dict[str, Any], data: Table, model: str, place: int
) -> None:
    chosen = promises(model)[place % len(promises(model))]
    released(along_hierarchies(data), name, promises=(chosen,), **parameters)
    released(along_hierarchies(data), name, promises=(chosen,), k=2, **parameters)


@pytest.mark.parametrize(("name", "parameters"), METHODS, ids=str)
def test_nobody_is_given_away_by_two_rows_each(name: str, parameters: dict[str, Any]) -> None:
    data = along_hierarchies(everybody_has_both())
    kind = registry.load("method", name)
    with pytest.raises(WrongUse, match="several of s"):
        kind(k=2, l=2, **parameters).anonymize(data)
    with pytest.raises(Infeasible):
        kind(k=2, alpha=0.5, **parameters).anonymize(data)


@pytest.mark.parametrize("name", OF_ROWS)
def test_what_cannot_speak_about_persons_is_refused(name: str) -> None:
    parameters = promises(name)[0].model_copy(update={"column": None})
    with pytest.raises(WrongUse, match="does not go with several rows a person"):
        Mondrian(k=2, promises=(parameters,)).anonymize(everybody_has_both())


def people(rows: int = 300) -> Table:
    """Patients with several visits, at several places, each with one illness or two."""
    random = np.random.default_rng(5)
    who = random.integers(0, rows // 2, rows)
    second = random.random(rows) < 0.2
    illness = np.where(second, random.integers(0, 6, rows), who % 6)
    return Table(
        (
            with_hierarchy(column("x", random.integers(0, 40, rows).tolist()), "intervals:5,10,20"),
            with_hierarchy(column("y", random.choice(["m", "f"], rows).tolist()), "suppress"),
            column("illness", [f"i{value}" for value in illness], Role.SENSITIVE),
            column("who", [f"p{person}" for person in who], Role.ENTITY),
        )
    )


@pytest.mark.parametrize(("name", "parameters"), METHODS, ids=str)
def test_larger_tables_are_cut_by_shares_of_persons(name: str, parameters: dict[str, Any]) -> None:
    data = people()
    try:
        release, _ = registry.load("method", name)(k=4, alpha=0.4, **parameters).anonymize(data, seed=1)
    except Infeasible:
        assert name == "samarati" or not parameters or "relaxed" in parameters.values()
        return
    assert isinstance(release.data, Table)
    assert all(verdict.holds for verdict in judge(release))
    rows = [row for row in texts(release.data) if row["illness"] != "*"]
    for promise in release.promises:
        assert keeps(dict(promise), rows, QUASI, ["illness"])
    assert len({(row["x"], row["y"]) for row in rows}) > 1


def test_a_table_that_cannot_be_cut_and_breaks_the_promise_is_refused() -> None:
    cells = {"x": [1] * 4, "who": list("pqrq"), "s": ["hiv", "flu", "hiv", "flu"]}
    data = table(cells, sensitive=["s"], entity="who")
    asked = (AlphaKAnonymity(alpha=0.5, values=("hiv",)),)
    with pytest.raises(ShoalError, match="2 of 3 persons have hiv where a share of"):
        Mondrian(promises=asked, partitioning="relaxed").anonymize(data)


@given(
    data=small_lattices,
    who=st.lists(st.sampled_from("pqrstu"), min_size=24, max_size=24),
    alpha=st.sampled_from([0.5, 0.7]),
    limit=st.sampled_from([0.0, 0.3, 1.0]),
)
@settings(max_examples=30)
def test_the_lattice_still_finds_the_optimum(data: Table, who: list[str], alpha: float, limit: float) -> None:
    """A finer vector may keep what a coarser one breaks, because somebody stands in two of its classes."""
    assume("flu" in data.column("secret").domain.labels)
    visits = Table((*data.columns, column("who", who[: data.rows], Role.ENTITY)))
    asked = (AlphaKAnonymity(alpha=alpha, values=("flu",)),)

    def shares(rows: Sequence[naive.Row], _: Sequence[naive.Row]) -> bool:
        persons = {row["who"] for row in rows}
        ill = {row["who"] for row in rows if row["secret"] == "flu"}
        return 10 * len(ill) <= round(10 * alpha) * len(persons)

    is_optimum(visits, Lattice(promises=asked, suppression_limit=limit), 2, shares)


def test_persons_are_numbered_inside_what_a_reader_takes_for_a_class() -> None:
    """Relaxed cuts may publish the same cell twice: then it is one class, and nobody shares a number with others."""
    data = table({"x": [1] * 6 + [2] * 2, "who": list("pqrstuvw")}, entity="who")
    release, _ = Mondrian(k=2, partitioning="relaxed").anonymize(data)
    ones = [row["who"] for row in texts(release.data) if row["x"] == "1"]
    assert sorted(ones) == ["1", "2", "3", "4", "5", "6"]
