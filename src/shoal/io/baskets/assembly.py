"""Baskets from what a source holds: texts become codes in ascending code-point order, repeated items are merged."""

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.arrays import Items, Rows, indptr_of, owners
from shoal.data.baskets import Baskets
from shoal.errors import BadData, WrongUse
from shoal.io.baskets.layouts import NAMED, ONES, WHITE, ZEROS, Layout, names_say
from shoal.io.baskets.matrix import Ones, checked_names
from shoal.io.baskets.numbered_texts import LEAST

if TYPE_CHECKING:
    import polars

    from shoal.io.baskets.lines import Tokens
    from shoal.io.baskets.long_tables import Pairs


_FEEDS = re.compile(rb"[\v\f]")
"""What cuts bytes into words beside blanks."""


def joined(parts: list[Baskets]) -> Baskets:
    """Baskets one after the other, with one vocabulary."""
    vocabulary = tuple(sorted(set().union(*(part.vocabulary for part in parts))))
    places = {item: code for code, item in enumerate(vocabulary)}
    codes = [
        np.array([places[item] for item in part.vocabulary], dtype=np.int32)[part.items] for part in parts
    ]
    lengths = np.concatenate([part.lengths for part in parts])
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    begins = np.cumsum([0, *map(len, parts[:-1])])
    unsorted = np.concatenate([begin + part.unsorted for begin, part in zip(begins, parts, strict=True)])[
        :NAMED
    ]
    return Baskets(indptr, np.concatenate(codes), vocabulary, layout=parts[0].layout, unsorted=unsorted)


def from_ones(ones: Ones) -> Baskets:
    """Baskets of a matrix; a column without a 1 is not an item."""
    used = np.bincount(ones.columns, minlength=len(ones.names)) > 0
    order = sorted(np.flatnonzero(used).tolist(), key=ones.names.__getitem__)
    places = np.zeros(len(ones.names), dtype=np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    vocabulary = tuple(ones.names[place] for place in order)
    return _assembled(ones.rows, places[ones.columns], ones.height, vocabulary, Layout("matrix"))


def from_few_lines(content: bytes, layout: Layout) -> Baskets | None:
    """Baskets of a small file with one a line and blanks between items, for which no library has to be loaded.

    None where other readers are to be asked: the file is large, or an item has other white space around it.
    """
    if layout.form != "lines" or layout.separator is not None or len(content) >= LEAST:
        return None
    rows = [line.split() for line in content.removesuffix(b"\n").split(b"\n")]
    texts = sorted(set(chain.from_iterable(rows)))
    vocabulary = tuple(text.decode() for text in texts)
    if _FEEDS.search(content) or any(label != label.strip(WHITE) for label in vocabulary):
        return None
    places = {text: code for code, text in enumerate(texts)}
    indptr = indptr_of(list(map(len, rows)))
    codes = np.fromiter(map(places.__getitem__, chain.from_iterable(rows)), dtype=np.int32, count=indptr[-1])
    return _assembled(owners(indptr), codes, len(rows), vocabulary, layout)


def from_tokens(tokens: "Tokens", layout: Layout) -> Baskets:
    """Baskets of the texts of lines."""
    return from_texts(pairs_of(tokens), layout)


def pairs_of(tokens: "Tokens") -> "Pairs":
    """The basket of each text."""
    from shoal.io.baskets.long_tables import Pairs

    rows = owners(tokens.indptr)
    return Pairs(rows, tokens.texts, len(tokens.indptr) - 1, trimmed=tokens.trimmed)


def from_texts(pairs: "Pairs", layout: Layout) -> Baskets:
    """Baskets of pairs of a row and a text; texts become codes in ascending code-point order."""
    return from_pairs(pairs, pairs.texts.unique().sort(), layout)


def from_pairs(pairs: "Pairs", vocabulary: "polars.Series", layout: Layout) -> Baskets:
    """Baskets of pairs of a row and a text of the vocabulary, whose texts ascend."""
    import polars as pl

    codes = pairs.texts.cast(pl.Enum(vocabulary)).to_physical().to_numpy().astype(np.int32)
    baskets = _assembled(pairs.rows, codes, pairs.count, tuple(vocabulary.to_list()), layout)
    return replace(baskets, misnumbered=pairs.misnumbered) if len(pairs.misnumbered) else baskets


def _assembled(rows: Rows, codes: Items, count: int, vocabulary: tuple[str, ...], layout: Layout) -> Baskets:
    """Baskets of pairs of a row and a code, which are sorted here; repeated pairs are merged."""
    size = max(len(vocabulary), 1)
    mixed = rows.astype(np.int64) * size + codes
    unsorted: Rows = np.empty(0, dtype=np.int64)
    falls = mixed[1:] <= mixed[:-1]
    if falls.any():
        met = np.zeros(count, dtype=np.bool_)
        met[rows[1:][falls]] = True
        unsorted = np.flatnonzero(met)[:NAMED]
        mixed = np.sort(mixed)
        mixed = mixed[np.concatenate(([True], mixed[1:] != mixed[:-1]))]
    indptr = np.searchsorted(mixed, np.arange(count + 1, dtype=np.int64) * size)
    return Baskets(indptr, (mixed % size).astype(np.int32), vocabulary, layout=str(layout), unsorted=unsorted)


SHOWN = 3
"""So many items are quoted."""

NUMBERED = (
    "The columns of the matrix have no names: items are called by the numbers of their columns, from 0. Name them with "
    "--names."
)
MISSING_BASKETS = "Some baskets are missing (None), and were taken as baskets without items."
MISSING = "Some baskets hold missing items (None, NaN or an empty text), which were left out."


def missing_in(pairs: "Pairs") -> list[str]:
    """What is said of items and baskets that are missing."""
    return [MISSING] * pairs.missing + [MISSING_BASKETS] * pairs.missing_baskets


def trimmed_items(items: Iterable[str]) -> list[str]:
    """What is said of items that had blanks around them.

    >>> trimmed_items(["cream cheese"])
    ["Blanks around an item were taken away: 'cream cheese'."]
    >>> trimmed_items([])
    []
    """
    found = sorted(set(items))
    if not found:
        return []
    what = "an item" if len(found) == 1 else f"{len(found):,} items"
    more = ", …" if len(found) > SHOWN else ""
    return [f"Blanks around {what} were taken away: {', '.join(map(repr, found[:SHOWN]))}{more}."]


def trimmed_baskets(column: str) -> str:
    """What is said where the names of baskets had blanks around them."""
    return f"Blanks around the names of baskets in column {column!r} were taken away."


UNDERSTOOD = (
    "a path, the address of a database, a frame, a list with a list or set of items for each basket, a dictionary of "
    "them, or a matrix of 0 and 1 (of numpy or scipy)"
)


def read_values(
    source: Any, given: Layout | None, names: Sequence[str] | None, remarks: list[str]
) -> Baskets:
    """Read baskets that are in memory, and are no frame.

    `given`: the layout that they are published in; of a list of rows of 0 and 1, ``matrix`` says that it is one.
    `remarks`: what is to be said of them is added here. Raises `BadData` if there are none, or a matrix holds
    something else than 0 and 1. Raises `WrongUse` if it is something that is not understood.
    """
    if isinstance(source, np.ndarray) and source.ndim == 1 and source.dtype == object:
        source = list(source)
    if is_sparse(source) or isinstance(source, np.ndarray):
        return _of_matrix(source, given, names, remarks)
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
        if given is None:
            raise WrongUse(
                'These rows of 0 and 1 could be a matrix, or baskets of the items 0 and 1: say baskets="matrix" or '
                'baskets="lines".'
            )
        if given.form == "matrix":
            return _of_matrix(np.array(rows), given, names, remarks)
    if names is not None:
        raise WrongUse("Names are for a matrix, or for a text without a header: omit them.")
    return _of_lists(rows, given, remarks)


def is_sparse(source: Any) -> bool:
    """Whether a source is a sparse matrix or array of scipy."""
    return type(source).__module__.startswith("scipy.sparse") and hasattr(source, "tocsr")


def _of_lists(rows: list[Collection[object]], given: Layout | None, remarks: list[str]) -> Baskets:
    import polars as pl

    from shoal.io.baskets.lines import Tokens

    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    raw = pl.Series("item", _item_texts(list(chain.from_iterable(rows))), dtype=pl.String)
    texts = raw.str.strip_chars(WHITE).fill_null("")
    present = (texts != "").to_numpy()
    remarks += trimmed_items(texts.filter(((raw != texts) & (texts != "")).fill_null(False)).to_list())
    if not present.all():
        remarks.append(MISSING)
    tokens = Tokens(np.concatenate(([0], np.cumsum(lengths))), texts).where(present)
    baskets = from_tokens(tokens, given or Layout("lines"))
    if given is None and any(re.search(r"\s", item) for item in baskets.vocabulary):
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
                f"{item!r} is not an item: items are texts or numbers, and a basket is a list or set of them."
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


def _of_matrix(source: Any, given: Layout | None, names: Sequence[str] | None, remarks: list[str]) -> Baskets:
    """Baskets of an array or sparse matrix with a row for each basket and a column for each item."""
    if given is not None and given.form != "matrix":
        raise WrongUse(
            f"An array is read as a matrix of 0 and 1; the layout {given.form} needs a frame or a file."
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
