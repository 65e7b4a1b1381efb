"""Mondrian from the table to the published cells."""

import datetime
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive.k_anonymity import smallest_class
from tests.tables import Cell, column, table, texts

from shoal.data.domain import Kind
from shoal.data.hierarchy import Hierarchy
from shoal.data.published_syntax import set_members
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.errors import Infeasible, UnknownName, WrongUse
from shoal.methods.mondrian.method import Mondrian
from shoal.outcome import judge

TREE = Hierarchy(
    (("a", "b", "c", "d"), ("left", "right"), ("*",)),
    (np.array([0, 0, 1, 1], dtype=np.int32), np.array([0, 0], dtype=np.int32)),
)


def cells_of(data: Table, name: str, **parameters: Any) -> list[str]:
    release, _ = Mondrian(**parameters).anonymize(data)
    assert isinstance(release.data, Table)
    return [row[name] for row in texts(release.data)]


def test_seed_004_strict_median() -> None:
    """The first cut is [1, 2, 3, 3] [4, 5], as in the seed; then the left half is cut once more."""
    data = table({"x": [1, 2, 3, 3, 4, 5]})
    assert Counter(cells_of(data, "x", k=2)) == {"[1,2]": 2, "3": 2, "[4,5]": 2}


def test_seed_004_relaxed_median() -> None:
    data = table({"x": [1, 2, 3, 3, 4, 5]})
    assert Counter(cells_of(data, "x", k=2, partitioning="relaxed")) == {"[1,3]": 3, "[3,5]": 3}


def test_hierarchy_nodes() -> None:
    data = Table((column("x", list("aabbccdd"), hierarchy=TREE),))
    assert Counter(cells_of(data, "x", k=2)) == dict.fromkeys("abcd", 2)
    assert Counter(cells_of(data, "x", k=3)) == {"left": 4, "right": 4}
    assert Counter(cells_of(data, "x", k=5)) == {"*": 8}


def test_cuts_follow_the_hierarchy() -> None:
    """The median lies inside the left half, yet the cut falls between the halves."""
    data = Table((column("x", list("aaabbbbcd"), hierarchy=TREE),))
    assert Counter(cells_of(data, "x", k=2)) == {"a": 3, "b": 4, "right": 2}


def test_sets_of_names() -> None:
    data = table({"x": list("aabbcd")})
    assert Counter(cells_of(data, "x", k=3)) == {"{a|b|c|d}": 6}
    assert Counter(cells_of(data, "x", k=2)) == {"a": 2, "b": 2, "{c|d}": 2}


def test_dates_are_ranges() -> None:
    days = [datetime.date(1967, month, 1) for month in (1, 2, 3, 4)]
    assert set(cells_of(table({"x": days}), "x", k=2)) == {
        "[1967-01-01,1967-02-01]",
        "[1967-03-01,1967-04-01]",
    }


def test_ordinal_values_are_ranges_of_their_order() -> None:
    data = Table((column("x", list("abcd"), kind=Kind.ORDINAL),))
    assert set(cells_of(data, "x", k=2)) == {"[a,b]", "[c,d]"}


def test_forms_can_be_chosen() -> None:
    data = table({"x": [1, 2, 3, 4]})
    assert set(cells_of(data, "x", k=2, publish="sets")) == {"{1|2}", "{3|4}"}


def test_missing_is_parted_first() -> None:
    """Two missing cells are a class of their own; they do not spoil the ranges of the others."""
    data = table({"x": [1, 2, 9, 10, None, None]})
    assert Counter(cells_of(data, "x", k=2)) == {"[1,2]": 2, "[9,10]": 2, "": 2}


def test_missing_among_values_is_suppressed() -> None:
    """One missing cell cannot be a class: the class that takes it in tells nothing of the column."""
    data = table({"x": [1, 2, 9, 10, None]})
    assert Counter(cells_of(data, "x", k=2)) == {"[1,9]": 3, "*": 2}


def test_no_row_vanishes() -> None:
    """Rows with a missing number must stay (anonypy loses them: 10 in, 8 out)."""
    release, trace = Mondrian(k=2).anonymize(table({"x": [1, 2, 3, 4, 5, 6, 7, 8, None, None]}))
    assert isinstance(release.data, Table)
    assert release.data.rows == 10
    assert sorted(trace.rows.tolist()) == list(range(10))


def test_persons_are_counted() -> None:
    data = table({"x": [1, 1, 1, 2, 8, 9], "who": ["p", "p", "q", "q", "r", "s"]}, entity="who")
    release, _ = Mondrian(k=2).anonymize(data)
    assert isinstance(release.data, Table)
    assert smallest_class(texts(release.data), ["x"], "who") == 2
    assert release.promises == ({"model": "k-anonymity", "k": 2, "entity": "who"},)
    assert {row["who"] for row in texts(release.data)} == {"1", "2", "3"}


def test_numbers_of_persons_mean_nothing_across_classes() -> None:
    data = table({"x": [1, 1, 9, 9], "who": ["p", "q", "p", "r"]}, entity="who")
    release, _ = Mondrian(k=2).anonymize(data)
    assert isinstance(release.data, Table)
    assert sorted(row["who"] for row in texts(release.data)) == ["1", "1", "2", "2"]


def test_too_few_persons() -> None:
    data = table({"x": [1, 2, 3, 4], "who": ["p", "p", "q", "q"]}, entity="who")
    with pytest.raises(Infeasible, match="only 2 persons"):
        Mondrian(k=3).anonymize(data)


def test_k_above_the_rows() -> None:
    with pytest.raises(Infeasible, match="The largest k is 2"):
        Mondrian(k=3).anonymize(table({"x": [1, 2]}))


def test_nothing_promised() -> None:
    with pytest.raises(WrongUse, match="nothing to promise"):
        Mondrian().anonymize(table({"x": [1, 2]}))


def test_no_quasi_identifier() -> None:
    with pytest.raises(WrongUse, match="quasi-identifier"):
        Mondrian(k=2).anonymize(table({"x": [1, 2]}, sensitive=["x"]))


def test_weight_of_an_unknown_column() -> None:
    with pytest.raises(UnknownName, match="There is no column 'y'"):
        Mondrian(k=2, weights={"y": 2.0}).anonymize(table({"x": [1, 2]}))


def test_weights_choose_the_column() -> None:
    data = table({"x": [0, 0, 9, 9], "y": [0, 9, 0, 9]})
    assert set(cells_of(data, "x", k=2)) == {"0", "9"}
    assert set(cells_of(data, "y", k=2, weights={"y": 2.0})) == {"0", "9"}


@st.composite
def mixed_tables(draw: st.DrawFn) -> tuple[Table, int]:
    k = draw(st.integers(2, 4))
    rows = draw(st.integers(k, 25))

    def cells(values: st.SearchStrategy[Cell]) -> list[Cell]:
        return draw(st.lists(values, min_size=rows, max_size=rows))

    return (
        Table(
            (
                column("number", cells(st.one_of(st.none(), st.integers(0, 9)))),
                column("name", cells(st.one_of(st.none(), st.sampled_from("wxyz")))),
                column("tree", cells(st.one_of(st.none(), st.sampled_from("abcd"))), hierarchy=TREE),
                column("secret", cells(st.sampled_from("st")), Role.SENSITIVE),
            )
        ),
        k,
    )


@given(
    mixed_tables(),
    st.sampled_from(["strict", "relaxed"]),
    st.sampled_from(["widest", "loss", "random"]),
    st.sampled_from(["nodes", "ranges", "sets"]),
)
def test_every_release_is_true_and_anonymous(
    data: tuple[Table, int], partitioning: str, split: str, form: str
) -> None:
    original, k = data
    release, trace = Mondrian(k=k, partitioning=partitioning, split=split, publish=form).anonymize(
        original, seed=1
    )  # type: ignore[arg-type]
    assert isinstance(release.data, Table)
    assert all(verdict.holds for verdict in judge(release))
    published = texts(release.data)
    least = smallest_class(published, ["number", "name", "tree"])
    assert least is not None
    assert least >= k
    before = texts(original)
    for place, row in enumerate(trace.rows.tolist()):
        assert published[place]["secret"] == before[row]["secret"]
        for name in ("number", "name", "tree"):
            assert stands_for(published[place][name], before[row][name]), (published[place], before[row])


def stands_for(cell: str, value: str) -> bool:
    """Whether a reader of a published cell would count the value among its meanings."""
    members = set_members(cell)
    if members is not None:
        return value in members
    if cell.startswith("["):
        low, high = cell[1:-1].split(",")
        return value != "" and int(low) <= int(value) <= int(high)
    return cell in ("*", value) or value in {"left": "ab", "right": "cd"}.get(cell, "")
