"""Baskets from one layout into another, without rare items if wanted."""

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from math import ceil, inf
from pathlib import Path

import numpy as np

from shoal.arrays import Mask, indptr_of
from shoal.data.baskets import Baskets
from shoal.errors import WrongUse
from shoal.io.baskets.layouts import BETWEEN_ITEMS, Layout, parse_layout, published_separator
from shoal.io.baskets.load import EncodedBaskets, Source, codes_of, load_baskets, write_baskets
from shoal.io.baskets.long_tables import between_items
from shoal.io.reading import Reading
from shoal.io.source import ARROW, PARQUET, format_of

ENDINGS = {".dat": "lines", ".spmf": "spmf", **dict.fromkeys((*PARQUET, *ARROW), "long")}
"""Layouts that the ending of a file tells."""


def convert_baskets(
    source: Source,
    target: str | Path,
    *,
    layout: str | None = None,
    reading: Reading | None = None,
    to: str | None = None,
    least_support: float = 0,
    drop_empty: bool = False,
    drop_only: Iterable[str] = (),
    most_items: int | None = None,
) -> tuple[EncodedBaskets, Baskets]:
    """Read baskets and write them in another layout, in their order; gives what was read, and what was written.

    `source`, `layout`, `reading`: what to read, as `load_baskets` takes it. `to`: the layout to write: ``lines``,
    ``lines:SEPARATOR``, ``spmf``, ``long``, ``long:ID,ITEM``, ``matrix`` or ``column:NAME``. By default, the ending
    says it: ``.dat`` is lines, ``.spmf`` is SPMF, ``.parquet`` and ``.arrow`` are long. ``.gz`` or ``.zst`` behind it
    compresses. `least_support`: items that fewer baskets hold are left out: a number of baskets, or below 1 a share of
    them. `drop_empty`: leave out baskets without items. They are persons too, and stay by default. `drop_only`: items;
    baskets that hold some of them and nothing else are left out first. `most_items`: leave out baskets with more items,
    as they are read. Raises `WrongUse` if the layout to write is not
    known, or an item cannot be written in it, and `UnknownName` if no basket holds an item of `drop_only`.
    """
    wanted = target_layout(target, to)
    encoded = load_baskets(source, layout, reading)
    written = without_large_baskets(without_baskets_of(encoded.baskets, drop_only), most_items)
    written = without_rare_items(written, least_support)
    if drop_empty:
        written = written.take(np.flatnonzero(written.lengths))
    written = replace(written, layout=str(wanted))
    write_baskets(written, target)
    return encoded, written


def without_rare_items(baskets: Baskets, least_support: float) -> Baskets:
    """The baskets without the items that too few of them hold.

    `least_support`: a number of baskets, or below 1 a share of them. Items at the bound stay.

    >>> from shoal.io.baskets.load import read_baskets
    >>> baskets = read_baskets([["a", "b"], ["a"], ["a"], ["c", "a"]])
    >>> without_rare_items(baskets, 2).vocabulary, without_rare_items(baskets, 0.25).vocabulary
    (('a',), ('a', 'b', 'c'))
    """
    if not 0 <= least_support < inf:
        raise WrongUse(f"The least support must be a number of at least 0, not {least_support:g}.")
    exact = Fraction(str(least_support))
    least = ceil(exact * len(baskets)) if exact < 1 else ceil(exact)
    rare = baskets.supports < least
    return baskets.keep(~rare) if rare.any() else baskets


def without_baskets_of(baskets: Baskets, items: Iterable[str]) -> Baskets:
    """The baskets that hold any other item than these, or none at all. Raises `UnknownName` if an item does not occur.

    >>> from shoal.io.baskets.load import read_baskets
    >>> baskets = read_baskets([["a", "b"], ["b"], [], ["b", "c"], ["c"]])
    >>> kept = without_baskets_of(baskets, ["b", "c"])
    >>> list(kept), kept.vocabulary
    ([('a', 'b'), ()], ('a', 'b'))
    """
    codes = codes_of(baskets, items)
    if not len(codes):
        return baskets
    named = np.zeros(len(baskets.vocabulary), dtype=np.bool_)
    named[codes] = True
    others = np.diff(indptr_of(~named[baskets.items])[baskets.indptr])
    return _only(baskets, (others > 0) | (baskets.lengths == 0))


def without_large_baskets(baskets: Baskets, most_items: int | None) -> Baskets:
    """The baskets that hold at most so many items; all where no number is given.

    >>> from shoal.io.baskets.load import read_baskets
    >>> list(without_large_baskets(read_baskets([["a", "b"], ["b"], []]), 1))
    [('b',), ()]
    """
    if most_items is None:
        return baskets
    if most_items < 1:
        raise WrongUse(f"The most items of a basket must be a number of at least 1, not {most_items}.")
    return _only(baskets, baskets.lengths <= most_items)


def _only(baskets: Baskets, wanted: Mask) -> Baskets:
    """Some of the baskets, without the items that only others hold."""
    left = baskets.take(np.flatnonzero(wanted))
    return left.keep((left.supports > 0) | (baskets.supports == 0))


def target_layout(target: str | Path, to: str | None) -> Layout:
    """The layout to write: the one that is named, or the one that the ending of the file tells."""
    layout = to or ENDINGS.get(format_of(target))
    if layout is None:
        raise WrongUse(
            f"Say how to write {target} with --to: lines, spmf, long:ID,ITEM, matrix or column:NAME. "
            "Only the endings .dat, .spmf, .parquet and .arrow tell it by themselves."
        )
    return parse_layout(layout)


def layout_by_ending(target: str | Path) -> str:
    """The layout that the ending of a new file tells where nothing else does: ``.csv`` is a long table.

    Raises `WrongUse` if the ending tells none.
    """
    layout = {**ENDINGS, ".csv": "long"}.get(format_of(target))
    if layout is None:
        raise WrongUse(
            f"The ending of {target} tells no layout of baskets: take .dat, .spmf, .csv (a long table), .parquet or "
            ".arrow; .gz or .zst behind .dat, .spmf or .csv compresses."
        )
    return layout


def separator_to_tell(baskets: Baskets) -> str | None:
    """What separates the items of written cells, where a reader would take something else; None where it would not.

    >>> from shoal.io.baskets.load import read_baskets
    >>> separator_to_tell(read_baskets([["red|green", "blue"]], baskets="column:goods"))
    ';'
    """
    if parse_layout(baskets.layout).form != "column":
        return None
    separator = published_separator(baskets.vocabulary)
    marks = {mark for mark in BETWEEN_ITEMS if any(mark in item for item in baskets.vocabulary)}
    if (baskets.lengths > 1).any():
        marks.add(separator)
    return None if between_items(frozenset(marks)) == separator else separator
