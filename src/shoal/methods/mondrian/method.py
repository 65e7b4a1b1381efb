"""Mondrian: multidimensional cuts at the median (LeFevre, DeWitt and Ramakrishnan 2006)."""

import time
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from shoal.arrays import Mask, Rows
from shoal.data.baskets import Baskets
from shoal.data.release import Release
from shoal.data.statistics import group_statistics
from shoal.data.table import Table, canonical_order
from shoal.data.trace import Trace
from shoal.engines.local import Local
from shoal.methods.mondrian.partition import partition
from shoal.methods.mondrian.publish import Form, axis_of, form_of, publish
from shoal.methods.table_method import TableMethod, published
from shoal.models.k_anonymity import KAnonymity
from shoal.models.model import TableModel


class Mondrian(TableMethod):
    """Cut the table at the median of one quasi-identifier after the other, as long as both halves keep the promises.

    Each class is published by the values it holds: tight ranges of numbers and dates, nodes of a hierarchy, or sets of
    names. Numbers are cut at their median; a column with a hierarchy is cut between the children of the lowest node
    that covers the class (section 3 of the paper, extended to hierarchies). Cuts look at the quasi-identifiers only;
    sensitive values can forbid a cut but never choose one.
    """

    name: ClassVar[str] = "mondrian"
    example: ClassVar[dict[str, Any]] = {"k": 3}
    paper: ClassVar[str] = "LeFevre, DeWitt, Ramakrishnan: Mondrian multidimensional k-anonymity. ICDE 2006"

    partitioning: Literal["strict", "relaxed"] = Field(
        default="strict",
        description="strict: equal values stay on one side of a cut; relaxed: they may be divided, for even halves",
    )
    choose: Literal["widest", "loss", "random"] = Field(
        default="widest",
        description="which column to cut: the widest, the one that saves most loss, or any",
    )
    publish: Form = Field(
        default="nodes",
        description="publish columns with a hierarchy as its nodes, or ordered columns as ranges, or all as sets",
    )
    weights: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = Field(
        default_factory=dict,
        description="how much a column counts in the choice of the cut: 2 makes it twice as wide",
    )

    def anonymize(
        self, data: Table | Baskets, engine: Local | None = None, seed: int | None = None
    ) -> tuple[Release, Trace]:
        """Cut, publish the classes, and put the rows in canonical order."""
        self.accept(data)
        assert isinstance(data, Table)
        models = self.models_for(data)
        data.select(self.weights)
        begin = time.perf_counter()
        rows = canonical_order(data.columns) if self.partitioning == "relaxed" else np.arange(data.rows)
        forms = {column.name: form_of(column, self.publish) for column in data.quasi}
        axes = [axis_of(column, forms[column.name]) for column in data.quasi]
        codes = np.stack(
            [axis.place[column.codes[rows]] for axis, column in zip(axes, data.quasi, strict=True)], axis=1
        )
        parts = partition(
            codes,
            [axis.positions for axis in axes],
            [axis.depths for axis in axes],
            least=max(model.least_size() for model in models),
            weights=np.array([self.weights.get(column.name, 1.0) for column in data.quasi]),
            relaxed=self.partitioning == "relaxed",
            choose=self.choose,
            seed=seed or 0,
            allowed=_allowed(data, rows, models),
            threads=(engine or Local()).threads,
        )
        cut = time.perf_counter()
        order, starts = rows[parts.order], parts.starts
        columns = {column.name: publish(column, forms[column.name], order, starts) for column in data.quasi}
        classes = np.empty(data.rows, dtype=np.int64)
        classes[order] = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        table, row_map = published(data, columns, classes)
        timings = {"cut": cut - begin, "publish": time.perf_counter() - cut}
        release = Release(
            data=table,
            method=self.name,
            parameters=self.model_dump(mode="json", exclude={"promises"}),
            promises=tuple(model.as_promise() for model in models),
        )
        return release, Trace(row_map, timings, {"classes": len(starts) - 1})


def _allowed(table: Table, rows: Rows, models: tuple[TableModel, ...]) -> Any:
    """The test of proposed cuts, or None where the least size of a class says it all."""
    if table.entity is None and all(isinstance(model, KAnonymity) for model in models):
        return None
    columns = tuple(dict.fromkeys(name for model in models for name in model.columns()))

    def allowed(order: Rows, begin: Rows, middle: Rows, end: Rows) -> Mask:
        groups = np.full(table.rows, -1, dtype=np.int64)
        lengths = end - begin
        places = np.repeat(begin - np.concatenate(([0], np.cumsum(lengths)[:-1])), lengths) + np.arange(
            lengths.sum()
        )
        cut = np.repeat(np.arange(len(begin)), lengths)
        groups[rows[order[places]]] = 2 * cut + (places >= middle[cut])
        statistics = group_statistics(table, groups, 2 * len(begin), columns)
        holds = np.ones(2 * len(begin), dtype=bool)
        for model in models:
            holds &= model.holds(statistics)
        both: Mask = holds[::2] & holds[1::2]
        return both

    return allowed
