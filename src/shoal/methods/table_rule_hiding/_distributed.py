"""Rule hiding on rows in parts: all rows of a class are brought together, and each class is starred separately."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from shoal.data._frames import named, text_frame, unnamed
from shoal.data._ties import tie_key
from shoal.data.dataset import BUCKET, COUNT, NOTE, Dataset, Parts, noted, notes_of
from shoal.data.domain import Domain, Kind, nominal
from shoal.data.published_syntax import SUPPRESSED
from shoal.data.role import Role
from shoal.data.table import Column, Table, canonical_order
from shoal.errors import WrongUse
from shoal.methods.table_rule_hiding._class_counts import is_star
from shoal.methods.table_rule_hiding._starring import Starring
from shoal.models._distributed import buckets_of

ROW_BYTES, CELL_BYTES = 128, 96
"""The memory that a row, and each of its cells, takes in a worker while rules are hidden."""

SMALL_PART = 100_000
"""Fewer rows than this are not worth dividing among workers."""


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """What a worker needs: the schemas of the published and the original table, and how to star."""

    schema: Table
    original: Table
    starring: Starring
    judged: tuple[str, ...]
    seed: int


def hide_in_parts(
    published: Dataset,
    data: Dataset,
    starring: Starring,
    judged: Sequence[str],
    seed: int | None,
    memory: int,
) -> tuple[Dataset, dict[str, dict[str, Any]]]:
    """Hide the rules of whole classes; returns the table in canonical order, and notes for the owner by column.

    `published`: the table as published by step 1. `data`: the original, of which only the schema is used. `judged`: the
    sensitive columns whose rules are hidden. `seed`: for the draw of starred rows, as secret as the data. Raises
    `WrongUse` if the rows of a class do not fit into a worker.
    """
    schema: Table = published.schema
    fits = max(memory // (ROW_BYTES + CELL_BYTES * len(schema.columns)), 1)
    buckets = max(-(-published.rows // min(fits, max(published.rows // 32, SMALL_PART))), 1)
    parts, crowded = published.parts, published.rows > fits
    if crowded or starring.strategy == "decoy":
        parts = parts.keep()
    distinct = {name: _values(parts, name) for name in judged} if starring.strategy == "decoy" else None
    task = _Task(
        _without_rows(schema),
        _without_rows(data.schema),
        replace(starring, distinct=distinct),
        tuple(judged),
        tie_key(seed),
    )
    types = _types(schema)
    quasi = [column.name for column in schema.quasi]
    divided = parts.map(
        partial(_divided, quasi=quasi, buckets=buckets, names=schema.names), {BUCKET: pl.Int32(), **types}
    )
    if crowded:
        _refuse_crowded(divided, fits, memory)
    made = divided.group(BUCKET, partial(_hidden, task), {**types, NOTE: pl.String()}).keep()
    notes = _together(notes_of(made)[1], judged)
    # A column with a star has become a column of texts.
    starred = {name for name in judged if notes[name].pop("starred")}
    named = tuple(
        replace(column, domain=nominal(()), hierarchy=None) if column.name in starred else column
        for column in schema.columns
    )
    return Dataset(Table(named), made.select(schema.names).sort(schema.names), published.rows), notes


def _refuse_crowded(divided: Parts, fits: int, memory: int) -> None:
    """Refuse classes that are too large for a worker, since all rows of a class must come together."""
    largest = int(divided.counts([BUCKET])[COUNT].max() or 0)  # type: ignore[arg-type]
    if largest > 2 * fits:
        raise WrongUse(
            f"A class has up to {largest:,} rows, and a worker has room for {fits:,} ({memory / 1e6:,.0f} MB of rows): "
            "all rows of a class come together where rules are hidden. Let step 1 make smaller classes, or allow more "
            "memory (--memory; on a cluster spark.executor.pyspark.memory)."
        )


def _together(parts: list[dict[str, Any]], judged: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Combine the notes of all parts: the largest confidences, and sums of everything else."""
    return {
        name: {
            fact: (max if fact.startswith("confidence") else sum)(part[name][fact] for part in parts)
            for fact in parts[0][name]
        }
        for name in judged
    }


def texts_of(data: Dataset) -> Dataset:
    """A table in parts as it is, as texts, without its identifying columns."""
    kept = tuple(column for column in data.schema.columns if column.role is not Role.IDENTIFYING)
    schema = Table(kept)
    return Dataset(schema, data.parts.map(partial(_texts, schema), _types(schema)), data.rows)


def _texts(schema: Table, frame: pl.DataFrame) -> pl.DataFrame:
    columns = (replace(column, codes=frame[column.name].to_numpy()) for column in schema.columns)
    return text_frame(Table(tuple(columns)))


def _divided(frame: pl.DataFrame, quasi: list[str], buckets: int, names: tuple[str, ...]) -> pl.DataFrame:
    number = buckets_of(frame, quasi, buckets)
    return frame.select(pl.Series(BUCKET, number), named(names))


def _hidden(task: _Task, frame: pl.DataFrame) -> pl.DataFrame:
    """The rows of some classes, with their rules hidden."""
    columns = [_column(unnamed(frame[column.name]), column, task.original) for column in task.schema.columns]
    table = Table(tuple(columns))
    table = table.take(canonical_order(table.columns))
    random = np.random.default_rng([task.seed, int(frame[BUCKET][0])])
    changed, notes = task.starring.columns(table, table.select(task.judged), random, task.seed)
    facts = {
        name: {**notes[f"rules.{name}"], "starred": int(is_star(column)[column.codes].sum())}
        for name, column in changed.items()
    }
    return noted(
        text_frame(Table(tuple(changed.get(column.name, column) for column in table.columns))), facts
    )


def _column(texts: pl.Series, column: Column, original: Table) -> Column:
    """Code a column of texts as in memory: sensitive values in their original order, the missing one last."""
    empty = texts.null_count() > 0
    if column.role is Role.SENSITIVE:
        known = original.column(column.name).domain
        labels = [label for code, label in enumerate(known.labels) if code != known.missing]
        labels += [] if SUPPRESSED in labels else [SUPPRESSED]
    else:
        labels = texts.unique().sort().to_list()[empty:]  # the missing value, if there is one, sorts first
    missing = None if not empty and column.role is not Role.SENSITIVE else len(labels)
    places = texts.cast(pl.Enum(labels)).to_physical().cast(pl.Int32)
    codes = (places.fill_null(len(labels)) if empty else places).to_numpy()
    domain = Domain(Kind.NOMINAL, (*labels, *(() if missing is None else ("",))), missing=missing)
    return Column(column.name, column.role, domain, codes)


def _values(parts: Parts, name: str) -> int:
    """How many distinct values a column publishes, not counting stars."""
    counted = parts.counts([name])
    return int((unnamed(counted[name]).fill_null("") != SUPPRESSED).sum())


def _types(schema: Table) -> dict[str, pl.DataType]:
    return {column.name: pl.String() for column in schema.columns}


def _without_rows(table: Table) -> Table:
    return table.take(np.empty(0, dtype=np.int64)) if table.rows else table
