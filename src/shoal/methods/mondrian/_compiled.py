"""Mondrian's partitioning by compiled kernels, on several threads."""

from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from queue import SimpleQueue

import numpy as np

from shoal.arrays import AnyArray, Codes, Rows
from shoal.methods.mondrian._choice import Choice
from shoal.methods.mondrian._space import Space

SUBTREES = 8
"""Parts that the tree is broken into for each thread, so that none waits long for another."""


def partition_compiled(
    codes: Codes, space: Space, least: int, relaxed: bool, choose: Choice, seed: int, threads: int
) -> tuple[Rows, Rows]:
    """Partition rows: their order, class by class, and where each class starts, with the number of rows at the end.

    Large segments are cut one at a time, and each half is a task of its own, until they are small enough to be grown to
    the end in one task. A row takes 8 bytes for every four dimensions (every two, where one has more than 65,536 codes)
    and 4 for its number, both twice, and 9 for the result. For the parameters see ``partition``.
    """
    from shoal.kernels import mondrian

    count = len(codes)
    rows = _packed(codes, space)
    order = np.empty(count, dtype=np.int64)
    marks = np.zeros(count + 1, dtype=np.bool_)
    marks[count] = True
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
            # Without the compiler the hashes of the tree's nodes are plain numbers of numpy, which warn of overflow.
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
    """Rows with their codes side by side, and room for as many again."""
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
    """The space in the form that the kernels take."""
    missing = np.where(space.missing, space.sizes - 1, -1)
    return (
        np.column_stack([space.offsets[:-1], missing, space.flat]).astype(np.int64),
        np.column_stack([space.spans, space.weights]),
        space.positions,
        np.column_stack([space.depths, space.earlier, space.later, space.runs]),
    )


def _room(rows: tuple[AnyArray, ...], space: Space, block: int, sparse: int) -> tuple[AnyArray, ...]:
    """What one thread needs to work in."""
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
