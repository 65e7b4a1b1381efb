"""What the models need to know about classes of tuples: sizes, persons, sensitive values, a population."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import Codes, Counts, Indptr, Mask, Rows
from shoal.data.domain import Domain
from shoal.data.group_statistics import GroupStatistics, Histogram
from shoal.data.table import Column, Table
from shoal.methods._full_domain._levels import Levels
from shoal.methods._full_domain._population_counts import PopulationCounts
from shoal.methods._full_domain._tuples import Grouping, Tuples
from shoal.methods._full_domain._wildcard_counts import Wildcards
from shoal.models._population import PopulationModel
from shoal.models.model import TableModel


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """The distinct pairs of a tuple and a value of another column, with how many rows have them; by tuple."""

    tuples: Rows
    values: Codes
    counts: Counts
    domain: Domain

    def of(self, place: int) -> Counts:
        """How often one tuple has each value."""
        begin, end = np.searchsorted(self.tuples, (place, place + 1))
        found = np.zeros(len(self.domain), dtype=np.int64)
        found[self.values[begin:end]] = self.counts[begin:end]
        return found

    def overall(self) -> Counts:
        """How often each value occurs in all tuples."""
        found = np.bincount(self.values, weights=self.counts, minlength=len(self.domain))
        return found.astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """Which persons of a tuple have which value."""

    tuples: Rows
    pairs: Rows
    """`tuples`, `pairs`: the tuples, each with the numbers of the distinct pairs of a person and a value that it
    holds."""
    values: Codes  # the value of each pair

    @classmethod
    def of(cls, tuples: Tuples, who: Codes, column: Column) -> "Held":
        """The persons with values of a column."""
        size = max(len(column.domain), 1)
        kinds, pairs = np.unique(who.astype(np.int64) * size + column.codes, return_inverse=True)
        width = max(len(kinds), 1)
        keys = np.unique(tuples.number * width + pairs)
        return cls(keys // width, keys % width, (kinds % size).astype(np.int32))

    def in_classes(self, of_tuple: Rows, domain: Domain) -> Pairs:
        """The values of classes, counted once a person; -1 leaves a tuple out."""
        classes, width = of_tuple[self.tuples], max(len(self.values), 1)
        inside = classes >= 0
        keys = np.unique(classes[inside] * width + self.pairs[inside])
        return Pairs(keys // width, self.values[keys % width], np.ones(len(keys), dtype=np.int64), domain)


class Facts:
    """Counts facts about the classes of a vector, from the tuples alone.

    Parameters
    ----------
    table, grouping
        The table, and the way to its classes.
    models
        The promises, which say what must be counted.
    wildcards
        Whether missing quasi-identifiers match every value; then the persons of a class are all rows that match it,
        for the models that count so (see `seen_by`).
    overall
        The distribution of each sensitive column that classes are compared with, where it is known what else will be
        published; that of the published classes unless told.
    """

    def __init__(
        self,
        table: Table,
        grouping: Grouping,
        models: tuple[TableModel, ...],
        *,
        wildcards: bool = False,
        overall: Mapping[str, Counts] | None = None,
    ) -> None:
        tuples = grouping.tuples
        names = dict.fromkeys(name for model in models for name in model.columns())
        self.sensitive = {
            column.name: _pairs(tuples, column.codes, column.domain) for column in table.select(names)
        }
        self._overall = overall or {}
        entity = table.entity
        self._persons = None if entity is None else _pairs(tuples, entity.codes, entity.domain)
        self._held = (
            {}
            if entity is None
            else {column.name: Held.of(tuples, entity.codes, column) for column in table.select(names)}
        )
        self._wildcards = Wildcards(table.quasi, grouping) if wildcards else None
        known = [model.needed() for model in models if isinstance(model, PopulationModel)]
        self._population = PopulationCounts(table.quasi, grouping, known[0]) if known else None

    @property
    def sizes_say_all(self) -> bool:
        """Whether the persons of a class are simply its rows."""
        return self._persons is None and self._wildcards is None

    @property
    def missing_stays(self) -> bool:
        """Whether a missing cell matches everything on every level: then coarser vectors match more."""
        return self._wildcards is None or self._wildcards.stays

    def statistics(
        self, levels: Levels, number: Rows, sizes: Counts, kept: Mask, sensitive: bool = True
    ) -> GroupStatistics:
        """Facts about the kept classes, in the order of their numbers.

        Parameters
        ----------
        number
            The class of each tuple.
        sizes
            The rows of each class.
        kept
            The classes that are published.
        sensitive
            Whether sensitive values and the population are wanted too.
        """
        place = np.cumsum(kept) - 1
        count = int(kept.sum())
        of_tuple: Rows = np.where(kept, place, -1)[number]
        if not sensitive:
            return GroupStatistics(sizes[kept], self._persons_of(of_tuple, sizes[kept], levels))
        population = None if self._population is None else self._population.matching(levels, of_tuple, count)
        persons = self._persons_of(of_tuple, sizes[kept], levels)
        return GroupStatistics(sizes[kept], persons, self._histograms(of_tuple, count, persons), population)

    def seen_by(self, model: TableModel, statistics: GroupStatistics) -> GroupStatistics:
        """The facts as a model counts: the rows that match a class if it says so, and otherwise those of the class."""
        if self._wildcards is None or getattr(model, "missing_matches_all", False):
            return statistics
        return replace(statistics, persons=statistics.sizes)

    def of_classes(self, of_tuple: Rows, sizes: Counts) -> GroupStatistics:
        """Facts about any classes of tuples, on whatever levels: without wildcards and a population.

        `of_tuple`: the class of each tuple; -1 for tuples that are not published.
        """
        persons = self._persons_of(of_tuple, sizes, None)
        return GroupStatistics(sizes, persons, self._histograms(of_tuple, len(sizes), persons))

    def _persons_of(self, of_tuple: Rows, sizes: Counts, levels: Levels | None) -> Counts:
        if self._persons is not None:
            return np.diff(_counted(self._persons, of_tuple, len(sizes))[0])
        if self._wildcards is not None and levels is not None:
            return self._wildcards.matching(levels, of_tuple, sizes)
        return sizes

    def _histograms(self, of_tuple: Rows, count: int, persons: Counts) -> dict[str, Histogram]:
        histograms = {}
        for name, pairs in self.sensitive.items():
            if name in self._held:
                once = self._held[name].in_classes(of_tuple, pairs.domain)
                indptr, values, counts = _counted(once, np.arange(count), count)
            else:
                indptr, values, counts = _counted(pairs, of_tuple, count)
            overall = self._overall.get(name)
            if overall is None:
                overall = np.bincount(values, weights=counts, minlength=len(pairs.domain)).astype(np.int64)
            of_persons = persons if name in self._held else None
            histograms[name] = Histogram(indptr, values, counts, overall, pairs.domain, of_persons)
        return histograms


def _pairs(tuples: Tuples, codes: Codes, domain: Domain) -> Pairs:
    size = max(len(domain), 1)
    keys = tuples.number * size + codes
    if tuples.times is None:
        mixed, counts = np.unique(keys, return_counts=True)
    else:
        mixed, place = np.unique(keys, return_inverse=True)
        counts = np.bincount(place, weights=tuples.times)
    return Pairs(mixed // size, (mixed % size).astype(np.int32), counts.astype(np.int64), domain)


def _counted(pairs: Pairs, of_tuple: Rows, count: int) -> tuple[Indptr, Codes, Counts]:
    """The values of each class with their counts, in compressed rows."""
    size = max(len(pairs.domain), 1)
    classes = of_tuple[pairs.tuples]
    inside = classes >= 0
    keys = classes[inside] * size + pairs.values[inside]
    weights = pairs.counts[inside]
    if count * size <= 8 * len(keys) + 1024:
        table = np.bincount(keys, weights=weights, minlength=count * size)
        found = np.flatnonzero(table)
        counts = table[found].astype(np.int64)
    else:
        found, numbers = np.unique(keys, return_inverse=True)
        counts = np.bincount(numbers, weights=weights, minlength=len(found)).astype(np.int64)
    indptr = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(found // size, minlength=count), out=indptr[1:])
    return indptr, (found % size).astype(np.int32), counts
