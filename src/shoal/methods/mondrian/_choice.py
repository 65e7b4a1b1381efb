"""Which cut a segment gets: the same rules whether its rows are in memory or only their counts are known."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import AnyArray, Codes, Floats, Mask, Rows, indptr_of, mixed


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """The dimensions of a partitioning, as flat arrays: entries of dimension j begin at ``offsets[j]``.

    Boundary i of a dimension lies between its codes i and i + 1; the entry after the last boundary is padding.
    """

    offsets: Rows  # where each dimension begins, and one more entry: the number of all codes
    positions: Floats  # the coordinate of each code, not decreasing within a dimension
    spans: Floats  # the extent of each dimension's coordinates
    weights: Floats  # how much a dimension's width counts
    missing: Mask  # dimensions whose last code is the missing value
    flat: Mask  # dimensions whose boundaries are all equally good
    depths: Codes
    """The depth of each boundary: the depth of the lowest node over the codes on both sides, or -1 before missing."""
    earlier: Codes
    later: Codes
    """`earlier`, `later`: the next boundary of less depth on either side, numbered within the dimension; -1, or the
    number of boundaries, if there is none."""
    runs: Codes  # the first boundary of the run of equal depths that a boundary is in

    @classmethod
    def of(cls, positions: Sequence[Floats], depths: Sequence[Codes], weights: Floats | None) -> "Space":
        """The space of dimensions given as one array each."""
        sizes = np.array([len(places) for places in positions], dtype=np.int64)
        chains = [_chains(np.asarray(levels, dtype=np.int32)) for levels in depths]
        return cls(
            offsets=indptr_of(sizes),
            positions=np.concatenate([np.asarray(places, dtype=np.float64) for places in positions]),
            spans=np.array([places[-1] - places[0] for places in positions]),
            weights=np.ones(len(sizes)) if weights is None else np.asarray(weights, dtype=np.float64),
            missing=np.array([len(levels) > 0 and levels[-1] < 0 for levels in depths], dtype=np.bool_),
            flat=np.array([_is_flat(np.asarray(levels)) for levels in depths], dtype=np.bool_),
            depths=_joined([np.asarray(levels, dtype=np.int32) for levels in depths], sizes),
            earlier=_joined([chain[0] for chain in chains], sizes),
            later=_joined([chain[1] for chain in chains], sizes),
            runs=_joined([chain[2] for chain in chains], sizes),
        )

    @property
    def sizes(self) -> Rows:
        """The number of codes of each dimension."""
        return np.diff(self.offsets)

    def widths(self, low: Codes, high: Codes) -> Floats:
        """The normalized widths of segments, from their bounds: one row per segment, one column per dimension.

        A segment that mixes missing and other values in a dimension gets the full width there, so that it is cut there
        first.
        """
        extents = self.positions[self.offsets[:-1] + high] - self.positions[self.offsets[:-1] + low]
        spans = np.where(self.spans == 0.0, 1.0, self.spans)
        widths = self.weights * extents / spans
        mixed = self.missing & (high + 1 == self.sizes) & (low < high)
        return np.where(mixed, self.weights, widths)


def _is_flat(depths: AnyArray) -> bool:
    return not len(depths) or bool(depths.min() == depths.max() >= 0)


def _chains(depths: Codes) -> tuple[Codes, Codes, Codes]:
    """`earlier`, `later` and `runs` of one dimension's boundaries."""
    count = len(depths)
    if _is_flat(depths):
        nowhere = np.full(count, -1, dtype=np.int32)
        return nowhere, nowhere + np.int32(count + 1), np.zeros(count, dtype=np.int32)
    changes = np.concatenate([[True], depths[1:] != depths[:-1]])
    runs = np.maximum.accumulate(np.where(changes, np.arange(count), 0)).astype(np.int32)
    later = count - 1 - _earlier(depths[::-1])[::-1]
    return _earlier(depths), later.astype(np.int32), runs


def _earlier(depths: Codes) -> Codes:
    """For each boundary, the last one before it that has less depth, or -1.

    All boundaries follow pointers at the same time, as in pointer jumping: each leaps to where its target points, since
    nothing in between has less depth.
    """
    looks = np.arange(-1, len(depths) - 1, dtype=np.int32)
    while True:
        leaping = np.flatnonzero((looks >= 0) & (depths[looks] >= depths))
        if not len(leaping):
            return looks
        looks[leaping] = looks[looks[leaping]]


def _joined(parts: Sequence[Codes], sizes: Rows) -> Codes:
    """The boundaries of all dimensions in one array, each dimension padded to its number of codes."""
    padded = [np.pad(part, (0, size - len(part))) for part, size in zip(parts, sizes.tolist(), strict=True)]
    return np.concatenate(padded).astype(np.int32)


Choice: TypeAlias = Literal["widest", "loss", "random"]
Hashes: TypeAlias = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class Cuts:
    """One cut for each of some segments; a cut with no rows on its left means that there is none.

    Rows with codes below the pivot go left, those above go right, and of those equal to it the first `ties` go left.
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
    """The rules that hold for all segments; see ``partition``."""

    space: Space
    least: int
    relaxed: bool
    choose: Choice


class Segments(Protocol):
    """Segments that are to be cut."""

    @property
    def sizes(self) -> Rows:
        """The number of rows of each segment."""

    @property
    def nodes(self) -> Hashes:
        """The hash of each segment's node in the tree, from which random choices are drawn."""

    @property
    def opened(self) -> Mask:
        """Which dimensions (columns) of a segment (row) may have an allowable cut; updated when one has none."""

    def bounds(self) -> tuple[Codes, Codes]:
        """The lowest and the highest codes, one row per segment."""

    def counted(self, segments: Rows, dimensions: Rows) -> tuple[Rows, Callable[[Rows], Rows]]:
        """The median code of each segment in its dimension, and a function that counts the rows up to given codes."""

    def halves(self, cuts: Cuts) -> tuple[Rows, Codes, Codes]:
        """The sizes and the bounds of the halves of cuts, left before right."""

    def allowed(self, cuts: Cuts) -> Mask:
        """Which cuts no promise refuses."""


def choose(level: Segments, rules: Rules) -> Cuts:
    """Choose the cut of each segment: in its best dimension that has an allowed cut.

    All segments try one dimension after another in step.
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
        hashes = mixed(level.nodes[:, np.newaxis] + dimensions) >> np.uint64(11)
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
    """Rows times the sum of widths, added up over both halves of each cut."""
    sizes, low, high = level.halves(cuts)
    widths = space.widths(low, high)
    totals = np.zeros(len(sizes))
    for dimension in range(widths.shape[1]):
        totals += widths[:, dimension]
    losses: Floats = sizes[::2] * totals[::2] + sizes[1::2] * totals[1::2]
    return losses


def _cuts(level: Segments, segments: Rows, dimensions: Rows, low: Codes, high: Codes, rules: Rules) -> Cuts:
    """The cut of each segment in its own dimension, the same cut that the kernels make.

    The median boundary lies just above the median code, so that at least half of the rows are on its left. If it is not
    allowable, only the next boundary below it can be.
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
    """Find the preferred boundaries, those of least depth, nearest the median on both sides.

    Returns three things. First, whether depths differ, or missing and other values are mixed. Second, the last
    preferred boundary up to the median, which counts itself only if it fits; less than `low` if there is none. Third,
    the first preferred boundary from the median on; `high` or more if there is none, or if the median boundary does not
    fit.
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


def interleaved(first: AnyArray, second: AnyArray) -> AnyArray:
    """The entries of two arrays, alternating."""
    return np.column_stack([first, second]).reshape(-1)
