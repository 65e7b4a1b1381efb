"""Replace texts by numbers while rows are on disk, where they take less room and are sorted and counted faster."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from shoal.arrays import AnyArray
from shoal.data._frames import categories_of, enumeration, is_coded, unnamed

MANY = 1000
"""If the first frame has at least so many rows, columns in which most texts differ are not numbered."""

TEXT = 64
"""Bytes that each distinct text takes in addition to its characters, about."""

WORD = 64
"""Bits of an integer into which several columns are packed."""


class _Texts:
    """The distinct texts of a column, numbered in the order in which they first occur."""

    def __init__(self) -> None:
        self._kind = pl.Categorical(pl.Categories.random())
        # polars keeps the numbers as long as a series with them exists.
        self._held = pl.Series([], dtype=self._kind)
        self._met: list[pl.Series] = []
        self._coded: pl.DataType | None = None
        self._known = pl.Series([], dtype=pl.UInt32)  # of the categories of that type
        self._categories = pl.Series([], dtype=pl.String)
        self.count = self.bytes = 0

    def numbers(self, cells: pl.Series) -> pl.Series:
        """The number of each text; null for a missing one."""
        cells = unnamed(cells)
        if is_coded(cells):
            if cells.dtype != self._coded:
                self._coded, self._known = cells.dtype, self.numbers(categories_of(cells))
            return self._known.gather(cells.to_physical())
        numbers = cells.cast(self._kind).to_physical()
        highest = numbers.max()
        if isinstance(highest, int) and highest >= self.count:
            both = pl.DataFrame([numbers.alias("number"), cells.alias("text")])
            fresh = both.filter(pl.col("number") >= self.count).unique("number").sort("number")["text"]
            self._met.append(fresh)
            self.count += len(fresh)
            self.bytes += int(fresh.str.len_bytes().sum()) + TEXT * len(fresh)
        return numbers

    @property
    def texts(self) -> pl.Series:
        """The texts by their numbers."""
        if len(self._met) != 1:
            self._met = [pl.concat([pl.Series([], dtype=pl.String), *self._met])]
        return self._met[0]

    @property
    def categories(self) -> pl.Series:
        """The same texts as categories; to be asked for when all texts are known."""
        if len(self._categories) != self.count or not is_coded(self._categories):
            self._categories = self.texts.cast(enumeration(self.texts))
        return self._categories


class TextNumbers:
    """Numbers for the texts in a sequence of frames.

    `names`: the columns whose texts are numbered. `room`: bytes that their distinct texts may take.
    """

    def __init__(self, names: Sequence[str], room: int) -> None:
        self._room = room
        self.columns = {name: _Texts() for name in names}

    @classmethod
    def of(cls, first: pl.DataFrame, room: int, *, coded: bool = False) -> "TextNumbers | None":
        """Numbers for the columns whose texts repeat in the first frame; None if there is no such column.

        `coded`: whether categories count as texts.
        """
        names = [cells.name for cells in first if _repeats(cells) or (coded and is_coded(cells))]
        return cls(names, room) if names else None

    def numbered(self, frame: pl.DataFrame) -> pl.DataFrame | None:
        """The frame with numbers instead of texts; None if the distinct texts take too much room."""
        made = pl.DataFrame(
            [
                self.columns[cells.name].numbers(cells).alias(cells.name)
                if cells.name in self.columns
                else cells
                for cells in frame
            ]
        )
        return made if sum(column.bytes for column in self.columns.values()) <= self._room else None

    def texts(self, frame: pl.DataFrame, *, coded: bool = False) -> pl.DataFrame:
        """Undo `numbered`, for a frame or some of its columns; texts may be returned as categories."""
        held = {
            name: column.categories if coded else column.texts
            for name, column in self.columns.items()
            if name in frame.columns
        }
        return pl.DataFrame(
            [
                held[cells.name].gather(cells).alias(cells.name) if cells.name in held else cells
                for cells in frame
            ]
        )


def _repeats(cells: pl.Series) -> bool:
    return cells.dtype == pl.String and (len(cells) < MANY or 2 * unnamed(cells).n_unique() <= len(cells))


Word: TypeAlias = dict[str, int]
"""Columns that are packed into one integer, with the number of bits of each; the last one has the lowest bits.

The order of these integers is the order of rows by these columns, missing cells first."""


class Packing:
    """Pack rows for sorting: texts become their ranks, of which as many as fit are packed into one integer.

    `schema`: the columns of the rows. `first`: those to be sorted by; the others come behind them. `coded`: whether
    texts come back as categories.
    """

    def __init__(
        self, numbers: TextNumbers, schema: Mapping[str, Any], first: Sequence[str], *, coded: bool = False
    ) -> None:
        self._numbers, self._schema, self._coded = numbers, dict(schema), coded
        self.parts: list[Word | str] = []
        self.keys = 0
        for place, name in enumerate([*first, *(name for name in schema if name not in first)]):
            self._add(name)
            self.keys = len(self.parts) if place < len(first) else self.keys

    def _add(self, name: str) -> None:
        if name not in self._numbers.columns:
            self.parts.append(name)
            return
        bits = self._numbers.columns[name].count.bit_length()
        last = self.parts[-1] if self.parts else ""
        if isinstance(last, dict) and sum(last.values()) + bits <= WORD:
            self.parts[-1] = {**last, name: bits}
        else:
            self.parts.append({name: bits})

    @property
    def names(self) -> list[str]:
        """The names of the packed columns."""
        return [f"p{place}" for place in range(len(self.parts))]

    @cached_property
    def _orders(self) -> dict[str, tuple[AnyArray, pl.Series]]:
        """For each column, the rank of each number, with 0 for missing cells, and the text of each rank."""
        found = {}
        for name, column in self._numbers.columns.items():
            order = column.texts.arg_sort()
            places = np.zeros(column.count + 1, dtype=np.uint64)
            places[order.to_numpy()] = np.arange(1, column.count + 1, dtype=np.uint64)
            texts = column.categories if self._coded else column.texts
            found[name] = places, pl.concat([pl.Series([None], dtype=texts.dtype), texts.gather(order)])
        return found

    def packed(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The packed rows of a frame of numbers."""
        columns = [frame[part] if isinstance(part, str) else self._word(part, frame) for part in self.parts]
        return pl.DataFrame([column.alias(name) for column, name in zip(columns, self.names, strict=True)])

    def _word(self, word: Word, frame: pl.DataFrame) -> pl.Series:
        whole = np.zeros(frame.height, dtype=np.uint64)
        for name, bits in word.items():
            places = self._orders[name][0]
            whole <<= np.uint64(bits)
            # A missing cell gets the number after the last, whose rank is 0.
            whole |= places[unnamed(frame[name]).fill_null(len(places) - 1).to_numpy()]
        return pl.Series(whole)

    def texts(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Undo `packed`, with texts instead of numbers."""
        found: dict[str, pl.Series] = {}
        for cells, part in zip(frame, self.parts, strict=True):
            if isinstance(part, str):
                found[part] = cells
                continue
            whole = cells.to_numpy()
            for name, bits in reversed(part.items()):
                places = (whole & np.uint64((1 << bits) - 1)).astype(np.uint32)
                found[name] = self._orders[name][1].gather(places)
                whole = whole >> np.uint64(bits)
        return pl.DataFrame([found[name].alias(name) for name in self._schema])
