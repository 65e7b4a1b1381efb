"""Baskets from one layout into another, without rare items if wanted."""

from dataclasses import replace
from fractions import Fraction
from math import ceil, inf
from pathlib import Path

import numpy as np

from shoal.data.baskets import Baskets
from shoal.errors import WrongUse
from shoal.io.baskets.layouts import BETWEEN_ITEMS, Layout, parse_layout, published_separator
from shoal.io.baskets.load import EncodedBaskets, Source, load_baskets, write_baskets
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
) -> tuple[EncodedBaskets, Baskets]:
    """Read baskets and write them in another layout, in their order; gives what was read, and what was written.

    `source`, `layout`, `reading`: what to read, as `load_baskets` takes it. `to`: the layout to write: ``lines``,
    ``lines:SEPARATOR``, ``spmf``, ``long``, ``long:ID,ITEM``, ``matrix`` or ``column:NAME``. By default, the ending
    says it: ``.dat`` is lines, ``.spmf`` is SPMF, ``.parquet`` and ``.arrow`` are long. ``.gz`` or ``.zst`` behind it
    compresses. `least_support`: items that fewer baskets hold are left out: a number of baskets, or below 1 a share of
    them. `drop_empty`: leave out baskets without items. They are persons too, and stay by default. Raises `WrongUse` if
    the layout to write is not known, or an item cannot be written in it.
    """
    wanted = target_layout(target, to)
    encoded = load_baskets(source, layout, reading)
    written = without_rare_items(encoded.baskets, least_support)
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
