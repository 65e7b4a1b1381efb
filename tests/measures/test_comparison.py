"""What measures share: classes, rows at places, and facts that are added up over parts."""

import re
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.parts import MemoryParts
from tests.sets import baskets_of
from tests.tables import table, texts

from shoal import registry
from shoal.data._equal_rows import row_classes
from shoal.data.baskets import Baskets
from shoal.data.dataset import Dataset
from shoal.data.release import Release
from shoal.data.table import Table, canonical_order
from shoal.errors import WrongUse
from shoal.kernels.postings import pair_supports, turned
from shoal.measures._chosen import (
    WITHOUT_TABLES,
    asked_scores,
    comparison_of,
    default_measures,
    left_out,
    measure,
    measured,
)
from shoal.measures.measure import flat
from shoal.measures.queries import Queries, rows_at
from shoal.methods.mondrian.method import Mondrian

CELLS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from("abc"), st.integers(0, 9)), min_size=2, max_size=40
)


def of(rows: list[tuple[int, str, int]]) -> Table:
    one, two, three = (list(part) for part in zip(*rows, strict=True))
    return table({"x": one, "y": two, "z": three}, sensitive=["z"])


@given(CELLS)
def test_classes_are_rows_that_agree(rows: list[tuple[int, str, int]]) -> None:
    data = of(rows)
    classes = row_classes(data.quasi, data.rows)
    cells = [row[:2] for row in rows]
    assert len(classes) == len(set(cells))
    for number, (first, size) in enumerate(zip(classes.first, classes.sizes, strict=True)):
        members = [place for place, cell in enumerate(cells) if cell == cells[first]]
        assert (first, size) == (members[0], len(members))
        assert np.flatnonzero(classes.number == number).tolist() == members


@given(CELLS, st.data())
def test_rows_at_places_of_the_canonical_order(rows: list[tuple[int, str, int]], data: st.DataObject) -> None:
    made = of(rows)
    places = np.array(data.draw(st.lists(st.integers(0, made.rows - 1), min_size=1, max_size=5)))
    order = canonical_order(made.columns)
    wanted, found = (
        [texts(made)[row] for row in chosen] for chosen in (order[places], rows_at(made.columns, places))
    )
    assert wanted == found


@given(st.lists(st.sets(st.sampled_from("abcdef")), min_size=1, max_size=12), st.integers(0, 6))
def test_baskets_turned_around(sets: list[set[str]], count: int) -> None:
    indptr = np.concatenate(([0], np.cumsum([len(one) for one in sets])))
    items = np.array([ord(item) - ord("a") for one in sets for item in sorted(one)], dtype=np.int32)
    ranks = np.array([5, 3, 1, 0, 2, 4], dtype=np.int32)
    kept = [sorted(int(ranks["abcdef".index(item)]) for item in one) for one in sets]
    kept = [[rank for rank in one if rank < count] for one in kept]
    begin, ranked, item_begin, holders = turned(indptr, items, ranks, count)
    assert [ranked[begin[row] : begin[row + 1]].tolist() for row in range(len(sets))] == kept
    for rank in range(count):
        found = holders[item_begin[rank] : item_begin[rank + 1]].tolist()
        assert found == [row for row, one in enumerate(kept) if rank in one]
    pairs = pair_supports(indptr, items, ranks, count).reshape(count, count)
    truth = Counter((a, b) for one in kept for a in one for b in one if a < b)
    assert {(a, b): int(pairs[a, b]) for a, b in truth} == dict(truth)
    assert int(pairs.sum()) == sum(truth.values())


def cut(data: Table, release: Release) -> tuple[Dataset, Release]:
    """The same two sides with their rows in parts."""
    none = np.empty(0, dtype=np.int64)
    published = release.data
    assert isinstance(published, Table)
    codes = pl.DataFrame({column.name: column.codes for column in data.columns})
    shown = pl.DataFrame(texts(published), schema=dict.fromkeys(published.names, pl.String))
    after = Dataset(published.take(none), MemoryParts(shown), published.rows)
    parameters = (release.method, release.parameters, release.promises, release.suppressed)
    return Dataset(data.take(none), MemoryParts(codes), data.rows), Release(after, *parameters)


@given(CELLS, st.integers(2, 4), st.booleans())
def test_tables_in_parts_have_the_same_scores(rows: list[tuple[int, str, int]], k: int, stars: bool) -> None:
    data = of(rows)
    release, _ = Mondrian(k=min(k, data.rows)).anonymize(data)
    if stars:
        shown = {name: ["*", *[row[name] for row in texts(release.data)][1:]] for name in data.names}
        release = Release(table(shown, sensitive=["z"]), "by hand", {}, release.promises, suppressed=1)
    here = flat(measure(data, release))
    there = flat(measured(comparison_of(*cut(data, release))))
    assert (
        {"lm", "granularity", "entropy", "classes", "median_class", "marginal_kl"} <= set(there) <= set(here)
    )
    assert there == pytest.approx({name: here[name] for name in there}, rel=1e-12, abs=1e-12)


def test_baskets_in_parts_have_the_same_scores() -> None:
    before, after = baskets_of(["ab", "b", "abc", ""]), baskets_of(["b", "b", "ab", ""])
    sides = [
        Dataset(
            one.take(np.empty(0, dtype=np.int64)),
            MemoryParts(pl.DataFrame({"items": [one.items[a:b].tolist() for a, b in spans(one)]})),
            len(one),
        )
        for one in (before, after)
    ]
    here = flat(measure(before, Release(after, "by hand", {}, ())))
    there = flat(measured(comparison_of(sides[0], Release(sides[1], "by hand", {}, ()))))
    assert there["information_loss"] == here["information_loss"] == 2 / 6
    assert there == {name: here[name] for name in there}


def spans(baskets: Baskets) -> list[tuple[int, int]]:
    return list(zip(baskets.indptr[:-1].tolist(), baskets.indptr[1:].tolist(), strict=True))


def test_measures_that_need_all_rows_say_so() -> None:
    data = of([(1, "a", 1), (1, "a", 2)])
    both = comparison_of(*cut(data, Release(data, "by hand", {}, ())))
    assert "queries (questions are answered from single rows)" in (left_out(both) or "")
    with pytest.raises(WrongUse, match="queries is not measured on stream or spark: questions"):
        asked_scores(Queries(), both)
    assert all(one.not_distributable is None or one.not_distributable for one in default_measures())


@pytest.mark.parametrize("names", [2, 1])
def test_every_score_that_is_missing_in_parts_is_told(names: int) -> None:
    data = of([(1, "a", 1), (1, "a", 2)])
    data = Table(data.columns[:names])
    release = Release(data, "by hand", {}, ())
    both = comparison_of(*cut(data, release))
    there = {score.name for score in measured(both)}
    said = left_out(both) or ""
    assert left_out(comparison_of(data, release)) is None
    for one in default_measures(data):
        for score in one.scores(data, release):
            missing = score.name not in there
            told = re.search(rf"\b({score.name}|{one.name} \()", said) is not None
            assert missing == told, score.name


def test_measures_that_are_not_loaded_for_tables_judge_none() -> None:
    kinds = registry.load_all("measure")
    assert {name for name, kind in kinds.items() if Table not in kind.accepts} == WITHOUT_TABLES
