"""Export published data to frames of other libraries, with numbers and dates in their types."""

import re
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import polars as pl

from shoal.arrays import owners
from shoal.data._calendar import FORMS, iso
from shoal.data._frames import named, spread
from shoal.data.baskets import Baskets
from shoal.data.clusters import Clusters
from shoal.data.dataset import Dataset
from shoal.data.groups import Groups
from shoal.data.linked import Linked
from shoal.data.published_syntax import SUPPRESSED
from shoal.data.related import Related
from shoal.data.summary import Summary
from shoal.data.table import Column, Table
from shoal.errors import MissingExtra, WrongUse

if TYPE_CHECKING:
    import pandas

Ranges: TypeAlias = Literal["text", "bounds", "middle"]
"""How ranges of numbers and dates are exported."""

_RANGE = re.compile(r"[\[(]([^,\[\]()]+),([^,\[\]()]+)[\])]")
_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")

EXACT = 15
"""Whole numbers with more digits are not exported as floating-point numbers."""

Span: TypeAlias = tuple[Any, Any] | None
"""The lower and upper end of a cell; None for a suppressed one."""


def to_polars(data: object, ranges: Ranges = "text") -> pl.DataFrame:
    """Published data as a polars frame: a table with typed columns, other forms as a long frame."""
    if ranges not in ("text", "bounds", "middle"):
        raise WrongUse(f"`ranges` must be 'text', 'bounds' or 'middle', not {ranges!r}.")
    match data:
        case Related():
            return listed_frame(*data.numbered(), data.key, ranges)
        case Table():
            return pl.DataFrame(
                [series for column in data.columns for series in typed(column, ranges, data.names)]
            )
        case Linked():
            return listed_frame(data.public, data.secrets, data.link, ranges)
        case Summary():
            return to_polars(data.cells, ranges)
        case Baskets():
            return baskets_frame(data)
        case Groups():
            return groups_frame(data)
        case Clusters():
            return clusters_frame(data)
    raise WrongUse(
        "The rows of this release are distributed, and not here: release.data.parts.collect() brings them into "
        "memory where they fit, or write the release and read its files."
    )


def to_pandas(data: object, ranges: Ranges = "text") -> "pandas.DataFrame":
    """Published data as a pandas frame."""
    frame = to_polars(data, ranges)
    try:
        return frame.to_pandas()
    except ImportError as error:
        raise MissingExtra("A pandas frame", "pandas") from error


def to_spark(data: object) -> Any:
    """Published rows on a Spark cluster as a Spark frame."""
    frame = getattr(data.parts, "frame", None) if isinstance(data, Dataset) else None
    if frame is None:
        raise WrongUse(
            "The rows of this release are not on a cluster: publish with engine=shoal.engines.Spark(session), or hand "
            "its frame over: session.createDataFrame(release.to_pandas())."
        )
    return frame


def typed(column: Column, ranges: Ranges, taken: Sequence[str] = ()) -> list[pl.Series]:
    """A published column with the type of its values: whole numbers, numbers, dates, or texts.

    Types are found from the published texts alone, so that a release has the same types in memory and from its files:
    numbers with leading zeros or too many digits are texts, and a missing cell is null. If cells are ranges, ``text``
    leaves them as texts, ``bounds`` gives two columns with both ends as published (whether an end is included is not
    shown), and ``middle`` gives their mean. With the last two, a suppressed cell is null. A column with sets or names
    stays as texts.

    `taken`: the names of all columns, which the columns of ends must not have.
    """
    labels = column.domain.labels
    blank = [label == "" or code == column.domain.missing for code, label in enumerate(labels)]
    texts = pl.Series(
        [None if none else label for label, none in zip(labels, blank, strict=True)], dtype=pl.String
    )
    plain = [spread(texts, column, column.name)]
    filled = [label for label, none in zip(labels, blank, strict=True) if not none]
    found = _spans(filled)
    if found is None:
        return plain
    spans, dtype = found
    ends = iter(spans)
    every: list[Span] = [None if none else next(ends) for none in blank]
    if all(span is not None and span[0] == span[1] for span in spans):
        values = pl.Series([None if span is None else span[0] for span in every], dtype=dtype)
        return [spread(values, column, column.name)]
    if ranges == "text":
        return plain
    if ranges == "middle":
        middles = pl.Series([None if span is None else _middle(*span) for span in every])
        return [spread(middles, column, column.name)]
    names = [f"{column.name}_low", f"{column.name}_high"]
    if clash := next((name for name in names if name in taken), None):
        raise WrongUse(f"There is a column {clash!r} already: rename it, or take ranges='middle'.")
    return [
        spread(
            pl.Series([None if span is None else span[end] for span in every], dtype=dtype),
            column,
            names[end],
        )
        for end in (0, 1)
    ]


def _spans(labels: Sequence[str]) -> "tuple[list[Span], Any] | None":
    """The ends of cells and their type, if all are numbers or all are dates; otherwise None."""
    kinds: tuple[tuple[Callable[[str], Any], Any], ...] = (
        (_whole, pl.Int64),
        (_number, pl.Float64),
        (_day, pl.Date),
    )
    for parse, dtype in kinds:
        spans: list[Span] = []
        for label in labels:
            if label == SUPPRESSED:
                spans.append(None)
                continue
            ranged = _RANGE.fullmatch(label)
            low, high = map(parse, ranged.groups() if ranged else (label, label))
            if low is None or high is None:
                break
            spans.append((low, high))
        else:
            return (spans, dtype) if any(span is not None for span in spans) else None
    return None


def _whole(text: str) -> int | None:
    return int(text) if _WHOLE.fullmatch(text) else None


def _number(text: str) -> float | None:
    long = text.lstrip("-").isdigit() and len(text) > EXACT
    return float(text) if _NUMBER.fullmatch(text) and not long else None


def _day(text: str) -> date | None:
    if not any(re.match(form, text) for form in FORMS.values()):
        return None
    try:
        return date.fromisoformat(iso(text))
    except ValueError:
        return None


def _middle(low: Any, high: Any) -> Any:
    """The value halfway between two; for dates, rounded down to a day."""
    return low + timedelta(days=(high - low).days // 2) if isinstance(low, date) else (low + high) / 2


def listed_frame(rows: Table, others: Table, link: str, ranges: Ranges = "text") -> pl.DataFrame:
    """The rows of a table, each with the lists of all cells in a second table that are linked to it.

    For a group, these are its secrets, without telling which row has which; for a person, these are her records.
    """
    lists = to_polars(others, ranges).group_by(named(link), maintain_order=True).agg(pl.all())
    joined = to_polars(rows, ranges).join(lists, on=link, how="left", maintain_order="left")
    return joined.with_columns(pl.selectors.list().fill_null([]))


def baskets_frame(data: Baskets) -> pl.DataFrame:
    """A row for each item of each basket: ``basket`` counts from 1. An empty basket has no row."""
    basket = np.repeat(np.arange(1, len(data) + 1), data.lengths)
    return pl.DataFrame({"basket": basket, "item": _texts(data.vocabulary, data.items)})


def groups_frame(data: Groups) -> pl.DataFrame:
    """A row for each public item of each basket, and for each sensitive item of a group.

    Which baskets hold a sensitive item is not published, so its ``basket`` is null and its ``count`` says how many do;
    for a public item, ``count`` is 1.
    """
    group = np.repeat(np.arange(1, len(data) + 1), data.sizes)
    basket = owners(data.basket_indptr)
    public = pl.DataFrame(
        {
            "group": group[basket],
            "basket": basket + 1,
            "item": _texts(data.vocabulary, data.items),
            "count": np.ones(len(basket), dtype=np.int64),
        }
    )
    owner = np.repeat(np.arange(1, len(data) + 1), np.diff(data.sensitive_indptr))
    secret = pl.DataFrame(
        {
            "group": owner,
            "basket": pl.Series([None] * len(owner), dtype=pl.Int64),
            "item": _texts(data.vocabulary, data.sensitive_items),
            "count": data.sensitive_counts,
        }
    )
    return pl.concat([public, secret]).sort("group", maintain_order=True)


def clusters_frame(data: Clusters) -> pl.DataFrame:
    """A row for each item of each sub-record of each chunk, and for each term.

    ``cluster`` numbers the clusters that are published on lines of their own, and ``part`` the simple and joint
    clusters inside them; ``size`` is the number of baskets of a part. ``chunk`` and ``record`` are numbers within a
    part and within a chunk; both are null for terms, whose counts are not published. A chunk of a joint cluster is
    shared by its parts.
    """
    records = np.diff(data.record_indptr)
    chunk = np.repeat(np.repeat(np.arange(len(records)), records), np.diff(data.item_indptr))
    record = owners(data.item_indptr)
    part = data.owners[chunk]
    term = owners(data.term_indptr)
    root = np.arange(len(data))
    while (inside := data.parents[root] >= 0).any():
        root[inside] = data.parents[root[inside]]
    number, sizes = np.cumsum(data.parents < 0)[root], data.spans[1]

    def frame(owner: Any, chunks: Any, numbers: Any, items: Any) -> pl.DataFrame:
        return pl.DataFrame(
            {
                "cluster": number[owner],
                "part": owner + 1,
                "size": sizes[owner],
                "chunk": pl.Series(chunks, dtype=pl.Int64),
                "record": pl.Series(numbers, dtype=pl.Int64),
                "item": _texts(data.vocabulary, items),
            }
        )

    of_chunks = frame(
        part, chunk - data.chunk_indptr[part] + 1, record - data.record_indptr[chunk] + 1, data.items
    )
    of_terms = frame(term, [None] * len(term), [None] * len(term), data.terms)
    return pl.concat([of_chunks, of_terms]).sort("cluster", "part", maintain_order=True)


def _texts(vocabulary: tuple[str, ...], codes: Any) -> pl.Series:
    return pl.Series(vocabulary, dtype=pl.String).gather(pl.Series(np.asarray(codes, dtype=np.uint32)))
