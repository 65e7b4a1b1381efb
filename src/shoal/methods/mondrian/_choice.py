"""Which cut a segment gets: the same rules, whether its rows are at hand or only counted."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import AnyArray, Codes, Floats, Mask, Rows
from shoal.methods.mondrian._space import Space

Choice: TypeAlias = Literal["widest", "loss", "random"]
Hashes: TypeAlias = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class Cuts:
    """One cut for each of some segments, with no rows on its left where there is none.

    Codes below the pivot go left, those above go right, and of the rows equal to it the first `ties` go left.
    """

    segments: Rows
    dimensions: Rows
    left: Rows
    pivots: Rows
    ties: Rows

    def __getitem__(self, chosen: AnyArray | slice) -> "Cuts":
        return Cuts(*(getattr(self, name)[chosen] for name in self.__slots__))


@dataclass(frozen=True, slots=True, eq=False)
class Rules:
    """What holds for all segments; see ``partition``."""

    space: Space
    least: int
    relaxed: bool
    choose: Choice


class Segments(Protocol):
    """Segments that are to be cut."""

    @property
    def sizes(self) -> Rows:
        """Rows of each."""

    @property
    def nodes(self) -> Hashes:
        """The number of each in the tree."""

    @property
    def opened(self) -> Mask:
        """Which dimensions (columns) of a segment (row) may have an allowable cut; learns of those that have none."""

    def bounds(self) -> tuple[Codes, Codes]:
        """The lowest and the highest codes, one row a segment."""

    def counted(self, segments: Rows, dimensions: Rows) -> tuple[Rows, Callable[[Rows], Rows]]:
        """The median code of some segments, each on a dimension of its own, and how many rows they have up to codes."""

    def halves(self, cuts: Cuts) -> tuple[Rows, Codes, Codes]:
        """The sizes and the bounds of the halves of cuts, left before right."""

    def allowed(self, cuts: Cuts) -> Mask:
        """Which cuts nobody refuses."""


def choose(level: Segments, rules: Rules) -> Cuts:
    """The cuts of segments: of each that of the best dimension that has one that is allowed.

    Segments try one dimension after the other, all of them at the same time.
    """
    low, high = level.bounds()
    scores = _scores(level, low, high, rules)
    preference = np.argsort(-scores, axis=1, kind="stable")
    undecided = np.arange(len(scores))
    chosen = []
    for turn in range(len(rules.space.sizes)):
        dimensions = preference[undecided, turn]
        usable = scores[undecided, dimensions] > -np.inf
        undecided, dimensions = undecided[usable], dimensions[usable]
        if not len(undecided):
            break
        cuts = _cuts(level, undecided, dimensions, low, high, rules)
        made = cuts.left > 0
        if made.any():
            made[made] = level.allowed(cuts[made])
        chosen.append(cuts[made])
        undecided = undecided[~made]
    if not chosen:
        nothing = np.zeros(0, dtype=np.int64)
        return Cuts(nothing, nothing, nothing, nothing, nothing)
    joined = Cuts(*(np.concatenate([getattr(cuts, name) for cuts in chosen]) for name in Cuts.__slots__))
    return joined[np.argsort(joined.segments)]


def _scores(level: Segments, low: Codes, high: Codes, rules: Rules) -> Floats:
    """How much each segment prefers each dimension; -inf where it cannot be cut."""
    widths = rules.space.widths(low, high)
    usable = level.opened & (widths > 0.0)
    if rules.choose == "widest":
        return np.where(usable, widths, -np.inf)
    if rules.choose == "random":
        dimensions = np.arange(3, 3 + widths.shape[1], dtype=np.uint64)
        hashes = mix(level.nodes[:, np.newaxis] + dimensions) >> np.uint64(11)
        return np.where(usable, hashes.astype(np.float64), -np.inf)
    scores = np.full(widths.shape, -np.inf)
    for dimension in range(widths.shape[1]):
        segments = np.flatnonzero(usable[:, dimension])
        cuts = _cuts(level, segments, np.full(len(segments), dimension), low, high, rules)
        cuts = cuts[cuts.left > 0]
        if len(cuts.segments):
            scores[cuts.segments, dimension] = -_losses(level, cuts, rules.space)
    return scores


def _losses(level: Segments, cuts: Cuts, space: Space) -> Floats:
    """Rows times the sum of widths, of both halves of each cut together."""
    sizes, low, high = level.halves(cuts)
    widths = space.widths(low, high)
    totals = np.zeros(len(sizes))
    for dimension in range(widths.shape[1]):
        totals += widths[:, dimension]
    losses: Floats = sizes[::2] * totals[::2] + sizes[1::2] * totals[1::2]
    return losses


def _cuts(level: Segments, segments: Rows, dimensions: Rows, low: Codes, high: Codes, rules: Rules) -> Cuts:
    """The cut of each segment on a dimension of its own, as the kernels cut it.

    The median boundary lies just above the median code, and so has at least half of the rows on its left: where it is
    not allowable, the next one below the median is the only one that can be.
    """
    space, least = rules.space, rules.least
    sizes = level.sizes[segments]
    median, rows_through = level.counted(segments, dimensions)
    below, through = rows_through(median - 1), rows_through(median)
    fits = through <= sizes - least
    left = np.where(sizes >= 2 * least, (sizes + 1) // 2, 0)
    pivots, ties = median, left - below
    if not rules.relaxed:
        left = np.where(fits, through, np.where(below >= least, below, 0))
        pivots, ties = np.where(fits, median, median - 1), sizes
    if not space.flat[dimensions].all():
        bounds = low[segments, dimensions].astype(np.int64), high[segments, dimensions].astype(np.int64)
        mixed, lower, upper = _boundaries(space, dimensions, *bounds, median, fits)
        lower_left, upper_left = rows_through(lower), rows_through(upper)
        lower_fits = (lower >= bounds[0]) & (lower_left >= least)
        upper_fits = (upper < bounds[1]) & (upper_left <= sizes - least)
        rises = upper_fits & (~lower_fits | (upper_left - through <= through - lower_left))
        preferred = (rises | lower_fits) & ~space.flat[dimensions] & (mixed | (not rules.relaxed))
        left = np.where(preferred, np.where(rises, upper_left, lower_left), left)
        pivots = np.where(preferred, np.where(rises, upper, lower), pivots)
        ties = np.where(preferred, sizes, ties)
    level.opened[segments, dimensions] = left > 0
    return Cuts(segments, dimensions, left, pivots, ties)


def _boundaries(
    space: Space, dimensions: Rows, low: Rows, high: Rows, median: Rows, fits: Mask
) -> tuple[Mask, Rows, Rows]:
    """Find the preferred boundaries, those of least depth, next to the median on both sides.

    Returns
    -------
    Mask
        Whether depths differ, or missing and other values are mixed.
    Rows
        The last preferred boundary up to the median, without the median boundary unless that fits; less than `low` if
        there is none.
    Rows
        The first one from the median on; `high` or more if there is none, or the median boundary does not fit.
    """
    offsets = space.offsets[dimensions]
    last, before = high - 1, space.earlier[offsets + high - 1]
    while (walks := before >= low).any():
        last = np.where(walks, before, last)
        before = space.earlier[offsets + last]
    depth = space.depths[offsets + last]
    mixed = (space.runs[offsets + high - 1] > low) | (depth < 0)
    lower = np.where(fits, median, median - 1)
    while (walks := (lower >= low) & (space.depths[offsets + np.maximum(lower, low)] > depth)).any():
        lower = np.where(walks, space.earlier[offsets + lower], lower)
    upper = np.where(fits, median, high)
    while (walks := (upper < high) & (space.depths[offsets + np.minimum(upper, high - 1)] > depth)).any():
        upper = np.where(walks, space.later[offsets + np.minimum(upper, high - 1)], upper)
    return mixed, lower, upper


def mix(values: Hashes) -> Hashes:
    """One step of splitmix64: numbers that look random, the same for the same values."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Hashes = values ^ (values >> np.uint64(31))
    return mixed


def interleaved(first: AnyArray, second: AnyArray) -> AnyArray:
    """The entries of two arrays in turn."""
    return np.column_stack([first, second]).reshape(-1)
