"""Orders and trees that promises of t-closeness carry: only what is published counts, and a tree is one."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive.models import keeps
from tests.tables import table, texts

from shoal.data.group_statistics import group_statistics
from shoal.data.table import Table
from shoal.errors import BadData, WrongUse
from shoal.models._promises import promised
from shoal.models.t_closeness import TCloseness
from shoal.pipeline import anonymize

DATA = table({"x": list("aabbcc"), "s": list("uuvvww")}, sensitive=["s"])
TREE = {"u": ("low", "*"), "v": ("low", "*"), "w": ("high", "*")}


def reached(data: Table = DATA, **options: Any) -> Any:
    return TCloseness(t=0.1, **options).verify(data).value


def test_values_that_are_not_published_have_no_rank() -> None:
    invented = tuple(f"no {place}" for place in range(1000))
    order = ("u", *invented[:500], "v", "w", *invented[500:])
    assert reached(distance="ordered", order=order) == reached(distance="ordered", order=("u", "v", "w"))


@pytest.mark.parametrize(
    "tree",
    [
        {**TREE, "x": ("other", "*")},
        {value: (*path, "top", "very top") for value, path in TREE.items()},
        {value: (f"{value}!", f"{value}!!", *path) for value, path in TREE.items()},
        {value: (path[0], f"{path[0]}!", f"{path[0]}!!", "*") for value, path in TREE.items()},
        {**{value: (*path, "top") for value, path in TREE.items()}, "x": ("other", "others", "top")},
    ],
)
def test_neither_values_nor_levels_that_join_nothing_shrink_a_distance(tree: dict[str, Any]) -> None:
    assert reached(distance="hierarchical", tree=tree) == reached(distance="hierarchical", tree=TREE)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"tree": {"u": ("low",), "v": ("high",)}}, "several roots: 'high', 'low'"),
        ({"tree": {"u": ("low", "a", "*"), "v": ("low", "b", "*")}}, "'low' lies under 'a' and under 'b'"),
        ({"tree": {"u": ("low", "*"), "v": ("*",)}}, "different lengths"),
        ({"tree": {"u": ("x", "y", "*"), "v": ("y", "x", "*")}}, "'x' stands for other values on one level"),
        ({"tree": {"u": (), "v": ()}}, "empty"),
        ({"tree": {}}, "no value"),
        ({"order": ("u", "v", "u")}, "'u' stands there twice"),
    ],
)
def test_what_is_no_tree_and_no_order(fields: dict[str, Any], said: str) -> None:
    kind = "ordered" if "order" in fields else "hierarchical"
    with pytest.raises(WrongUse, match=said):
        TCloseness(t=0.1, distance=kind, **fields)
    promise = {"model": "t-closeness", "t": 0.1, "distance": kind, "column": "s", **fields}
    with pytest.raises(BadData, match=said):
        promised([promise])
    with pytest.raises(WrongUse, match=said):
        anonymize(DATA, "mondrian", promises=[promise])


def test_the_verdict_tells_the_distance() -> None:
    said = {
        "s: distances of 1 between any two of 3 published values": {"distance": "equal"},
        "s: distances by the ranks of 3 published values in the order of the promise": {
            "order": ("u", "v", "w"),
        },
        "s: distances by the tree of the promise over 3 published values": {"tree": TREE},
    }
    for words, options in said.items():
        assert TCloseness(t=0.1, **options).verify(DATA).remark == words  # type: ignore[arg-type]
    numbers = table({"x": list("ab"), "s": [1, 2]}, sensitive=["s"])
    assert TCloseness(t=1).verify(numbers).remark.endswith("ranks of 2 published values as numbers or days")


@st.composite
def trees(draw: st.DrawFn) -> dict[str, tuple[str, ...]]:
    """A tree over six values, in which levels may join nothing."""
    height = draw(st.integers(1, 4))
    groups = [[value] for value in "uvwxyz"]
    paths: dict[str, list[str]] = {value: [] for value in "uvwxyz"}
    for level in range(height - 1):
        joined: dict[int, list[str]] = {}
        for group in groups:
            joined.setdefault(draw(st.integers(0, 5)), []).extend(group)
        groups = list(joined.values())
        for place, group in enumerate(groups):
            for value in group:
                paths[value].append(f"{level}.{place}")
    return {value: (*path, "*") for value, path in paths.items()}


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("uvwxyz")), min_size=1, max_size=12),
    trees(),
    st.permutations("uvwxyz"),
    st.sampled_from([0, 0.1, 0.25, 0.5, 0.6667]),
)
def test_methods_and_verdicts_count_as_the_twin_does(
    rows: list[tuple[str, str]], tree: dict[str, tuple[str, ...]], order: list[str], t: float
) -> None:
    data = table({"x": [row[0] for row in rows], "s": [row[1] for row in rows]}, sensitive=["s"])
    groups = np.unique([row[0] for row in rows], return_inverse=True)[1]
    statistics = group_statistics(data, groups, int(groups.max()) + 1, ("s",))
    for model in (
        TCloseness(t=t, distance="hierarchical", tree=tree),
        TCloseness(t=t, distance="ordered", order=tuple(order)),
    ):
        truth = keeps(model.as_promise(), texts(data), ["x"], ["s"])
        assert model.verify(data).holds == truth
        assert bool(model.holds(statistics).all()) == truth
