r"""Columns of items, each cell of which holds a set such as ``beer|bread``.

Items ascend within a cell and do not repeat; a row without items has the empty text. Inside an item, ``\`` and ``|``
are escaped by a backslash, so that every cell can be read back.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import Codes, Rows
from shoal.data.baskets import Baskets, baskets_of_pairs, ragged_ranks
from shoal.data.domain import nominal
from shoal.data.published_syntax import split_escaped
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.errors import UnknownName, WrongUse

if TYPE_CHECKING:
    import polars

BETWEEN = "|"
MARKS = "|;,\t"
"""Characters that often separate items."""
_SPECIAL = re.compile(r"([\\|])")


def items_text(items: Iterable[str]) -> str:
    r"""The cell of a set of items.

    >>> print(items_text(["wine", "beer"]), items_text(["x|y", "z"]))
    beer|wine x\|y|z
    """
    return BETWEEN.join(_SPECIAL.sub(r"\\\1", item) for item in sorted(set(items)))


def items_in(text: str) -> list[str]:
    r"""The items of a cell, in the order in which they are written.

    >>> items_in(r"x\|y|z"), items_in("")
    (['x|y', 'z'], [])
    """
    return split_escaped(text) if text else []


def without_items(table: Table) -> Table:
    """The table without its column of items."""
    return Table(tuple(column for column in table.columns if column.role is not Role.ITEMS))


def item_sets(column: Column) -> Baskets:
    """The sets of items of a column, one basket per row; sensitive and insensitive items keep their roles."""
    return label_sets(column).take(column.codes.astype(np.int64))


def label_sets(column: Column) -> Baskets:
    """The sets of items of a column's labels, one basket per label."""
    import polars as pl

    labels = pl.Series(column.domain.labels, dtype=pl.String)
    if labels.str.contains("\\", literal=True).any():
        lists = pl.Series([items_in(text) for text in column.domain.labels], dtype=pl.List(pl.String))
    else:
        lists = labels.set(labels == "", None).str.split(BETWEEN)
    lengths = lists.list.len().fill_null(0).to_numpy().astype(np.int64)
    return sets_of(
        np.repeat(np.arange(len(labels)), lengths),
        lists.explode(empty_as_null=False, keep_nulls=False),
        len(labels),
        column,
    )


def sets_of(rows: Rows, texts: "polars.Series", count: int, roles: Column | None = None) -> Baskets:
    """Build baskets from pairs of a row and an item in any order; repeated pairs count once.

    `roles`: a column that says which items are sensitive and insensitive.
    """
    import polars as pl

    vocabulary = texts.unique().sort()
    codes = texts.cast(pl.Enum(vocabulary)).to_physical().to_numpy().astype(np.int64)
    names = tuple(vocabulary.to_list())
    sets = baskets_of_pairs(rows, codes, count, names)
    if roles is None:
        return sets
    sensitive, insensitive = _places(names, roles.sensitive_items), _places(names, roles.insensitive_items)
    return replace(sets, sensitive=sensitive, insensitive=insensitive, hierarchy=roles.hierarchy)


def item_column(name: str, sets: Baskets) -> Column:
    """The column whose cells are the sets of items, one row per basket."""
    escaped = [_SPECIAL.sub(r"\\\1", item) for item in sets.vocabulary]
    _, first, places = np.unique(
        ragged_ranks(sets.indptr, sets.items), return_index=True, return_inverse=True
    )
    begins, ends, items = sets.indptr[first].tolist(), sets.indptr[first + 1].tolist(), sets.items.tolist()
    texts = [
        BETWEEN.join([escaped[item] for item in items[begin:end]])
        for begin, end in zip(begins, ends, strict=True)
    ]
    order = sorted(range(len(texts)), key=texts.__getitem__)
    rank = np.empty(len(texts), dtype=np.int32)
    rank[order] = np.arange(len(texts), dtype=np.int32)
    return Column(
        name,
        Role.ITEMS,
        nominal(tuple(texts[place] for place in order)),
        rank[places],
        sets.hierarchy,
        tuple(sets.vocabulary[item] for item in sets.sensitive.tolist()),
        tuple(sets.vocabulary[item] for item in sets.insensitive.tolist()),
    )


def with_item_roles(table: Table, sensitive: Iterable[str], insensitive: Iterable[str]) -> Table:
    """Make items of a table's column of items sensitive or insensitive.

    Raises `UnknownName` if no row has an item of that name. Raises `WrongUse` if an item has two roles, or there is no
    column of items.
    """
    secret, neither = tuple(dict.fromkeys(sensitive)), tuple(dict.fromkeys(insensitive))
    column = table.items_column
    if not secret and not neither:
        return table
    if column is None:
        raise WrongUse(
            "No column holds items, so none can be sensitive or insensitive: name it with --items."
        )
    vocabulary = label_sets(column).vocabulary
    for item in (*secret, *neither):
        if item not in vocabulary:
            raise UnknownName("item", item, vocabulary)
    if twice := sorted(set(secret) & set(neither)):
        raise WrongUse(
            f"The item {twice[0]!r} is named as sensitive and as insensitive; it can be one of them."
        )
    named = replace(column, sensitive_items=secret, insensitive_items=neither)
    return Table(tuple(named if one is column else one for one in table.columns))


def unseparated(columns: Iterable[Column], separator: str) -> tuple[str, ...]:
    """Warnings about columns in which the given separator never occurs, and another one seems to be used."""
    found = []
    for column in columns:
        labels = [text for text in column.domain.labels if text]
        alone = [text.replace("\\", "") for text in labels if len(items_in(text)) == 1]
        marked = next((text for text in alone if any(mark in text for mark in MARKS)), None)
        if len(alone) == len(labels) and marked is not None:
            found.append(
                f"No cell of {column.name} holds the separator {separator!r}, so that each is one item, such as "
                f"{marked!r}: name another one with --item-separator, or omit it."
            )
    return tuple(found)


def disordered_sets(column: Column) -> list[int]:
    """The codes of cells whose items do not ascend, repeat, or include an empty text."""
    found = []
    for code in column.occurring.tolist():
        text = column.domain.labels[code]
        items = items_in(text)
        if "" in items or items_text(items) != text:
            found.append(code)
    return found


def _places(names: tuple[str, ...], wanted: Iterable[str]) -> Codes:
    asked = set(wanted)
    return np.array([place for place, name in enumerate(names) if name in asked], dtype=np.int32)
