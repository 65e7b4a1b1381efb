"""The bound of what releases by nodes can keep, against every partition of small tables and against every vector."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.full_domain import made
from tests.tables import column

from shoal.data.hierarchy import Hierarchy
from shoal.data.table import Column, Table
from shoal.errors import WrongUse
from shoal.methods._improvement._bound import Bound, bound
from shoal.methods.lattice import Lattice
from shoal.methods.mondrian.method import Mondrian

small = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "c", "d", None]),
        st.sampled_from(["x", "y", "z"]),
        st.sampled_from(["0", "1"]),
        st.just("flu"),
    ),
    min_size=3,
    max_size=7,
).map(made)


def losses(quasi: Column) -> list[list[tuple[str, float]]]:
    """The text and the loss of each row on each level: plain Python from the paths of the hierarchy."""
    assert quasi.hierarchy is not None
    paths = {path[0]: path for path in quasi.hierarchy.paths()}
    held: dict[str, set[str]] = {}
    for leaf, path in paths.items():
        for text in path:
            held.setdefault(text, set()).add(leaf)
    labels = [quasi.domain.labels[code] for code in quasi.codes.tolist()]
    return [
        [(text, (len(held[text]) - 1) / max(len(paths) - 1, 1)) for text in paths[label]] for label in labels
    ]


def weights(data: Table) -> list[float]:
    sizes = [len(one.hierarchy.leaves) for one in data.quasi if one.hierarchy is not None]
    own = [1 - 1 / size for size in sizes]
    return [one / sum(own) for one in own]


def partitions(rows: list[int]) -> Iterator[list[list[int]]]:
    """All ways to put rows into classes."""
    if not rows:
        yield []
        return
    first, *rest = rows
    for parts in partitions(rest):
        yield [[first], *parts]
        for place, part in enumerate(parts):
            yield [*parts[:place], [first, *part], *parts[place + 1 :]]


def class_loss(cells: list[list[list[tuple[str, float]]]], shares: list[float], rows: list[int]) -> float:
    """What the rows of a class lose together: each column on the cheapest text that all rows can have."""
    total = 0.0
    for share, column_cells in zip(shares, cells, strict=True):
        common = set.intersection(*({text for text, _ in column_cells[row]} for row in rows))
        total += share * min(loss for text, loss in column_cells[rows[0]] if text in common)
    return total * len(rows)


@settings(max_examples=60)
@given(small, st.integers(2, 3))
def test_no_release_is_better(data: Table, k: int) -> None:
    """Every partition, with classes of one row as suppressed ones."""
    cells, shares = [losses(one) for one in data.quasi], weights(data)
    best = float("inf")
    for parts in partitions(list(range(data.rows))):
        if all(len(part) >= k or len(part) == 1 for part in parts):
            best = min(best, sum(class_loss(cells, shares, one) if len(one) >= k else 1.0 for one in parts))
    found = bound(data.quasi, k)
    assert found.granularity is not None
    assert found.granularity >= 1 - best / data.rows - 1e-9
    assert found.alone is not None
    assert found.granularity <= found.alone + 1e-6


@settings(max_examples=60)
@given(small, st.integers(2, 3))
def test_each_row_alone(data: Table, k: int) -> None:
    """The first round gives every row its cheapest vector on which k rows look like it."""
    cells, shares = [losses(one) for one in data.quasi], weights(data)
    heights = [range(len(one.hierarchy.labels)) for one in data.quasi if one.hierarchy is not None]
    total = 0.0
    for row in range(data.rows):
        least = 1.0
        for vector in itertools.product(*heights):
            told = [one[row][level] for one, level in zip(cells, vector, strict=True)]
            alike = sum(
                all(
                    text in [known for known, _ in one[other]]
                    for one, (text, _) in zip(cells, told, strict=True)
                )
                for other in range(data.rows)
            )
            if alike >= k:
                cost = sum(share * loss for share, (_, loss) in zip(shares, told, strict=True))
                least = min(least, cost)
        total += least
    assert bound(data.quasi, k, rounds=1).alone == pytest.approx(1 - total / data.rows, abs=1e-9)


def test_companions_count() -> None:
    """A lone row on one side of a pair of twins: alone it costs one of three, with its companion two of them."""
    rows: list[tuple[str | None, ...]] = [("a", "x", "0", "flu")] * 2 + [("b", "x", "0", "flu")]
    found = bound(made(rows).quasi, 2)
    assert found.alone is not None
    assert found.granularity is not None
    assert 1 - found.granularity == pytest.approx(2 * (1 - found.alone), rel=1e-6)


def test_whoever_watches_is_told_the_rounds() -> None:
    told: list[float] = []
    data = made([("a", "x", "0", "flu")] * 4 + [("b", "y", "1", "flu")] * 3 + [("c", "z", "1", "flu")] * 2)
    bound(data.quasi, 3, told=told.append)
    assert told
    assert told == sorted(set(told))
    assert 0 < told[0] <= told[-1] <= 1


@pytest.mark.parametrize("method", [Lattice, Mondrian])
def test_it_is_told(method: Any) -> None:
    random = np.random.default_rng(1)
    rows = [
        (str(random.choice(list("abcd"))), str(random.choice(list("xyz"))), str(random.integers(2)), "flu")
        for _ in range(60)
    ]
    release, trace = method(k=3, bound=True).anonymize(made(rows))
    told = trace.notes["best_possible"]
    assert 0 <= told["reached"] <= told["granularity"] <= told["each_row_alone"] + 1e-6
    assert "from the best possible" in trace.notes["summary"][-1]
    assert "bound" in release.parameters
    _, plain = method(k=3).anonymize(made(rows))
    assert "best_possible" not in plain.notes


def test_what_is_not_computed_is_said() -> None:
    twice = Hierarchy(
        (("a", "b", "c"), ("b", "c"), ("*",)),
        (np.array([0, 0, 1], dtype=np.int32), np.array([0, 0], dtype=np.int32)),
    )
    found = bound((column("one", ["a", "b", "c"], hierarchy=twice),), 2)
    assert found.granularity is not None, "the text b stands for both on level 1"
    apart = Hierarchy(
        (("a", "b", "c", "d"), ("n", "m", "o", "p"), ("q", "m"), ("*",)),
        (
            np.array([0, 1, 2, 3], dtype=np.int32),
            np.array([0, 0, 1, 1], dtype=np.int32),
            np.array([0, 0], dtype=np.int32),
        ),
    )
    assert bound((column("one", list("abcd"), hierarchy=apart),), 2).reason
    assert Bound(None, reason="why").sentence(5, 0.5) == (
        "How far the best possible release is was not computed: why."
    )


@pytest.mark.parametrize(
    ("method", "reason"),
    [
        (Mondrian(k=3, bound=True, publish="sets"), "not every quasi-identifier is published by the nodes"),
        (Mondrian(average_risk=0.5, bound=True), "no promise asks for a least number of rows"),
    ],
)
def test_why_there_is_no_bound_is_said(method: Mondrian, reason: str) -> None:
    rows: list[tuple[str | None, ...]] = [("a", "x", "0", "flu"), ("b", "y", "1", "flu")] * 5
    _, trace = method.anonymize(made(rows))
    assert reason in trace.notes["summary"][-1]
    assert reason in trace.notes["best_possible"]["not_computed"]


def test_rows_in_parts_have_no_bound() -> None:
    with pytest.raises(WrongUse, match="needs all rows at once"):
        Mondrian(k=3, bound=True).refuse_distributed()
