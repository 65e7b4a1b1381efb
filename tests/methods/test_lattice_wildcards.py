"""The lattice where a missing value matches every value."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.full_domain import few_prices, levels_of, made, solved, tables
from tests.naive import full_domain as naive
from tests.tables import column, texts

from shoal.data.role import Role
from shoal.data.table import Table
from shoal.errors import Infeasible, WrongUse
from shoal.methods.lattice import Lattice
from shoal.methods.samarati import Samarati
from shoal.models.k_anonymity import KAnonymity
from shoal.outcome import judge


def test_missing_values_as_wildcards() -> None:
    rows: list[tuple[str | None, ...]] = [("a", "x", "0", "flu")] * 2 + [(None, "x", "0", "cold")]
    category, _ = solved(made(rows), k=3)
    wildcard, trace = solved(made(rows), k=3, missing_matches_all=True)
    assert category.details["levels"]["one"] == 2
    assert levels_of(wildcard) == (0, 0, 0)
    assert all(judge(wildcard))
    assert "matches at least 3 rows" in judge(wildcard)[0].promise
    assert "whoever knows the true value" in trace.notes["missing"]
    assert wildcard.promises[0]["missing_matches_all"]


@settings(max_examples=25)
@given(tables, st.integers(2, 4), st.sampled_from([0.0, 0.3, 1.0]))
def test_wildcards_hold_row_by_row(data: Table, k: int, limit: float) -> None:
    try:
        release, _ = solved(data, k=k, suppression_limit=limit, missing_matches_all=True)
    except Infeasible:
        return
    assert isinstance(release.data, Table)
    cells = [tuple(row[name] for name in ("one", "two", "three")) for row in texts(release.data)]
    assert min(naive.matching(cells)) >= k
    assert all(judge(release))


@settings(max_examples=15)
@given(
    tables,
    st.sampled_from([{"maximal_risk": 0.34}, {"average_risk": 0.4}, {"alpha": 0.7}]),
    st.sampled_from([0.0, 0.3, 1.0]),
    st.booleans(),
)
@few_prices()
def test_wildcards_are_for_k_alone(data: Table, also: dict[str, float], limit: float, local: bool) -> None:
    """Other promises count the rows of a class, while the search looks for it as well as in the release."""
    try:
        release, _ = solved(data, k=2, suppression_limit=limit, missing_matches_all=True, local=local, **also)
    except Infeasible:
        return
    assert all(judge(release))


@pytest.mark.parametrize("method", [Lattice, Samarati])
def test_a_promise_may_say_it_instead_of_the_method(method: type) -> None:
    rows: list[tuple[str | None, ...]] = [("a", "x", "0", "flu")] * 2 + [("b", "x", "0", "cold")] * 3
    promised, _ = method(promises=[KAnonymity(k=3, missing_matches_all=True)]).anonymize(made(rows))
    short, _ = method(k=3, missing_matches_all=True).anonymize(made(rows))
    assert texts(promised.data) == texts(short.data)
    assert all(verdict.holds for verdict in judge(promised))


def test_wildcards_without_k_are_refused() -> None:
    with pytest.raises(WrongUse, match="give `k` too"):
        solved(made([("a", "x", "0", "flu")] * 4), maximal_risk=0.5, missing_matches_all=True)


def test_wildcards_and_persons_do_not_go_together() -> None:
    data = Table((*made([("a", "x", "0", "flu")] * 4).columns, column("who", list("pqrs"), Role.ENTITY)))
    with pytest.raises(WrongUse, match="entity"):
        solved(data, k=2, missing_matches_all=True)
