"""The synthetic baskets keep their documented truth."""

import numpy as np
import pytest

from shoal.data.baskets import Baskets
from shoal.datasets.shopping import HIGHEST, Shopping
from shoal.errors import WrongUse
from shoal.registry import load


def support_shares(baskets: Baskets, items: int) -> np.ndarray:
    shares = np.zeros(items)
    for code, item in enumerate(baskets.vocabulary):
        shares[int(item) - 1] = baskets.supports[code] / len(baskets)
    return shares


@pytest.mark.parametrize(
    "shape",
    [
        Shopping(rows=20_000, items=200, density=0.03),
        Shopping(rows=5_000, items=40, density=0.5, skew=0.3),
        Shopping(rows=20_000, items=100, density=0.05, skew=0, topics=4),
        Shopping(rows=20_000, items=90, density=0.05, skew=1.2, topics=3, correlation=0.9),
    ],
)
def test_supports_and_density(shape: Shopping) -> None:
    baskets = shape.make(seed=5)
    assert len(baskets) == shape.rows
    expected = shape.probabilities()
    assert expected.sum() == pytest.approx(shape.density * shape.items)
    assert expected.max() <= HIGHEST
    # Supports vary more than those of independent people: who buys much buys everything more often.
    tolerance = 5 * np.sqrt(expected / shape.rows) + 5 * expected / np.sqrt(shape.rows)
    assert (np.abs(support_shares(baskets, shape.items) - expected) < tolerance).all()
    assert baskets.lengths.mean() == pytest.approx(shape.density * shape.items, rel=0.03)


def test_form() -> None:
    assert load("dataset", "baskets") is Shopping
    baskets = Shopping(rows=500, items=120).make(seed=1)
    assert list(baskets.vocabulary) == sorted(baskets.vocabulary)
    assert (baskets.supports > 0).all()
    for row in range(50):
        items = baskets.items[baskets.indptr[row] : baskets.indptr[row + 1]]
        assert (np.diff(items) > 0).all()
    assert len(baskets.sensitive) == len(baskets.insensitive) == 0
    assert baskets.layout == "lines"


def test_a_seed_makes_the_same_baskets() -> None:
    first, again, other = (Shopping(rows=300).make(seed) for seed in (1, 1, 2))
    assert np.array_equal(first.items, again.items)
    assert np.array_equal(first.indptr, again.indptr)
    assert not np.array_equal(first.indptr, other.indptr)


def test_tastes_join_items_of_one_topic() -> None:
    shape = Shopping(rows=20_000, items=40, density=0.1, skew=0, topics=4, correlation=0.8)
    baskets = shape.make(seed=2)
    matrix = np.zeros((shape.rows, shape.items))
    matrix[
        np.repeat(np.arange(shape.rows), baskets.lengths),
        [int(baskets.vocabulary[i]) - 1 for i in baskets.items],
    ] = 1
    together = np.corrcoef(matrix.T)
    topic = np.arange(shape.items) % shape.topics
    same = (topic[:, None] == topic) & ~np.eye(shape.items, dtype=bool)
    assert together[same].min() > 0.1
    assert together[topic[:, None] != topic].max() < 0.0
    independent = shape.model_copy(update={"topics": 1}).make(seed=2)
    assert independent.lengths.var() > independent.lengths.mean()


def test_order_tells_nothing_of_tastes() -> None:
    baskets = Shopping(rows=4_000, items=20, density=0.2, skew=0, topics=2, correlation=0.9).make(seed=4)
    half = baskets.items[: baskets.indptr[2_000]]
    even = sum(int(baskets.vocabulary[item]) % 2 for item in half) / len(half)
    assert even == pytest.approx(0.5, abs=0.05)


def test_the_smallest() -> None:
    baskets = Shopping(rows=1, items=1, density=0.5).make(seed=0)
    assert len(baskets) == 1
    assert len(baskets.vocabulary) == int(baskets.lengths[0])


@pytest.mark.parametrize(
    "wrong", [{"rows": 0}, {"items": 0}, {"density": 0}, {"density": 1}, {"skew": -1}, {"seed": 1}]
)
def test_parameters_out_of_range(wrong: dict[str, float]) -> None:
    with pytest.raises(WrongUse):
        Shopping(**wrong)
