"""Local recoding: rows on levels of their own, and rows that no vector publishes joined to classes."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.full_domain import assert_measures_agree, few_prices, made, tables
from tests.tables import column, texts

from shoal.data.role import Role
from shoal.data.table import Table
from shoal.errors import Infeasible
from shoal.methods._full_domain import _search as descent
from shoal.methods._full_domain._class_facts import Facts
from shoal.methods._full_domain._local_recoding import Absorption, LocalRecoding
from shoal.methods._full_domain._recoding import Part, placed, published_classes
from shoal.methods._full_domain._search import Descent, Progress
from shoal.methods._full_domain._table_to_generalize import Judge, Problem
from shoal.methods._full_domain._tuples import Grouping
from shoal.methods.lattice import Lattice
from shoal.outcome import judge

PROMISES: tuple[dict[str, Any], ...] = (
    {"k": 2},
    {"k": 2, "l": 2},
    {"k": 2, "t": 0.3, "distance": "equal"},
    {"k": 2, "alpha": 0.7},
    {"k": 2, "beta": 1.0},
    {"k": 2, "entropy_l": 1.5},
    {"k": 2, "average_risk": 0.4},
)


def problem_of(data: Table, **parameters: Any) -> Problem:
    method = Lattice(**parameters)
    return method.problem(data, method.models_for(data), None)


def absorption_of(problem: Problem, measure: Any = "lm") -> Absorption:
    facts = Facts(problem.table, Grouping(problem.lattice, problem.tuples), problem.models)
    overall = {name: pairs.overall() for name, pairs in facts.sensitive.items()}
    return Absorption(problem, measure, facts, overall, lambda: False)


def part_of(problem: Problem, levels: tuple[int, ...]) -> Part:
    """What a vector publishes."""
    outcome = Judge(problem, problem.tuples.rows).evaluate([levels])[0]
    return Part(levels, outcome.kept[outcome.number])


@settings(max_examples=30)
@given(tables, st.sampled_from(PROMISES), st.sampled_from([0.0, 0.2, 1.0]), st.sampled_from(["lm", "c_avg"]))
@few_prices()
def test_never_worse_than_one_vector_and_always_safe(
    data: Table, promises: dict[str, Any], limit: float, objective: Any
) -> None:
    method = Lattice(**promises, suppression_limit=limit, objective=objective)
    try:
        _, told = method.anonymize(data)
    except Infeasible:
        with pytest.raises(Infeasible):
            method.model_copy(update={"local": True}).anonymize(data)
        return
    release, trace = method.model_copy(update={"local": True}).anonymize(data)
    assert all(judge(release))
    assert release.suppressed <= limit * data.rows + 1e-9
    before, after = told.notes["solutions"][0][objective], trace.notes["solutions"][0][objective]
    assert after <= before + 1e-12
    assert_measures_agree(data, release, trace)


@settings(max_examples=10)
@given(tables, st.sampled_from(PROMISES))
@few_prices()
def test_the_order_of_the_rows_changes_nothing(data: Table, promises: dict[str, Any]) -> None:
    method = Lattice(**promises, local=True)
    try:
        release, _ = method.anonymize(data)
    except Infeasible:
        return
    turned, _ = method.anonymize(data.take(np.arange(data.rows)[::-1]))
    assert isinstance(release.data, Table)
    assert isinstance(turned.data, Table)
    assert texts(release.data) == texts(turned.data)
    assert release.details == turned.details


def with_a_stranger() -> Table:
    """Two dense classes, and one row that is like neither."""
    return made(
        [("a", "x", "0", "flu")] * 30 + [("c", "z", "1", "cold")] * 3 + [("d", "z", "1", "gout")],
    )


def test_a_row_that_is_left_joins_the_nearest_class() -> None:
    """Without suppression one vector must hide column one from everybody; joined, four rows pay for the stranger."""
    release, trace = Lattice(k=3, local=True).anonymize(with_a_stranger())
    assert isinstance(release.data, Table)
    assert release.suppressed == 0
    cells = [(row["one"], row["two"], row["three"]) for row in texts(release.data)]
    assert sorted(set(cells)) == [("a", "x", "0"), ("cd", "z", "1")]
    assert cells.count(("cd", "z", "1")) == 4
    assert trace.notes["local"]["plans"][-1]["joined"] == 1
    assert "remark" not in trace.notes["local"]


def test_no_suppression_is_nearly_as_good_as_a_little() -> None:
    random = np.random.default_rng(5)
    rows = [
        (str(one), str(two), str(three), "flu")
        for one, two, three in zip(
            random.choice(list("abcd"), 400, p=[0.7, 0.2, 0.09, 0.01]),
            random.choice(list("xyz"), 400, p=[0.8, 0.19, 0.01]),
            random.choice(list("01"), 400, p=[0.9, 0.1]),
            strict=True,
        )
    ]
    none, at_most_few = (
        Lattice(k=10, suppression_limit=limit, local=True).anonymize(made(rows))[1].notes["solutions"]
        for limit in (0.0, 0.02)
    )
    assert none[0]["suppressed_rows"] == 0
    assert none[0]["lm"] <= at_most_few[0]["lm"] * 1.05
    assert none[0]["lm"] < none[-1]["lm"] / 5


def test_joining_takes_the_cheapest_class_by_looking_at_all() -> None:
    """For every tuple that is left, the cost of each class reckoned naively."""
    data = made(
        [("a", "x", "0", "flu")] * 4
        + [("b", "y", "1", "flu")] * 3
        + [("c", "z", "0", "flu")] * 5
        + [("d", "x", "1", "flu")]
    )
    problem = problem_of(data, k=3)
    before = part_of(problem, (0, 0, 0))
    parts = absorption_of(problem).joined((before,), 0)
    chosen = placed(problem, parts)
    assert chosen.shown.all()

    paths = [column_.hierarchy.paths() for column_ in data.quasi if column_.hierarchy is not None]
    of = [{path[0]: path for path in some} for some in paths]
    widths = [{"a": 0, "ab": 1 / 3, "cd": 1 / 3, "*": 1}, {"xy": 1 / 2, "*": 1}, {"*": 1}]
    stranger = ("d", "x", "1")
    costs = {}
    for cells, size in ((("a", "x", "0"), 4), (("b", "y", "1"), 3), (("c", "z", "0"), 5)):
        lost = 0.0
        for place, (one, other) in enumerate(zip(stranger, cells, strict=True)):
            together = next(
                (level, node) for level, node in enumerate(of[place][one]) if node == of[place][other][level]
            )
            lost += widths[place].get(together[1], 0.0) if together[0] else 0.0
        costs[cells] = (size + 1) * lost
    cheapest = min(costs, key=lambda cells: costs[cells])
    classes = published_classes(problem, parts)
    raw = [
        tuple(
            column_.domain.labels[codes[place]]
            for column_, codes in zip(data.quasi, problem.tuples.codes, strict=True)
        )
        for place in range(len(problem.tuples))
    ]
    own = classes.number[raw.index(stranger)]
    assert {cells for cells, number in zip(raw, classes.number, strict=True) if number == own} == {
        stranger,
        cheapest,
    }


def test_a_class_that_would_break_a_promise_takes_nobody_in() -> None:
    """No value may have more than half of a class: the nearest has no room for one more with the flu."""
    near: list[tuple[str | None, ...]] = [("c", "x", "0", "flu"), ("c", "x", "0", "cold")] * 2
    far = [("a", "x", "0", "flu"), ("a", "x", "0", "cold"), ("a", "x", "0", "gout")] * 4
    problem = problem_of(made([*near, *far, ("d", "x", "0", "flu")]), k=2, alpha=0.5)
    before = (part_of(problem, (0, 0, 0)),)
    parts = absorption_of(problem).joined(before, 0)
    assert {part.levels: int(problem.tuples.counts[part.mask].sum()) for part in parts} == {
        (0, 0, 0): 4,
        (2, 0, 0): 13,
    }
    dear = absorption_of(problem).joined(before, 1)
    assert placed(problem, dear).shown.sum() == 2


def test_rows_are_left_where_missing_cells_match_all() -> None:
    problem = problem_of(with_a_stranger(), k=3, missing_matches_all=True)
    before = (part_of(problem, (0, 0, 0)),)
    assert not absorption_of(problem).possible
    assert absorption_of(problem).joined(before, 0) is before
    release, trace = Lattice(k=3, local=True, missing_matches_all=True).anonymize(with_a_stranger())
    assert all(judge(release))
    assert set(release.details) == {"levels"}
    assert "rows cannot be joined to classes under these promises" in trace.notes["local"]["remark"]
    assert trace.notes["local"]["remark"] in trace.notes["summary"]


def test_closeness_to_all_rows_in_every_part() -> None:
    """Fine classes that look like the whole are published finely, and the others together."""
    rows: list[tuple[str | None, ...]] = []
    for one, two, sick, well in (
        ("a", "x", 10, 10),
        ("b", "x", 12, 10),
        ("c", "z", 10, 0),
        ("d", "z", 0, 10),
    ):
        rows += [(one, two, "0", "flu")] * sick + [(one, two, "0", "cold")] * well
    method = Lattice(k=2, t=0.1, distance="equal", local=True)
    release, trace = method.anonymize(made(rows))
    assert all(judge(release))
    assert release.suppressed == 0
    assert trace.notes["solutions"][0]["lm"] < trace.notes["solutions"][-1]["lm"]
    assert isinstance(release.data, Table)
    assert {row["one"] for row in texts(release.data)} == {"a", "b", "cd"}


def test_persons_are_counted_in_parts_too() -> None:
    rows = [("a", "x", "0", "flu")] * 4 + [("d", "z", "1", "flu")] * 2
    who = column("who", ["p", "q", "r", "s", "t", "t"], Role.ENTITY)
    release, _ = Lattice(k=2, local=True).anonymize(Table((*made(rows).columns, who)))
    assert release.suppressed == 0
    assert all(judge(release))


def test_a_release_tells_one_vector_or_its_parts() -> None:
    one, _ = Lattice(k=3).anonymize(with_a_stranger())
    assert set(one.details) == {"levels"}
    several, trace = Lattice(k=3, local=True).anonymize(with_a_stranger())
    assert set(several.details) == {"parts"}
    assert several.details["parts"] == [
        {"levels": {"one": 0, "two": 0, "three": 0}, "rows": 30},
        {"levels": {"one": 1, "two": 0, "three": 0}, "rows": 4},
    ]
    chosen, alone = trace.notes["solutions"]
    assert chosen["parts"] == 2
    assert chosen["levels"] == {"one": "0 to 1", "two": 0, "three": 0}
    assert "parts" not in alone


def test_a_plan_that_was_given_up_is_told() -> None:
    problem = problem_of(with_a_stranger(), k=3)
    recoding = LocalRecoding(problem, "lm", 0, np.inf, np.inf, 0)
    assert recoding.remark((part_of(problem, (2, 0, 0)),)) is None
    recoding.plans = [{"value": 0.01, "left": 1}, {"value": 9.0, "left": 2}]
    remark = recoding.remark((part_of(problem, (2, 0, 0)),))
    assert remark is not None
    assert "loses 0.01 by lm instead of 1" in remark
    assert "suppresses 1 row, where 0 are allowed" in remark
    assert "limit of 0.029412" in remark


def test_a_search_that_is_late_looks_at_few_vectors_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock is looked at between vectors, not only between steps."""
    problem = problem_of(with_a_stranger(), k=3)
    judged = Judge(problem, problem.tuples.rows)
    times = iter([0.0] + [2.0] * 1000)
    monkeypatch.setattr(descent.time, "perf_counter", lambda: next(times))
    monkeypatch.setattr(descent, "AT_ONCE", 1)
    progress = Progress()
    search = Descent(problem.lattice, judged.objective("lm"), judged.evaluate, progress, 1.0, 0)
    search.run(kicks=5, start=(1, 1, 0))
    assert progress.evaluated == 2


@given(tables)
def test_counts_of_sensitive_values(data: Table) -> None:
    assume(data.rows > 4)
    problem = problem_of(data, k=2, l=2) if len({row["secret"] for row in texts(data)}) > 1 else None
    assume(problem is not None)
    assert problem is not None
    facts = Facts(data, Grouping(problem.lattice, problem.tuples), problem.models)
    pairs = facts.sensitive["secret"]
    secret = data.column("secret").codes
    for place in range(len(problem.tuples)):
        expected = np.bincount(secret[problem.tuples.number == place], minlength=len(pairs.domain))
        assert pairs.of(place).tolist() == expected.tolist()
    assert pairs.overall().tolist() == np.bincount(secret, minlength=len(pairs.domain)).tolist()
