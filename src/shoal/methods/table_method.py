"""What the methods for tables have in common: a list of promises, and the way to publish an entity column."""

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
"""A promise about a table as a parameter."""


class TableMethod(Promises, Method):
    """A method that keeps any list of promises about the classes of a table."""

    accepts: ClassVar[type] = Table

    suppresses: ClassVar[bool] = False
    """Whether the method can leave rows out. Then a promise that the whole table breaks may still be kept."""

    along_hierarchies: ClassVar[bool] = False
    """Whether every quasi-identifier needs a hierarchy."""

    promises: tuple[TablePromise, ...] = Field(default=(), description="further promises, as models")

    smallest_cells: ClassVar[bool] = False
    """Whether every class is published by the smallest cells that cover it, which tells that their ends occur in it."""

    @classmethod
    def candidates(cls, goal: Goal) -> list[Candidate]:
        """With the promise and all else by default, for promises about classes."""
        method = {"name": cls.name, **goal.promise}
        return [Candidate(cls.name, method, trees=cls.along_hierarchies)] if goal.aim is Aim.CLASSES else []

    def overlapping(self) -> str:
        """The option that makes the published cells of classes overlap; empty where they do not."""
        return ""

    def misfits(self) -> tuple[TableModel, ...]:
        """The promises that cannot be made of its classes, because these overlap."""
        misfits = tuple(model for model in self.models() if not model.may_overlap)
        return misfits if misfits and self.overlapping() else ()

    def refuse_misfits(self) -> None:
        """Refuse promises that cannot be made of its classes, before any data is looked at.

        Raises `WrongUse` with the option to omit.
        """
        for model in self.misfits():
            option = self.overlapping()
            raise WrongUse(
                f"{option} does not go with {model.name}: classes overlap, so a person of the population fits "
                f"several. Omit {option}, or promise --k-map."
            )

    def models_for(self, table: Table) -> tuple[TableModel, ...]:
        """The promises made definite for this table: about which columns, persons, and population.

        Raises `WrongUse` if nothing is promised, no column is a quasi-identifier, or a promise misses something of the
        table. Raises `Infeasible` if even the whole table as one class breaks a promise.
        """
        definite = self._definite_for(table)
        whole = group_statistics(table, np.zeros(table.rows, dtype=np.int64), 1, columns_of(definite))
        self._refuse_infeasible(whole, definite)
        return definite

    def models_for_parts(self, data: Dataset) -> tuple[tuple[TableModel, ...], GroupStatistics]:
        """The promises made definite for a table in parts, and the counts of the whole as one class.

        Raises `WrongUse` as `models_for`; and where a promise needs a population, or a column says which rows belong
        together. Raises `Infeasible` if even the whole table as one class breaks a promise.
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
        """Those of which a promise asks how far values lie apart in their hierarchy."""
        return set(columns_of(one for one in self.definite(table) if getattr(one, "tree", None) is not None))

    def _definite_for(self, table: Table) -> tuple[TableModel, ...]:
        """The promises about a table; refuses to promise nothing, and about no column."""
        if not self.models():
            raise WrongUse(f"{self.name} has nothing to promise; give --k, for example --k 10.")
        table.refuse_without_quasi()
        self.refuse_misfits()
        return self.definite(table)

    def definite(
        self, table: Table, population: Table | None = None, *, published: bool = False
    ) -> tuple[TableModel, ...]:
        """The promises about the columns, persons and population of a table; the population of the file by default."""
        if population is None and self.population is not None:
            population = read_population(self.population, table)
        return super().definite(table, population, published=published)

    def population_of(self, table: Table) -> Table | None:
        """The population that promises are about: the one that a promise brings along, or that of the file."""
        for model in self.promises:
            if (population := getattr(model, "population", None)) is not None:
                return cast(Table, population)
        return None if self.population is None else read_population(self.population, table)

    def _refuse_infeasible(self, whole: GroupStatistics, models: tuple[TableModel, ...]) -> None:
        """Refuse what no partition of the table can keep.

        A union of classes that keep a monotone promise keeps it, so that the whole table would. Where rows can be
        left out, that says something only of promises which every larger set of rows keeps as well.
        """
        for model in models:
            certain = model.coarsens and (model.absorbs or not self.suppresses)
            if certain and not model.holds(whole)[0]:
                refusal = model.refusal(whole)
                raise Infeasible(str(refusal), refusal.best)


def read_population(path: str, table: Table, orders: Mapping[str, Sequence[str]] | None = None) -> Table:
    """Read the population of a table: its quasi-identifiers as they are called there, with the table's hierarchies.

    `orders`: the values of ordinal columns in ascending order; those of the table by default.
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
    """The column of a population as an ordinal one; a value that the order does not have lies in no range."""
    domain = column.domain
    present = domain.labels[: domain.present]
    labels = (*order, *sorted(set(present) - set(order)), *([""] if domain.missing is not None else ()))
    places = {label: place for place, label in enumerate(labels)}
    codes = np.array([places[label] for label in domain.labels], dtype=np.int32)[column.codes]
    missing = None if domain.missing is None else len(labels) - 1
    return replace(column, domain=Domain(Kind.ORDINAL, labels, missing=missing), codes=codes)


def published(table: Table, quasi: dict[str, Column]) -> tuple[Table, Rows]:
    """Put published columns together in the order of the input and the rows in canonical order.

    An entity column is numbered anew inside each class.

    `table`: the original: its sensitive and insensitive columns are published as they are. `quasi`: the published
    column of each quasi-identifier, row by row as in the original. Returns the published table, and the original row of
    each published one.
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
    """Replace who a person is by a number that is valid only inside a class.

    Rows of one person in one class share a number, so that a reader can count persons; across classes numbers mean
    nothing. A class is what a reader sees: the rows whose published quasi-identifiers are equal. Its persons are
    numbered by their published rows in ascending order, so that a number tells nothing of the input either.
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
