"""A table with a column of items: classes, then k^m-anonymity of items in each (Poulis et al. 2013)."""

import time
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, field_validator

from shoal import registry
from shoal.arrays import Codes, Rows
from shoal.data._equal_rows import row_classes
from shoal.data._item_sets import item_column, item_sets, items_of, without_items
from shoal.data._plural import counted
from shoal.data.baskets import Baskets
from shoal.data.dataset import Dataset
from shoal.data.release import Release
from shoal.data.table import Table
from shoal.data.trace import Trace
from shoal.engines.local import Local
from shoal.engines.protocol import Engine
from shoal.errors import Infeasible, UnknownName, WrongUse
from shoal.methods._candidates import Candidate, Goal
from shoal.methods.relational_transaction._classes import as_classes, published_cells, united
from shoal.methods.relational_transaction._items import ItemNodes, loss_of, protected, published_sets
from shoal.methods.table_method import TableMethod, published
from shoal.models.k_km_anonymity import KKmAnonymity
from shoal.models.model import TableModel

BOUNDS = ("relational", "items")

TRIED = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
"""The bounds of what cells lose of which the least is taken that keeps what items lose within its own bound."""


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """Classes, and the node of each occurrence of an item."""

    numbers: Rows
    nodes: Codes
    relational: float
    items: float


class RelationalTransaction(TableMethod):
    """Publish cells and items of persons together: who knows all the cells and m items of one finds k rows.

    A table method makes classes of at least k rows by the quasi-identifiers. Classes are then united, always the one
    that loses least with the nearest one: by what their cells lose together, by how like their items are, or by both,
    as long as the mean loss of cells stays within a bound. Larger classes lose more of the cells and, up to a size,
    less of the items: where an item is left out, it is so in its whole class. In each class, items are then published
    as nodes of their hierarchy or left out, until every combination of up to m of them is held by k rows of the class
    or by none. Without a hierarchy of items they can only be left out.
    """

    name: ClassVar[str] = "relational-transaction"
    needs_items: ClassVar[bool] = True
    example: ClassVar[dict[str, Any]] = {"k": 3, "m": 2}
    paper: ClassVar[str] = (
        "Poulis, Loukides, Gkoulalas-Divanis, Skiadopoulos: Anonymizing data with relational and transaction "
        "attributes. ECML/PKDD 2013"
    )
    not_distributable: ClassVar[str] = "classes are united with the nearest of all"

    k: int = Field(ge=2, description="least number of rows that fit what is known of a person")
    m: int = Field(default=2, ge=1, description="the most items that are known of a person")
    clusters: str = Field(
        default="mondrian",
        description="method of tables that makes the first classes: mondrian, lattice, samarati",
    )
    merge: Literal["relational", "items", "both"] = Field(
        default="both",
        description="which class is the nearest: the one with which cells lose least (RMERGE), with the most like "
        "items (TMERGE), or the first by both (RTMERGE)",
    )
    bound: dict[str, float] = Field(
        default={"relational": 0.1},
        description="the largest loss: relational=0.1 unites classes while the cells' mean loss (1 - granularity) "
        "stays within it; items=0.3 unites no more of them than it takes to lose at most so much of the items",
    )

    @field_validator("bound")
    @classmethod
    def _known_bounds(cls, bound: dict[str, float]) -> dict[str, float]:
        for name, value in bound.items():
            if name not in BOUNDS:
                raise UnknownName("bound of", name, BOUNDS)
            if not 0 <= value <= 1:
                raise WrongUse(f"from 0 to 1, and {name} is {value:g}")
        if len(bound) != 1:
            raise WrongUse("one bound, of the relational loss or of that of items")
        return bound

    @classmethod
    def candidates(cls, goal: Goal) -> list[Candidate]:
        """None: a goal says nothing of items."""
        return []

    def models(self) -> tuple[Any, ...]:
        """The promises about classes, and that who knows all cells and m items finds k rows."""
        return (*super().models(), KKmAnonymity(k=self.k, m=self.m))

    def anonymize(
        self, data: Table | Baskets | Dataset, engine: Engine | None = None, seed: int | None = None
    ) -> tuple[Release[Any], Trace]:
        """Make classes, unite them, protect the items of each, and publish rows in canonical order."""
        self.accept(data)
        assert isinstance(data, Table)
        models = self.models_for(data)
        threads = Local.of(engine)
        clock = [time.perf_counter()]
        rows, numbers = self._first(data, threads, seed)
        clock.append(time.perf_counter())
        table = data.take(rows)
        column = items_of(table)
        assert column is not None
        sets = item_sets(column)
        tree = ItemNodes.of(sets)
        made = self._made(table, sets, tree, numbers, models, threads)
        clock.append(time.perf_counter())
        order, starts = as_classes(made.numbers)
        named = published_sets(sets, made.nodes, tree)
        shown = published_cells(without_items(table), order, starts)
        cells = {one.name: one for one in shown.quasi}
        by_class = replace(item_column(column.name, named.take(order)), hierarchy=None)
        release_table, places = published(table.take(order), cells | {column.name: by_class})
        clock.append(time.perf_counter())
        above = tree.above
        names = [text for text in named.vocabulary if text in above]
        details: dict[str, Any] = {}
        if sets.hierarchy is not None:
            details = {"nodes": {text: above[text] for text in names}, "leaves": tree.leaves}
        if not set(named.vocabulary) - {*column.sensitive_items, *column.insensitive_items}:
            details["public_items"] = 0
        release = Release(
            data=release_table,
            method=self.name,
            parameters=self.model_dump(mode="json", exclude={"promises"}, exclude_none=True),
            promises=tuple(model.as_promise() for model in models),
            suppressed=data.rows - len(rows),
            details=details,
        )
        timings = dict(zip(("cluster", "merge", "publish"), np.diff(clock).tolist(), strict=True))
        notes = {"classes": len(starts) - 1, "relational_loss": made.relational, "item_loss": made.items}
        return release, Trace(
            rows[order][places], timings, notes | {"summary": self._summary(made, starts, numbers)}
        )

    def _summary(self, made: Made, starts: Rows, first: Rows) -> list[str]:
        sizes = np.diff(starts)
        said = (
            f"{counted(len(sizes), 'classes')} of {sizes.min():,} to {sizes.max():,} rows, from "
            f"{int(first.max()) + 1:,} by {self.clusters}; the cells lose {made.relational:.1%}, the items "
            f"{made.items:.1%}."
        )
        return [said]

    def _clustering(self) -> TableMethod:
        """The method that makes the first classes, with the promises about them."""
        kind = registry.load("method", self.clusters)
        if not issubclass(kind, TableMethod) or kind.needs_items or kind.publishes is not None:
            raise WrongUse(
                f"{self.clusters} makes no classes of a table: give --clusters mondrian, lattice or samarati."
            )
        shared = {name: getattr(self, name) for name in TableMethod.model_fields}
        given = {name: value for name, value in shared.items() if value is not None}
        first: TableMethod = kind(**given)
        return first

    @property
    def splits_ties(self) -> bool:
        """Where the method that makes the first classes does."""
        return self._clustering().splits_ties

    def _first(self, data: Table, engine: Local, seed: int | None) -> tuple[Rows, Rows]:
        """The rows that are published, and the class of each, by a method of tables."""
        release, trace = self._clustering().anonymize(without_items(data), engine, seed)
        found = row_classes(release.data.quasi, release.data.rows)
        kept = np.arange(release.data.rows)
        if extra := release.data.rows + release.suppressed - data.rows:
            # Suppressed rows that stand there as stars.
            blank = np.ones(release.data.rows, dtype=np.bool_)
            for one in release.data.quasi:
                labels = one.domain.labels
                blank &= one.codes == (labels.index("*") if "*" in labels else -1)
            kept = kept[~blank] if extra <= int(blank.sum()) else kept
        _, numbers = np.unique(found.number[kept], return_inverse=True)
        if not len(kept):
            raise Infeasible(f"{self.clusters} suppresses every row. Promise less.")
        return trace.rows[kept], numbers

    def _made(
        self,
        table: Table,
        sets: Baskets,
        tree: ItemNodes,
        numbers: Rows,
        models: tuple[TableModel, ...],
        engine: Local,
    ) -> Made:
        """Classes and nodes within the bound."""
        known = np.ones(len(tree.labels), dtype=np.bool_)
        known[sets.sensitive] = known[sets.insensitive] = False
        near = self.merge

        def attempt(bound: float) -> Made:
            # Only promises that coarser classes keep as well allow it to unite some.
            allowed = bound if all(model.coarsens for model in models) else 0.0
            classes, loss = united(table, sets, numbers, near, allowed)
            nodes = protected(sets, tree, known, *as_classes(classes), self.k, self.m, engine)
            return Made(classes, nodes, loss, loss_of(nodes, known, sets.items, tree))

        if "items" not in self.bound:
            return attempt(self.bound["relational"])
        most, best = self.bound["items"], 1.0
        for bound in TRIED:
            made = attempt(bound)
            if made.items <= most:
                return made
            best = min(best, made.items)
        raise Infeasible(
            f"The items lose at least {best:.3f} whatever classes are united, and at most {most:g} is allowed. Give a "
            "hierarchy of items (--hierarchy), or promise less.",
            best,
        )
