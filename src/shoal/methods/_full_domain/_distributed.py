"""Full-domain generalization of rows in parts: distinct tuples are collected here, and rows recoded where they are."""

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from shoal.arrays import Codes, Counts, Mask, Rows
from shoal.data.dataset import COUNT, Dataset
from shoal.data.published_syntax import SUPPRESSED
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.methods._full_domain._recoding import Part, placed, published_column
from shoal.methods._full_domain._table_to_generalize import Problem
from shoal.methods._full_domain._tuples import ROOM
from shoal.models.model import TableModel, columns_of


class PublishedTexts:
    """Replaces ranks with their texts; a function for `Parts.map`.

    Rows in parts are put into canonical order by the ranks of their texts, because integers are sorted and moved faster
    than texts. The texts are looked up at the end.

    `schema`: the published table without rows. The rank of a text is its place among the labels of its domain in
    code-point order; a missing cell is null.
    """

    def __init__(self, schema: Table) -> None:
        self._labels: dict[str, list[str | None]] = {}
        for column in schema.columns:
            labels: list[str | None] = [None] * len(column.domain)
            for code, rank in enumerate(column.domain.ranks().tolist()):
                labels[rank] = None if code == column.domain.missing else column.domain.labels[code]
            self._labels[column.name] = labels
        self._series: dict[str, pl.Series] = {}

    def __call__(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The texts of each row."""
        if not self._series:
            self._series = {name: pl.Series(labels, dtype=pl.String) for name, labels in self._labels.items()}
        return pl.DataFrame(
            [
                texts.gather(pl.Series(frame[name].to_numpy().astype(np.uint32))).alias(name)
                for name, texts in self._series.items()
            ]
        )

    def __getstate__(self) -> dict[str, list[str | None]]:
        return self._labels

    def __setstate__(self, labels: dict[str, list[str | None]]) -> None:
        self._labels, self._series = labels, {}


def counted_rows(data: Dataset, models: tuple[TableModel, ...]) -> tuple[Table, Counts]:
    """Collect the distinct combinations of the values that a search needs, and how many rows have each."""
    asked = dict.fromkeys((*(column.name for column in data.schema.quasi), *columns_of(models)))
    counted = data.parts.counts(list(asked))
    columns = data.schema.select(asked)
    return (
        Table(tuple(replace(column, codes=counted[column.name].to_numpy()) for column in columns)),
        counted[COUNT].to_numpy().astype(np.int64),
    )


def publish_parts(
    data: Dataset, problem: Problem, parts: tuple[Part, ...], *, keep_suppressed: bool
) -> tuple[Dataset, int]:
    """Publish a table whose rows are in parts; also returns how many rows are suppressed."""
    tuples, where = problem.tuples, placed(problem, parts)
    suppressed = int(tuples.counts[~where.shown].sum())
    stars = keep_suppressed and suppressed > 0
    most = max(parts, key=lambda part: int(tuples.counts[part.mask].sum()))
    others = ~most.mask
    plain = _published_plain(data.schema, stars)
    texts, usual, unusual = dict(plain), {}, {}
    for place, (column, known) in enumerate(zip(problem.table.quasi, problem.texts, strict=True)):
        cells, labels = known.places[where.level[place], tuples.codes[place]], known.labels
        if stars:
            labels = labels if SUPPRESSED in labels else (*labels, SUPPRESSED)
            cells = np.where(where.shown, cells, labels.index(SUPPRESSED))
        shown = np.ones_like(where.shown) if stars else where.shown
        texts[column.name] = published_column(column, labels, cells[shown])
        ranks = np.zeros(len(labels), dtype=np.int32)
        ranks[cells[shown]] = _ranks(texts[column.name])
        usual[column.name] = ranks[known.places[most.levels[place]]]
        unusual[column.name] = ranks[cells[others]]
    columns = [texts[column.name] for column in data.schema.columns if column.name in texts]
    recoding = Recoding(
        index=TupleIndex.build(
            [codes[others] for codes in tuples.codes],
            tuple(column.name for column in problem.table.quasi),
            tuple(max(len(column.domain), 1) for column in problem.table.quasi),
        ),
        usual=usual,
        unusual=unusual,
        shown=where.shown[others],
        plain={name: _ranks(column) for name, column in plain.items()},
        stars=stars,
        names=tuple(column.name for column in columns),
    )
    schema = Table(tuple(replace(column, codes=np.empty(0, dtype=np.int32)) for column in columns))
    published = PublishedTexts(schema)
    rows = tuples.rows - (0 if keep_suppressed else suppressed)
    ranked = data.parts.map(recoding, dict.fromkeys(schema.names, pl.Int32)).sort(schema.names)
    return Dataset(schema, ranked.map(published, dict.fromkeys(schema.names, pl.String)), rows), suppressed


def _ranks(column: Column) -> Codes:
    """The rank of the text of each row."""
    return column.domain.ranks()[column.codes]


def _published_plain(schema: Table, stars: bool) -> dict[str, Column]:
    """The columns that are published as they are, with a star in their domain if suppressed rows are kept."""
    return {
        column.name: _every_text(column, stars)
        for column in schema.columns
        if column.role in (Role.SENSITIVE, Role.INSENSITIVE)
    }


def _every_text(column: Column, stars: bool) -> Column:
    """A column with one row for each code and, if there are stars, a last row for the star."""
    if not stars:
        return replace(column, codes=np.arange(len(column.domain), dtype=np.int32))
    labels = (*column.domain.labels, SUPPRESSED)
    return published_column(column, labels, np.arange(len(labels)))


@dataclass(frozen=True, slots=True, eq=False)
class TupleIndex:
    """Finds the numbers of tuples by their codes.

    The codes of all columns are combined into one key, which is renumbered whenever its bits run out.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    """`names`, `sizes`: the columns, and how many codes each has."""
    steps: dict[int, Rows]  # for each column before which keys are renumbered, the keys that exist
    keys: Rows
    places: Rows
    """`keys`, `places`: the keys in ascending order, and the number of the tuple of each."""

    @staticmethod
    def build(codes: list[Rows], names: tuple[str, ...], sizes: tuple[int, ...]) -> "TupleIndex":
        """Build the index of some tuples from their codes, one array per column."""
        keys: Rows = np.zeros(len(codes[0]), dtype=np.int64)
        steps: dict[int, Rows] = {}
        width = 1
        for place, (size, here) in enumerate(zip(sizes, codes, strict=True)):
            if width * size >= 2**ROOM:
                steps[place], keys = np.unique(keys, return_inverse=True)
                width = max(len(steps[place]), 1)
            keys = keys * size + here
            width *= size
        order = np.argsort(keys, kind="stable")
        return TupleIndex(names, sizes, steps, keys[order], order)

    def find(self, frame: pl.DataFrame) -> Rows:
        """The tuple of each row; -1 for rows that have none of the indexed tuples."""
        if not len(self.keys):
            return np.full(frame.height, -1, dtype=np.int64)
        keys: Rows = np.zeros(frame.height, dtype=np.int64)
        known: Mask = np.ones(frame.height, dtype=np.bool_)
        for place, (name, size) in enumerate(zip(self.names, self.sizes, strict=True)):
            if place in self.steps:
                keys, here = _found(self.steps[place], keys)
                known &= here
            keys = keys * size + frame[name].to_numpy()
        spots, here = _found(self.keys, keys)
        return np.where(known & here, self.places[spots], -1)


def _found(sorted_keys: Rows, keys: Rows) -> tuple[Rows, Mask]:
    """The place of each key in a sorted list, and whether it is there."""
    spots = np.minimum(np.searchsorted(sorted_keys, keys), len(sorted_keys) - 1)
    return spots, sorted_keys[spots] == keys


@dataclass(frozen=True, slots=True, eq=False)
class Recoding:
    """Turns codes into the ranks of published texts, where the rows are."""

    index: TupleIndex  # the tuples that are not published on the usual levels
    usual: dict[str, Codes]
    """For each quasi-identifier, the rank of the text of each code on the usual levels, those of most rows."""
    unusual: dict[str, Codes]
    shown: Mask
    """`unusual`, `shown`: for each quasi-identifier, the rank of each indexed tuple; and which ones are published."""
    plain: dict[str, Codes]
    """For every other column, the rank of each code and, if there are stars, as the last entry that of the star."""
    stars: bool  # whether suppressed rows are published with stars instead of left out
    names: tuple[str, ...]  # the published columns, in order

    def __call__(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The ranks of the published cells of each row, with suppressed rows left out or starred."""
        found = self.index.find(frame)
        other = found >= 0
        gone = np.zeros(frame.height, dtype=np.bool_)
        gone[other] = ~self.shown[found[other]]
        cells = {}
        for name in self.names:
            codes = frame[name].to_numpy()
            if name in self.plain:
                cells[name] = self.plain[name][codes]
                if self.stars:
                    cells[name][gone] = self.plain[name][-1]
            else:
                cells[name] = self.usual[name][codes]
                cells[name][other] = self.unusual[name][found[other]]
        ranked = pl.DataFrame(cells, schema=dict.fromkeys(self.names, pl.Int32))
        return ranked if self.stars else ranked.filter(pl.Series(~gone))
