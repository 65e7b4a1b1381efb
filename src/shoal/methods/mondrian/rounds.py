"""Mondrian's partitioning in rounds: all segments of one level of the tree are cut at once, by array operations.

This is the way for small tables, where loading a compiler would take longer, and the only one that asks a privacy model
before each cut, for then whole levels of proposed cuts are put to it together.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import AnyArray, Codes, Floats, Mask, Rows
from shoal.methods.mondrian.space import Space

Choice: TypeAlias = Literal["widest", "loss", "random"]

Allowed: TypeAlias = Callable[[Rows, Rows, Rows, Rows], Mask]
"""Which of many proposed cuts may be made: ``allowed(order, begin, middle, end) -> mask``.

Cut i would part the rows ``order[begin[i]:middle[i]]`` from ``order[middle[i]:end[i]]``. `order` holds the rows of the
proposed cuts alone, one cut after the other: ``begin[0] == 0``, ``begin[i + 1] == end[i]``, ``end[-1] == len(order)``.
"""

Hashes: TypeAlias = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class _Level:
    """The segments of one level that are large enough to be cut, one after the other.

    Segment i has the rows ``rows[edges[i]:edges[i + 1]]``, ascending; `columns` are their codes, one row a dimension.
    Its first row will stand at ``origins[i]`` in the end, and `nodes` is its number in the tree. ``opened[i]`` tells
    which dimensions may have an allowable cut, and learns of those that have none, for the sake of its parts.
    """

    rows: Rows
    columns: Codes
    edges: Rows
    origins: Rows
    nodes: Hashes
    opened: Mask

    @property
    def sizes(self) -> Rows:
        return np.diff(self.edges)

    def places(self, segments: Rows) -> Rows:
        """Where the rows of some segments lie, one segment after the other."""
        return _ranges(self.edges[segments], self.sizes[segments])

    def values(self, places: Rows, dimensions: Rows, sizes: Rows) -> Codes:
        """The codes at some places, of one dimension for each segment that they come from."""
        lines = np.repeat(dimensions * self.columns.shape[1], sizes)
        return self.columns.reshape(-1)[lines + places]


@dataclass(frozen=True, slots=True, eq=False)
class _Cuts:
    """One cut for each of some segments, with no rows on its left where there is none.

    Codes below the pivot go left, those above go right, and of the rows equal to it the first `ties` go left.
    """

    segments: Rows
    dimensions: Rows
    left: Rows
    pivots: Rows
    ties: Rows

    def __getitem__(self, chosen: AnyArray) -> "_Cuts":
        return _Cuts(*(getattr(self, name)[chosen] for name in self.__slots__))


@dataclass(frozen=True, slots=True, eq=False)
class _Rules:
    """What holds for all levels; see ``partition``."""

    space: Space
    least: int
    relaxed: bool
    choose: Choice
    allowed: Allowed | None


def partition_in_rounds(
    codes: Codes,
    space: Space,
    least: int,
    relaxed: bool,
    choose: Choice,
    seed: int,
    allowed: Allowed | None,
) -> tuple[Rows, Rows]:
    """Partition rows: their order, class by class, and where each class starts, with the number of rows at the end.

    The cost is a few sorts of all rows a level. For the parameters see ``partition``.
    """
    count, dimensions = codes.shape
    rules = _Rules(space, least, relaxed, choose, allowed)
    order = np.arange(count, dtype=np.int64)
    is_start = np.zeros(count + 1, dtype=np.bool_)
    is_start[[0, count]] = True
    level = _Level(
        rows=order.copy(),
        columns=np.ascontiguousarray(codes.T, dtype=np.int32),
        edges=np.array([0, count], dtype=np.int64),
        origins=np.zeros(1, dtype=np.int64),
        nodes=np.array([seed & 0xFFFFFFFFFFFFFFFF], dtype=np.uint64),
        opened=np.ones((1, dimensions), dtype=np.bool_),
    )
    while len(level.origins):
        cuts = _choose(level, rules)
        arranged, sizes = _halves(level, cuts)
        origins = _interleaved(level.origins[cuts.segments], level.origins[cuts.segments] + cuts.left)
        order[_ranges(origins, sizes)] = level.rows[arranged]
        is_start[origins] = True
        level = _next_level(level, cuts, arranged, sizes, origins, 2 * least)
    return order, np.flatnonzero(is_start)


def _next_level(
    level: _Level, cuts: _Cuts, arranged: Rows, sizes: Rows, origins: Rows, enough: int
) -> _Level:
    """The halves of all cuts, left before right, that have rows enough to be cut again."""
    kept = np.flatnonzero(sizes >= enough)
    places = arranged[_ranges(_edges(sizes)[kept], sizes[kept])]
    parents = level.nodes[cuts.segments]
    nodes = _interleaved(_mix(parents + np.uint64(1)), _mix(parents + np.uint64(2)))
    return _Level(
        rows=level.rows[places],
        columns=level.columns[:, places],
        edges=_edges(sizes[kept]),
        origins=origins[kept],
        nodes=nodes[kept],
        opened=level.opened[cuts.segments[kept // 2]],
    )


def _choose(level: _Level, rules: _Rules) -> _Cuts:
    """The cuts of a level: of each segment that of the best dimension that has one that is allowed.

    Segments try one dimension after the other, all of them at the same time.
    """
    low, high = _bounds(level.columns, level.edges[:-1])
    scores = _scores(level, low, high, rules)
    preference = np.argsort(-scores, axis=1, kind="stable")
    undecided = np.arange(len(level.origins))
    chosen = []
    for turn in range(len(rules.space.sizes)):
        dimensions = preference[undecided, turn]
        usable = scores[undecided, dimensions] > -np.inf
        undecided, dimensions = undecided[usable], dimensions[usable]
        if not len(undecided):
            break
        cuts = _cuts(level, undecided, dimensions, low, high, rules)
        made = cuts.left > 0
        if rules.allowed is not None and made.any():
            made[made] = _ask(level, cuts[made], rules.allowed)
        chosen.append(cuts[made])
        undecided = undecided[~made]
    if not chosen:
        nothing = np.zeros(0, dtype=np.int64)
        return _Cuts(nothing, nothing, nothing, nothing, nothing)
    joined = _Cuts(*(np.concatenate([getattr(cuts, name) for cuts in chosen]) for name in _Cuts.__slots__))
    return joined[np.argsort(joined.segments)]


def _ask(level: _Level, cuts: _Cuts, allowed: Allowed) -> Mask:
    """Put cuts to the one who may refuse them."""
    arranged, sizes = _halves(level, cuts)
    edges = _edges(sizes)
    answer = allowed(level.rows[arranged], edges[:-1:2], edges[1::2], edges[2::2])
    return np.asarray(answer, dtype=np.bool_)


def _scores(level: _Level, low: Codes, high: Codes, rules: _Rules) -> Floats:
    """How much each segment prefers each dimension; -inf where it cannot be cut."""
    widths = rules.space.widths(low, high)
    usable = level.opened & (widths > 0.0)
    if rules.choose == "widest":
        return np.where(usable, widths, -np.inf)
    if rules.choose == "random":
        dimensions = np.arange(3, 3 + widths.shape[1], dtype=np.uint64)
        hashes = _mix(level.nodes[:, np.newaxis] + dimensions) >> np.uint64(11)
        return np.where(usable, hashes.astype(np.float64), -np.inf)
    scores = np.full(widths.shape, -np.inf)
    for dimension in range(widths.shape[1]):
        segments = np.flatnonzero(usable[:, dimension])
        cuts = _cuts(level, segments, np.full(len(segments), dimension), low, high, rules)
        cuts = cuts[cuts.left > 0]
        if len(cuts.segments):
            scores[cuts.segments, dimension] = -_losses(level, cuts, rules.space)
    return scores


def _losses(level: _Level, cuts: _Cuts, space: Space) -> Floats:
    """Rows times the sum of widths, of both halves of each cut together."""
    arranged, sizes = _halves(level, cuts)
    low, high = _bounds(level.columns[:, arranged], _edges(sizes)[:-1])
    widths = space.widths(low, high)
    totals = np.zeros(len(sizes))
    for dimension in range(widths.shape[1]):
        totals += widths[:, dimension]
    losses: Floats = sizes[::2] * totals[::2] + sizes[1::2] * totals[1::2]
    return losses


def _halves(level: _Level, cuts: _Cuts) -> tuple[Rows, Rows]:
    """The places of the rows of cut segments, left half before right half, and the sizes of the halves."""
    places, sizes = level.places(cuts.segments), level.sizes[cuts.segments]
    values = level.values(places, cuts.dimensions, sizes)
    pivots = np.repeat(cuts.pivots, sizes)
    goes_left = values <= pivots
    if (cuts.ties < sizes).any():
        equal = values == pivots
        seen = np.concatenate([[0], np.cumsum(equal)])
        rank = seen[:-1] - np.repeat(seen[_edges(sizes)[:-1]], sizes)
        goes_left &= ~equal | (rank < np.repeat(cuts.ties, sizes))
    halves = _interleaved(cuts.left, sizes - cuts.left)
    is_left = np.repeat(np.arange(len(halves)) % 2 == 0, halves)
    arranged = np.empty(len(places), dtype=np.int64)
    arranged[is_left] = places[goes_left]
    arranged[~is_left] = places[~goes_left]
    return arranged, halves


def _cuts(level: _Level, segments: Rows, dimensions: Rows, low: Codes, high: Codes, rules: _Rules) -> _Cuts:
    """The cut of each segment on a dimension of its own, as the kernels cut it.

    The median boundary lies just above the median code, and so has at least half of the rows on its left: where it is
    not allowable, the next one below the median is the only one that can be.
    """
    space, least = rules.space, rules.least
    sizes = level.sizes[segments]
    begins = _edges(sizes)[:-1]
    bases = np.arange(len(segments)) * space.sizes.max(initial=0)
    keys = np.repeat(bases, sizes)
    keys += level.values(level.places(segments), dimensions, sizes)
    keys.sort()

    def rows_through(codes: Rows) -> Rows:
        counts: Rows = np.searchsorted(keys, bases + codes, side="right") - begins
        return counts

    median = keys[begins + (sizes - 1) // 2] - bases
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
    return _Cuts(segments, dimensions, left, pivots, ties)


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


def _bounds(columns: Codes, begins: Rows) -> tuple[Codes, Codes]:
    """The lowest and the highest codes of segments, one row a segment."""
    low = np.minimum.reduceat(columns, begins, axis=1)
    high = np.maximum.reduceat(columns, begins, axis=1)
    return np.ascontiguousarray(low.T), np.ascontiguousarray(high.T)


def _mix(values: Hashes) -> Hashes:
    """One step of splitmix64: numbers that look random, the same for the same values."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Hashes = values ^ (values >> np.uint64(31))
    return mixed


def _edges(sizes: Rows) -> Rows:
    """Where each of some segments begins when they lie one after the other, and where the last one ends."""
    edges = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=edges[1:])
    return edges


def _ranges(begins: Rows, sizes: Rows) -> Rows:
    """The numbers of ``begins[i] … begins[i] + sizes[i] - 1`` for each i, one range after the other."""
    edges = _edges(sizes)
    return np.repeat(begins - edges[:-1], sizes) + np.arange(edges[-1])


def _interleaved(first: AnyArray, second: AnyArray) -> AnyArray:
    return np.column_stack([first, second]).reshape(-1)
