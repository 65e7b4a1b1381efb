"""The texts of a large file, numbered by compiled kernels while it is read."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.arrays import AnyArray, Items
from shoal.data.baskets import Baskets
from shoal.io.baskets.layouts import BLANKS, NAMED, WHITE, Layout
from shoal.kernels._compiling import is_eager

if TYPE_CHECKING:
    from shoal.kernels.texts import Texts

LEAST = 1_000_000
"""Bytes of a file from which on it pays to load the kernels."""

ROOM = 1 << 14
"""Texts that there is room for at first."""


def numbered(text: AnyArray, attempt: Callable[["Texts"], int]) -> tuple[tuple[str, ...], Items] | None:
    """Read with more room for texts until it is enough: the texts in ascending order, and the place of each number.

    `attempt`: reads with a table of texts, and returns 0 if it has read all; None follows where it returns anything
    else but `FULL`.
    """
    from shoal.kernels.texts import FULL, Texts

    room = ROOM
    while True:
        table = Texts(
            np.full(2 * room, -1, dtype=np.int32),
            np.empty(room, dtype=np.int64),
            np.empty(room, dtype=np.int64),
            np.zeros(1, dtype=np.int64),
        )
        done = attempt(table)
        if done != FULL:
            break
        room *= 16
    if done:
        return None
    begins, ends = table.begins[: table.used[0]].tolist(), table.ends[: table.used[0]].tolist()
    labels = [text[begin:end].tobytes().decode() for begin, end in zip(begins, ends, strict=True)]
    order = sorted(range(len(labels)), key=labels.__getitem__)
    ranks = np.empty(len(labels), dtype=np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    return tuple(labels[place] for place in order), ranks


def plain_lines(content: bytes, layout: Layout) -> Baskets | None:
    """Baskets of a large file with one a line and blanks between items, as the slower readers give them.

    None where these are to be asked: the file is small, an item has other white space around it, or stands twice in a
    basket.
    """
    if layout.form != "lines" or layout.separator is not None or not (is_eager() or len(content) >= LEAST):
        return None
    from shoal.kernels.texts import FULL, rank_items, read_items

    lines = content if content.endswith(b"\n") else content + b"\n"
    text = np.frombuffer(lines, dtype=np.uint8)
    blank = np.zeros(256, dtype=np.bool_)
    blank[list(BLANKS.encode())] = True
    # Room for items of one letter; what is not filled takes no memory.
    items = np.empty(len(lines) // 2 + 1, dtype=np.int32)
    indptr = np.zeros(lines.count(b"\n") + 1, dtype=np.int64)
    count: Any = 0

    def attempt(table: "Texts") -> int:
        nonlocal count
        count, _ = read_items(text, blank, table, items, indptr[1:])
        return FULL if count < 0 else 0

    found = numbered(text, attempt)
    if found is None or any(label != label.strip(WHITE) for label in found[0]):
        return None
    vocabulary, ranks = found
    unsorted = np.empty(NAMED, dtype=np.int64)
    ranked, moved, twice = rank_items(indptr, items[:count], ranks, unsorted)
    if twice:
        return None
    return Baskets(indptr, ranked, vocabulary, layout=str(layout), unsorted=unsorted[:moved])
