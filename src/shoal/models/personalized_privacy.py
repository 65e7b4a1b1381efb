"""Personalized privacy (Xiao and Tao 2006)."""

from collections.abc import Iterator
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np
from pydantic import Field, PrivateAttr, field_validator

from shoal.arrays import AnyArray, Codes, Counts, Indptr, Mask, owners
from shoal.data._promise_words import percent
from shoal.data.domain import Domain
from shoal.data.group_statistics import GroupStatistics, Histogram
from shoal.data.published_syntax import SUPPRESSED
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.errors import BadData, UnknownName, WrongUse
from shoal.models._equivalence_classes import PublishedClasses, Tally
from shoal.models._exact import at_most, fraction, group_sums
from shoal.models._sensitive import Finding, SensitiveModel
from shoal.models._value_order import flaw_of


class PersonalizedPrivacy(SensitiveModel):
    """Each person says which node of the sensitive column's hierarchy guards her: the chance of a value below is small.

    The column `guard` names that node for each row: ``respiratory disease`` guards against being taken for somebody
    with any of them, a value against that value alone, an empty cell against nothing. In the class of every row, the
    share of rows with a value at or below its guarding node is at most p. The promise carries the `tree`. Compared
    exactly.

    The guards have to be published for the promise to be proved from the release, and so they are sensitive too: a
    guard tells what somebody would rather hide. Promise something about that column as well.
    """

    name: ClassVar[str] = "personalized-privacy"
    paper: ClassVar[str] = "Xiao, Tao: Personalized privacy preservation. SIGMOD 2006"
    accepts: ClassVar[tuple[type, ...]] = (Table,)
    monotone: ClassVar[bool] = False
    absorbs: ClassVar[bool] = False
    bounded_by: ClassVar[str] = "p"

    column: str = Field(description="the sensitive column")
    guard: str = Field(description="the sensitive column that names the guarding node of each row")
    p: float = Field(gt=0, le=1, description="largest chance of a value at or below a guarding node")
    tree: dict[str, tuple[str, ...]] | None = Field(
        default=None,
        description="each value and the nodes above it, up to the root; by default the column's hierarchy",
    )

    _known: tuple[Domain, dict[str, Mask]] | None = PrivateAttr(default=None)

    def sentence(self, of: str, known: str) -> str:
        """The promise for readers who know no model by its name."""
        return (
            f"Nobody can guess a value of {of} that a person asked to guard (in {self.guard}) with a chance above "
            f"{percent(self.p)}."
        )

    @field_validator("tree")
    @classmethod
    def _nested(cls, tree: dict[str, tuple[str, ...]] | None) -> dict[str, tuple[str, ...]] | None:
        if tree is not None and (flaw := flaw_of(tree)):
            raise WrongUse(f"a tree with one root, and {flaw}")
        return tree

    def vacuous(self) -> str:
        """No chance is larger than 1."""
        return "p = 1 promises nothing: no chance is larger" if self.p >= 1 else ""

    def refuse_vague(self) -> None:
        """A release without the tree tells no one what lies below a node."""
        if self.tree is None:
            raise BadData(
                f"release.json: the promise {self.name} must name the tree of {self.column}. Publish again."
            )

    def columns(self) -> tuple[str, ...]:
        """Both columns."""
        return (self.column, self.guard)

    def judged(self, table: Table) -> tuple[Column, ...]:
        """The column; the guards must be sensitive too."""
        columns = super().judged(table)
        if (guard := table.column(self.guard)).role is not Role.SENSITIVE:
            raise WrongUse(
                f"The guarding nodes in {self.guard!r} tell what somebody would rather hide, and the column is "
                f"{guard.role}; give it the role sensitive."
            )
        return columns

    def bound(self, table: Table, *, published: bool = False) -> tuple[Self, ...]:
        """The promise with the tree of the column, in which every guarding node must stand."""
        (model,) = super().bound(table, published=published)
        if model.tree is not None:
            model._refuse_unguarded(table.column(self.guard).domain)
        return (model,)

    def fitted(self, column: Column) -> Self:
        """The promise with the column's hierarchy as its tree."""
        if self.tree is not None:
            return self
        if column.hierarchy is None:
            raise WrongUse(
                f"{self.name} needs the hierarchy of {column.name!r}, in which the guarding nodes stand; give it one."
            )
        return self.model_copy(update={"tree": {path[0]: path[1:] for path in column.hierarchy.paths()}})

    def keeps(self, histogram: Histogram, statistics: GroupStatistics) -> Mask:
        """Which groups have no guard with too much below it."""
        guards = statistics.sensitive[self.guard]
        assert histogram.domain is not None
        assert guards.domain is not None
        kept: Mask = np.ones(len(histogram.indptr) - 1, dtype=np.bool_)
        values = (histogram.domain, histogram.indptr, histogram.values, histogram.counts)
        for _, groups, below in self._below(guards.domain, guards.indptr, guards.values, *values):
            kept[groups] &= at_most(below[groups], histogram.sums[groups], fraction(self.p))
        return kept

    def found(self, tally: Tally, classes: PublishedClasses) -> Finding:
        """Find the guard of each class with the most below it."""
        guards = classes.tally(classes.table.column(self.guard))
        most = np.zeros(len(classes), dtype=np.int64)
        node = np.full(len(classes), "", dtype=object)
        values = (tally.column.domain, tally.indptr, tally.values, tally.counts)
        for name, groups, below in self._below(guards.column.domain, guards.indptr, guards.values, *values):
            worse = groups[below[groups] > most[groups]]
            most[worse], node[worse] = below[worse], name
        filled = tally.sizes > 0
        shares: AnyArray = most / np.maximum(tally.sizes, 1)
        worst = int(np.argmax(np.where(filled, shares, -1.0))) if len(shares) else 0
        return Finding(
            broken=filled & ~at_most(most, tally.sizes, fraction(self.p)),
            badness=shares,
            value=Fraction(int(most[worst]), int(tally.sizes[worst])) if filled.any() else None,
            why=lambda place: (
                f"{most[place]} of {tally.sizes[place]} rows have {node[place]}, which somebody there guards, where a "
                f"chance of {self.p:g} is promised"
            ),
        )

    def _below(
        self,
        names: Domain,
        guard_indptr: Indptr,
        guards: Codes,
        domain: Domain,
        indptr: Indptr,
        values: Codes,
        counts: Counts,
    ) -> Iterator[tuple[str, AnyArray, AnyArray]]:
        """Each guarding node, the groups in which it guards somebody, and how much of every group lies below it."""
        self._refuse_unguarded(names)
        where = owners(guard_indptr)
        for code in np.unique(guards).tolist():
            name = names.labels[code]
            if name not in ("", SUPPRESSED):
                inside = self._inside(name, domain)
                yield name, where[guards == code], group_sums(indptr, counts * inside[values])

    def _inside(self, node: str, domain: Domain) -> Mask:
        """The values at or below a node; kept for the next call on the same values."""
        if self._known is None or self._known[0] is not domain:
            self._known = (domain, {})
        masks = self._known[1]
        if node not in masks:
            tree = self.tree or {}
            masks[node] = np.array(
                [node in (label, *tree.get(label, ())) for label in domain.labels], np.bool_
            )
        return masks[node]

    def _nodes(self) -> set[str]:
        assert self.tree is not None
        return {node for value, path in self.tree.items() for node in (value, *path)} - {""}

    def _refuse_unguarded(self, names: Domain) -> None:
        """Refuse guards that are no node: they would guard against nothing."""
        nodes = self._nodes()
        for label in names.labels:
            if label not in ("", SUPPRESSED) and label not in nodes:
                raise UnknownName("node", label, sorted(nodes), self.column)

    def promise(self) -> str:
        """The promise in words."""
        return (
            f"in every class at most a share of {self.p:g} has a value of {self.column} below the node that a row's "
            f"{self.guard} names"
        )
