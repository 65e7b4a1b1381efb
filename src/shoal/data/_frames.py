"""Frames of polars inside the program: columns by their exact names, tables as texts, and texts as categories.

What is done to each text is done once for each category (`polars.Enum`).
"""

from collections.abc import Callable, Iterable

import numpy as np
import polars as pl

from shoal.arrays import AnyArray, Codes
from shoal.data.published_syntax import SUPPRESSED
from shoal.data.table import Column, Table


def named(names: "Iterable[str] | str") -> pl.Expr:
    """Select columns by exactly these names, in this order: polars reads a bare ``*`` or ``^b$`` as a pattern.

    >>> import polars as pl
    >>> pl.DataFrame({"^b$": [1], "b": [2], "*": [3]}).select(named(["*", "^b$"])).columns
    ['*', '^b$']
    """
    from polars import selectors

    return selectors.by_name(*([names] if isinstance(names, str) else names))


def unnamed(series: pl.Series) -> pl.Series:
    """A series without its name, which polars reads as a pattern in many methods of series too."""
    return series.alias("")


def filled(texts: pl.Series) -> pl.Series:
    """Replace missing texts by empty ones, if there are any: polars takes long to find nothing to fill."""
    return texts.fill_null("") if texts.null_count() else texts


def to_series(column: Column) -> pl.Series:
    """The texts of a column; missing cells are null."""
    labels: list[str | None] = list(column.domain.labels)
    if column.domain.missing is not None:
        labels[column.domain.missing] = None
    return spread(pl.Series(labels, dtype=pl.String), column, column.name)


def text_frame(table: Table) -> pl.DataFrame:
    """A table as a frame of texts; missing cells are null."""
    return pl.DataFrame([to_series(column) for column in table.columns])


def spread(values: pl.Series, column: Column, name: str) -> pl.Series:
    """Expand one value per code to one value per row."""
    return values[np.asarray(column.codes, dtype=np.uint32)].alias(name)


def enumeration(texts: pl.Series) -> pl.Enum:
    """The type of a column of these texts, all of them different, to which the empty text and the star belong too.

    Categories compare as their texts do, by code points.
    """
    also = [text for text in ("", SUPPRESSED) if not (texts == text).any()]
    return pl.Enum(pl.concat([texts.alias(""), pl.Series("", also, dtype=pl.String)]).sort())


def categories_of(cells: pl.Series) -> pl.Series:
    """The categories of a column."""
    assert isinstance(cells.dtype, pl.Enum)
    return cells.dtype.categories


def is_coded(cells: pl.Series) -> bool:
    """Whether the texts of a column are categories."""
    return isinstance(cells.dtype, pl.Enum)


def plain_texts(frame: pl.DataFrame) -> pl.DataFrame:
    """A frame whose categories are texts again."""
    if not any(map(is_coded, frame)):
        return frame
    return pl.DataFrame([cells.cast(pl.String) if is_coded(cells) else cells for cells in frame])


def without_nulls(frame: pl.DataFrame) -> pl.DataFrame:
    """A frame in which missing texts are empty."""
    return pl.DataFrame(
        [filled(cells) if is_coded(cells) or cells.dtype == pl.String else cells for cells in frame]
    )


def of_each(texts: pl.Series, work: Callable[[pl.Series], AnyArray]) -> AnyArray:
    """What a work says of each text; none may be missing."""
    if not is_coded(texts):
        return work(texts)
    return np.take(work(categories_of(texts)), texts.to_physical().to_numpy())


def places_among(texts: pl.Series, labels: pl.Series) -> Codes:
    """The place of each text among labels, where all of them are."""
    kind = pl.Enum(labels)

    def places(of: pl.Series) -> AnyArray:
        found = of.cast(kind, strict=False).to_physical()
        return _zero_filled(found).to_numpy().astype(np.int32)

    return of_each(texts, places)


def _zero_filled(numbers: pl.Series) -> pl.Series:
    """Numbers of which a missing one is 0."""
    return numbers.fill_null(0) if numbers.null_count() else numbers
