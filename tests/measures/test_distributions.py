"""Distributions of columns and pairs, against counting row by row."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import distributions as naive
from tests.tables import column, table, texts

from shoal.data.hierarchy import Hierarchy
from shoal.data.release import Release
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.errors import BadData
from shoal.measures._crosstabs import axis_of, bins_of, product
from shoal.measures.distributions import Distributions, cramer, distances, middle_of, pearson
from shoal.measures.measure import flat
from shoal.methods.mondrian.method import Mondrian

ROWS = st.lists(
    st.tuples(
        st.integers(0, 9), st.integers(0, 5), st.sampled_from("abc"), st.sampled_from(["flu", "cold", "ok"])
    ),
    min_size=4,
    max_size=40,
)


def candidates(original: Table, name: str, text: str) -> list[str]:
    """The values that a cell of Mondrian may stand for."""
    one = original.column(name)
    labels = list(one.domain.labels)
    if text in labels:
        return [text]
    if text == "*":
        return labels
    if text.startswith("{"):
        return text[1:-1].split("|")
    low, high = text[1:-1].split(",")
    return labels[labels.index(low) : labels.index(high) + 1]


@given(ROWS, st.integers(2, 4), st.integers(0, 2))
def test_row_by_row(rows: list[tuple[int, int, str, str]], k: int, lost: int) -> None:
    names = ("age", "height", "city", "ill")
    columns = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    original = table(columns, sensitive=["ill"])
    release, _ = Mondrian(k=k).anonymize(original)
    assert isinstance(release.data, Table)
    lost = min(lost, release.data.rows - 1)
    published = release.data.take(np.arange(release.data.rows - lost))
    cut = Release(published, release.method, {}, (), lost)
    scores = flat(Distributions().scores(original, cut))
    raw, shown = texts(original), texts(published)
    domains = {one.name: one.domain.labels for one in original.columns}

    def fits(name: str, text: str) -> list[str]:
        return candidates(original, name, text)

    for name in names:
        truth = Counter((row[name],) for row in raw)
        expected = naive.shares(shown, [name], domains, fits, lost)
        kl, hellinger = naive.distances(truth, expected)
        assert scores[f"marginal_kl.{name}"] == pytest.approx(kl, abs=1e-9)
        assert scores[f"marginal_hellinger.{name}"] == pytest.approx(hellinger, abs=1e-7)
    for one, other in combinations(names, 2):
        pair = f"{one} × {other}"
        truth = Counter((row[one], row[other]) for row in raw)
        expected = naive.shares(shown, [one, other], domains, fits, lost)
        kl, hellinger = naive.distances(truth, expected)
        assert scores[f"pair_kl.{pair}"] == pytest.approx(kl, abs=1e-9)
        assert scores[f"pair_hellinger.{pair}"] == pytest.approx(hellinger, abs=1e-7)
        if {one, other} == {"age", "height"} or min(len(domains[one]), len(domains[other])) < 2:
            continue
        seen = naive.shares(shown, [one, other], domains, fits, 0)
        sizes = len(domains[one]), len(domains[other])
        assert scores[f"correlation_before.{pair}"] == pytest.approx(naive.cramer(truth, sizes), abs=1e-9)
        assert scores[f"correlation_after.{pair}"] == pytest.approx(naive.cramer(seen, sizes), abs=1e-9)


def test_pearson_is_taken_at_the_middle_of_cells() -> None:
    original = table({"age": [20, 30, 40, 50], "pay": [1, 2, 4, 3]})
    published = Table(
        (column("age", ["[20,30]", "[20,30]", "40", "50"]), column("pay", ["1", "2", "*", "3"]))
    )
    scores = flat(Distributions().scores(original, Release(published, "by hand", {}, ())))
    before = naive.pearson([(20, 1), (30, 2), (40, 4), (50, 3)])
    after = naive.pearson([(25, 1), (25, 2), (40, 2.5), (50, 3)])
    assert scores["correlation_before"] == pytest.approx(before)
    assert scores["correlation_after"] == pytest.approx(after)
    assert scores["correlation_error"] == pytest.approx(abs(before - after))


def test_the_original_as_it_is_loses_nothing() -> None:
    original = table({"age": [20, 30, 40, 40], "city": ["a", "b", "a", None]}, sensitive=["city"])
    release = Release(original, "by hand", {}, ())
    scores = flat(Distributions().scores(original, release))
    for name in ("marginal_kl", "marginal_hellinger", "pair_kl", "pair_hellinger", "correlation_error"):
        assert scores[name] == pytest.approx(0, abs=1e-7)


def test_a_lone_column_has_no_pairs_and_a_constant_one_no_correlation() -> None:
    alone = table({"age": [20, 30]})
    found = {score.name for score in Distributions().scores(alone, Release(alone, "by hand", {}, ()))}
    assert found == {"marginal_kl", "marginal_hellinger"}
    constant = table({"age": [20, 30], "city": ["a", "a"]})
    found = {score.name for score in Distributions().scores(constant, Release(constant, "by hand", {}, ()))}
    assert "correlation_error" not in found
    assert "pair_kl" in found


def test_what_a_release_rules_out_stays_finite() -> None:
    kl, hellinger = distances(np.array([1.0, 1.0]), np.array([2.0, 0.0]), np.array([0.5, 0.5]))
    assert np.isfinite(kl)
    assert 0 < hellinger < 1


def test_nonsense_is_refused() -> None:
    original = table({"age": [20, 25]})
    odd = Release(Table((column("age", ["old", "25"]),)), "by hand", {}, ())
    with pytest.raises(BadData, match="cannot read 'old'"):
        Distributions().scores(original, odd)


def test_bins_of_many_values() -> None:
    many = column("n", [*range(100), *[7] * 100, None])
    bins = bins_of(many, 10)
    assert bins[many.domain.missing] == bins.max()
    assert (np.diff(bins) >= 0).all()
    assert bins[7] != bins[6] or bins[7] != bins[8]
    names = column("s", [f"v{place:02}" for place in range(30)] + ["v29"] * 5)
    rare = bins_of(names, 5)
    assert (rare == rare[0]).sum() in (1, 26)
    assert (rare == rare[29]).sum() == 1
    assert rare.max() == 4


def test_nodes_are_spread_over_their_leaves_that_occur() -> None:
    tree = Hierarchy((("a", "b", "c"), ("ab", "c"), ("*",)), (np.array([0, 0, 1]), np.array([0, 0])))
    one = column("x", ["a", "b", "c"], hierarchy=tree)
    axis = axis_of(one, column("x", ["ab", "ab", "c"], role=Role.QUASI))
    assert axis.shares.tolist() == [[0.5, 0.5, 0], [0, 0, 1]]


@given(st.integers(1, 2000), st.integers(1, 30), st.integers(1, 30))
def test_products_in_parts(rows: int, left: int, right: int) -> None:
    generator = np.random.default_rng(rows)
    one, other = generator.random((rows, left)), generator.random((rows, right))
    assert product(one, other) == pytest.approx(one.T @ other)


def test_cramer_and_pearson_where_there_is_nothing_to_tell() -> None:
    assert cramer(np.array([[2.0, 3.0]]), np.array([[2.0, 3.0]])) is None
    assert cramer(np.zeros((2, 2)), np.ones((2, 2))) == 0
    rows, both = np.array([0, 1]), np.array([1, 1])
    rising = (rows, np.array([1.0, 2.0]), both)
    assert pearson([(rows, np.array([1.0, 1.0]), both), rising]) == {(0, 1): None}
    assert pearson([(rows, np.array([1.0, np.nan]), both), rising]) == {(0, 1): None}


def test_middles_of_sets_and_missing_cells() -> None:
    original = column("n", [1, 5, 9, None])
    axis = axis_of(original, column("n", ["{1|9}", "[5,9]", "", "*"], role=Role.QUASI))
    assert dict(
        zip(axis.published.domain.labels, middle_of(original, axis.coverage).tolist(), strict=True)
    ) == pytest.approx({"": float("nan"), "*": 5, "[5,9]": 7, "{1|9}": 5}, nan_ok=True)


def test_columns_that_do_not_go_together_are_not_correlated() -> None:
    """Rounding would leave a correlation of 1e-17."""
    data = table({"a": [0.1, 0.1, 0.7, 0.7] * 3, "b": [0.3, 0.9, 0.3, 0.9] * 3})
    scores = flat(Distributions().scores(data, Release(data, "by hand", {}, ())))
    assert scores["correlation_before"] == scores["correlation_error"] == 0
    assert scores["marginal_hellinger"] == scores["marginal_kl"] == 0
