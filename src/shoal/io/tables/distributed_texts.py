"""Published cells in parts as texts: the same as in memory, although each worker sees some of them only."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

import polars as pl

from shoal.io.tables.distributed import DistributedInput
from shoal.io.tables.encode import is_plain, refuse_nested, tell_empty, to_texts

_TEXTS = (pl.String, pl.Categorical, pl.Enum)

LOOKS = "looks"
"""Where the looks of columns stand in what is known of a published file."""


@dataclass(frozen=True, slots=True)
class Look:
    """What must be known of a whole column before some of its cells are texts.

    Parameters
    ----------
    plain
        All numbers are whole, or all times midnight.
    missing, empty, quotes
        There are nulls, empty texts, and texts of two quotes.
    """

    plain: bool = True
    missing: bool = False
    empty: bool = False
    quotes: bool = False

    def joined(self, other: "Look") -> "Look":
        """What is known of the cells of both."""
        return Look(
            self.plain and other.plain,
            self.missing or other.missing,
            self.empty or other.empty,
            self.quotes or other.quotes,
        )


Looks: TypeAlias = Mapping[str, Look]


def looks_of(opened: DistributedInput) -> Looks:
    """The looks of all columns of a file, which takes a pass over it; text files have no types, and need none.

    Raises
    ------
    BadData
        If a column holds lists, bytes or the like.
    """
    if opened.of_texts:
        return {}
    looks: Looks | None = opened.parts.fold(partial(_looked, path=opened.path), _both)
    return looks or {}


def as_texts(frame: pl.DataFrame, looks: Looks) -> pl.DataFrame:
    """Cells as they stand."""
    return pl.DataFrame([_texts(series, looks.get(series.name)) for series in frame])


def _looked(frame: pl.DataFrame, path: str | Path | None) -> Looks:
    looks = {}
    for series in frame:
        refuse_nested(series, path)
        texts = series.cast(pl.String) if isinstance(series.dtype, _TEXTS) else None
        looks[series.name] = Look(
            is_plain(series),
            bool(series.null_count()),
            texts is not None and bool((texts == "").any()),
            texts is not None and bool((texts == '""').any()),
        )
    return looks


def _both(one: Looks, other: Looks) -> Looks:
    return {name: look.joined(other[name]) for name, look in one.items()}


def _texts(series: pl.Series, look: Look | None) -> pl.Series:
    if look is None:
        return series.cast(pl.String)
    texts = to_texts(series, look.plain).alias(series.name)
    return tell_empty(texts, look.missing and look.empty, look.quotes)
