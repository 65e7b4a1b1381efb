"""A table with a column of items: classes, then k^m-anonymity of items in each (Poulis et al. 2013)."""

import time
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, ValidationInfo, field_validator

from shoal.arrays import Codes, Rows
from shoal.data._item_sets import item_column, item_sets, without_items
from shoal.data._plain_text import counted
from shoal.data._ties import tie_key
from shoal.data.baskets import Baskets
from shoal.data.clustered_table import ClusteredTable
from shoal.data.table import Column, Table, cell_ranks
from shoal.data.trace import Trace
from shoal.engines.local import Local
from shoal.engines.protocol import Engine
from shoal.errors import Infeasible, UnknownName, WrongUse
from shoal.methods._candidates import Aim, Candidate, Goal
from shoal.methods._first_classes import CLUSTERS, first_classes, first_method
from shoal.methods.disassociation.method import Disassociation
from shoal.methods.method import Anonymized, Data
from shoal.methods.relational_transaction._classes import as_classes, published_cells, united
from shoal.methods.relational_transaction._items import (
    Chunked,
    ItemNodes,
    chunked,
    coherent,
    loss_of,
    protected,
    published_sets,
)
from shoal.methods.table_method import TableMethod, published
from shoal.models.k_km_anonymity import KKmAnonymity
from shoal.models.model import Model, TableModel

BOUNDS = ("relational", "items")

TRIED = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
"""Bounds on the loss of cells, tried in turn: the first one that keeps the loss of items within its bound is taken."""


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """Classes, and how items are published: by the node of each occurrence, or in clusters."""

    order: Rows
    starts: Rows
    """`order`, `starts`: the rows class by class, and where each class starts."""
    shown: Table  # the published cells of these rows
    relational: float
    items: float
    nodes: Codes | None = None
    chunks: Chunked | None = None


class RelationalTransaction(TableMethod):
    """Publish cells and items of persons together: who knows all the cells and m items of one finds k rows.

    A table method makes classes of at least k rows by the quasi-identifiers. Classes are then merged, always the one
    that loses least with the nearest one, as long as the mean loss of cells stays within a bound. Which class is the
    nearest is judged by what their cells lose together, by how similar their items are, or by both. Larger classes lose
    more of the cells and, up to a size, less of the items, because an item that is left out is left out in its whole
    class. In each class, items are then published as nodes of their hierarchy or left out, until every combination of
    up to m of them is held by k rows of the class or by none. Without a hierarchy of items they can only be left out.
    Alternatively, items are disassociated in each class: all of them stay, in clusters of chunks, but neither which
    items go together nor whose they are is published.
    """

    name: ClassVar[str] = "relational-transaction"
    needs_items: ClassVar[bool] = True
    example: ClassVar[dict[str, Any]] = {"k": 3, "m": 2}
    paper: ClassVar[str] = (
        "Poulis, Loukides, Gkoulalas-Divanis, Skiadopoulos: Anonymizing data with relational and transaction "
        "attributes. ECML/PKDD 2013"
    )
    not_distributable: ClassVar[str] = "each class is merged with the nearest one of all"

    k: int = Field(ge=2, description="least number of rows that fit what is known of a person")
    m: int = Field(default=2, ge=1, description="the most items that are known of a person")
    clusters: str = Field(default="mondrian", description=CLUSTERS)
    merge: Literal["relational", "items", "both"] = Field(
        default="both",
        description="which class is the nearest: the one with which cells lose least (RMERGE), the one with the most "
        "similar items (TMERGE), or the first by both (RTMERGE)",
    )
    bound: dict[str, float] = Field(
        default={"relational": 0.1},
        description="the largest loss: relational=0.1 merges classes as long as the cells' mean loss (1 - granularity) "
        "stays within it; items=0.3 merges no more of them than needed to keep the loss of items within it",
    )

    item_step: Literal["generalization", "disassociation"] = Field(
        default="generalization",
        description="what protects items in a class: in the rows, nodes of their hierarchy and leaving items out; or "
        "clusters of chunks beside the rows, in which all items stay",
    )
    h: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="largest share of those rows that hold a sensitive item: (h,k,p)-coherence in each class",
    )

    @field_validator("h")
    @classmethod
    def _shares(cls, h: float | None, info: ValidationInfo) -> float | None:
        if h is not None and info.data.get("item_step") == "disassociation":
            raise WrongUse(
                "It is for items in rows, and with --item-step disassociation nothing that is published is linked to "
                "sensitive items: omit it"
            )
        return h

    @field_validator("bound")
    @classmethod
    def _known_bounds(cls, bound: dict[str, float]) -> dict[str, float]:
        for name, value in bound.items():
            if name not in BOUNDS:
                raise UnknownName("bound of", name, BOUNDS)
            if not 0 <= value <= 1:
                raise WrongUse(f"A loss is from 0 to 1, and that of {name} is given as {value:g}")
        if len(bound) != 1:
            raise WrongUse("Give one bound, relational=0.1 or items=0.3")
        return bound

    @classmethod
    def candidates(cls, goal: Goal) -> list[Candidate]:
        """One candidate for each bound worth trying; items stay in their rows, since only that keeps the promise."""
        if goal.aim is not Aim.ITEMS:
            return []
        plain = {"name": cls.name, **goal.promise, "m": goal.m or 2, **({"h": goal.h} if goal.h else {})}
        ways = [("both", 0.1), ("relational", 0.1), ("both", 0.0), ("both", 0.3), ("relational", 0.3)]
        return [
            Candidate(
                f"{cls.name}, nearest by {merge}, cells within {bound:g}",
                {**plain, "merge": merge, "bound": {"relational": bound}},
            )
            for merge, bound in ways
        ]

    def models(self) -> tuple[Any, ...]:
        """The promises about classes, and that whoever knows all cells and m items finds k rows.

        The promise about items in clusters is not about classes, and is added once the clusters are made.
        """
        if self.item_step == "disassociation":
            return super().models()
        return (*super().models(), KKmAnonymity(k=self.k, m=self.m, h=self.h))

    def without_effect(self, data: Table | Baskets) -> tuple[str, ...]:
        """A sentence for each given parameter and role that has no effect."""
        said = super().without_effect(data)
        column = data.items_column if isinstance(data, Table) else None
        if column is not None and column.insensitive_items and self.item_step == "disassociation":
            said += (
                "--insensitive-items has no effect: in clusters, such items are treated like public ones.",
            )
        return said

    def anonymize(self, data: Data, engine: Engine | None = None, seed: int | None = None) -> Anonymized:
        """Make classes, merge them, protect the items of each, and publish rows in canonical order."""
        self.accept(data)
        assert isinstance(data, Table)
        models = self.models_for(data)
        threads = Local.of(engine)
        clock = [time.perf_counter()]
        rows, numbers = first_classes(self._clustering(), without_items(data), threads, seed)
        clock.append(time.perf_counter())
        table = data.take(rows)
        column = table.items_column
        assert column is not None
        sets = item_sets(column)
        tree = ItemNodes.of(sets)
        made = self._made(table, sets, tree, numbers, models, threads, tie_key(seed))
        clock.append(time.perf_counter())
        shown, places, details = self._published(table, column, sets, tree, made)
        clock.append(time.perf_counter())
        promises: tuple[Model, ...] = models
        if made.chunks is not None:
            promises = (*models, self._apart().promise(sets))
        parameters = self.model_dump(mode="json", exclude={"promises"}, exclude_none=True)
        release = self.released(shown, details, promises, parameters, data.rows - len(rows))
        timings = dict(zip(("cluster", "merge", "publish"), np.diff(clock).tolist(), strict=True))
        notes = {"classes": len(made.starts) - 1, "relational_loss": made.relational, "item_loss": made.items}
        return release, Trace(
            rows[made.order][places], timings, notes | {"summary": self._summary(made, numbers)}
        )

    def _published(
        self, table: Table, column: Column, sets: Baskets, tree: ItemNodes, made: Made
    ) -> tuple[Table, Rows, dict[str, Any]]:
        """The published rows in canonical order, the previous place of each, and public facts about the run."""
        cells = {one.name: one for one in made.shown.quasi}
        if made.chunks is not None:
            bare, places = published(without_items(table).take(made.order), cells)
            ranks = cell_ranks(bare.quasi)
            first = np.unique(ranks, return_index=True)[1]
            holders = first[made.chunks.classes]
            return ClusteredTable(bare.columns, column.name, made.chunks.clusters, holders), places, {}
        assert made.nodes is not None
        named = published_sets(sets, made.nodes, tree)
        by_class = replace(item_column(column.name, named.take(made.order)), hierarchy=None)
        shown, places = published(table.take(made.order), cells | {column.name: by_class})
        details: dict[str, Any] = {}
        if sets.hierarchy is not None:
            above = tree.above
            names = [text for text in named.vocabulary if text in above]
            details = {"nodes": {text: above[text] for text in names}, "leaves": tree.leaves}
        if not set(named.vocabulary) - {*column.sensitive_items, *column.insensitive_items}:
            details["public_items"] = 0
        return shown, places, details

    def _apart(self) -> Disassociation:
        """The method that disassociates the items of a class."""
        return Disassociation(k=self.k, m=self.m)

    def _summary(self, made: Made, first: Rows) -> list[str]:
        sizes = np.diff(made.starts)
        said = (
            f"{counted(len(sizes), 'classes')} of {sizes.min():,} to {sizes.max():,} rows, from "
            f"{int(first.max()) + 1:,} by {self.clusters}; the cells lose {made.relational:.1%}, the items "
            f"{made.items:.1%}."
        )
        return [said]

    def _clustering(self) -> TableMethod:
        return first_method(self.clusters, self)

    @property
    def splits_ties(self) -> bool:
        """Whether equal rows may be separated: by the method of the first classes, or by disassociation."""
        return self.item_step == "disassociation" or self._clustering().splits_ties

    def _made(
        self,
        table: Table,
        sets: Baskets,
        tree: ItemNodes,
        numbers: Rows,
        models: tuple[TableModel, ...],
        engine: Local,
        seed: int,
    ) -> Made:
        """Classes, and nodes or clusters of items, within the given bound."""
        known = np.ones(len(tree.labels), dtype=np.bool_)
        known[sets.sensitive] = known[sets.insensitive] = False
        near = self.merge

        def attempt(bound: float) -> Made:
            # Classes may be merged only if coarser classes keep all promises as well.
            allowed = bound if all(model.coarsens for model in models) else 0.0
            classes, loss = united(table, sets, numbers, near, allowed)
            order, starts = as_classes(classes)
            shown = published_cells(without_items(table), order, starts)
            if self.item_step == "disassociation":
                chunks = chunked(sets, order, cell_ranks(shown.quasi), self._apart(), seed, engine)
                return Made(order, starts, shown, loss, chunks.loss, chunks=chunks)
            nodes = protected(sets, tree, known, order, starts, self.k, self.m, engine)
            if self.h is not None:
                nodes = coherent(sets, nodes, known, order, starts, self.m, Fraction(str(self.h)))
            return Made(order, starts, shown, loss, loss_of(nodes, known, sets.items, tree), nodes)

        if "items" not in self.bound:
            return attempt(self.bound["relational"])
        most, best = self.bound["items"], 1.0
        for bound in TRIED:
            made = attempt(bound)
            if made.items <= most:
                return made
            best = min(best, made.items)
        raise Infeasible(
            f"The items lose at least {best:.3f} whatever classes are merged, and at most {most:g} is allowed. Give a "
            "hierarchy of items (--hierarchy), or promise less.",
            best,
        )
