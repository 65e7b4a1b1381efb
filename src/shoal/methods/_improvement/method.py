"""The base class of methods whose classes can be improved by a search over single rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeVar

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from shoal.arrays import Floats, Rows
from shoal.data.table import Table
from shoal.errors import Infeasible, WrongUse
from shoal.methods.mondrian._plan import tied_rows
from shoal.methods.table_method import TableMethod
from shoal.models._equivalence_classes import PublishedClasses
from shoal.models.model import TableModel
from shoal.models.reidentification_risk import ReidentificationRisk
from shoal.progress import part

# The search is loaded only when it is needed, because loading it takes longer than starting without it.
if TYPE_CHECKING:
    from shoal.methods._improvement._annealing import Found
    from shoal.methods._improvement._cells import Lossy

Made = TypeVar("Made", bound=tuple[Any, ...])

UNCUT = "--improve moves rows between all classes, which needs all rows at once; use --engine local."


def _listed(given: Any) -> Any:
    """Wrap a single number in a list."""
    return (given,) if isinstance(given, int | str) else given


Steps = Annotated[tuple[Annotated[int, Field(ge=0)], ...], BeforeValidator(_listed)]


@dataclass(frozen=True, slots=True, eq=False)
class Improved:
    """The classes after the search."""

    groups: Rows  # the class of each row of the table; -1 for suppressed ones
    found: "Found"

    @property
    def gained(self) -> bool:
        """Whether anything is better than before."""
        return self.found.after < self.found.before

    def notes(self) -> dict[str, Any]:
        """Notes on the search, as plain data."""
        found = self.found
        return {
            "steps": sum(found.steps),
            "classes": int(self.groups.max()) + 1,
            "loss_before": found.before,
            "loss_after": found.after,
        }

    def sentence(self) -> str:
        """A sentence on the outcome of the search."""
        if not self.gained:
            return f"Improvement: nothing better was found in {sum(self.found.steps):,} steps."
        return (
            f"Improvement: the mean loss of a row fell from {self.found.before:.4f} to {self.found.after:.4f} in "
            f"{sum(self.found.steps):,} steps."
        )


class Improvable(TableMethod):
    """A method whose classes can be improved by a search over single rows."""

    improve: float | None = Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        description="seconds to move rows between classes, and to split and join classes, so that less is lost; "
        "classes may then overlap",
    )
    improve_steps: Steps = Field(
        default=(),
        description="the same for a number of steps, so that the outcome depends on the seed alone; or the steps at "
        "each temperature, as a run with improve has noted them",
    )

    @model_validator(mode="after")
    def _one_length(self) -> Self:
        if not self.improve_steps:
            return self
        from shoal.methods._improvement._annealing import RUNGS

        if self.improve is not None:
            raise WrongUse(
                "The length of a search is given by improve or by improve_steps, not by both: omit one"
            )
        if len(self.improve_steps) not in (1, RUNGS):
            raise WrongUse(
                f"improve_steps is one number, or {RUNGS} of them, one per temperature; not {len(self.improve_steps)}"
            )
        return self

    bound: bool = Field(
        default=False,
        description="if nodes of hierarchies are published, also compute how much any release with classes as large "
        "could keep at most; always done with improve",
    )

    @property
    def improving(self) -> bool:
        """Whether the classes are to be improved."""
        return self.improve is not None or bool(self.improve_steps)

    @property
    def splits_ties(self) -> bool:
        """Whether rows with equal public values may come into different classes: if the classes are improved."""
        return self.improving

    def overlapping(self) -> str:
        """Improvement: the cells of classes between which rows have moved overlap."""
        return "--improve" if self.improving else ""

    def refuse_overlap(self, table: Table, models: tuple[TableModel, ...]) -> None:
        """Refuse a published table whose classes overlap in a way that the method cannot foresee.

        Raises `Infeasible` if that breaks a promise that counts the persons who fit a class.
        """
        for model in models:
            if not model.may_overlap and not (verdict := model.verify(table)).holds:
                worst = f" First: {verdict.offenders[0].where}: {verdict.offenders[0].why}."
                raise Infeasible(
                    f"{model.name} cannot be kept, because the published cells of classes overlap.{worst} "
                    "Give hierarchies whose nodes are disjoint on each level, promise less, or promise --k-map."
                )

    def refuse_distributed(self) -> None:
        """Refuse improvement and bound, which need all rows together."""
        if self.improving:
            raise WrongUse(UNCUT)
        if self.bound:
            raise WrongUse(
                "--bound needs all rows at once, which stream and spark do not have; omit it, or use --engine local."
            )

    def repeating(self, steps: Sequence[int] | None) -> Self:
        """The method that takes the same steps again, however long they take."""
        return (
            self
            if steps is None
            else self.model_copy(update={"improve": None, "improve_steps": tuple(steps)})
        )

    def repeated(self, notes: Mapping[str, Any]) -> Self:
        """The method that takes the same steps again, as noted in the trace."""
        return self.repeating(notes.get("improve_steps"))

    def best_possible(
        self,
        table: Table,
        made: Table,
        models: tuple[TableModel, ...],
        highest: Sequence[int] | None = None,
        by_nodes: bool = True,
    ) -> dict[str, Any]:
        """Notes on how far a release by nodes is at most from the best possible; empty unless asked for.

        `table`, `made`: the original and the published table. `highest`: the coarsest level of each column that is
        allowed. `by_nodes`: whether all columns are published by nodes of hierarchies; otherwise there is no bound.
        """
        if not (self.improving or self.bound):
            return {}
        from shoal.methods._improvement._bound import Bound, bound
        from shoal.methods._improvement._cells import granularity_of

        averages = averages_of(models)
        k = max((model.least_size() for model in models if model not in averages), default=1)
        reason = ""
        if not by_nodes:
            reason = (
                "not every quasi-identifier is published by the nodes of a hierarchy; give each a hierarchy"
            )
        elif any(getattr(model, "missing_matches_all", False) for model in models):
            reason = "missing cells match all others"
        elif k < 2:
            reason = "no promise asks for a least number of rows in every class"
        with part("computing the best possible") as told:
            found = Bound(None, reason=reason) if reason else bound(table.quasi, k, highest, told=told)
        reached = granularity_of(table, made)
        figures = {"granularity": found.granularity, "each_row_alone": found.alone, "reached": reached}
        return {
            "best_possible": figures if found.granularity is not None else {"not_computed": found.reason},
            "summary": [found.sentence(k, reached)],
        }

    def kept(
        self, made: Made | None, models: tuple[TableModel, ...], improved: Improved
    ) -> tuple[Made | None, dict[str, Any]]:
        """The release made from improved classes if it keeps the promises, else None; and notes on the search.

        Classes that are published with the same cells become one class. So promises that coarser classes need not keep
        are checked once more on the published table.
        """
        notes: dict[str, Any] = {"improve_steps": list(improved.found.steps), "improvement": improved.notes()}
        sentence = improved.sentence()
        if made is not None and not all(model.coarsens or model.verify(made[0]).holds for model in models):
            made, sentence = (
                None,
                "Improvement: given up, because classes that became one break a promise together.",
            )
        if made is not None:  # what is published with the same cells is one class
            notes["classes"] = notes["improvement"]["classes"] = len(PublishedClasses.of(made[0]))
        return made, {**notes, "summary": [sentence]}

    def better(
        self,
        table: Table,
        groups: Rows,
        columns: tuple["Lossy", ...],
        counts: Floats,
        models: tuple[TableModel, ...],
        seed: int,
    ) -> Improved:
        """Search for better classes than the given ones.

        `groups`: the class of each row; -1 for suppressed ones. `columns`, `counts`: the cells that quasi-identifiers
        can be published with, and how much each column counts. `seed`: the secret key of ties, and of the search.
        """
        from shoal.methods._improvement._annealing import Search
        from shoal.methods._improvement._cells import kernel_cells
        from shoal.methods._improvement._kept_promises import Promises

        rows = tied_rows(table, seed)
        ordered, mine = table.take(rows), groups[rows]
        promises = Promises.of(models, ordered, mine)
        search = Search(kernel_cells(table.quasi, columns, counts, rows), mine, promises, seed)
        found = search.run(self.improve, self._steps())
        back = np.empty(table.rows, dtype=np.int64)
        back[rows] = found.groups
        return Improved(back, found)

    def _steps(self) -> tuple[int, ...]:
        """The number of steps at each temperature."""
        from shoal.methods._improvement._annealing import RUNGS

        if len(self.improve_steps) != 1:
            return self.improve_steps
        share, rest = divmod(self.improve_steps[0], RUNGS)
        return tuple(share + (rung < rest) for rung in range(RUNGS))


def averages_of(models: tuple[TableModel, ...]) -> tuple[ReidentificationRisk, ...]:
    """The bounds on the mean risk among the promises, which single classes need not keep."""
    return tuple(
        model for model in models if isinstance(model, ReidentificationRisk) and model.over == "average"
    )


def class_by_class(groups: Rows) -> tuple[Rows, Rows]:
    """The rows class by class, without suppressed ones, and where each class starts, with the end of the last."""
    order = np.argsort(groups, kind="stable")
    order = order[np.searchsorted(groups[order], 0) :]
    starts = np.flatnonzero(np.append(True, np.diff(groups[order]) != 0))
    return order, np.append(starts, len(order))
