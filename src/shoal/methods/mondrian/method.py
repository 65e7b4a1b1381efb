"""Mondrian: multidimensional cuts at the median (LeFevre, DeWitt and Ramakrishnan 2006)."""

import time
from typing import Annotated, Any, ClassVar, Literal, TypeVar

import numpy as np
from pydantic import Field

from shoal.arrays import Counts
from shoal.data.baskets import Baskets
from shoal.data.dataset import Dataset
from shoal.data.release import Release
from shoal.data.table import Table
from shoal.data.trace import Trace
from shoal.engines.distributed import Distributed
from shoal.engines.local import Local
from shoal.engines.protocol import Engine
from shoal.errors import Infeasible, WrongUse
from shoal.methods.mondrian._distributed import cut_parts
from shoal.methods.mondrian._plan import Plan, tied_rows
from shoal.methods.mondrian._publish import Form
from shoal.methods.table_method import TableMethod, published
from shoal.models.model import TableModel

Made = TypeVar("Made", Table, Dataset)


class Mondrian(TableMethod):
    """Cut the table at the median of one quasi-identifier after the other, as long as both halves keep the promises.

    Each class is published by the values it holds: tight ranges of numbers and dates, nodes of a hierarchy, or sets of
    names. Numbers are cut at their median; a column with a hierarchy is cut between the children of the lowest node
    that covers the class (section 3 of the paper, extended to hierarchies). Cuts look at the quasi-identifiers only;
    sensitive values can forbid a cut but never choose one.
    """

    name: ClassVar[str] = "mondrian"
    engines: ClassVar[tuple[str, ...]] = ("local", "spark", "stream")
    example: ClassVar[dict[str, Any]] = {"k": 3}
    paper: ClassVar[str] = "LeFevre, DeWitt, Ramakrishnan: Mondrian multidimensional k-anonymity. ICDE 2006"

    partitioning: Literal["strict", "relaxed"] = Field(
        default="strict",
        description="strict: equal values stay on one side of a cut; relaxed: they may be divided, for even halves",
    )
    split: Literal["widest", "loss", "random"] = Field(
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

    def overlapping(self) -> str:
        """Relaxed cuts put equal rows on both sides."""
        return "--partitioning relaxed" if self.partitioning == "relaxed" else ""

    @property
    def splits_ties(self) -> bool:
        """Relaxed cuts do."""
        return self.partitioning == "relaxed"

    def anonymize(
        self, data: Table | Baskets | Dataset, engine: Engine | None = None, seed: int | None = None
    ) -> tuple[Release[Any], Trace]:
        """Cut, publish the classes, and put the rows in canonical order."""
        self.accept(data)
        if isinstance(data, Dataset):
            return self._distributed(data, Distributed.of(engine), seed)
        assert isinstance(data, Table)
        models = self.models_for(data)
        data.select(self.weights)
        begin = time.perf_counter()
        plan = self._plan(data, models)
        rows = tied_rows(data, seed) if self.splits_ties else None
        order, starts = plan.cut(data, seed or 0, Local.of(engine).threads, rows)
        cut = time.perf_counter()
        # Class by class, so that what a class publishes is written from end to end, and not here and there.
        by_class = data.take(order)
        table, rows = published(by_class, plan.publish(by_class, starts))
        self.refuse_overlap(table, models)
        _refuse_unkept(models, table)
        timings = {"cut": cut - begin, "publish": time.perf_counter() - cut}
        return self._release(table, models), Trace(order[rows], timings, {"classes": len(starts) - 1})

    def refuse_distributed(self) -> None:
        """Equal rows are divided only where they have places among all."""
        if self.partitioning == "relaxed":
            raise WrongUse(
                "Relaxed partitioning divides equal rows by their place among all, and rows in parts have none; use "
                "--partitioning strict, or --engine local."
            )
        for model in self.models():
            if not model.coarsens:
                raise WrongUse(
                    f"{model.name} may hold of two classes and not of their union, which mondrian cannot see in parts: "
                    "use lattice or samarati, or --engine local."
                )

    def _distributed(
        self, data: Dataset, engine: Distributed, seed: int | None
    ) -> tuple[Release[Dataset], Trace]:
        """Cut by counts until every part fits into a worker, and there as rows in memory are cut: the same classes."""
        begin = time.perf_counter()
        models, whole = self.models_for_parts(data)
        data.schema.select(self.weights)
        plan = self._plan(data.schema, models, {name: one.overall for name, one in whole.sensitive.items()})
        cut = cut_parts(data, plan, whole, seed or 0, engine.memory)
        published = Dataset(cut.schema, cut.parts.sort(cut.schema.names), data.rows)
        timings = {"top": time.perf_counter() - begin}
        return self._release(published, models), Trace(np.empty(0, dtype=np.int64), timings, cut.notes)

    def _plan(
        self, table: Table, models: tuple[TableModel, ...], overall: dict[str, Counts] | None = None
    ) -> Plan:
        relaxed = self.partitioning == "relaxed"
        return Plan.of(table, self.publish, models, self.weights, relaxed, self.split, overall)

    def _release(self, data: Made, models: tuple[TableModel, ...]) -> Release[Made]:
        return Release(
            data=data,
            method=self.name,
            parameters=self.model_dump(mode="json", exclude={"promises"}),
            promises=tuple(model.as_promise() for model in models),
        )


def _refuse_unkept(models: tuple[TableModel, ...], table: Table) -> None:
    """Refuse a release that breaks a promise which coarser classes need not keep.

    Such a promise may be broken by the whole table, which is never cut then, and by classes that are published by the
    same cells, and so are one.
    """
    for model in models:
        if not model.coarsens and not (verdict := model.verify(table)).holds:
            where, why = verdict.offenders[0].where, verdict.offenders[0].why
            raise Infeasible(
                f"No cuts were found that keep {model.name}; in the class {where}: {why}. Promise less, or let the "
                "method lattice suppress rows."
            )
