import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hierarchies import names, numbers, paths_of
from tests.naive import hierarchy as naive

from shoal.data.hierarchy import Hierarchy, ambiguous_texts, climb
from shoal.errors import BadData


def of_rows(*rows: str) -> Hierarchy:
    """A hierarchy written down as rows from leaf to the level below the root."""
    columns = list(zip(*(row.split() for row in rows), strict=True))

    def texts(column: tuple[str, ...]):
        return lambda leaves: [column[leaf] for leaf in leaves]

    return climb(columns[0], [texts(column) for column in columns[1:]])


@st.composite
def hierarchies(draw: st.DrawFn) -> Hierarchy:
    """Any tree of up to twelve leaves; a node that is alone below its parent may be repeated."""
    leaves = draw(st.integers(1, 12))
    labels, parents = [tuple(f"v{leaf}" for leaf in range(leaves))], []
    for level in range(1, draw(st.integers(1, 5))):
        below = len(labels[-1])
        wanted = draw(st.lists(st.integers(0, below - 1), min_size=below, max_size=below))
        used = sorted(set(wanted))
        up = [used.index(parent) for parent in wanted]
        texts = [f"n{level}.{node}" for node in range(len(used))]
        for node in range(len(used)):
            if up.count(node) == 1 and draw(st.booleans()):
                texts[node] = labels[-1][up.index(node)]
        labels.append(tuple(texts))
        parents.append(np.array(up))
    return Hierarchy((*labels, ("*",)), (*parents, np.zeros(len(labels[-1]))))


@given(hierarchies())
def test_leaves_below_a_node_stand_together(hierarchy: Hierarchy) -> None:
    order = hierarchy.depth_first()
    assert sorted(order) == list(range(len(hierarchy.leaves)))
    assert naive.stands_together(paths_of(hierarchy), [hierarchy.leaves[leaf] for leaf in order])


def test_depth_first_order_keeps_the_order_of_leaves_otherwise() -> None:
    hierarchy = of_rows("c x p", "a y q", "b x p", "d z p")
    assert [hierarchy.leaves[leaf] for leaf in hierarchy.depth_first()] == ["c", "b", "d", "a"]


@given(hierarchies())
def test_boundary_depths_agree_with_the_naive_twin(hierarchy: Hierarchy) -> None:
    order = hierarchy.depth_first()
    expected = naive.boundary_depths(paths_of(hierarchy), [hierarchy.leaves[leaf] for leaf in order])
    assert hierarchy.boundary_depths(order).tolist() == expected


@given(hierarchies(), st.data())
def test_common_levels_agree_with_the_naive_twin(hierarchy: Hierarchy, data: st.DataObject) -> None:
    order = hierarchy.depth_first()
    place = st.integers(0, len(order) - 1)
    pairs = [sorted(pair) for pair in data.draw(st.lists(st.tuples(place, place), min_size=1))]
    low, high = (np.array(ends, dtype=np.int32) for ends in zip(*pairs, strict=True))
    expected = [
        naive.common_level(paths_of(hierarchy), [hierarchy.leaves[leaf] for leaf in order[first : last + 1]])
        for first, last in pairs
    ]
    assert hierarchy.common_level(low, high, order).tolist() == expected


@given(hierarchies())
def test_leaf_counts_count_leaves(hierarchy: Hierarchy) -> None:
    for level, texts in enumerate(hierarchy.labels):
        column = [path[level] for path in hierarchy.paths()]
        assert hierarchy.leaf_counts(level).tolist() == [column.count(text) for text in texts]


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=3, max_size=3), min_size=1, max_size=6))
def test_ambiguous_texts_agree_with_the_naive_twin(inner: list[list[str]]) -> None:
    rows = [[leaf, *row, "*"] for leaf, row in zip("abcdef", inner, strict=False)]
    texts = sorted({text for row in rows for text in row})
    found = ambiguous_texts(np.array([[texts.index(row[level]) for row in rows] for level in range(4)]))
    assert {texts[number] for number, _, _ in found} == naive.ambiguous(rows)
    for number, low, high in found:
        meanings = [{row[0] for row in rows if row[level] == texts[number]} for level in (low, high)]
        assert low < high
        assert meanings[0] != meanings[1]


def test_arrays_cannot_be_written_to() -> None:
    hierarchy = of_rows("a x", "b x")
    for array in (*hierarchy.parents, hierarchy.nodes_at(0), hierarchy.nodes_at(1)):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_missed_values_are_all_listed_in_order() -> None:
    assert of_rows("b x").missed(names("a", "b", "c", missing=True)) == ["a", "c"]


def test_a_hierarchy_that_misses_values_is_refused() -> None:
    with pytest.raises(BadData, match=r"column 'age'.* misses 2 of 3 values: 'a', 'c'"):
        of_rows("b x").covering(names("a", "b", "c"), "age")


def test_the_complaint_says_that_a_number_is_written_differently() -> None:
    with pytest.raises(BadData, match=r"'17' is written '17\.0' there"):
        of_rows("17.0 x", "18 x").covering(numbers(["17", "18"]), "age")


def test_the_complaint_says_that_a_value_stands_above_others() -> None:
    with pytest.raises(BadData, match=r"'x' stands in it only above other values"):
        of_rows("a x", "b x").covering(names("a", "x"), "age")


def test_a_leaf_for_missing_values_is_added_only_where_there_are_any() -> None:
    hierarchy = of_rows("a x", "b y")
    assert hierarchy.covering(names("a", "b"), "c") is hierarchy
    covered = hierarchy.covering(names("a", "b", missing=True), "c")
    assert list(covered.paths()) == [("a", "x", "*"), ("b", "y", "*"), ("", "", "*")]
    assert covered.leaf_of(names("a", "b", missing=True)).tolist() == [0, 1, 2]
    assert covered.covering(names("a", "b", missing=True), "c") is covered


@pytest.mark.parametrize("mark", ["?", "NA", "NULL", "null", "(null)"])
def test_a_missing_mark_in_the_hierarchy_is_the_leaf_of_the_missing_value(mark: str) -> None:
    covered = of_rows("a x x", f"{mark} {mark} u").covering(names("a", missing=True), "c")
    assert list(covered.paths()) == [("a", "x", "x", "*"), ("", "", "u", "*")]


def test_a_missing_mark_that_is_a_value_of_the_data_stays_one() -> None:
    covered = of_rows("a x", "? x").covering(names("a", "?", missing=True), "c")
    assert list(covered.paths()) == [("a", "x", "*"), ("?", "x", "*"), ("", "", "*")]


def test_an_empty_leaf_is_left_out_where_nothing_is_missing() -> None:
    with_missing = of_rows("a x", "b y").covering(names("a", "b", missing=True), "c")
    assert list(with_missing.covering(names("a", "b"), "c").paths()) == [("a", "x", "*"), ("b", "y", "*")]
