"""Mondrian's partitioning of coded rows (LeFevre, DeWitt, Ramakrishnan, ICDE 2006, section 4)."""

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TypeAlias

import numpy as np

from shoal.arrays import AnyArray, Codes, Floats, Mask, Rows, flagged, indptr_of, mixed, ranges
from shoal.kernels._compiling import is_eager
from shoal.methods.mondrian._choice import Choice, Cuts, Hashes, Rules, Space, choose, interleaved

Allowed: TypeAlias = Callable[[Rows, Rows, Rows, Rows], Mask]
"""Says which of many proposed cuts may be made: ``allowed(order, begin, middle, end) -> mask``.

Cut i would separate the rows ``order[begin[i]:middle[i]]`` from ``order[middle[i]:end[i]]``. `order` holds only the
rows of the proposed cuts, one cut after another: ``begin[0] == 0``, ``begin[i + 1] == end[i]``, ``end[-1] ==
len(order)``.
"""


@dataclass(frozen=True, slots=True, eq=False)
class _Level:
    """The segments of one level that are large enough to be cut, with their rows.

    Segment i has the rows ``rows[edges[i]:edges[i + 1]]``, ascending; `columns` are their codes, one row per dimension.
    In the final order its rows begin at ``origins[i]``. `largest` is the size of the largest domain, and `judge` says
    which cuts may be made.
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
        begins = indptr_of(sizes)[:-1]
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
        return sizes, *_bounds(self.columns[:, arranged], indptr_of(sizes)[:-1])

    def allowed(self, cuts: Cuts) -> Mask:
        if self.judge is None:
            return np.ones(len(cuts.left), dtype=np.bool_)
        arranged, sizes = self.arranged(cuts)
        edges = indptr_of(sizes)
        answer = self.judge(self.rows[arranged], edges[:-1:2], edges[1::2], edges[2::2])
        return np.asarray(answer, dtype=np.bool_)

    def arranged(self, cuts: Cuts) -> tuple[Rows, Rows]:
        """The places of the rows of segments after their cuts, left half before right, and the sizes of the halves."""
        places, sizes = self._places(cuts.segments), self.sizes[cuts.segments]
        values = self._values(places, cuts.dimensions, sizes)
        pivots = np.repeat(cuts.pivots, sizes)
        goes_left = values <= pivots
        if (cuts.ties < sizes).any():
            equal = values == pivots
            seen = indptr_of(equal)
            rank = seen[:-1] - np.repeat(seen[indptr_of(sizes)[:-1]], sizes)
            goes_left &= ~equal | (rank < np.repeat(cuts.ties, sizes))
        halves = interleaved(cuts.left, sizes - cuts.left)
        is_left = np.repeat(np.arange(len(halves)) % 2 == 0, halves)
        arranged = np.empty(len(places), dtype=np.int64)
        arranged[is_left] = places[goes_left]
        arranged[~is_left] = places[~goes_left]
        return arranged, halves

    def _places(self, segments: Rows) -> Rows:
        """The places of the rows of some segments, one segment after another."""
        return ranges(self.edges[segments], self.sizes[segments])[1]

    def _values(self, places: Rows, dimensions: Rows, sizes: Rows) -> Codes:
        """The codes at some places, each in the dimension chosen for its segment."""
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
    """Partition rows level by level with array operations.

    Used for small tables, where loading a compiler would take longer. It is also the only way to ask a privacy model
    before each cut, because it proposes the cuts of a whole level to the model together. The cost is a few sorts of all
    rows per level. For the parameters see ``partition``.

    Returns the rows class by class, and where each class starts, with the number of rows at the end.
    """
    count, dimensions = codes.shape
    rules = Rules(space, least, relaxed, choose_by)
    order = np.arange(count, dtype=np.int64)
    is_start = flagged([0, count], count + 1)
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
        order[ranges(origins, sizes)[1]] = level.rows[arranged]
        is_start[origins] = True
        level = _next_level(level, cuts, arranged, sizes, origins, 2 * least)
    return order, np.flatnonzero(is_start)


def _next_level(level: _Level, cuts: Cuts, arranged: Rows, sizes: Rows, origins: Rows, enough: int) -> _Level:
    """The halves of all cuts that have enough rows to be cut again, left before right."""
    kept = np.flatnonzero(sizes >= enough)
    places = arranged[ranges(indptr_of(sizes)[kept], sizes[kept])[1]]
    parents = level.nodes[cuts.segments]
    nodes = interleaved(mixed(parents + np.uint64(1)), mixed(parents + np.uint64(2)))
    return _Level(
        rows=level.rows[places],
        columns=level.columns[:, places],
        edges=indptr_of(sizes[kept]),
        origins=origins[kept],
        nodes=nodes[kept],
        opened=level.opened[cuts.segments[kept // 2]],
        largest=level.largest,
        judge=level.judge,
    )


def _bounds(columns: Codes, begins: Rows) -> tuple[Codes, Codes]:
    """The lowest and the highest codes of segments, one row per segment."""
    low = np.minimum.reduceat(columns, begins, axis=1)
    high = np.maximum.reduceat(columns, begins, axis=1)
    return np.ascontiguousarray(low.T), np.ascontiguousarray(high.T)


SUBTREES = 8
"""How many subtrees there are for each thread, so that no thread waits long for another."""


def partition_compiled(
    codes: Codes, space: Space, least: int, relaxed: bool, choose: Choice, seed: int, threads: int
) -> tuple[Rows, Rows]:
    """Partition rows with compiled kernels, on several threads.

    Large segments are cut one at a time, and each half becomes a task of its own, until a segment is small enough to
    grow its whole subtree in one task. A row takes 8 bytes for every four dimensions (every two, if one has more than
    65,536 codes) and 4 for its number, both twice, and 9 for the result. For the parameters see ``partition``.

    Returns the rows class by class, and where each class starts, with the number of rows at the end.
    """
    from shoal.kernels import mondrian

    count = len(codes)
    rows = _packed(codes, space)
    order = np.empty(count, dtype=np.int64)
    marks = flagged([count], count + 1)
    domain = _domain(space)
    choice = {"widest": mondrian.WIDEST, "loss": mondrian.LOSS, "random": mondrian.RANDOM}[choose]
    rules = (least, bool(relaxed), choice)
    rooms: SimpleQueue[tuple[AnyArray, ...]] = SimpleQueue()
    for _ in range(threads):
        rooms.put(_room(rows, space, mondrian.BLOCK, mondrian.SPARSE))

    def grow(segment: AnyArray) -> AnyArray:
        size = int(segment[1] - segment[0])
        limit = size - 1 if size * SUBTREES * threads > count else 0
        later = np.empty((2, 5), dtype=np.uint64)
        room = rooms.get()
        try:
            # Without the compiler the hashes of the tree's nodes are NumPy scalars, which warn about overflow.
            with np.errstate(over="ignore"):
                left_over = mondrian.grow(rows, domain, room, rules, segment, limit, (order, marks, later))
        finally:
            rooms.put(room)
        return later[:left_over]

    root = np.array([0, count, 0, seed & 0xFFFFFFFFFFFFFFFF, 0], dtype=np.uint64)
    with ThreadPoolExecutor(threads) as pool:
        running = {pool.submit(grow, root)}
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                running.update(pool.submit(grow, segment) for segment in future.result())
    return order, np.flatnonzero(marks)


def _packed(codes: Codes, space: Space) -> tuple[AnyArray, ...]:
    """Pack each row's codes side by side, and leave room for as many rows again."""
    count, dimensions = codes.shape
    cell = np.uint16 if space.sizes.max() <= 1 << 16 else np.uint32
    length = -(-dimensions * np.dtype(cell).itemsize // 8)
    words = np.empty(2 * count * length, dtype=np.uint64)
    cells = words.view(cell)
    table = cells.reshape(2 * count, -1)[:count]
    table[:, :dimensions] = codes
    table[:, dimensions:] = 0
    names = np.empty(2 * count, dtype=np.int32 if count < 1 << 31 else np.int64)
    names[:count] = np.arange(count)
    return words, cells, names


def _domain(space: Space) -> tuple[AnyArray, ...]:
    """The space as the arrays that the kernels take."""
    missing = np.where(space.missing, space.sizes - 1, -1)
    return (
        np.column_stack([space.offsets[:-1], missing, space.flat]).astype(np.int64),
        np.column_stack([space.spans, space.weights]),
        space.positions,
        np.column_stack([space.depths, space.earlier, space.later, space.runs]),
    )


def _room(rows: tuple[AnyArray, ...], space: Space, block: int, sparse: int) -> tuple[AnyArray, ...]:
    """The working arrays of one thread."""
    _, cells, names = rows
    largest, dimensions = int(space.sizes.max()), len(space.sizes)
    bounds = 2, block * (cells.size // names.size)
    return (
        np.empty(bounds, dtype=cells.dtype),
        np.empty(bounds, dtype=cells.dtype),
        np.zeros(min(largest, sparse * names.size) + 1, dtype=names.dtype),
        np.empty(largest // sparse + 1, dtype=cells.dtype),
        np.empty(dimensions),
        np.empty(dimensions),
    )


COMPILED_ROWS = 300_000
"""From this many rows on, the kernels save more than the half second that it takes to load them."""


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """Classes of rows: class i holds the rows ``order[starts[i]:starts[i + 1]]``, in ascending order.

    Classes are in the order of the tree's leaves: those left of a cut come before those right of it.
    """

    order: Rows
    starts: Rows

    def __len__(self) -> int:
        return len(self.starts) - 1


def partition(
    codes: Codes,
    positions: Sequence[Floats],
    depths: Sequence[Codes],
    *,
    least: int,
    weights: Floats | None = None,
    relaxed: bool = False,
    choose: Choice = "widest",
    seed: int = 0,
    allowed: Allowed | None = None,
    threads: int = 2,
) -> Partition:
    """Cut a table in two, and its halves again, as long as every part keeps enough rows.

    A cut divides the rows of a segment at a boundary between two codes of one dimension. It is allowable if both halves
    have at least `least` rows. Of the preferred boundaries, the allowable one nearest the median is taken: the one with
    the fewest rows between it and the boundary just above the median code and, of two equally near, the one with the
    larger left half. Preferred are the boundaries of least depth within the segment: those between the children of the
    lowest node over its values, or the one before the missing value. If none of them is allowable, all boundaries are
    tried.

    The result depends only on the arguments, but not on `threads`, nor on whether kernels or array operations made it.

    Parameters
    ----------
    codes
        One line per row of the table, one column per dimension. Codes are in cut order: numbers ascending, leaves of a
        hierarchy depth-first, and the missing value, if there is one, last.
    positions
        The coordinate of each code of each dimension, not decreasing. The width of a segment is the difference of its
        bounds, as a share of the width of the whole domain, times the weight. A segment that mixes missing and other
        values is as wide as the whole domain, so that these are split first. A dimension without width is not cut.
    depths
        The depth of the boundary after each code but the last: the depth of the lowest common node of the codes on both
        sides; 0 for all boundaries between numbers, -1 before the missing value.
    least
        The fewest rows of a class. A table with fewer rows makes one class all the same.
    weights
        How much the width of each dimension counts, at least 0; by default 1.
    relaxed
        Let rows with the median code go to either side, by ascending row number, so that halves differ by at most one
        row (section 4.3). Where depths differ, or missing and other values are mixed, a preferred boundary takes
        precedence.
    choose
        Which dimension to cut: the "widest"; the one whose cut leaves the least "loss" (rows times the sum of widths),
        which takes several times as long; or a "random" one. If it has no allowable cut, the next one is tried. Of
        equals, the first is taken.
    seed
        The seed of the random choice.
    allowed
        May refuse cuts, many at a time: see ``Allowed``. A segment whose cut is refused tries its next dimension.
    threads
        How many threads to use for large tables.

    Examples
    --------
    >>> codes = np.array([[1], [2], [3], [3], [4], [5]], dtype=np.int32)
    >>> plain = [np.arange(6.0)], [np.zeros(5, dtype=np.int32)]
    >>> partition(codes, *plain, least=2).starts
    array([0, 2, 4, 6])
    >>> partition(codes, *plain, least=3, relaxed=True).starts
    array([0, 3, 6])
    """
    count, dimensions = codes.shape
    least = max(least, 1)
    if count < 2 * least or not dimensions:
        return Partition(np.arange(count, dtype=np.int64), np.array([0, count], dtype=np.int64))
    space = Space.of(positions, depths, weights)
    work = count * dimensions if choose == "loss" else count
    if allowed is None and (work >= COMPILED_ROWS or is_eager()):
        return Partition(*partition_compiled(codes, space, least, relaxed, choose, seed, max(threads, 1)))
    return Partition(*partition_in_rounds(codes, space, least, relaxed, choose, seed, allowed))
