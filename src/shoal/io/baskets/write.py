"""Baskets out: in the layout they came in, plain or compressed."""

import gzip
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import numpy as np

from shoal.arrays import Indptr, Items
from shoal.data.baskets import Baskets
from shoal.errors import WrongUse
from shoal.io.baskets.layouts import Layout, parse_layout, published_separator, refuse_unwritable
from shoal.io.baskets.matrix import write_matrix
from shoal.io.source import ARROW, FRAME_FORMATS, PARQUET, format_of, refuse_address, whole_file

if TYPE_CHECKING:
    import polars


@contextmanager
def packed(path: Path, ending: str) -> Iterator[IO[bytes]]:
    """A new file to write bytes to, which are compressed on the way if the ending is ``.gz`` or ``.zst``.

    What is written depends on the bytes alone: neither the name nor the time goes into it.
    """
    with path.open("wb") as file:
        match ending.lower():
            case ".gz":
                with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as inside:
                    yield cast("IO[bytes]", inside)
            case ".zst":
                import zstandard

                with zstandard.ZstdCompressor().stream_writer(file, closefd=False) as writer:
                    yield writer
            case _:
                yield file


CHUNK = 1 << 20
"""How many items are spelled at a time."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a row of items becomes text."""

    opening: str
    between: str
    closing: str
    """`opening`, `between`, `closing`: what stands before the first item, between two, and after the last."""
    empty: str  # what stands for a row without items

    def texts(self, labels: Sequence[str], indptr: Indptr, items: Items) -> Iterator[str]:
        """The text of all rows, one after the other, in pieces of about a million items.

        Each item has four pieces of text, by whether it is the first and the last of its row, so that a row is spelled
        by one lookup an item.

        >>> lines = Spelling("", " ", ".", ".")
        >>> "".join(lines.texts(["a", "b"], np.array([0, 2, 2, 3]), np.array([0, 1, 1])))
        'a b..b.'
        """
        pieces = np.array(
            [
                *(label + self.between for label in labels),
                *(label + self.closing for label in labels),
                *(self.opening + label + self.between for label in labels),
                *(self.opening + label + self.closing for label in labels),
                self.empty,
            ],
            dtype=object,
        )
        start, rows = 0, len(indptr) - 1
        while start < rows:
            stop = int(np.searchsorted(indptr, indptr[start] + CHUNK, side="right")) - 1
            stop = min(max(stop, start + 1), start + CHUNK, rows)
            yield "".join(pieces[self._lookups(indptr[start : stop + 1], items, len(labels))])
            start = stop

    @staticmethod
    def _lookups(indptr: Indptr, items: Items, labels: int) -> Items:
        """Which piece comes after which."""
        first, last = indptr[:-1], indptr[1:]
        filled = last > first
        base = indptr[0]
        lookups = items[base : indptr[-1]].astype(np.int64)
        lookups[first[filled] - base] += 2 * labels
        lookups[last[filled] - 1 - base] += labels
        return np.insert(lookups, first[~filled] - base, 4 * labels)


_LINES = Spelling("", " ", "\n", "\n")
_SPMF = Spelling("", " -1 ", " -1 -2\n", "-2\n")


def write_baskets(baskets: Baskets, path: str | Path) -> None:
    """Write baskets to a file in their layout, in their order. The file appears when it is whole.

    It is compressed if its name ends in ``.gz`` or ``.zst``; a long table goes into ``.parquet`` and ``.arrow`` too.
    A long table numbers the baskets 1, 2, 3, …; an empty basket is an empty line, ``-2`` in SPMF, a row with an
    empty item in a long table, a row of zeros in a matrix, and an empty cell in a column.

    Raises `WrongUse` if an item cannot be distinguished in this layout, such as one with a blank in lines, or the
    ending is that of a format that does not hold it.
    """
    layout = parse_layout(baskets.layout)
    refuse_unwritable(baskets.vocabulary, layout)
    refuse_address(path, writing=True)
    path = Path(path)
    write_frame = _frame_writer(path, layout)
    with whole_file(path) as place:
        if write_frame is not None:
            write_frame(_long_frame(baskets, layout), place)
            return
        with packed(place, path.suffix) as file:
            if layout.form == "long":
                _long_frame(baskets, layout).write_csv(file)
            else:
                for text in _text(baskets, layout):
                    file.write(text)


def _frame_writer(path: Path, layout: Layout) -> "Callable[[polars.DataFrame, Path], None] | None":
    """What writes a long table into a file of that ending; None if it is a text."""
    ending = format_of(path)
    if ending not in FRAME_FORMATS:
        return None
    if ending == path.suffix.lower() and ending in (*PARQUET, *ARROW) and layout.form == "long":
        from shoal.io.tables.columnar import write_arrow, write_parquet

        return write_parquet if ending in PARQUET else write_arrow
    raise WrongUse(
        f"{path} cannot hold baskets in the layout {layout.form}: write a long table into .parquet or .arrow (--to "
        "long:ID,ITEM), and all others into a text, such as .csv or .dat."
    )


def _text(baskets: Baskets, layout: Layout) -> Iterator[bytes]:
    if layout.form == "matrix":
        yield from write_matrix(baskets)
        return
    if layout.form == "column":
        yield '"{}"\n'.format(layout.columns[0].replace('"', '""')).encode()
    spelling, labels = spelling_of(baskets.vocabulary, layout)
    for text in spelling.texts(labels, baskets.indptr, baskets.items):
        yield text.encode()


def spelling_of(vocabulary: tuple[str, ...], layout: Layout) -> tuple[Spelling, tuple[str, ...]]:
    """How a basket becomes a line, and the text of each item, in a layout that has a line a basket."""
    if layout.form == "spmf":
        return _SPMF, vocabulary
    if layout.form == "column":
        labels = tuple(label.replace('"', '""') for label in vocabulary)
        return Spelling('"', published_separator(vocabulary), '"\n', '""\n'), labels
    return (_LINES if layout.separator is None else Spelling("", layout.separator, "\n", "\n")), vocabulary


def _long_frame(baskets: Baskets, layout: Layout) -> "polars.DataFrame":
    """A row for each item of each basket, and one for each empty basket."""
    import polars as pl

    basket, item = layout.columns or ("basket", "item")
    lengths = baskets.lengths
    rows = np.repeat(np.arange(1, len(baskets) + 1), np.maximum(lengths, 1))
    codes = np.insert(
        baskets.items.astype(np.int64), baskets.indptr[:-1][lengths == 0], len(baskets.vocabulary)
    )
    texts = pl.Series([*baskets.vocabulary, None], dtype=pl.String)
    return pl.DataFrame({basket: rows, item: texts.gather(codes)})
