"""The statistics of classes of tuples that models ask for: sizes, persons, sensitive values, a population."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import AnyArray, Codes, Counts, Indptr, Mask, Rows, distinct, indptr_by, summed
from shoal.data.domain import Domain
from shoal.data.group_statistics import GroupStatistics, Histogram
from shoal.data.table import Column, Table
from shoal.methods._full_domain._levels import Levels
from shoal.methods._full_domain._tuples import Grouping, Tuples
from shoal.models._matching import PopulationModel
from shoal.models.model import TableModel, columns_of


def first_tuples(of_tuple: Rows, count: int) -> Rows:
    """The first tuple of each class, of `count` classes; tuples of class -1 are left out."""
    first = np.full(count, -1, dtype=np.int64)
    inside = np.flatnonzero(of_tuple >= 0)[::-1]
    first[of_tuple[inside]] = inside
    return first


class Wildcards:
    """Counts the rows that match a class when a missing cell matches every cell, and every cell a missing one.

    Matching is not an equivalence relation: a row with a missing cell may match several classes, and is counted for
    each of them.
    """

    def __init__(self, columns: tuple[Column, ...], grouping: Grouping) -> None:
        self._grouping = grouping
        self._blank: list[list[int]] = []
        for column in columns:
            hierarchy, missing = column.hierarchy, column.domain.missing
            assert hierarchy is not None
            nodes = [-1] * len(hierarchy.labels)
            if missing is not None:
                leaf = int(hierarchy.leaf_of(column.domain)[missing])
                for level in range(len(nodes)):
                    node = int(hierarchy.nodes_at(level)[leaf])
                    nodes[level] = node if hierarchy.labels[level][node] == "" else -1
            self._blank.append(nodes)
        self.stays = all(nodes[0] < 0 or all(node >= 0 for node in nodes[:-1]) for nodes in self._blank)

    def matching(self, levels: Levels, of_tuple: Rows, sizes: Counts) -> Counts:
        """The number of rows that match each class, including its own.

        `of_tuple`: the class of each tuple; -1 for tuples that are not published. `sizes`: the rows of each class.
        """
        first = first_tuples(of_tuple, len(sizes))
        cells = np.stack([self._grouping.nodes(place, level)[first] for place, level in enumerate(levels)])
        missing = [nodes[level] for nodes, level in zip(self._blank, levels, strict=True)]
        blank = cells == np.array(missing)[:, None]
        blank &= np.array(missing)[:, None] >= 0
        patterns, kind = np.unique(blank, axis=1, return_inverse=True)
        members = [np.flatnonzero(kind == place) for place in range(patterns.shape[1])]
        found = np.zeros(len(sizes), dtype=np.int64)
        for one, here in enumerate(members):
            for other, there in enumerate(members):
                known = ~(patterns[:, one] | patterns[:, other])
                found[here] += _agreeing(cells[known][:, here], cells[known][:, there], sizes[there])
        return found


def _agreeing(here: AnyArray, there: AnyArray, sizes: Counts) -> Counts:
    """For each class on one side (a column of cells), how many rows on the other side have the same cells."""
    numbers = np.zeros(here.shape[1] + there.shape[1], dtype=np.int64)
    for one, other in zip(here, there, strict=True):
        both = np.concatenate([one, other]).astype(np.int64)
        numbers = np.unique(numbers * (int(both.max(initial=0)) + 1) + both, return_inverse=True)[1]
    totals = summed(numbers[here.shape[1] :], sizes, int(numbers.max(initial=0)) + 1)
    return totals[numbers[: here.shape[1]]]


class PopulationCounts:
    """Counts the persons of a population that match each class, by generalizing them to the levels of the table.

    A value of the population that is not a leaf of the hierarchy matches only the root.
    """

    def __init__(self, columns: tuple[Column, ...], grouping: Grouping, population: Table) -> None:
        self._grouping = grouping
        self._nodes: list[tuple[Codes, ...]] = []
        self._codes: list[Codes] = []
        keys = np.zeros(population.rows, dtype=np.int64)
        others = population.select(column.name for column in columns)
        for other in others:
            keys = np.unique(keys * len(other.domain) + other.codes, return_inverse=True)[1]
        _, first, counts = np.unique(keys, return_index=True, return_counts=True)
        self._counts: Counts = counts.astype(np.int64)
        for column, other in zip(columns, others, strict=True):
            hierarchy = column.hierarchy
            assert hierarchy is not None
            leaves = {leaf: place for place, leaf in enumerate(hierarchy.leaves)}
            of_label = np.array([leaves.get(label, -1) for label in other.domain.labels], dtype=np.int64)
            self._nodes.append(
                tuple(
                    np.where(
                        of_label < 0,
                        0 if level == hierarchy.height else -1,
                        hierarchy.nodes_at(level)[of_label],
                    )
                    for level in range(hierarchy.height + 1)
                )
            )
            self._codes.append(other.codes[first])

    def matching(self, levels: Levels, of_tuple: Rows, count: int) -> Counts:
        """The number of persons of the population that match each class.

        `of_tuple`: the class of each tuple; -1 for tuples that are not published. `count`: the number of classes.
        """
        first = first_tuples(of_tuple, count)
        ours = [self._grouping.nodes(place, level)[first] for place, level in enumerate(levels)]
        theirs = np.stack(
            [self._nodes[place][level][self._codes[place]] for place, level in enumerate(levels)]
        )
        known = (theirs >= 0).all(axis=0)
        return _agreeing(np.stack(ours), theirs[:, known], self._counts[known])


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """The distinct pairs of a tuple and a value of another column, and how many rows have each; ordered by tuple."""

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
    """Which person has which value in which tuple."""

    tuples: Rows
    pairs: Rows
    """`tuples`, `pairs`: the number of a tuple, and of a distinct pair of person and value that occurs in it."""
    values: Codes  # the value of each pair

    @classmethod
    def of(cls, tuples: Tuples, who: Codes, column: Column) -> "Held":
        """The persons in `who` with their values in a column."""
        size = max(len(column.domain), 1)
        kinds, pairs = np.unique(who.astype(np.int64) * size + column.codes, return_inverse=True)
        width = max(len(kinds), 1)
        keys = distinct(tuples.number * width + pairs)
        return cls(keys // width, keys % width, (kinds % size).astype(np.int32))

    def in_classes(self, of_tuple: Rows, domain: Domain) -> Pairs:
        """The values of classes, one entry for each person who has one; tuples of class -1 are left out."""
        classes, width = of_tuple[self.tuples], max(len(self.values), 1)
        inside = classes >= 0
        keys = distinct(classes[inside] * width + self.pairs[inside])
        return Pairs(keys // width, self.values[keys % width], np.ones(len(keys), dtype=np.int64), domain)


class Facts:
    """Computes the statistics of a vector's classes that the models ask for, from the tuples alone.

    `wildcards`: whether missing quasi-identifiers match every value; then the persons of a class are all rows that
    match it, for models that count this way (see `seen_by`). `overall`: the distribution of each sensitive column that
    classes are compared with, if it is known what else will be published; by default that of the published classes.
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
        names = columns_of(models)
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
        """Whether the number of persons of a class is simply its number of rows."""
        return self._persons is None and self._wildcards is None

    @property
    def missing_stays(self) -> bool:
        """Whether a missing cell matches everything on every level, so that coarser vectors match more."""
        return self._wildcards is None or self._wildcards.stays

    def statistics(self, levels: Levels, number: Rows, sizes: Counts, kept: Mask) -> GroupStatistics:
        """The statistics of the published classes, in the order of their numbers."""
        place = np.cumsum(kept) - 1
        count = int(kept.sum())
        of_tuple: Rows = np.where(kept, place, -1)[number]
        population = None if self._population is None else self._population.matching(levels, of_tuple, count)
        persons = self._persons_of(of_tuple, sizes[kept], levels)
        return GroupStatistics(sizes[kept], persons, self._histograms(of_tuple, count, persons), population)

    def seen_by(self, model: TableModel, statistics: GroupStatistics) -> GroupStatistics:
        """The statistics with persons as a model counts them: rows that match a class if it says so, else its rows."""
        if self._wildcards is None or getattr(model, "missing_matches_all", False):
            return statistics
        return replace(statistics, persons=statistics.sizes)

    def of_classes(self, of_tuple: Rows, sizes: Counts) -> GroupStatistics:
        """The statistics of any classes of tuples, on whatever levels, ignoring wildcards and a population.

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
    return indptr_by(found // size, count), (found % size).astype(np.int32), counts
