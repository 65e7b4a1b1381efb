"""What the models need to know about classes of tuples: sizes, persons, sensitive values, a population."""

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Codes, Counts, Indptr, Mask, Rows
from shoal.data.domain import Domain
from shoal.data.statistics import GroupStatistics, Histogram
from shoal.data.table import Table
from shoal.methods.full_domain.lattice import Levels
from shoal.methods.full_domain.population import PopulationCounts
from shoal.methods.full_domain.tuples import Grouping, Tuples
from shoal.methods.full_domain.wildcards import Wildcards
from shoal.models.model import TableModel
from shoal.models.population import PopulationModel


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """The distinct pairs of a tuple and a value of another column, with how many rows have them."""

    tuples: Rows
    values: Codes
    counts: Counts
    domain: Domain


class Facts:
    """Counts facts about the classes of a vector, from the tuples alone.

    Parameters
    ----------
    table, grouping
        The table, and the way to its classes.
    models
        The promises, which say what must be counted.
    wildcards
        Whether missing quasi-identifiers match every value; then the persons of a class are all rows that match it.
    """

    def __init__(
        self, table: Table, grouping: Grouping, models: tuple[TableModel, ...], *, wildcards: bool = False
    ) -> None:
        tuples = grouping.tuples
        names = dict.fromkeys(name for model in models for name in model.columns())
        self._sensitive = {
            column.name: _pairs(tuples, column.codes, column.domain) for column in table.select(names)
        }
        entity = table.entity
        self._persons = None if entity is None else _pairs(tuples, entity.codes, entity.domain)
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
        if self._persons is not None:
            persons = np.diff(_counted(self._persons, of_tuple, count)[0])
        elif self._wildcards is not None:
            persons = self._wildcards.matching(levels, of_tuple, sizes[kept])
        else:
            persons = sizes[kept]
        if not sensitive:
            return GroupStatistics(sizes[kept], persons)
        histograms = {}
        for name, pairs in self._sensitive.items():
            indptr, values, counts = _counted(pairs, of_tuple, count)
            overall = np.bincount(values, weights=counts, minlength=len(pairs.domain)).astype(np.int64)
            histograms[name] = Histogram(indptr, values, counts, overall, pairs.domain)
        population = None if self._population is None else self._population.matching(levels, of_tuple, count)
        return GroupStatistics(sizes[kept], persons, histograms, population)


def _pairs(tuples: Tuples, codes: Codes, domain: Domain) -> Pairs:
    size = max(len(domain), 1)
    mixed, counts = np.unique(tuples.number * size + codes, return_counts=True)
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
