"""δ-presence beside classes whose cells may overlap: no person of the population is surer than promised."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive.models import keeps
from tests.tables import column, table, texts

from shoal.data.hierarchy import climb
from shoal.data.table import Table
from shoal.errors import Infeasible, WrongUse
from shoal.methods.lattice import Lattice
from shoal.methods.mondrian.method import Mondrian
from shoal.methods.samarati import Samarati
from shoal.methods.table_method import TableMethod
from shoal.models.delta_presence import DeltaPresence
from shoal.models.k_map import KMap

NAMES = ("a", "b", "c", "d")
TREE = climb(NAMES, [lambda leaves: ["{a|b}" if leaf < 2 else "{c|d}" for leaf in leaves]])
"""Nodes that are written as sets, which the twin can read."""

NUMBERS = climb(
    ("0", "1", "2", "3"), [lambda leaves: [f"[{leaf // 2 * 2},{leaf // 2 * 2 + 1}]" for leaf in leaves]]
)

persons = st.tuples(st.sampled_from([0, 1, 2, 3, None]), st.sampled_from([*NAMES, None]))


def people(rows: list[tuple[int | None, str | None]], *, trees: bool) -> Table:
    return Table(
        (
            column("x", [row[0] for row in rows], hierarchy=NUMBERS if trees else None),
            column("y", [row[1] for row in rows], hierarchy=TREE if trees else None),
        )
    )


@given(
    st.lists(persons, min_size=2, max_size=12),
    st.lists(persons, max_size=20),
    st.sampled_from([0.3, 0.5, 0.75, 1.0]),
    st.sampled_from(["nodes", "ranges", "sets"]),
    st.booleans(),
)
@settings(max_examples=150)
def test_mondrian_keeps_what_it_promises(
    inside: list[Any], outside: list[Any], most: float, form: str, trees: bool
) -> None:
    data, population = people(inside, trees=trees), people([*inside, *outside], trees=trees)
    promise = DeltaPresence(delta_max=most, population=population)
    judged(Mondrian(promises=(promise,), publish=form), data, promise, population)  # type: ignore[arg-type]


@given(
    st.lists(persons, min_size=2, max_size=12),
    st.lists(persons, max_size=20),
    st.sampled_from([0.3, 0.5, 0.75, 1.0]),
    st.sampled_from([0, 0.25]),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_full_domains_keep_what_they_promise(
    inside: list[Any], outside: list[Any], most: float, least: float, suppress: bool
) -> None:
    data, population = people(inside, trees=True), people([*inside, *outside], trees=True)
    promise = DeltaPresence(delta_max=most, delta_min=least, population=population)
    for method in (
        Samarati(promises=(promise,), max_suppressed=3 if suppress else 0),
        Lattice(promises=(promise,), suppression_limit=0.3 if suppress else 0),
    ):
        judged(method, data, promise, population)


def judged(method: TableMethod, data: Table, promise: DeltaPresence, population: Table) -> None:
    try:
        release, _ = method.anonymize(data, seed=1)
    except Infeasible:
        return
    assert isinstance(release.data, Table)
    assert promise.verify(release.data).holds
    assert keeps(promise.as_promise(), texts(release.data), ["x", "y"], [], texts(population))


def test_missing_cells_are_not_joined_beside_a_range() -> None:
    """1 and 2 with a missing one would be [1,1] beside *: whoever is 1 would fit both."""
    data = table({"x": [1, 1, 1, 2, None]})
    population = table({"x": [1, 1, 1, 2, None] * 2})
    promise = DeltaPresence(delta_max=0.5, population=population)
    release, _ = Mondrian(promises=(promise,)).anonymize(data)
    assert isinstance(release.data, Table)
    assert promise.verify(release.data).value == 0.5
    clear = table({"x": list(range(8))})
    promise = DeltaPresence(delta_max=0.5, population=table({"x": [*range(8), *range(8)]}))
    release, trace = Mondrian(promises=(promise,)).anonymize(clear)
    assert trace.notes["classes"] == 8


def test_overlapping_cells_are_added_up() -> None:
    release = table({"x": ["1", "[1,1]"]})
    assert not DeltaPresence(delta_max=0.6, population=table({"x": [1, 1, 1]})).verify(release).holds
    verdict = DeltaPresence(delta_max=0.67, population=table({"x": [1, 1, 1]})).verify(release)
    assert verdict.holds
    assert math.isclose(float(verdict.value or 0), 2 / 3)
    verdict = DeltaPresence(delta_max=0.5, population=table({"x": [1, 1, 2, 2]})).verify(
        table({"x": ["[1,2]", "*"]})
    )
    assert verdict.holds
    verdict = DeltaPresence(delta_max=0.4, population=table({"x": [1, 1, 2, 2]})).verify(
        table({"x": ["[1,2]", "*"]})
    )
    assert verdict.offender_count == 1
    assert "fits all 2 of these classes" in verdict.offenders[0].why
    assert KMap(k=4, population=table({"x": [1, 1, 2, 2]})).verify(table({"x": ["[1,2]", "*"]})).holds


@pytest.mark.parametrize("kind", [Samarati, Lattice])
def test_kept_suppressed_rows_fit_everybody(kind: type[TableMethod]) -> None:
    data = people([(0, "a"), (1, "b")], trees=True)
    promise = DeltaPresence(delta_max=0.5, population=data)
    with pytest.raises(WrongUse, match="`keep_suppressed` does not go with delta-presence"):
        kind(promises=(promise,), keep_suppressed=True).anonymize(data)


def test_nodes_that_overlap_are_refused() -> None:
    """A hierarchy may have a star beside other nodes of its level."""
    tree = climb(("0", "1", "2", "3"), [lambda leaves: ["*" if leaf < 2 else "high" for leaf in leaves]])
    data = Table((column("x", [0, 0, 2, 2], hierarchy=tree),))
    population = Table((column("x", [0, 0, 1, 1, 2, 2, 3, 3], hierarchy=tree),))
    promise = DeltaPresence(delta_max=0.6, population=population)
    with pytest.raises(Infeasible, match="cells of classes overlap"):
        Samarati(promises=(promise,)).anonymize(data)
