"""Mondrian: multidimensional cuts at the median (LeFevre, DeWitt and Ramakrishnan 2006)."""

import time
from collections.abc import Callable, Sequence
from typing import Annotated, Any, ClassVar, Literal, TypeVar

import numpy as np
from pydantic import Field

from shoal.arrays import Counts, Rows, owners
from shoal.data._ties import tie_key
from shoal.data.dataset import Dataset
from shoal.data.group_statistics import group_statistics
from shoal.data.release import Release
from shoal.data.table import Table
from shoal.data.trace import Trace
from shoal.engines.distributed import Distributed
from shoal.engines.local import Local
from shoal.engines.protocol import Engine
from shoal.errors import Infeasible, WrongUse
from shoal.methods._candidates import Aim, Candidate, Goal
from shoal.methods._improvement.method import Improvable, averages_of, class_by_class
from shoal.methods.method import Anonymized, Data
from shoal.methods.mondrian._plan import Plan, tied_rows
from shoal.methods.mondrian._publish import Form
from shoal.methods.table_method import published
from shoal.models.k_anonymity import KAnonymity
from shoal.models.model import TableModel
from shoal.models.reidentification_risk import ReidentificationRisk

Together = Callable[[tuple[TableModel, ...], tuple[ReidentificationRisk, ...]], bool]
"""Says whether the classes cut under some promises keep the given bounds on the mean risk, taken together."""


def cut_by(models: tuple[TableModel, ...], together: Together) -> tuple[TableModel, ...]:
    """The promises that each class must keep, chosen so that all classes together keep the promises.

    A bound on the mean risk allows classes above it, if others are larger. Instead, each class must hold a least number
    of persons: the smallest number that will do, found by bisection, since larger classes are fewer. If every class
    has at least one over the risk, the mean certainly keeps the bound.
    """
    averages = averages_of(models)
    if not averages:
        return models
    others = tuple(model for model in models if model not in averages)
    entity = averages[0].entity
    least = max(
        [2, *(model.k for model in others if isinstance(model, KAnonymity) and model.entity == entity)]
    )
    most = max(model.least_size() for model in averages)
    while least < most:
        middle = (least + most) // 2
        if together((*others, KAnonymity(k=middle, entity=entity)), averages):
            most = middle
        else:
            least = middle + 1
    return (*others, KAnonymity(k=max(least, most), entity=entity))


Made = TypeVar("Made", Table, Dataset)


SETS = (
    "Its cells list the exact values of a class, such as {31|45|46}, instead of a range: that loses less, and readers "
    "need a program that takes such lists."
)
"""The remark that goes with a proposal to publish sets."""


class Mondrian(Improvable):
    """Cut the table at the median of one quasi-identifier after another, as long as both halves keep the promises.

    Each class is published by the values it holds: tight ranges of numbers and dates, nodes of a hierarchy, or sets of
    names. Numbers are cut at their median; a column with a hierarchy is cut between the children of the lowest node
    that covers the class (section 3 of the paper, extended to hierarchies). Cuts depend on the quasi-identifiers only;
    sensitive values can forbid a cut but never choose one.
    """

    name: ClassVar[str] = "mondrian"
    engines: ClassVar[tuple[str, ...]] = ("local", "spark", "stream")
    smallest_cells: ClassVar[bool] = True
    example: ClassVar[dict[str, Any]] = {"k": 3}
    paper: ClassVar[str] = "LeFevre, DeWitt, Ramakrishnan: Mondrian multidimensional k-anonymity. ICDE 2006"

    partitioning: Literal["strict", "relaxed"] = Field(
        default="strict",
        description="strict: equal values stay on one side of a cut; relaxed: they may be divided, for even halves",
    )
    split: Literal["widest", "loss", "random"] = Field(
        default="widest",
        description="which column to cut: the widest, the one that reduces the loss most, or a random one",
    )
    publish: Form = Field(
        default="nodes",
        description="publish columns with a hierarchy as its nodes, or ordered columns as ranges, or all as sets",
    )
    weights: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = Field(
        default_factory=dict,
        description="how much a column counts in the choice of the cut: 2 makes it twice as wide",
    )

    @classmethod
    def candidates(cls, goal: Goal) -> list[Candidate]:
        """Every variant of the method, since it is fast."""
        if goal.aim is not Aim.CLASSES:
            return []
        plain = {"name": cls.name, **goal.promise}
        return [
            Candidate(cls.name, plain, turn=0, lists=True),
            Candidate(f"{cls.name}, relaxed", plain | {"partitioning": "relaxed"}, turn=0, lists=True),
            Candidate(f"{cls.name}, split loss", plain | {"split": "loss"}, turn=0, lists=True),
            Candidate(f"{cls.name}, sets", plain | {"publish": "sets"}, remark=SETS, turn=0),
            Candidate(f"{cls.name} along hierarchies", plain, trees=True, turn=0),
        ]

    def overlapping(self) -> str:
        """Relaxed partitioning: it may put equal rows on both sides of a cut."""
        return "--partitioning relaxed" if self.partitioning == "relaxed" else super().overlapping()

    @property
    def splits_ties(self) -> bool:
        """Whether equal rows may be separated: by relaxed cuts, and by an improvement of single rows."""
        return self.partitioning == "relaxed" or self.improving

    def anonymize(self, data: Data, engine: Engine | None = None, seed: int | None = None) -> Anonymized:
        """Cut, publish the classes, and put the rows in canonical order."""
        self.accept(data)
        if isinstance(data, Dataset):
            return self._distributed(data, Distributed.of(engine), seed)
        assert isinstance(data, Table)
        models = self.models_for(data)
        data.select(self.weights)
        begin = time.perf_counter()
        plan, order, starts = self._cut(data, models, Local.of(engine), seed)
        timings = {"cut": time.perf_counter() - begin}
        made = _made(data, plan, order, starts)
        notes: dict[str, Any] = {"classes": len(starts) - 1}
        self.refuse_overlap(made[0], models)
        _refuse_unkept(models, made[0])
        if self.improving:
            better, report = self._improved(data, plan, models, order, starts, tie_key(seed))
            made, notes = better or made, {**notes, **report}
            timings["improve"] = time.perf_counter() - begin - timings["cut"]
        by_nodes = all(form == "nodes" for form in plan.forms)
        if best := self.best_possible(data, made[0], models, by_nodes=by_nodes):
            notes = {**notes, **best, "summary": [*notes.get("summary", ()), *best.get("summary", ())]}
        timings["publish"] = time.perf_counter() - begin - sum(timings.values())
        return self._release(made[0], models, notes.get("improve_steps")), Trace(made[1], timings, notes)

    def _improved(
        self,
        data: Table,
        plan: Plan,
        models: tuple[TableModel, ...],
        order: Rows,
        starts: Rows,
        seed: int,
    ) -> tuple[tuple[Table, Rows] | None, dict[str, Any]]:
        """A better published table with the original row of each of its rows, or None; and notes on the search."""
        from shoal.methods._improvement._cells import importance, lossy

        groups = np.empty(data.rows, dtype=np.int64)
        groups[order] = owners(starts)
        columns = tuple(
            lossy(column, form, "granularity") for column, form in zip(data.quasi, plan.forms, strict=True)
        )
        counts = importance(data.quasi, "granularity", self.weights)
        improved = self.better(data, groups, columns, counts, models, seed)
        made = _made(data, plan, *class_by_class(improved.groups)) if improved.gained else None
        return self.kept(made, models, improved)

    def _cut(
        self, data: Table, models: tuple[TableModel, ...], engine: Local, seed: int | None
    ) -> tuple[Plan, Rows, Rows]:
        """The plan by which the table is cut, its rows class by class, and where each class starts."""
        rows = tied_rows(data, seed) if self.partitioning == "relaxed" else None

        def cut(promises: tuple[TableModel, ...]) -> tuple[Plan, Rows, Rows]:
            plan = self._plan(data, promises)
            return plan, *plan.cut(data, seed or 0, engine.threads, rows)

        def together(promises: tuple[TableModel, ...], averages: tuple[ReidentificationRisk, ...]) -> bool:
            _, order, starts = cut(promises)
            groups = np.empty(data.rows, dtype=np.int64)
            groups[order] = owners(starts)
            statistics = group_statistics(data, groups, len(starts) - 1)
            return all(model.hold_together(statistics) for model in averages)

        return cut(cut_by(models, together))

    def refuse_distributed(self) -> None:
        """Refuse relaxed partitioning, and promises that a union of two classes may break."""
        super().refuse_distributed()
        if self.partitioning == "relaxed":
            raise WrongUse(
                "Relaxed partitioning divides equal rows by their place among all, which distributed rows do not have; "
                "use --partitioning strict, or --engine local."
            )
        for model in self.models():
            if not model.coarsens:
                raise WrongUse(
                    f"{model.name} may hold for two classes but not for their union, which mondrian cannot see on "
                    "stream or spark: use lattice or samarati, or --engine local."
                )

    def _distributed(self, data: Dataset, engine: Distributed, seed: int | None) -> Anonymized:
        """Cut by counts until every part fits into a worker, then cut the parts there; the classes are the same."""
        from shoal.methods.mondrian._distributed import count_classes, cut_parts

        begin = time.perf_counter()
        models, whole = self.models_for_parts(data)
        data.schema.select(self.weights)
        overall = {name: one.overall for name, one in whole.sensitive.items()}

        def together(promises: tuple[TableModel, ...], averages: tuple[ReidentificationRisk, ...]) -> bool:
            plan = self._plan(data.schema, promises, overall)
            classes = count_classes(
                data, plan, whole, seed or 0, engine.memory, side_by_side=engine.side_by_side
            )
            return all(model.mean_within(classes, data.rows) for model in averages)

        plan = self._plan(data.schema, cut_by(models, together), overall)
        published, notes = cut_parts(
            data, plan, whole, seed or 0, engine.memory, side_by_side=engine.side_by_side
        )
        timings = {"top": time.perf_counter() - begin}
        return self._release(published, models), Trace(np.empty(0, dtype=np.int64), timings, notes)

    def _plan(
        self, table: Table, models: tuple[TableModel, ...], overall: dict[str, Counts] | None = None
    ) -> Plan:
        relaxed = self.partitioning == "relaxed"
        return Plan.of(table, self.publish, models, self.weights, relaxed, self.split, overall)

    def _release(
        self, data: Made, models: tuple[TableModel, ...], steps: Sequence[int] | None = None
    ) -> Release[Made]:
        parameters = self.repeating(steps).model_dump(mode="json", exclude={"promises"})
        return self.released(data, models=models, parameters=parameters)


def _made(data: Table, plan: Plan, order: Rows, starts: Rows) -> tuple[Table, Rows]:
    """The published table, and the original row of each published one.

    Rows are handled class by class, so that the cells of a class lie next to each other.
    """
    by_class = data.take(order)
    table, rows = published(by_class, plan.publish(by_class, starts))
    return table, order[rows]


def _refuse_unkept(models: tuple[TableModel, ...], table: Table) -> None:
    """Refuse a release that breaks a promise which coarser classes need not keep.

    The whole table may break such a promise and then never be cut. So may classes that are published with the same
    cells, and are one class for that reason.
    """
    for model in models:
        if not model.coarsens and not (verdict := model.verify(table)).holds:
            where, why = verdict.offenders[0].where, verdict.offenders[0].why
            raise Infeasible(
                f"No cuts were found that keep {model.name}; in the class {where}: {why}. Promise less, or let the "
                "method lattice suppress rows."
            )
