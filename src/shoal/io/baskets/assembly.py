"""Baskets from what a source holds: texts become codes in ascending code-point order, repeated items are merged."""

from dataclasses import replace

import numpy as np
import polars as pl

from shoal.arrays import Items, Rows
from shoal.data.baskets import Baskets
from shoal.io.baskets.layouts import Layout
from shoal.io.baskets.lines import Tokens
from shoal.io.baskets.long_tables import TOLD, Pairs
from shoal.io.baskets.matrix import Ones


def joined(parts: list[Baskets]) -> Baskets:
    """Baskets one after the other, with one vocabulary."""
    vocabulary = tuple(sorted(set().union(*(part.vocabulary for part in parts))))
    places = {item: code for code, item in enumerate(vocabulary)}
    codes = [
        np.array([places[item] for item in part.vocabulary], dtype=np.int32)[part.items] for part in parts
    ]
    lengths = np.concatenate([part.lengths for part in parts])
    none: Items = np.empty(0, dtype=np.int32)
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    begins = np.cumsum([0, *map(len, parts[:-1])])
    unsorted = np.concatenate([begin + part.unsorted for begin, part in zip(begins, parts, strict=True)])[
        :TOLD
    ]
    return Baskets(indptr, np.concatenate(codes), vocabulary, none, none, parts[0].layout, unsorted=unsorted)


def from_ones(ones: Ones) -> Baskets:
    """Baskets of a matrix; a column without a 1 is no item."""
    used = np.bincount(ones.columns, minlength=len(ones.names)) > 0
    order = sorted(np.flatnonzero(used).tolist(), key=ones.names.__getitem__)
    places = np.zeros(len(ones.names), dtype=np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    vocabulary = tuple(ones.names[place] for place in order)
    return _assembled(ones.rows, places[ones.columns], ones.height, vocabulary, Layout("matrix"))


def from_tokens(tokens: Tokens, layout: Layout) -> Baskets:
    """Baskets of the texts of lines."""
    return from_texts(pairs_of(tokens), layout)


def pairs_of(tokens: Tokens) -> Pairs:
    """The basket of each text."""
    rows = np.repeat(np.arange(len(tokens.indptr) - 1), np.diff(tokens.indptr))
    return Pairs(rows, tokens.texts, len(tokens.indptr) - 1, trimmed=tokens.trimmed)


def from_texts(pairs: Pairs, layout: Layout) -> Baskets:
    """Baskets of pairs of a row and a text; texts become codes in ascending code-point order."""
    return from_pairs(pairs, pairs.texts.unique().sort(), layout)


def from_pairs(pairs: Pairs, vocabulary: pl.Series, layout: Layout) -> Baskets:
    """Baskets of pairs of a row and a text of the vocabulary, whose texts ascend."""
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
        unsorted = np.flatnonzero(met)[:TOLD]
        mixed = np.sort(mixed)
        mixed = mixed[np.concatenate(([True], mixed[1:] != mixed[:-1]))]
    indptr = np.searchsorted(mixed, np.arange(count + 1, dtype=np.int64) * size)
    none: Items = np.empty(0, dtype=np.int32)
    return Baskets(
        indptr, (mixed % size).astype(np.int32), vocabulary, none, none, str(layout), unsorted=unsorted
    )
