"""Classes of the published table: their sizes, and what they give away of sensitive values."""

from dataclasses import dataclass, replace

import numpy as np

from shoal.arrays import Counts, Mask, owners
from shoal.data._equal_rows import RowClasses, row_classes
from shoal.data.group_statistics import GroupStatistics, group_statistics
from shoal.data.published_syntax import SUPPRESSED, telling_rows
from shoal.data.release import Release
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.models._achieved_levels import protections
from shoal.models.t_closeness import TCloseness

BINS = 24
"""Most bars of the histogram of sizes; the largest classes share the last one."""


@dataclass(frozen=True, slots=True)
class Bin:
    """Classes of ``low … high`` members; high is None for the last bar, which has no upper end."""

    low: int
    high: int | None
    classes: int


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large the classes (or groups, or clusters: the unit) are, in rows, persons or baskets: the noun."""

    count: int
    unit: str
    noun: str
    smallest: int
    median: float
    mean: float
    largest: int
    promised: int | None
    bins: tuple[Bin, ...]


@dataclass(frozen=True, slots=True)
class Sensitive:
    """What the classes give away of a sensitive column."""

    column: str  # its name
    certain_classes: int
    certain_rows: int
    """`certain_classes`, `certain_rows`: classes in which all rows (or persons) show one value, and the rows in them.
    Where a row of a class is a star nothing is certain: it may hide any value."""
    classes: int
    rows: int
    """`classes`, `rows`: how many there are in all."""
    least_distinct: int  # the smallest number of distinct values in a class
    largest_share: float  # the largest share that one value has of a class
    common_share: float
    """The share of the most frequent value in the whole table: what everybody can guess without any class."""
    entropy_l: float | None = None
    t: float | None = None
    """`entropy_l`, `t`: the entropy l-diversity and the t-closeness that the release reaches, promised or not: the
    effective number of values in the least diverse class, and the largest distance of a class from the whole table."""


def class_statistics(published: Table, classes: RowClasses | None = None) -> GroupStatistics:
    """Count the classes of a published table again, from its cells: suppressed rows are in no class.

    `classes`: the rows that agree on all quasi-identifiers, where they were found before.
    """
    classes = row_classes(published.quasi, published.rows) if classes is None else classes
    numbers = np.where(telling_rows(published), classes.number, -1)
    names = tuple(column.name for column in published.sensitive)
    return group_statistics(published, numbers, len(classes), names)


def sizes_of(members: Counts, unit: str, noun: str, promised: int | None) -> Sizes | None:
    """Sum up the sizes of classes; None where there are none."""
    members = members[members > 0]
    if not len(members):
        return None
    return Sizes(
        count=len(members),
        unit=unit,
        noun=noun,
        smallest=int(members.min()),
        median=float(np.median(members)),
        mean=float(members.mean()),
        largest=int(members.max()),
        promised=promised,
        bins=_bins(members, promised),
    )


def _bins(members: Counts, promised: int | None) -> tuple[Bin, ...]:
    """Bars of equal width, one of which begins at the promised size; the last one holds all larger classes."""
    smallest, largest = int(members.min()), int(members.max())
    anchor = smallest if promised is None else promised
    low = min(smallest, anchor)
    usual = max(int(np.quantile(members, 0.95, method="higher")), anchor)
    step = _whole_step(-(-(usual - low + 1) // (BINS - 2)))
    start = anchor - -(-(anchor - low) // step) * step
    bars = max((usual - start) // step + 1, 1)
    places = np.minimum((members - start) // step, bars)
    counts = np.bincount(places, minlength=bars + 1).tolist()
    begin = [start + place * step for place in range(bars + 1)]
    bins = [Bin(first, first + step - 1, classes) for first, classes in zip(begin, counts[:-1], strict=False)]
    return (*bins, Bin(begin[-1], None, counts[-1])) if largest >= begin[-1] else tuple(bins)


def _whole_step(least: int) -> int:
    """The smallest whole number with one significant digit (or 15, 25, 150, …) that is at least `least`."""
    unit = int("1" + "0" * (len(str(least)) - 1))
    halves: tuple[int, ...] = () if unit < 10 else (unit * 3 // 2, unit * 5 // 2)
    steps: list[int] = sorted([*range(unit, 11 * unit, unit), *halves])
    return next(step for step in steps if step >= least)


def sensitive_of(column: str, statistics: GroupStatistics) -> Sensitive | None:
    """What the classes give away of one sensitive column; None where no class tells a value.

    A cell ``*`` shows no value, so it does not count as a value of its class; the models treat it the same way. Shares
    are of the rows of a class, or of its persons where a person may have several rows: then rows mean persons here.
    """
    histogram = statistics.sensitive[column]
    labels = histogram.domain.labels if histogram.domain is not None else ()
    visible: Mask = np.ones(len(histogram.values), dtype=np.bool_)
    if SUPPRESSED in labels:
        visible = histogram.values != labels.index(SUPPRESSED)
    groups = owners(histogram.indptr)[visible]
    values, counts = histogram.values[visible], histogram.counts[visible]
    if not len(groups):
        return None
    starts = np.flatnonzero(np.concatenate(([True], groups[1:] != groups[:-1])))
    sizes = histogram.sizes[groups[starts]]
    distinct = np.diff(np.append(starts, len(groups)))
    largest = np.maximum.reduceat(counts, starts)
    certain = largest == sizes
    rows = int(counts.sum() if histogram.persons is None else sizes.sum())
    return Sensitive(
        column=column,
        certain_classes=int(certain.sum()),
        certain_rows=int(sizes[certain].sum()),
        classes=len(starts),
        rows=rows,
        least_distinct=int(distinct.min()),
        largest_share=float((largest / sizes).max()),
        common_share=int(np.bincount(values, weights=counts).max()) / rows,
    )


def sensitives_of(
    release: Release, data: Table, statistics: GroupStatistics, limit: int
) -> tuple[Sensitive, ...]:
    """What the classes give away of the first sensitive columns, with the diversity and closeness that they reach."""
    promised = tuple(
        TCloseness.from_promise(dict(promise))
        for promise in release.promises
        if promise["model"] == TCloseness.name
    )
    columns = data.sensitive[:limit]
    kept = Table(tuple(column for column in data.columns if column.role is not Role.SENSITIVE) + columns)
    reached = {entry.column: entry for entry in protections(kept, promised)}
    found = []
    for column in columns:
        entry = sensitive_of(column.name, statistics)
        if entry is not None:
            protection = reached[column.name]
            found.append(replace(entry, entropy_l=protection.entropy_l, t=protection.t))
    return tuple(found)
