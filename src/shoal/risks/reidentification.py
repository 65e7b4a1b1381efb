"""Prosecutor, journalist and marketer risk: how likely a row is linked to the right person.

The definitions are those of ARX (package ``risk``), after El Emam. A *prosecutor* knows that a person is in the data,
a *journalist* does not, and looks for anybody in a population; a *marketer* wants to link as many rows as possible.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from shoal.arrays import Counts
from shoal.data._equal_rows import mixed_codes, person_sizes
from shoal.data.table import Column, Table

THRESHOLD = 0.2
"""A risk above this is too high: ARX's default, a class of fewer than five."""


@dataclass(frozen=True, slots=True)
class LinkageRisk:
    """The risk that a row is linked to its person."""

    highest: float  # of any row
    average: float  # of all rows: the share that is linked rightly in the mean
    above: float  # the share of rows whose risk is above the threshold

    def as_dict(self) -> dict[str, float]:
        """The same as plain data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Reidentification:
    """The three risks, how many persons share their quasi-identifiers with nobody, and how many a population lacks."""

    prosecutor: LinkageRisk
    journalist: LinkageRisk
    marketer: LinkageRisk
    people: int
    unique: int
    strangers: int = 0


def reidentification(
    table: Table,
    columns: Sequence[Column],
    threshold: float = THRESHOLD,
    population: Table | None = None,
) -> Reidentification:
    """Measure the three risks of linking rows by some columns.

    `population`: a table that the people of this one are drawn from, with the same columns. Without one, journalist and
    marketer know as much as the prosecutor.
    """
    if population is None:
        sample = person_sizes(table, columns)
        around = sample
    else:
        sample, around = _beside(table, columns, population)
    strangers = int(np.maximum(sample - around, 0).sum())
    around, rows = np.maximum(sample, around), int(sample.sum())
    journalist = _risk(sample, around, threshold)
    # The mean is the marketer's own; who looks at one row alone, a journalist, has the other two.
    marketer = replace(journalist, average=float((sample / around).sum() / max(rows, 1)))
    prosecutor, unique = _risk(sample, sample, threshold), int((sample == 1).sum())
    return Reidentification(prosecutor, journalist, marketer, rows, unique, strangers)


def _beside(table: Table, columns: Sequence[Column], population: Table) -> tuple[Counts, Counts]:
    """The sizes of the classes of a table, and of the same classes in its population."""
    joined = []
    for column in columns:
        other = population.column(column.name)
        places = {label: code for code, label in enumerate(column.domain.labels)}
        moved = [places.setdefault(label, len(places)) for label in other.domain.labels]
        codes = np.concatenate((column.codes, np.array(moved, dtype=np.int32)[other.codes]))
        joined.append((codes, len(places)))
    numbers = np.unique(mixed_codes(joined, table.rows + population.rows), return_inverse=True)[1]
    sample = np.bincount(numbers[: table.rows], minlength=int(numbers.max(initial=-1)) + 1)
    around = np.bincount(numbers[table.rows :], minlength=len(sample))
    here = sample > 0
    return sample[here].astype(np.int64), around[here].astype(np.int64)


def _risk(sample: Counts, around: Counts, threshold: float) -> LinkageRisk:
    """The risk of a journalist; that of a prosecutor where nobody is around."""
    rows = int(sample.sum())
    if not rows:
        return LinkageRisk(0.0, 0.0, 0.0)
    average = max(len(sample) / float(around.sum()), float((sample / around).sum() / rows))
    return LinkageRisk(float(1 / around.min()), average, float(sample[1 / around > threshold].sum() / rows))


def expected_unique_share(people: int, cells: int) -> float:
    """The share of people who are alone in their cell, if each lives in one of so many at random: e^(-n/d).

    >>> round(expected_unique_share(9_330, 56_940), 3)
    0.849
    """
    return float(np.exp(-people / cells)) if cells else 0.0
