"""Baskets as lines of text: one basket a line, plain or in the format of the SPMF library.

A file is cut into its items with array operations on its bytes, so that millions of baskets take seconds.
"""

import io
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from shoal.arrays import Indptr, Mask, Rows
from shoal.errors import BadData
from shoal.io.baskets.layouts import BLANKS, WHITE
from shoal.io.source import kept_mark

NEWLINE = 10
COMMENTS = b"@#%"
"""How a line of an SPMF file begins that is not a basket."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """The items of all baskets in the order of the file: basket i is ``texts[indptr[i]:indptr[i + 1]]``."""

    indptr: Indptr
    texts: pl.Series
    trimmed: tuple[str, ...] = ()
    """Items that had white space around them, other than blanks."""

    def where(self, wanted: Mask) -> "Tokens":
        """The same baskets with only the items for which the mask (one entry a text) is true."""
        indptr = np.concatenate(([0], np.cumsum(wanted)))[self.indptr]
        return Tokens(indptr, self.texts.filter(pl.Series(wanted)), self.trimmed)


def read_lines(content: bytes, separator: str | None) -> Tokens:
    """Baskets of a file with one basket a line.

    An empty line is an empty basket; the newline at the end of the last line starts no other.

    `content`: the file: UTF-8 without a byte order mark. `separator`: the character between items, None for any run of
    blanks and tabs. Blanks around an item are trimmed, and what is empty between two separators is no item.
    """
    if separator is None:
        return _trimmed(_cut(_with_last_newline(content), BLANKS.encode()))
    tokens = _cut(_with_last_newline(content), separator.encode())
    tokens = _trimmed(Tokens(tokens.indptr, tokens.texts.str.strip_chars(BLANKS)))
    return tokens.where((tokens.texts != "").to_numpy())


def read_spmf(content: bytes, path: str | None = None, published: bool = False) -> Tokens:
    """Baskets of an SPMF file: ``1 -1 2 -1 -2``.

    Comment lines and blank lines are no baskets; ``-2`` alone is an empty one. Item sets of a sequence
    (``1 2 -1 3 -1 -2``) are merged: their order is not kept.

    `published`: refuse comments: they tell more than the baskets. Raises `BadData` with its line, if a line does not
    end with ``-2``, or has one before its end.
    """
    lines = _with_last_newline(content)
    buffer = np.frombuffer(lines, dtype=np.uint8)
    ends = np.flatnonzero(buffer == NEWLINE)
    starts = np.concatenate(([0], ends[:-1] + 1))
    numbers: Rows = np.arange(1, len(ends) + 1, dtype=np.int64)
    comment = np.isin(buffer[starts], np.frombuffer(COMMENTS, dtype=np.uint8))
    if published and comment.any():
        raise BadData(
            "published baskets have no comments; take the line out.", path, int(numbers[comment][0])
        )
    if comment.any():
        lines = buffer[np.repeat(~comment, ends - starts + 1)].tobytes()
        numbers = numbers[~comment]
    tokens = _trimmed(_cut(lines, BLANKS.encode()))
    filled = np.diff(tokens.indptr) > 0
    numbers = numbers[filled]
    if not len(numbers):
        raise BadData("there are comments or blank lines, but no baskets.", path)
    tokens = replace(tokens, indptr=np.concatenate(([0], tokens.indptr[1:][filled])))
    end = (tokens.texts == "-2").to_numpy()
    ends_so_far = np.concatenate(([0], np.cumsum(end)))[tokens.indptr]
    last = tokens.indptr[1:] - 1
    wrong = np.flatnonzero((np.diff(ends_so_far) != 1) | ~end[last])
    if len(wrong):
        raise BadData(
            "a basket of an SPMF file ends with -2, and holds it nowhere else. Put one basket on a line, or say "
            "what layout the file has with --baskets.",
            path=path,
            line=int(numbers[wrong[0]]),
        )
    tokens = tokens.where(~end & (tokens.texts != "-1").to_numpy())
    odd = tokens.texts.str.contains(r"^[@#%]").to_numpy()
    if odd.any():
        place = int(np.argmax(odd))
        raise BadData(
            f"the item {tokens.texts[place]!r} begins like a comment of an SPMF file. Give it another name.",
            path=path,
            line=int(numbers[np.searchsorted(tokens.indptr, place, side="right") - 1]),
        )
    return tokens


def _trimmed(tokens: Tokens) -> Tokens:
    """Items without white space around them; what holds nothing else is none."""
    texts = tokens.texts.str.strip_chars(WHITE)
    changed = texts != tokens.texts
    if not changed.any():
        return tokens
    reported = texts.filter(changed & (texts != "")).unique()
    return Tokens(tokens.indptr, texts, tuple(reported.to_list())).where((texts != "").to_numpy())


def _with_last_newline(content: bytes) -> bytes:
    return content if content.endswith(b"\n") else content + b"\n"


def _cut(lines: bytes, separators: bytes) -> Tokens:
    """Cut lines into the texts between separators; several separators in a row are one."""
    # One text a line, which the CSV reader takes as one column.
    column = lines.translate(bytes.maketrans(separators, b"\n" * len(separators)))
    buffer = np.frombuffer(column, dtype=np.uint8)
    between = buffer == NEWLINE
    starts = np.flatnonzero(between[:-1] > between[1:]) + 1
    if not between[:1].all():
        starts = np.concatenate(([0], starts))
    newlines = np.flatnonzero(np.frombuffer(lines, dtype=np.uint8) == NEWLINE)
    indptr = np.concatenate(([0], np.searchsorted(starts, newlines)))
    superfluous = between.copy()
    superfluous[1:] &= between[:-1]
    if superfluous.any():
        column = buffer[~superfluous].tobytes()
    if not column:
        return Tokens(indptr, pl.Series("item", [], dtype=pl.String))
    # A byte that no text holds separates the "cells" of the column.
    absent = next(
        (byte for byte in range(1, 128) if byte not in b'\r\n"' and bytes([byte]) not in column), None
    )
    if absent is None:
        raise BadData("the file holds every control character there is: it is not text.")
    frame = pl.read_csv(
        io.BytesIO(kept_mark(column)),
        has_header=False,
        separator=chr(absent),
        quote_char=None,
        schema={"item": pl.String},
    )
    return Tokens(indptr, frame["item"].fill_null(""))
