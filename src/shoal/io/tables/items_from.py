"""A table that gets its column of items from another one, which has an item a row."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from shoal.data._frames import named
from shoal.data._plain_text import counted
from shoal.errors import BadData, UnknownName, WrongUse
from shoal.io.tables.encode import to_texts
from shoal.io.tables.input import Input


class WithItems(Input):
    """A source with one more column: the items that another source has for the key of each row."""

    def __init__(self, opened: Input, other: Input, key: str, item: str) -> None:
        for source in (opened, other):
            if key not in source.names:
                raise UnknownName("column", key, source.names, source.path)
        if item not in other.names:
            raise UnknownName("column", item, other.names, other.path)
        if item in opened.names:
            raise WrongUse(
                f"The table has a column {item!r} itself, so that the items of {other.path} cannot be called so: "
                "rename one of them."
            )
        self.names, self.path = (*opened.names, item), opened.path
        self.of_texts, self.orders = opened.of_texts, opened.orders
        self._opened, self._other, self._key, self._item = opened, other, key, item
        self.remarks: tuple[str, ...] = ()

    def frame(self, columns: Sequence[str]) -> pl.DataFrame:
        """The cells of some columns; those of items are lists."""
        own = [name for name in columns if name != self._item]
        read = self._opened.frame(list(dict.fromkeys([*own, self._key])))
        if self._item not in columns:
            return read.select(named(own))
        return read.with_columns(self._cells(read[self._key])).select(named(columns))

    def fault(self, message: str, row: int, column: str | None = None) -> BadData:
        """An error in one row."""
        return self._opened.fault(message, row, column)

    def _cells(self, keys: pl.Series) -> pl.Series:
        """The list of the items of each row."""
        own, pairs = _texts(keys), self._other.frame([self._key, self._item])
        if own.is_duplicated().any():
            raise BadData(
                f"the key {own.filter(own.is_duplicated())[0]!r} stands in several rows; a row a person is needed, so "
                "that each of them has her items once.",
                self._opened.path,
                column=self._key,
            )
        places = pl.DataFrame({"key": own, "row": np.arange(len(own), dtype=np.int64)})
        listed = pl.DataFrame({"key": _texts(pairs[self._key]), "item": _texts(pairs[self._item])})
        joined = listed.filter(pl.col("item") != "").join(places, on="key", how="left")
        unknown = int(joined["row"].null_count())
        if unknown == joined.height:
            raise BadData(
                f"no {self._key} of it is one of the table, so that nobody has an item.",
                self._other.path,
                column=self._key,
            )
        if unknown:
            self.remarks = (
                f"{counted(unknown, 'items')} of {self._other.path} belong to a {self._key} that no row of the table "
                "has; they are left out.",
            )
        lists = joined.drop_nulls("row").group_by("row").agg(pl.col("item"))
        return places.join(lists, on="row", how="left", maintain_order="left")["item"].alias(self._item)


def with_items(opened: Input, spec: str) -> tuple[WithItems, str]:
    """The source with the items of another one, ``FILE:KEY,ITEM``, and the name of their column.

    Raises `WrongUse` if it is named otherwise, or a column is not there (`UnknownName`).
    """
    from shoal.io.tables.load import open_input

    path, key, item = split_spec(spec)
    return WithItems(opened, open_input(path), key, item), item


def split_spec(spec: str) -> tuple[str, str, str]:
    """The file, the key and the item that ``FILE:KEY,ITEM`` names.

    >>> split_spec("visits.csv:patient,diagnosis")
    ('visits.csv', 'patient', 'diagnosis')
    """
    path, _, columns = spec.rpartition(":")
    names = [name.strip() for name in columns.split(",")]
    if not path or len(names) != 2 or not all(names) or names[0] == names[1]:
        raise WrongUse(
            f"Items of another table are named by its file, the key and the item, visits.csv:patient,diagnosis, and "
            f"not by {spec!r}."
        )
    return path, names[0], names[1]


def _texts(series: pl.Series) -> pl.Series:
    return to_texts(series).str.strip_chars().fill_null("")
