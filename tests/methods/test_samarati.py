"""Samarati's search by heights, against looking at every vector."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import adult
from tests.full_domain import assert_measures_agree, levels_of, made, tables, twin
from tests.naive import full_domain as naive
from tests.tables import texts

from shoal.data.hierarchy import Hierarchy
from shoal.data.release import Release
from shoal.data.table import Table
from shoal.data.trace import Trace
from shoal.errors import Infeasible, WrongUse
from shoal.methods._full_domain._heights import Heights
from shoal.methods._full_domain._levels import Lattice
from shoal.methods._full_domain._table_to_generalize import Judge
from shoal.methods.samarati import Samarati
from shoal.models.k_anonymity import KAnonymity
from shoal.models.t_closeness import TCloseness
from shoal.outcome import judge
from shoal.recipe import make_method


def solved(data: Table, **parameters: Any) -> tuple[Release, Trace]:
    return Samarati(**parameters).anonymize(data)


def minimal(vectors: list[tuple[int, ...]]) -> set[tuple[int, ...]]:
    """Those that no other lies below."""

    def below(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
        return one != other and all(a <= b for a, b in zip(one, other, strict=True))

    return {one for one in vectors if not any(below(other, one) for other in vectors)}


def check(data: Table, method: Samarati, limit: int, k: int, *promises: naive.Keeps) -> None:
    """The solutions are those that the naive twin finds, and the chosen one is the best of them."""
    slow = twin(data)
    found = slow.solutions(limit, *promises)
    if not found:
        with pytest.raises(Infeasible):
            method.anonymize(data)
        return
    least = min(map(sum, found))
    expected = {levels for levels in found if sum(levels) == least}
    if method.among == "minimal":
        expected = minimal(list(found))
    release, trace = method.anonymize(data)
    told = {tuple(solution["levels"].values()) for solution in trace.notes["solutions"]}
    assert told == expected
    assert trace.notes["least_height"] == least
    assert levels_of(release) in expected
    assert release.suppressed == data.rows - len(found[levels_of(release)])
    if method.objective != "first":
        values = {levels: slow.measures(levels, found[levels], k)[method.objective] for levels in expected}
        assert values[levels_of(release)] == pytest.approx(min(values.values()), abs=1e-9)
    assert all(judge(release))


@given(
    tables,
    st.integers(2, 4),
    st.integers(0, 8),
    st.sampled_from(["lm", "discernibility", "c_avg", "entropy", "precision", "first"]),
    st.sampled_from(["least", "minimal"]),
)
def test_k_anonymity(data: Table, k: int, limit: int, objective: Any, among: Any) -> None:
    method = Samarati(k=k, max_suppressed=limit, objective=objective, among=among)
    if k > data.rows:
        with pytest.raises(Infeasible):
            method.anonymize(data)
        return
    check(data, method, min(limit, data.rows), k, naive.at_least(k))


@given(tables, st.integers(0, 4), st.sampled_from([0, 4]), st.sampled_from(["least", "minimal"]))
def test_promises_that_forbid_halving(data: Table, tenths: int, limit: int, among: Any) -> None:
    promises = (KAnonymity(k=2), TCloseness(t=tenths / 10, distance="equal"))
    method = Samarati(promises=promises, max_suppressed=limit, among=among)
    check(data, method, min(limit, data.rows), 2, naive.at_least(2), naive.within(tenths, "secret"))


def test_halving_only_where_every_vector_above_a_solution_is_one() -> None:
    data = made([("a", "x", "0", "flu"), ("b", "y", "1", "cold")] * 4)
    close = TCloseness(t=0.2, distance="equal")

    def halving(promises: tuple[Any, ...], limit: int) -> bool:
        method = Samarati(promises=promises)
        problem = method.problem(data, method.models_for(data), None)
        return Heights(Judge(problem, limit)).halving

    assert halving((KAnonymity(k=2),), 3)
    assert halving((KAnonymity(k=2), close), 0)
    assert not halving((KAnonymity(k=2), close), 3)


def test_shares_and_counts_of_suppressed_rows() -> None:
    data = made([("a", "x", "0", "flu")] * 98 + [("d", "z", "1", "gout")] * 2)
    for most in ({"max_suppressed": 2}, {"suppression_limit": 0.02}):
        release, _ = solved(data, k=3, **most)
        assert (release.suppressed, levels_of(release)) == (2, (0, 0, 0))
    for few in ({"max_suppressed": 1}, {"suppression_limit": 0.019}):
        assert solved(data, k=3, **few)[0].suppressed == 0
    assert solved(data, k=3, max_suppressed=1000)[0].suppressed == 2


@pytest.mark.parametrize("method", ["samarati", "lattice"])
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"suppression_limit": 2}, "must be a share from 0 to 1 (2 % is 0.02; "),
        ({"suppression_limit": 500}, "suppression_limit must be at most 1, not 500."),
        (
            {"max_suppressed": 0.02},
            "must be a whole number of rows (for a share, use suppression_limit), not 0.02",
        ),
        ({"max_suppressed": 2.5}, "max_suppressed must be a valid integer"),
        ({"max_suppressed": 2, "suppression_limit": 0.1}, "not by both: omit one."),
    ],
)
def test_a_limit_is_a_share_or_a_number_of_rows(method: str, given: dict[str, float], said: str) -> None:
    with pytest.raises(WrongUse) as caught:
        make_method({"name": method, "k": 3, **given})
    assert said in str(caught.value)


def test_the_nearest_vector_is_told_where_none_will_do() -> None:
    data = made([("a", "x", "0", "flu")] * 5 + [("d", "z", "1", "gout")])
    with pytest.raises(Infeasible, match=r"suppresses 1 of 6\. Allow that \(max_suppressed=1\)") as refusal:
        solved(data, k=2, raw=("three",))
    assert refusal.value.best == 1


def test_too_large_a_lattice_is_left_to_another_method() -> None:
    from tests.tables import column

    levels = 8
    labels = (("0", "1"), *((("0", "1"),) * (levels - 1)), ("*",))
    parents = (*(np.array([0, 1], dtype=np.int32),) * (levels - 1), np.array([0, 0], dtype=np.int32))
    tree = Hierarchy(labels, parents)
    wide = Table(tuple(column(f"q{place}", ["0", "1"], hierarchy=tree) for place in range(8)))
    with pytest.raises(WrongUse, match="use the method lattice"):
        solved(wide, k=2)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=4))
def test_heights_hold_every_vector_once(highest: list[int]) -> None:
    lattice = Lattice(("q",) * len(highest), (), (), tuple(highest), (0,) * len(highest))
    every = [levels for height in range(lattice.height + 1) for levels in lattice.at_height(height)]
    assert len(every) == len(set(every)) == len(lattice)
    assert [sum(levels) for levels in every] == sorted(sum(levels) for levels in every)


MARITAL = """Married-civ-spouse,Married
Married-AF-spouse,Married
Divorced,leave
Separated,leave
Widowed,alone
Married-spouse-absent,alone
Never-married,NM
Married,*
leave,*
alone,*
NM,*
"""


@pytest.fixture(scope="module")
def seed_004(public_data: Any, tmp_path_factory: pytest.TempPathFactory) -> Table:
    """Adult without its incomplete rows, with the hierarchies of the seed; columns in the order of the seed."""
    from shoal.io.tables.load import read_table
    from shoal.sources import with_hierarchies

    folder = tmp_path_factory.mktemp("adult")
    adult.write_complete(public_data("adult/adult.data.gz"), folder / "adult.csv")
    (folder / "marital.csv").write_text(MARITAL)
    read = read_table(
        folder / "adult.csv",
        quasi=["age", "sex", "race", "marital-status"],
        sensitive=["occupation"],
        others="drop",
    )
    ordered = Table(read.select(["age", "sex", "race", "marital-status", "occupation"]))
    return with_hierarchies(
        ordered,
        {
            "age": "intervals:5,10,20",
            "sex": "suppress",
            "race": "suppress",
            "marital-status": str(folder / "marital.csv"),
        },
    )


def test_seed_004_least_height(seed_004: Table) -> None:
    """With k = 10 and maxSup = 20 the least height is 4, and one vector reaches it.

    Sex is kept, race and marital status are lost, and a bin of ages is 5 of 73 years wide. Seven rows lose all.
    """
    assert seed_004.rows == 30_162
    release, trace = solved(seed_004, k=10, max_suppressed=20)
    assert release.details == {"levels": {"age": 1, "sex": 0, "race": 1, "marital-status": 2}}
    assert release.suppressed == 7
    expected = (30_155 * (2 + 5 / 73) + 7 * 4) / 30_162
    assert [solution["lm"] for solution in trace.notes["solutions"]] == [pytest.approx(expected)]
    assert_measures_agree(seed_004, release, trace)


def test_seed_004_by_looking_at_all_sixty_vectors(seed_004: Table) -> None:
    """Brute force: classes of every vector are counted row by row."""
    slow = twin(seed_004)
    rows = [tuple(row[name] for name in slow.paths) for row in texts(seed_004)]
    feasible = {}
    for levels in slow.vectors():
        cells = [
            tuple(
                slow.paths[name][value][level]
                for name, value, level in zip(slow.paths, row, levels, strict=True)
            )
            for row in set(rows)
        ]
        of_row = dict(zip(set(rows), cells, strict=True))
        sizes: dict[tuple[str, ...], int] = {}
        for row in rows:
            sizes[of_row[row]] = sizes.get(of_row[row], 0) + 1
        feasible[levels] = sum(size for size in sizes.values() if size < 10)
    good = [levels for levels, lost in feasible.items() if lost <= 20]
    assert len(feasible) == 60
    assert min(map(sum, good)) == 4
    assert [levels for levels in good if sum(levels) == 4] == [(1, 0, 1, 2)]
    _, trace = solved(seed_004, k=10, max_suppressed=20, among="minimal")
    told = {tuple(solution["levels"].values()) for solution in trace.notes["solutions"]}
    assert told == minimal(good)
    assert all(
        solution["suppressed_rows"] == feasible[tuple(solution["levels"].values())]
        for solution in trace.notes["solutions"]
    )


def test_seed_004_among_all_minimal_vectors(seed_004: Table) -> None:
    """One level higher lies a vector that loses half as much."""
    release, trace = solved(seed_004, k=10, max_suppressed=20, among="minimal")
    assert levels_of(release) == (4, 0, 0, 1)
    assert trace.notes["height"] == 5
    assert min(solution["lm"] for solution in trace.notes["solutions"]) == pytest.approx(1.114, abs=5e-4)


def test_seed_004_sweep(seed_004: Table) -> None:
    """More suppression never needs a greater height, and a larger k never a smaller one."""
    heights = {
        (k, most): solved(seed_004, k=k, max_suppressed=most)[1].notes["height"]
        for k in (2, 10, 100)
        for most in (0, 20, 500)
    }
    for k in (2, 10, 100):
        assert heights[k, 0] >= heights[k, 20] >= heights[k, 500]
    for most in (0, 20, 500):
        assert heights[2, most] <= heights[10, most] <= heights[100, most]
