"""What all methods for tables have in common: a list of promises, and how an entity column is published."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, ClassVar, cast

import numpy as np
from pydantic import Field

from shoal.arrays import Rows, indptr_of, turns_of
from shoal.data.baskets import ragged_order
from shoal.data.dataset import Dataset
from shoal.data.domain import Domain, Kind, nominal
from shoal.data.group_statistics import GroupStatistics, group_statistics, whole_statistics
from shoal.data.role import Role
from shoal.data.table import Column, Table, canonical_order, cell_ranks, order_by
from shoal.errors import Infeasible, WrongUse
from shoal.methods._candidates import Aim, Candidate, Goal
from shoal.methods.method import Method
from shoal.models._promises import PROMISE, Promises
from shoal.models.model import TableModel, columns_of

TablePromise = Annotated[TableModel, *PROMISE]
"""A promise about a table, as a parameter of a method."""


class TableMethod(Promises, Method):
    """A method that keeps any list of promises about the classes of a table."""

    accepts: ClassVar[type] = Table

    suppresses: ClassVar[bool] = False
    """Whether the method can suppress rows. Then a promise that the whole table breaks may still be kept."""

    along_hierarchies: ClassVar[bool] = False
    """Whether every quasi-identifier needs a hierarchy."""

    promises: tuple[TablePromise, ...] = Field(default=(), description="further promises, as models")

    smallest_cells: ClassVar[bool] = False
    """Whether each class is published with the smallest cells that cover it, which reveals that their ends occur."""

    @classmethod
    def candidates(cls, goal: Goal) -> list[Candidate]:
        """One candidate with the promise and defaults for everything else, for promises about classes."""
        method = {"name": cls.name, **goal.promise}
        return [Candidate(cls.name, method, trees=cls.along_hierarchies)] if goal.aim is Aim.CLASSES else []

    def overlapping(self) -> str:
        """The option that makes the published cells of classes overlap; empty if they do not overlap."""
        return ""

    def misfits(self) -> tuple[TableModel, ...]:
        """The promises that this method cannot make because its classes overlap."""
        misfits = tuple(model for model in self.models() if not model.may_overlap)
        return misfits if misfits and self.overlapping() else ()

    def refuse_misfits(self) -> None:
        """Refuse promises that do not allow overlapping classes, before any data is read.

        Raises `WrongUse`, which names the option to omit.
        """
        for model in self.misfits():
            option = self.overlapping()
            raise WrongUse(
                f"{option} does not go with {model.name}: classes overlap, so a person of the population fits "
                f"several. Omit {option}, or promise --k-map."
            )

    def models_for(self, table: Table) -> tuple[TableModel, ...]:
        """The promises made definite for this table: which columns, persons and population they are about.

        Raises `WrongUse` if nothing is promised, no column is a quasi-identifier, or the table lacks something that a
        promise needs. Raises `Infeasible` if even the whole table as one class breaks a promise.
        """
        definite = self._definite_for(table)
        whole = group_statistics(table, np.zeros(table.rows, dtype=np.int64), 1, columns_of(definite))
        self._refuse_infeasible(whole, definite)
        return definite

    def models_for_parts(self, data: Dataset) -> tuple[tuple[TableModel, ...], GroupStatistics]:
        """The promises made definite for a table in parts, and the counts of the whole table as one class.

        Raises `WrongUse` as `models_for` does, and also if a promise needs a population or the table has an entity
        column. Raises `Infeasible` if even the whole table as one class breaks a promise.
        """
        table = data.schema
        if table.entity is not None:
            raise WrongUse(
                f"Persons with several rows ({table.entity.name}) cannot be counted on stream or spark; use "
                "--engine local, or give every person one row."
            )
        definite = self._definite_for(table)
        if any("population" in type(model).model_fields for model in definite):
            raise WrongUse(
                "A promise about a population cannot be kept on stream or spark; use --engine local."
            )
        whole = whole_statistics(data, columns_of(definite))
        self._refuse_infeasible(whole, definite)
        return definite, whole

    def compared_by_tree(self, table: Table) -> set[str]:
        """The columns for which a promise asks how far apart values lie in their hierarchy."""
        return set(columns_of(one for one in self.definite(table) if getattr(one, "tree", None) is not None))

    def _definite_for(self, table: Table) -> tuple[TableModel, ...]:
        """The promises made definite for a table; refuses an empty list, and a table without quasi-identifiers."""
        if not self.models():
            raise WrongUse(f"{self.name} has nothing to promise; give --k, for example --k 10.")
        table.refuse_without_quasi()
        self.refuse_misfits()
        return self.definite(table)

    def definite(
        self, table: Table, population: Table | None = None, *, published: bool = False
    ) -> tuple[TableModel, ...]:
        """The promises made definite for a table; the population is read from the given file by default."""
        if population is None and self.population is not None:
            population = read_population(self.population, table)
        return super().definite(table, population, published=published)

    def population_of(self, table: Table) -> Table | None:
        """The population that the promises refer to: the one that a promise carries, or the one in the given file."""
        for model in self.promises:
            if (population := getattr(model, "population", None)) is not None:
                return cast(Table, population)
        return None if self.population is None else read_population(self.population, table)

    def _refuse_infeasible(self, whole: GroupStatistics, models: tuple[TableModel, ...]) -> None:
        """Refuse promises that no partition of the table can keep.

        If classes keep a monotone promise, their union keeps it, and so would the whole table. Where rows can be
        suppressed, this argument holds only for promises that every larger set of rows keeps as well.
        """
        for model in models:
            certain = model.coarsens and (model.absorbs or not self.suppresses)
            if certain and not model.holds(whole)[0]:
                refusal = model.refusal(whole)
                raise Infeasible(str(refusal), refusal.best)


def read_population(path: str, table: Table, orders: Mapping[str, Sequence[str]] | None = None) -> Table:
    """Read the population of a table: the columns named like its quasi-identifiers, with the table's hierarchies.

    `orders`: the values of ordinal columns in ascending order; by default the orders in the table.
    """
    from shoal.io.tables.load import read_table

    population = read_table(path, quasi=[column.name for column in table.quasi], others="drop")
    known = {column.name: column for column in table.quasi}
    columns = []
    for column in population.columns:
        own = known[column.name]
        listed = own.domain.labels[: own.domain.present] if own.domain.kind is Kind.ORDINAL else ()
        order = (orders or {}).get(column.name, listed)
        ordered = _in_order(column, order) if order else column
        columns.append(replace(ordered, hierarchy=own.hierarchy))
    return Table(tuple(columns))


def _in_order(column: Column, order: Sequence[str]) -> Column:
    """Make a population's column ordinal; values that are not in the order come after it, and lie in no range."""
    domain = column.domain
    present = domain.labels[: domain.present]
    labels = (*order, *sorted(set(present) - set(order)), *([""] if domain.missing is not None else ()))
    places = {label: place for place, label in enumerate(labels)}
    codes = np.array([places[label] for label in domain.labels], dtype=np.int32)[column.codes]
    missing = None if domain.missing is None else len(labels) - 1
    return replace(column, domain=Domain(Kind.ORDINAL, labels, missing=missing), codes=codes)


def published(table: Table, quasi: dict[str, Column]) -> tuple[Table, Rows]:
    """Assemble the published table: columns in the order of the input, rows in canonical order.

    An entity column is renumbered inside each class.

    `table`: the original; its sensitive and insensitive columns are published as they are. `quasi`: the published
    column of each quasi-identifier, with its rows in the original order. Returns the published table, and the original
    row of each published one.
    """
    columns = [
        quasi.get(column.name, column) for column in table.columns if column.role is not Role.IDENTIFYING
    ]
    if table.entity is not None:
        plain = [column for column in columns if column.role is not Role.ENTITY]
        numbered = number_persons(table.entity, plain)
        columns = [numbered if column.role is Role.ENTITY else column for column in columns]
    order = canonical_order(columns)
    return Table(tuple(column.take(order) for column in columns)), order


def number_persons(entity: Column, published_columns: list[Column]) -> Column:
    """Replace the identity of each person with a number that is valid only inside a class.

    Rows of one person in one class share a number, so that a reader can count persons; across classes the numbers mean
    nothing. A class is what a reader sees: the rows whose published quasi-identifiers are equal. Its persons are
    numbered in ascending order of their published rows, so that the numbers reveal nothing about the input.
    """
    cells = cell_ranks(published_columns)
    classes = cell_ranks([column for column in published_columns if column.role is Role.QUASI])
    _, person = np.unique(classes * len(entity.domain) + entity.codes, return_inverse=True)
    by_person = order_by(
        [person.astype(np.int32), cells.astype(np.int32)], [int(person.max()) + 1, int(cells.max()) + 1]
    )
    indptr = indptr_of(np.bincount(person))
    rank = turns_of(ragged_order(indptr, cells[by_person].astype(np.int32)), len(indptr) - 1)

    class_of = np.empty(len(rank), dtype=np.int64)
    class_of[person] = classes
    in_class = np.lexsort([rank, class_of])
    starts = np.concatenate(([True], np.diff(class_of[in_class]) != 0))
    first = np.maximum.accumulate(np.where(starts, np.arange(len(rank)), 0))
    number = np.empty(len(rank), dtype=np.int64)
    number[in_class] = np.arange(len(rank)) - first
    domain = nominal(tuple(str(place + 1) for place in range(int(number.max()) + 1)))
    return Column(entity.name, Role.ENTITY, domain, number[person].astype(np.int32))
