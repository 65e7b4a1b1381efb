"""Local suppression: classes are what is published, stars are few, and never fewer than the bound."""

from collections import Counter
from itertools import combinations, product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.data.role import Roles
from shoal.errors import Infeasible, WrongUse
from shoal.io.tables.load import load_table
from shoal.methods.local_suppression.method import LocalSuppression
from shoal.pipeline import carry_out

Row = tuple[str, ...]

small = st.integers(1, 3).flatmap(
    lambda width: st.lists(
        st.tuples(*[st.sampled_from("abc")] * width), min_size=2, max_size=5 if width == 3 else 6
    )
)
larger = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.tuples(*[st.sampled_from("abcd")] * width), min_size=5, max_size=40)
)


def frame_of(rows: list[Row], **more: Any) -> pl.DataFrame:
    names = [f"q{place}" for place in range(len(rows[0]))]
    return pl.DataFrame(rows, schema=names, orient="row").with_columns(
        **{name: pl.Series(more[name]) for name in more}
    )


def starred(rows: list[Row], k: int, **options: Any) -> tuple[Any, list[Row]]:
    """The run, without scores, and the published quasi-identifiers."""
    frame = frame_of(rows, note=[str(place) for place in range(len(rows))])
    table = load_table(frame, Roles.of(quasi=frame.columns[:-1], sensitive=["note"])).table
    run = carry_out(LocalSuppression(k=k, **options), table, seed=1, measures=())
    published = run.release.to_polars().sort(pl.col("note").cast(pl.Int64)).drop("note")
    return run, [tuple(map(str, row)) for row in published.rows()]


def naive_fewest(rows: list[Row], k: int) -> int:
    """The fewest stars of all ways to star cells, by trying all of them."""
    masks = list(product([False, True], repeat=len(rows[0])))
    best = len(rows) * len(rows[0])
    for chosen in product(masks, repeat=len(rows)):
        stars = sum(map(sum, chosen))
        if stars < best:
            cells = [
                tuple("*" if star else cell for cell, star in zip(*pair, strict=True))
                for pair in zip(rows, chosen, strict=True)
            ]
            if min(Counter(cells).values()) >= k:
                best = stars
    return best


def judged(rows: list[Row], published: list[Row], k: int) -> int:
    """Every published combination, stars among its values, stands there k times; what is no star is true."""
    assert min(Counter(published).values()) >= k
    pairs = [
        (cell, true)
        for row, original in zip(published, rows, strict=True)
        for cell, true in zip(row, original, strict=True)
    ]
    assert all(cell in ("*", true) for cell, true in pairs)
    return sum(cell == "*" for cell, _ in pairs)


@settings(max_examples=25, deadline=None)
@given(small)
def test_optimal_is_the_fewest_of_all(rows: list[Row]) -> None:
    best = naive_fewest(rows, 2)
    run, published = starred(rows, 2, strategy="optimal")
    assert judged(rows, published, 2) == best
    assert run.trace.notes["bound"] == run.trace.notes["stars"] == best
    run, published = starred(rows, 2)
    assert run.trace.notes["bound"] <= best <= judged(rows, published, 2)


@settings(max_examples=40, deadline=None)
@given(larger, st.integers(2, 5))
def test_greedy_keeps_k_and_its_bound(rows: list[Row], k: int) -> None:
    run, published = starred(rows, k)
    assert judged(rows, published, k) == run.trace.notes["stars"] >= run.trace.notes["bound"]
    assert all(verdict.holds for verdict in run.verdicts)


def naive_matches(published: list[Row]) -> list[int]:
    """How many rows each row matches, where a star matches everything."""
    return [
        sum(all(a == b or "*" in (a, b) for a, b in zip(one, other, strict=True)) for other in published)
        for one in published
    ]


@settings(max_examples=40, deadline=None)
@given(larger, st.integers(2, 5))
def test_stars_that_match_all(rows: list[Row], k: int) -> None:
    run, published = starred(rows, k, stars_match_all=True)
    assert min(naive_matches(published)) >= k
    assert all(
        cell in ("*", true)
        for row, one in zip(published, rows, strict=True)
        for cell, true in zip(row, one, strict=True)
    )
    assert run.verdicts[0].value == min(naive_matches(published))
    assert "where a starred cell matches every value" in run.verdicts[0].promise
    assert any("starred cell is taken to match every value" in warning for warning in run.warnings)
    before = naive_matches(rows)
    untouched = [row == one for row, one in zip(published, rows, strict=True)]
    assert all(untouched[place] for place in range(len(rows)) if before[place] >= k)
    # No star is needless.
    for place, row in enumerate(published):
        for column, cell in enumerate(row):
            if cell == "*":
                fewer = [*published]
                fewer[place] = (*row[:column], rows[place][column], *row[column + 1 :])
                assert min(naive_matches(fewer)) < k


@pytest.mark.parametrize("stars_match_all", [False, True])
@settings(max_examples=25, deadline=None)
@given(rows=larger, k=st.integers(2, 4), m=st.integers(1, 3))
def test_every_choice_of_columns(rows: list[Row], k: int, m: int, stars_match_all: bool) -> None:
    run, published = starred(rows, k, m=m, stars_match_all=stars_match_all)
    reached = []
    for columns in combinations(range(len(rows[0])), min(m, len(rows[0]))):
        part = [tuple(row[column] for column in columns) for row in published]
        reached.append(min(naive_matches(part)) if stars_match_all else min(Counter(part).values()))
    assert min(reached) == run.verdicts[0].value >= k
    assert run.trace.notes["stars"] >= run.trace.notes["bound"]
    assert all(
        cell in ("*", true)
        for row, one in zip(published, rows, strict=True)
        for cell, true in zip(row, one, strict=True)
    )


def test_a_star_may_promise_less_than_it_seems() -> None:
    """The example of the guide: k = 2 where a star matches all, and a row that stands alone for who knows the city."""
    rows = [("Paris", "40"), ("Rome", "40"), ("Rome", "40")]
    run, published = starred(rows, 2, stars_match_all=True)
    assert published[0] == ("*", "40")
    assert not shoal.verify(run.release, k=2)[0].holds


def test_nothing_is_starred_where_nothing_must_be() -> None:
    rows = [("a", "b")] * 3 + [("a", "c")] * 4
    run, published = starred(rows, 3)
    assert published == rows
    assert (
        "0 cells starred (0.00% of the quasi-identifiers): no release has fewer."
        in run.trace.notes["summary"]
    )


def test_rows_are_lent_where_that_is_cheaper() -> None:
    """A row beside a large class: one star for it and one for a row of the class, instead of two for it alone."""
    rows = [("a", "x")] * 9 + [("a", "y")]
    run, published = starred(rows, 2)
    assert run.trace.notes["stars"] == 2
    assert Counter(published) == {("a", "x"): 8, ("a", "*"): 2}


def test_any_promise_is_kept() -> None:
    random = np.random.default_rng(4)
    rows = [tuple(random.choice(list("abc"), 3)) for _ in range(200)]
    ill = [str(value) for value in random.choice(["flu", "cold", "gout"], 200)]
    frame = frame_of(rows, ill=ill)
    quasi = frame.columns[:-1]
    run = shoal.anonymize(frame, "local-suppression", k=3, l=3, quasi=quasi, sensitive=["ill"], seed=1)
    held: dict[Row, set[str]] = {}
    for *cells, value in run.release.to_polars().rows():
        held.setdefault(tuple(cells), set()).add(value)
    assert min(map(len, held.values())) >= 3


def test_persons_are_counted() -> None:
    """Four rows of two persons are no class of three persons, and are starred together with another class."""
    who = ["1", "1", "1", "2", "3", "3", "4", "5", "6", "7", "8", "9"]
    frame = frame_of([("a",)] * 4 + [("b",)] * 4 + [("c",)] * 4, who=who)
    run = shoal.anonymize(frame, "local-suppression", k=3, quasi=["q0"], entity="who", seed=1)
    published = run.release.to_polars()["q0"].to_list()
    assert "a" not in published
    assert len(set(published)) == 2


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"k": 9}, Infeasible, "The largest k is 4"),
        ({"k": 2, "l": 2, "strategy": "optimal"}, WrongUse, "is for `k` alone"),
        ({"k": 2, "l": 2, "m": 1}, WrongUse, "`m` is for `k` alone"),
        ({"k": 2, "m": 1, "strategy": "optimal"}, WrongUse, "all quasi-identifiers together"),
        ({"k": 2, "stars_match_all": True, "strategy": "optimal"}, WrongUse, "an optimum is of no use"),
        ({"strategy": "optimal"}, WrongUse, "nothing to promise"),
    ],
)
def test_what_is_refused(options: dict[str, Any], error: type[Exception], said: str) -> None:
    frame = frame_of([("a",), ("a",), ("b",), ("b",)], ill=["flu", "cold", "flu", "cold"])
    with pytest.raises(error, match=said):
        shoal.anonymize(frame, "local-suppression", quasi=["q0"], sensitive=["ill"], **options)


def test_too_many_columns() -> None:
    frame = frame_of([tuple("ab" * 9), tuple("ab" * 9)])
    with pytest.raises(WrongUse, match="at most 16 quasi-identifiers"):
        shoal.anonymize(frame, "local-suppression", k=2, quasi=frame.columns)
