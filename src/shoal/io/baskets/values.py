"""Baskets that are values of Python: lists and sets, a dictionary, an array of 0 and 1, a sparse matrix."""

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import polars as pl

from shoal.data.baskets import Baskets
from shoal.errors import BadData, WrongUse
from shoal.io.baskets.assembly import from_ones, from_tokens
from shoal.io.baskets.layouts import ONES, WHITE, ZEROS, Layout, names_say
from shoal.io.baskets.lines import Tokens
from shoal.io.baskets.matrix import Ones, checked_names
from shoal.io.baskets.remarks import MISSING, MISSING_BASKETS, NUMBERED, trimmed_items

UNDERSTOOD = (
    "a path, the address of a database, a frame, a list with a list or set of items for each basket, a dictionary of "
    "them, or a matrix of 0 and 1 (of numpy or scipy)"
)


def read_values(source: Any, told: Layout | None, names: Sequence[str] | None, remarks: list[str]) -> Baskets:
    """Read baskets that are in memory, and are no frame.

    Parameters
    ----------
    told
        The layout that they are published in; of a list of rows of 0 and 1, ``matrix`` says that it is one.
    names
        The items, for a matrix.
    remarks
        What is to be said of them is added here.

    Raises
    ------
    BadData
        If there are none, or a matrix holds something else than 0 and 1.
    WrongUse
        If it is something that is not understood.
    """
    if isinstance(source, np.ndarray) and source.ndim == 1 and source.dtype == object:
        source = list(source)
    if is_sparse(source) or isinstance(source, np.ndarray):
        return _of_matrix(source, told, names, remarks)
    if isinstance(source, Mapping):
        if names_say([str(name) for name in source]):
            raise WrongUse(
                "This dictionary holds the columns of a table: make a frame of it (polars.DataFrame(…)), or give a "
                "dictionary from each basket to its items."
            )
        source = list(source.values())
    if isinstance(source, str | bytes | Iterator) or not isinstance(source, Collection):
        what = (
            "an iterator, which can be read once"
            if isinstance(source, Iterator)
            else f"a {type(source).__name__}"
        )
        hint = ": make a list of it" if isinstance(source, Iterator) else ""
        raise WrongUse(f"Baskets are read from {UNDERSTOOD}, not from {what}{hint}.")
    rows = [() if basket is None else _basket_of(basket, place) for place, basket in enumerate(source)]
    if any(basket is None for basket in source):
        remarks.append(MISSING_BASKETS)
    if not rows:
        raise BadData("the list is empty; there are no baskets.")
    if _are_rows_of_cells(rows):
        if told is None:
            raise WrongUse(
                'These rows of 0 and 1 could be a matrix, or baskets of the items 0 and 1: say baskets="matrix" or '
                'baskets="lines".'
            )
        if told.form == "matrix":
            return _of_matrix(np.array(rows), told, names, remarks)
    _refuse_names(names)
    return _of_lists(rows, told, remarks)


def is_sparse(source: Any) -> bool:
    """Whether a source is a sparse matrix or array of scipy."""
    return type(source).__module__.startswith("scipy.sparse") and hasattr(source, "tocsr")


def _refuse_names(names: Sequence[str] | None) -> None:
    if names is not None:
        raise WrongUse("Names are for a matrix, or for a text without a header: leave them away.")


def _of_lists(rows: list[Collection[object]], told: Layout | None, remarks: list[str]) -> Baskets:
    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    raw = pl.Series("item", _item_texts(list(chain.from_iterable(rows))), dtype=pl.String)
    texts = raw.str.strip_chars(WHITE).fill_null("")
    present = (texts != "").to_numpy()
    remarks += trimmed_items(texts.filter(((raw != texts) & (texts != "")).fill_null(False)).to_list())
    if not present.all():
        remarks.append(MISSING)
    tokens = Tokens(np.concatenate(([0], np.cumsum(lengths))), texts).where(present)
    baskets = from_tokens(tokens, told or Layout("lines"))
    if told is None and any(re.search(r"\s", item) for item in baskets.vocabulary):
        return replace(baskets, layout=str(Layout("long", ("basket", "item"))))
    return baskets


def _basket_of(basket: Any, place: int) -> Collection[object]:
    if isinstance(basket, str | bytes | Mapping) or not isinstance(basket, Iterable):
        raise WrongUse(f"Basket {place + 1} is {basket!r}, not a list or set of items.")
    return basket if isinstance(basket, Collection) else tuple(basket)


def _item_texts(items: list[Any]) -> list[str | None]:
    """Items as texts; whole numbers have no point, and a missing item is none.

    >>> _item_texts(["a", 3, 4.0, float("nan"), None])
    ['a', '3', '4', None, None]
    """
    for kind in set(map(type, items)):
        if issubclass(kind, bytes | Iterable) and not issubclass(kind, str):
            item = next(item for item in items if type(item) is kind)
            raise WrongUse(
                f"{item!r} is no item: items are texts or numbers, and a basket is a list or set of them."
            )
    if all(type(item) is str for item in items):
        return items
    floats = [float(item) for item in items if isinstance(item, float | np.floating)]
    whole = all(number.is_integer() for number in floats if not math.isnan(number))
    return [_item_text(item, whole) for item in items]


def _item_text(item: Any, whole: bool) -> str | None:
    # What is missing in pandas and numpy is not equal to itself, or is not known to be.
    if item is None or type(item).__name__ in ("NAType", "NaTType") or item != item:
        return None
    return str(int(item)) if whole and isinstance(item, float | np.floating) else str(item)


def _are_rows_of_cells(rows: list[Collection[object]]) -> bool:
    """Whether lists of one length hold the numbers 0 and 1, or True and False, alone."""
    width = len(rows[0])
    if width < 2 or any(len(row) != width or isinstance(row, Set) for row in rows):
        return False
    kinds = bool | int | float | np.bool_ | np.number
    return all(isinstance(cell, kinds) and cell in (0, 1) for cell in chain.from_iterable(rows))


def _of_matrix(source: Any, told: Layout | None, names: Sequence[str] | None, remarks: list[str]) -> Baskets:
    """Baskets of an array or sparse matrix with a row for each basket and a column for each item."""
    if told is not None and told.form != "matrix":
        raise WrongUse(
            f"An array is read as a matrix of 0 and 1; the layout {told.form} needs a frame or a file."
        )
    if source.ndim != 2:
        raise WrongUse(
            f"A matrix of baskets has two dimensions, a row for each basket and a column for each item; this has "
            f"{source.ndim}."
        )
    height, width = source.shape
    if not height or not width:
        raise BadData("the matrix is empty; there are no baskets.")
    if names is not None and len(names) != width:
        raise WrongUse(f"The matrix has {width:,} columns, and {len(names):,} names are given.")
    labels, trimmed = checked_names(list(map(str, range(width))) if names is None else list(map(str, names)))
    remarks += [NUMBERED] if names is None else trimmed_items(trimmed)
    rows, columns = _places_in_sparse(source) if is_sparse(source) else _places(source)
    return from_ones(Ones(rows, columns.astype(np.int32), height, labels, names is None))


def _places_in_sparse(source: Any) -> tuple[Any, Any]:
    """The places of ones, without the zeros ever being there."""
    matrix = source.tocsr(copy=True)
    matrix.sum_duplicates()
    wrong = np.flatnonzero(~((matrix.data == 0) | (matrix.data == 1)))
    rows = np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr))
    if len(wrong):
        _refuse_value(matrix.data[wrong[0]], int(rows[wrong[0]]), int(matrix.indices[wrong[0]]))
    there = matrix.data == 1
    return rows[there], matrix.indices[there]


def _places(source: Any) -> tuple[Any, Any]:
    array = np.asarray(source)
    if array.dtype.kind in "US":
        texts = np.char.lower(np.char.strip(array.astype(str)))
        ones = np.isin(texts, list(ONES))
        known = ones | np.isin(texts, list(ZEROS))
    elif array.dtype.kind in "biufO":
        ones = np.asarray(array == 1, dtype=np.bool_)
        known = ones | np.asarray(array == 0, dtype=np.bool_)
    else:
        raise WrongUse(
            f"A matrix of baskets holds 0 and 1, or True and False; this one is of type {array.dtype}."
        )
    if not known.all():
        row, column = divmod(int(np.argmin(known)), array.shape[1])
        _refuse_value(array[row, column], row, column)
    rows, columns = np.nonzero(ones)
    return rows, columns


def _refuse_value(value: Any, row: int, column: int) -> None:
    shown = value.item() if isinstance(value, np.generic) else value
    raise BadData(
        f"row {row + 1}, column {column + 1} of the matrix holds {shown!r}. A matrix of baskets holds 0 and 1, or True "
        "and False, alone."
    )
