"""Mondrian's partitioning in rounds: all segments of one level of the tree are cut at once, by array operations.

This is the way for small tables, where loading a compiler would take longer, and the only one that asks a privacy model
before each cut, for then whole levels of proposed cuts are put to it together.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from shoal.arrays import Codes, Mask, Rows
from shoal.methods.mondrian._choice import Choice, Cuts, Hashes, Rules, choose, interleaved, mix
from shoal.methods.mondrian._space import Space

Allowed: TypeAlias = Callable[[Rows, Rows, Rows, Rows], Mask]
"""Which of many proposed cuts may be made: ``allowed(order, begin, middle, end) -> mask``.

Cut i would part the rows ``order[begin[i]:middle[i]]`` from ``order[middle[i]:end[i]]``. `order` holds the rows of the
proposed cuts alone, one cut after the other: ``begin[0] == 0``, ``begin[i + 1] == end[i]``, ``end[-1] == len(order)``.
"""


@dataclass(frozen=True, slots=True, eq=False)
class _Level:
    """The segments of one level that are large enough to be cut, one after the other, with their rows.

    Segment i has the rows ``rows[edges[i]:edges[i + 1]]``, ascending; `columns` are their codes, one row a dimension.
    Its first row will stand at ``origins[i]`` in the end. `largest` is the largest domain, and `judge` tells which cuts
    may be made.
    """

    rows: Rows
    columns: Codes
    edges: Rows
    origins: Rows
    nodes: Hashes
    opened: Mask
    largest: int
    judge: Allowed | None

    @property
    def sizes(self) -> Rows:
        return np.diff(self.edges)

    def bounds(self) -> tuple[Codes, Codes]:
        return _bounds(self.columns, self.edges[:-1])

    def counted(self, segments: Rows, dimensions: Rows) -> tuple[Rows, Callable[[Rows], Rows]]:
        sizes = self.sizes[segments]
        begins = _edges(sizes)[:-1]
        bases = np.arange(len(segments)) * self.largest
        keys = np.repeat(bases, sizes)
        keys += self._values(self._places(segments), dimensions, sizes)
        keys.sort()

        def rows_through(codes: Rows) -> Rows:
            counts: Rows = np.searchsorted(keys, bases + codes, side="right") - begins
            return counts

        return keys[begins + (sizes - 1) // 2] - bases, rows_through

    def halves(self, cuts: Cuts) -> tuple[Rows, Codes, Codes]:
        arranged, sizes = self.arranged(cuts)
        return sizes, *_bounds(self.columns[:, arranged], _edges(sizes)[:-1])

    def allowed(self, cuts: Cuts) -> Mask:
        if self.judge is None:
            return np.ones(len(cuts.left), dtype=np.bool_)
        arranged, sizes = self.arranged(cuts)
        edges = _edges(sizes)
        answer = self.judge(self.rows[arranged], edges[:-1:2], edges[1::2], edges[2::2])
        return np.asarray(answer, dtype=np.bool_)

    def arranged(self, cuts: Cuts) -> tuple[Rows, Rows]:
        """The places of the rows of cut segments, left half before right half, and the sizes of the halves."""
        places, sizes = self._places(cuts.segments), self.sizes[cuts.segments]
        values = self._values(places, cuts.dimensions, sizes)
        pivots = np.repeat(cuts.pivots, sizes)
        goes_left = values <= pivots
        if (cuts.ties < sizes).any():
            equal = values == pivots
            seen = np.concatenate([[0], np.cumsum(equal)])
            rank = seen[:-1] - np.repeat(seen[_edges(sizes)[:-1]], sizes)
            goes_left &= ~equal | (rank < np.repeat(cuts.ties, sizes))
        halves = interleaved(cuts.left, sizes - cuts.left)
        is_left = np.repeat(np.arange(len(halves)) % 2 == 0, halves)
        arranged = np.empty(len(places), dtype=np.int64)
        arranged[is_left] = places[goes_left]
        arranged[~is_left] = places[~goes_left]
        return arranged, halves

    def _places(self, segments: Rows) -> Rows:
        """Where the rows of some segments lie, one segment after the other."""
        return _ranges(self.edges[segments], self.sizes[segments])

    def _values(self, places: Rows, dimensions: Rows, sizes: Rows) -> Codes:
        """The codes at some places, of one dimension for each segment that they come from."""
        lines = np.repeat(dimensions * self.columns.shape[1], sizes)
        return self.columns.reshape(-1)[lines + places]


def partition_in_rounds(
    codes: Codes,
    space: Space,
    least: int,
    relaxed: bool,
    choose_by: Choice,
    seed: int,
    allowed: Allowed | None,
) -> tuple[Rows, Rows]:
    """Partition rows: their order, class by class, and where each class starts, with the number of rows at the end.

    The cost is a few sorts of all rows a level. For the parameters see ``partition``.
    """
    count, dimensions = codes.shape
    rules = Rules(space, least, relaxed, choose_by)
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
        largest=int(space.sizes.max(initial=0)),
        judge=allowed,
    )
    while len(level.origins):
        cuts = choose(level, rules)
        arranged, sizes = level.arranged(cuts)
        origins = interleaved(level.origins[cuts.segments], level.origins[cuts.segments] + cuts.left)
        order[_ranges(origins, sizes)] = level.rows[arranged]
        is_start[origins] = True
        level = _next_level(level, cuts, arranged, sizes, origins, 2 * least)
    return order, np.flatnonzero(is_start)


def _next_level(level: _Level, cuts: Cuts, arranged: Rows, sizes: Rows, origins: Rows, enough: int) -> _Level:
    """The halves of all cuts, left before right, that have rows enough to be cut again."""
    kept = np.flatnonzero(sizes >= enough)
    places = arranged[_ranges(_edges(sizes)[kept], sizes[kept])]
    parents = level.nodes[cuts.segments]
    nodes = interleaved(mix(parents + np.uint64(1)), mix(parents + np.uint64(2)))
    return _Level(
        rows=level.rows[places],
        columns=level.columns[:, places],
        edges=_edges(sizes[kept]),
        origins=origins[kept],
        nodes=nodes[kept],
        opened=level.opened[cuts.segments[kept // 2]],
        largest=level.largest,
        judge=level.judge,
    )


def _bounds(columns: Codes, begins: Rows) -> tuple[Codes, Codes]:
    """The lowest and the highest codes of segments, one row a segment."""
    low = np.minimum.reduceat(columns, begins, axis=1)
    high = np.maximum.reduceat(columns, begins, axis=1)
    return np.ascontiguousarray(low.T), np.ascontiguousarray(high.T)


def _edges(sizes: Rows) -> Rows:
    """Where each of some segments begins when they lie one after the other, and where the last one ends."""
    edges = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=edges[1:])
    return edges


def _ranges(begins: Rows, sizes: Rows) -> Rows:
    """The numbers of ``begins[i] … begins[i] + sizes[i] - 1`` for each i, one range after the other."""
    edges = _edges(sizes)
    return np.repeat(begins - edges[:-1], sizes) + np.arange(edges[-1])
