"""The plan of a run: what is decided before the first cut, for all rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.arrays import Counts, Floats, Mask, Rows, owners, ranges
from shoal.data._ties import tie_order
from shoal.data.group_statistics import group_statistics
from shoal.data.table import Column, Table, canonical_order
from shoal.methods.mondrian._choice import Choice
from shoal.methods.mondrian._partition import partition
from shoal.methods.mondrian._publish import Axis, Form, axis_of, form_of, publish, reach
from shoal.models.k_anonymity import KAnonymity
from shoal.models.model import TableModel, columns_of, kept_by


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The dimensions, promises and rules of a run, by which the whole table, or a part of it, is cut."""

    forms: tuple[Form, ...]
    axes: tuple[Axis, ...]
    """`forms`, `axes`: how each quasi-identifier is published, and its values in cut order."""
    models: tuple[TableModel, ...]  # the promises
    weights: Floats
    relaxed: bool
    choose: Choice
    """`weights`, `relaxed`, `choose`: as for ``partition``."""
    overall: Mapping[str, Counts] | None = None
    """How often each value of the sensitive columns occurs in the whole table; given when only a part is cut."""

    @classmethod
    def of(
        cls,
        table: Table,
        form: Form,
        models: tuple[TableModel, ...],
        weights: Mapping[str, float],
        relaxed: bool,
        choose: Choice,
        overall: Mapping[str, Counts] | None = None,
    ) -> "Plan":
        """Make the plan for a table, whatever its rows."""
        forms = tuple(form_of(column, form) for column in table.quasi)
        axes = tuple(axis_of(column, one) for column, one in zip(table.quasi, forms, strict=True))
        wide = np.array([weights.get(column.name, 1.0) for column in table.quasi])
        return cls(forms, axes, models, wide, relaxed, choose, overall)

    @property
    def least(self) -> int:
        """The fewest rows of a class."""
        return max(model.least_size() for model in self.models)

    def cut(self, table: Table, seed: int, threads: int, rows: Rows | None = None) -> tuple[Rows, Rows]:
        """Cut a table: its rows class by class, and where each class starts, with the number of rows at the end.

        `rows`: the order in which rows equal to the pivot of a relaxed cut go to its left; see `tied_rows`.
        """
        assert rows is not None or not self.relaxed
        places = [axis.placed(column.codes) for axis, column in zip(self.axes, table.quasi, strict=True)]
        parts = partition(
            np.stack(places if rows is None else [one[rows] for one in places]).T,
            [axis.positions for axis in self.axes],
            [axis.depths for axis in self.axes],
            least=self.least,
            weights=self.weights,
            relaxed=self.relaxed,
            choose=self.choose,
            seed=seed,
            allowed=self._allowed(table, np.arange(table.rows) if rows is None else rows),
            threads=threads,
        )
        return parts.order if rows is None else rows[parts.order], parts.starts

    def publish(self, table: Table, starts: Rows) -> dict[str, Column]:
        """The published quasi-identifiers of a table whose rows are ordered class by class, as by `cut`."""
        pairs = zip(table.quasi, self.forms, strict=True)
        return {column.name: publish(column, form, starts) for column, form in pairs}

    def _allowed(self, table: Table, rows: Rows) -> Any:
        """The function that says which proposed cuts are allowed, or None if only the least class size matters."""
        if table.entity is None and all(
            isinstance(model, KAnonymity) and model.k <= self.least for model in self.models
        ):
            return None
        columns = columns_of(self.models)

        def allowed(order: Rows, begin: Rows, middle: Rows, end: Rows) -> Mask:
            groups = np.full(table.rows, -1, dtype=np.int64)
            starts, places = ranges(begin, end - begin)
            cut = owners(starts)
            groups[rows[order[places]]] = 2 * cut + (places >= middle[cut])
            statistics = group_statistics(table, groups, 2 * len(begin), columns, overall=self.overall)
            holds = kept_by(self.models, statistics)
            both: Mask = holds[::2] & holds[1::2]
            if not all(model.may_overlap for model in self.models):
                halves = np.column_stack([begin, middle]).reshape(-1) - np.repeat(begin, 2)
                halves += np.repeat(starts[:-1], 2)
                both &= self._part(table, rows[order[places]], halves)
            return both

        return allowed

    def _part(self, table: Table, rows: Rows, starts: Rows) -> Mask:
        """Which cuts keep the published cells of their halves disjoint in some column, now and after later cuts.

        `rows`, `starts`: the rows of all halves, left before right, and where each half begins.
        """
        apart: Mask = np.zeros(len(starts) // 2, dtype=np.bool_)
        for column, form, axis in zip(table.quasi, self.forms, self.axes, strict=True):
            places = axis.place[column.codes[rows]].astype(np.int64)
            low, high = np.minimum.reduceat(places, starts), np.maximum.reduceat(places, starts)
            first, last = reach(column, form, axis, low, high)
            apart |= (last[::2] < first[1::2]) | (last[1::2] < first[::2])
        return apart


def tied_rows(table: Table, seed: int | None) -> Rows:
    """The rows ordered by their quasi-identifiers alone, and rows with equal ones in a secret random order."""
    drawn = tie_order(table.rows, seed)
    return drawn[canonical_order(column.take(drawn) for column in table.quasi)]
