"""How many people are unique in the population that a table was drawn from, estimated from the table alone.

Three models, each solved as ARX solves it (package ``risk``), and the rule of Dankar et al. (2012) that picks one:
Pitman's (Hoshino 2001) for a sample of at most a tenth, else the smaller of Zayatz's (1991) and the slide negative
binomial (Chen and Keller-McNulty 1998).
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import Counts

SMALL_SAMPLE = 0.1
"""Up to this share of the population, Pitman's model is the one to trust."""

ACCURACY, STEPS, STEPS_IN_ALL = 1e-6, 1_000, 10_000

Matrix: TypeAlias = NDArray[np.float64]
Equations: TypeAlias = Callable[[float, float], tuple[tuple[float, float], Matrix]]
"""Two numbers to what should become zero, and its derivatives."""


@dataclass(frozen=True, slots=True)
class PopulationUniques:
    """The share of the population that is unique, by each model; None where a model gives no estimate."""

    population: int  # how many people there are
    pitman: float | None
    zayatz: float | None
    snb: float | None
    chosen: str  # the model that the rule of Dankar et al. picks

    @property
    def share(self) -> float:
        """The share by the chosen model."""
        return float(getattr(self, self.chosen) or 0.0)

    def as_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return {**asdict(self), "share": self.share}


def population_uniques(sizes: Counts, population: int) -> PopulationUniques:
    """Estimate the share of unique people.

    `sizes`: of the equivalence classes of the sample. `population`: how many people there are, at least as many as in
    the sample.
    """
    if not (sizes == 1).any():
        return PopulationUniques(population, 0.0, 0.0, 0.0, "pitman")
    size, count = (array.astype(np.float64) for array in np.unique(sizes, return_counts=True))
    found = {
        "pitman": _valid(_pitman(size, count, population), population),
        "zayatz": _valid(_zayatz(size, count, population), population),
        "snb": _valid(_slide_negative_binomial(size, count, population), population),
    }
    return PopulationUniques(population, **found, chosen=_chosen(found, float(sizes.sum()) / population))


def _valid(uniques: float, population: int) -> float | None:
    """A share; None for what no solver found, and for nobody at all, which a sample with uniques rules out."""
    return uniques / population if np.isfinite(uniques) and uniques > 0 else None


def _chosen(found: dict[str, float | None], fraction: float) -> str:
    """The rule of Dankar et al."""
    if fraction <= SMALL_SAMPLE:
        return "pitman" if found["pitman"] is not None else "zayatz"
    snb, zayatz = found["snb"], found["zayatz"]
    return "snb" if snb is not None and (zayatz is None or zayatz >= snb) else "zayatz"


def _zayatz(size: Matrix, count: Matrix, population: int) -> float:
    """The chance that a class of one in the sample is one of one in the population."""
    sample, classes = float((size * count).sum()), float(count.sum())
    # One of K is drawn: K * n/N * product over j below K - 1 of (N - n - j) / (N - 1 - j).
    steps = np.arange(int(size[-1]) - 1, dtype=np.float64)
    with np.errstate(divide="ignore"):
        logs = np.log(np.maximum(population - sample - steps, 0.0)) - np.log(population - 1 - steps)
    passed = np.concatenate(([0.0], np.cumsum(logs)))
    one_drawn = size * sample / population * np.exp(passed[size.astype(np.int64) - 1])
    uniques = count[0] if size[0] == 1 else 0.0
    chance = uniques / classes * sample / population / float((count / classes * one_drawn).sum())
    return float(uniques * chance * population / sample)


def _pitman(size: Matrix, count: Matrix, population: int) -> float:
    """Maximum likelihood of the two parameters of Pitman's sampling formula, from moments on."""
    from scipy.special import digamma, gammaln, polygamma

    n, u = float((size * count).sum()), float(count.sum())
    c1 = _of_size(1, size, count)
    c2 = _of_size(2, size, count) or 1.0
    larger = size > 1
    size, count = size[larger], count[larger]

    def equations(t: float, a: float) -> tuple[tuple[float, float], Matrix]:
        high, low = digamma(u + t / a), digamma(t / a + 1)
        slope = polygamma(1, t / a + 1) - polygamma(1, u + t / a)
        gradient = (
            (high - low) / a - (digamma(n + t) - digamma(t + 1)),
            (u - 1) / a
            - t * (high - low) / a**2
            - float((count * (digamma(size - a) - digamma(1 - a))).sum()),
        )
        mixed = (a * (high - low) - t * slope) / a**3
        of_alpha = ((u - 1) * a**2 + t**2 * slope - 2 * a * t * (high - low)) / a**4
        within = float((count * (polygamma(1, 1 - a) - polygamma(1, size - a))).sum())
        first = polygamma(1, t + 1) - polygamma(1, n + t) - slope / a**2
        return gradient, np.array([[first, -mixed], [-mixed, -of_alpha - within]])

    c = c1 * (c1 - 1) / c2
    with np.errstate(all="ignore"):
        t = np.divide(n * u * c - c1 * (n - 1) * (2 * u + c), 2 * c1 * u + c1 * c - n * c)
        a = (t * (c1 - n) + (n - 1) * c1) / (n * u)
        t, a = solved(equations, (float(t), float(a)), lambda x, _: x >= 0)
        uniques = np.exp(gammaln(t + 1) - gammaln(t + a)) * float(population) ** a
    return float(uniques) if 0 <= uniques <= population else float("nan")


def _slide_negative_binomial(size: Matrix, count: Matrix, population: int) -> float:
    """Two moment equations in alpha and beta, with the estimate of the number of classes after Shlosser.

    ARX multiplies in the second equation by the power that the paper divides by, though its derivatives divide, and its
    estimate of the classes takes 1 away once for each size of classes. Both are kept, so that the figures are ARX's:
    an estimate appears for large samples only, where it hardly matters.
    """
    f = float((size * count).sum()) / population
    c1, c2 = _of_size(1, size, count), _of_size(2, size, count)
    missed = (1 - f) ** size * count
    seen_once = float((size * f * (1 - f) ** (size - 1) * count).sum())
    ratio = float((size * f**2 * (1 - f**2) ** (size - 1) * count).sum()) / float(
        (missed * (1 + f) ** size - 1).sum()
    )
    k = (
        float(count.sum()) + c1 * ratio * (float(missed.sum()) / seen_once) ** 2
        if seen_once
        else float("nan")
    )

    def equations(a: float, b: float) -> tuple[tuple[float, float], Matrix]:
        left = (1 - f) * (1 - b)
        base = 1 - left
        first = k * f * (b / base) ** a * (a * left / base + 1) - c1
        second = k * a * b**a * f**2 * (1 - b) / 2 * base ** (a + 2) * (2 - (1 - a) * left) - c2
        return (first, second), _snb_derivatives(a, b, f, k)

    with np.errstate(all="ignore"):
        a, b = solved(equations, (1.0, 1.0))
        return float(k * np.float64(b) ** a)


def _snb_derivatives(a: float, b: float, f: float, k: float) -> Matrix:
    """Of the two equations of the slide negative binomial as the paper has them, by alpha and beta."""
    left = (1 - f) * (1 - b)
    base = 1 - left
    slope = b / base**2 * (1 - f)
    power = (b / base) ** a
    inner = a * left / base + 1
    by_alpha = k * f * power * (np.log(b / base) * inner + left / base)
    by_beta = k * f * (a * (b / base) ** (a - 1) * (1 / base - slope) * inner - power * a * (1 - f) / base**2)
    scale = k * b**a * f**2 / 2 / base ** (a + 2)
    rest = 2 - (1 - a) * left
    second_alpha = scale * (1 - b) * (rest * (1 + a * np.log(b) - a * np.log(base)) + a * left)
    second_beta = (
        a
        * scale
        * (
            rest * (a * (1 - b) / b - 1)
            + (1 - b) * (1 - a) * (1 - f)
            - (a + 2) * (1 - f) * (1 - b) * rest / base
        )
    )
    return np.array([[by_alpha, by_beta], [second_alpha, second_beta]])


def _of_size(wanted: int, size: Matrix, count: Matrix) -> float:
    return float(count[size == wanted].sum())


def solved(
    equations: Equations,
    start: tuple[float, float],
    allowed: Callable[[float, float], bool] = lambda _x, _y: True,
) -> tuple[float, float]:
    """Newton's method for two equations, from a first guess and then from a grid of starts; NaN where none leads on."""
    steps = 0
    for x, y in _starts(start):
        for _ in range(STEPS):
            if steps >= STEPS_IN_ALL:
                return float("nan"), float("nan")
            steps += 1
            values, slopes = equations(np.float64(x), np.float64(y))
            if abs(values[0]) <= ACCURACY and abs(values[1]) <= ACCURACY:
                return float(x), float(y)
            determinant = slopes[0, 0] * slopes[1, 1] - slopes[0, 1] * slopes[1, 0]
            x = x - (slopes[1, 1] * values[0] - slopes[0, 1] * values[1]) / determinant
            y = y - (slopes[0, 0] * values[1] - slopes[1, 0] * values[0]) / determinant
            if not (np.isfinite(x) and np.isfinite(y)) or not allowed(x, y):
                break
    return float("nan"), float("nan")


def _starts(first: tuple[float, float]) -> Iterator[tuple[float, float]]:
    yield first
    for x in range(4):
        for y in range(4):
            yield 0.33 * x, 0.33 * y
