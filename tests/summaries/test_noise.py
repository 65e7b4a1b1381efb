"""The noise of `--epsilon` is discrete Laplace of the promised scale."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import chisquare

import shoal
from shoal.errors import WrongUse

pytest.importorskip("opendp")

from shoal.summaries.noise import noisy_counts

DRAWS, TAIL = 40_000, 6


def fits(noise: np.ndarray, epsilon: float) -> float:
    """The chance of noise so far from discrete Laplace: P(n) = (1-a)/(1+a) a^|n|, a = exp(-epsilon)."""
    a = np.exp(-epsilon)
    numbers = np.arange(-TAIL, TAIL + 1)
    inside = (1 - a) / (1 + a) * a ** np.abs(numbers)
    tail = a ** (TAIL + 1) / (1 + a)
    expected = np.concatenate([[tail], inside, [tail]]) * len(noise)
    seen = [(noise < -TAIL).sum(), *((noise == number).sum() for number in numbers), (noise > TAIL).sum()]
    return float(chisquare(seen, expected).pvalue)


@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_the_noise_is_discrete_laplace(epsilon: float) -> None:
    noise = noisy_counts(np.full(DRAWS, 7), epsilon) - 7
    assert fits(noise, epsilon) > 1e-6
    assert fits(noise, epsilon * 1.2) < 1e-6
    assert fits(noise, epsilon / 1.2) < 1e-6


def test_one_budget_for_all_tables() -> None:
    """All tables are sums of one noisy histogram: shared margins are one number, and everything adds up."""
    random = np.random.default_rng(3)
    frame = pl.DataFrame({name: random.choice(list("xyz"), 500) for name in "abc"})
    found = shoal.summarize(frame, [["a", "b"], ["a", "c"]], epsilon=0.1)
    assert found.release.promises == ({"model": "differential-privacy", "epsilon": 0.1},)
    verdict = found.verdicts[0]
    assert verdict.holds
    assert "guaranteed by the mechanism" in verdict.promise
    assert "not provable from files" in verdict.promise
    counts = dict(zip(found.release.data.places(), found.release.data.numbers("count"), strict=True))
    for a in "xyz":
        assert sum(counts[a, b, "TOTAL"] for b in "xyz") == counts[a, "TOTAL", "TOTAL"]
        assert sum(counts[a, "TOTAL", c] for c in "xyz") == counts[a, "TOTAL", "TOTAL"]
    assert any("noise" in warning for warning in found.warnings)


def test_the_noise_of_a_total_is_that_of_its_cells() -> None:
    """Nothing else is learned of the rows: the variance of a total over nine cells is nine times that of a cell."""
    frame = pl.DataFrame({"a": list("xyz") * 3, "b": list("xxxyyyzzz")})
    totals = []
    for _ in range(200):
        data = shoal.summarize(frame, ["a", "b"], epsilon=1).release.data
        totals.append(int(dict(zip(data.places(), data.numbers("count"), strict=True))["TOTAL", "TOTAL"]) - 9)
    a = np.exp(-1)
    variance = 9 * 2 * a / (1 - a) ** 2
    assert 0.6 < np.var(totals) / variance < 1.6
    assert abs(np.mean(totals)) < 6 * np.sqrt(variance / 200)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sums": ["pay"]}, "is for counts"),
        ({"threshold": 3}, "no cell is hidden"),
    ],
)
def test_noise_does_not_go_with_hiding(options: dict[str, object], said: str) -> None:
    frame = pl.DataFrame({"a": list("xyz"), "pay": [1, 2, 3]})
    with pytest.raises(WrongUse, match=said):
        shoal.summarize(frame, ["a"], epsilon=1, **options)
