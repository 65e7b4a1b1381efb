"""Group persons with similar records, and match the records of each group one to one."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.arrays import Floats, Indptr, Rows
from shoal.data.domain import Kind
from shoal.data.table import Column


def divided(counts: Rows, k: int) -> list[int]:
    """Cut persons, ordered by ascending numbers of records, into groups; returns where each group begins.

    Groups have k to 2k - 1 persons. A group keeps as many records of each person as its first person has. Of all ways
    to cut, the one that leaves out the fewest records is taken.

    >>> divided(np.array([1, 1, 2, 5, 5, 6]), 2)
    [0, 3]
    >>> divided(np.array([1, 1, 5, 5, 5]), 2)
    [0, 2]
    """
    persons = len(counts)
    sums = np.concatenate(([0], np.cumsum(counts)))
    best = np.full(persons + 1, np.inf)
    best[0] = 0
    begins = np.zeros(persons + 1, dtype=np.int64)
    for end in range(k, persons + 1):
        first = np.arange(max(0, end - 2 * k + 1), end - k + 1)
        costs = best[first] + (sums[end] - sums[first]) - (end - first) * counts[first]
        place = int(np.argmin(costs))
        best[end], begins[end] = costs[place], first[place]
    found = [persons]
    while found[-1] > 0:
        found.append(int(begins[found[-1]]))
    return found[:0:-1]


@dataclass(frozen=True, slots=True, eq=False)
class Distances:
    """Distances between records: by the places of ordered values, and otherwise by whether values differ."""

    codes: Floats
    ordered: Floats

    @classmethod
    def of(cls, columns: Sequence[Column], rows: int) -> "Distances":
        """Distances by the quasi-identifiers of records; with a hierarchy, values are equal or not."""
        places = [
            one.codes / max(len(one.domain) - 1, 1)
            if one.domain.kind is not Kind.NOMINAL and one.hierarchy is None
            else one.codes.astype(np.float64)
            for one in columns
        ]
        ordered = [one.domain.kind is not Kind.NOMINAL and one.hierarchy is None for one in columns]
        codes = np.stack(places, axis=1) if places else np.zeros((rows, 0))
        return cls(codes, np.array(ordered, dtype=np.float64))

    def between(self, some: Rows, others: Rows) -> Floats:
        """The distance of each of some records (rows) from each of others (columns)."""
        apart = np.abs(self.codes[some][:, None, :] - self.codes[others][None, :, :])
        far = np.where(self.ordered > 0, apart, apart > 0)
        return np.asarray(far.sum(axis=2))


def matched(indptr: Indptr, records: Rows, persons: Rows, distances: Distances) -> list[Rows]:
    """Match the records of a group: a list of matches, each with one record of every person.

    `indptr`, `records`: the records of each person. `persons`: the persons of the group, the one with the fewest
    records first. Of every other person, the records nearest to those of the first are kept, one for each, so that
    their total distance is as small as possible.
    """
    from scipy.optimize import linear_sum_assignment

    first = records[indptr[persons[0]] : indptr[persons[0] + 1]]
    if not len(first):
        return []
    slots = [first]
    for person in persons[1:].tolist():
        own = records[indptr[person] : indptr[person + 1]]
        slots.append(own[linear_sum_assignment(distances.between(first, own))[1]])
    return list(np.stack(slots, axis=1))
