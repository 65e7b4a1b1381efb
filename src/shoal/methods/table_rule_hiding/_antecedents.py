"""Rules whose antecedents are any cells of a class; they are mined, since there are too many to enumerate."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from shoal.arrays import Counts, Indptr, Mask, Rows, indptr_of, summed, taken, turns_of
from shoal.methods.table_rule_hiding._class_counts import Classes, Values, shares
from shoal.methods.table_rule_hiding._star_counts import Bound


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Broken rules, one entry for each."""

    keys: list[tuple[int, int, int]]
    """The identity of each rule: its columns, the number of its antecedent in these columns, and its value."""
    own_indptr: Indptr
    own: Rows
    """`own_indptr`, `own`: the entries of `Values` that count for the rule: its value in its antecedent's classes."""
    all_indptr: Indptr
    all: Rows
    """`all_indptr`, `all`: all entries of those classes."""
    shown: Counts
    stars: Counts
    """`shown`, `stars`: before anything is starred, the rows of the antecedent that show the value, and its stars."""
    most: Counts  # the most rows that may show the value: a share c of the antecedent, rounded down

    def __len__(self) -> int:
        return len(self.keys)

    def selected(self, places: list[int]) -> "Found":
        """Some of the rules."""
        own_indptr, own = _rows(self.own_indptr, self.own, places)
        all_indptr, everything = _rows(self.all_indptr, self.all, places)
        keys = [self.keys[place] for place in places]
        counts = (self.shown[places], self.stars[places], self.most[places])
        return Found(keys, own_indptr, own, all_indptr, everything, *counts)


def joined(parts: list[Found]) -> Found:
    """Combine the rules of several findings."""
    own = [np.diff(part.own_indptr) for part in parts]
    everything = [np.diff(part.all_indptr) for part in parts]
    none = np.empty(0, dtype=np.int64)
    return Found(
        [key for part in parts for key in part.keys],
        indptr_of(np.concatenate([none, *own])),
        np.concatenate([none, *(part.own for part in parts)]),
        indptr_of(np.concatenate([none, *everything])),
        np.concatenate([none, *(part.all for part in parts)]),
        *(
            np.concatenate([none, *(getattr(part, name) for part in parts)])
            for name in ("shown", "stars", "most")
        ),
    )


def broken_rules(classes: Classes, values: Values, bound: Bound, size: int, starred: Counts) -> Found:
    """Mine the rules that are still broken when some cells are starred.

    To be broken, a rule must be shown by t rows, or by more than c times the rows of its antecedent, which has at least
    as many rows as the smallest class. The longer an antecedent, the fewer rows show its rule, so that antecedents that
    fall below these numbers are not extended.

    `size`: the most cells of an antecedent. `starred`: the stars of each entry.
    """
    shown = values.counts - starred
    stars = values.stars + summed(values.classes, starred, len(classes))
    least = int(shares(classes.sizes[classes.sizes > 0].min(keepdims=True), bound.c)[0]) + 1
    if bound.fewer_than is not None:
        least = min(least, bound.fewer_than)
    parts = []
    for chosen, number, active in _grown(classes, values, size, shown, least):
        count = int(number.max()) + 1
        shorter = len(chosen) < classes.cells.shape[1]
        nothing: Mask = np.logical_and.reduce(classes.blank[:, chosen], axis=1) & shorter
        part = _judged(classes, values, bound, chosen, number, active, nothing, shown, stars, count)
        if part is not None:
            parts.append(part)
    return joined(parts)


def _grown(
    classes: Classes, values: Values, size: int, shown: Counts, least: int
) -> Iterator[tuple[list[int], Rows, Rows]]:
    """Grow sets of columns; each comes with the antecedent of every class, and the entries shown often enough."""
    width = classes.cells.shape[1]
    whole = np.zeros(len(classes), dtype=np.int64)
    stack = [([], whole, np.flatnonzero(values.guarded & (shown > 0)))]  # type: ignore[var-annotated]
    while stack:
        chosen, number, active = stack.pop()
        for column in range(chosen[-1] + 1 if chosen else 0, width):
            codes = classes.cells[:, column].astype(np.int64)
            longer = np.unique(number * (int(codes.max()) + 1) + codes, return_inverse=True)[1]
            keys = longer[values.classes[active]] * len(values.column.domain) + values.codes[active]
            place = np.unique(keys, return_inverse=True)[1]
            sums = summed(place, shown[active], int(place.max(initial=-1)) + 1)
            often = active[sums[place] >= least]
            if not len(often):
                continue
            yield [*chosen, column], longer, often
            if len(chosen) + 1 < size:
                stack.append(([*chosen, column], longer, often))


def _judged(
    classes: Classes,
    values: Values,
    bound: Bound,
    chosen: list[int],
    number: Rows,
    active: Rows,
    nothing: Mask,
    shown: Counts,
    stars: Counts,
    count: int,
) -> Found | None:
    """The broken rules whose antecedents are cells of the chosen columns."""
    active = active[~nothing[values.classes[active]]]
    width = len(values.column.domain)
    keys, place = np.unique(
        number[values.classes[active]] * width + values.codes[active], return_inverse=True
    )
    antecedents = keys // width
    sizes, hidden, before = (
        summed(number, part, count)[antecedents] for part in (classes.sizes, stars, values.stars)
    )
    broken = np.flatnonzero(bound.broken(summed(place, shown[active], len(keys)), hidden, sizes))
    if not len(broken):
        return None
    rule = turns_of(broken, len(keys))
    members = np.flatnonzero(rule[place] >= 0)
    order = members[np.argsort(rule[place[members]], kind="stable")]
    own, own_rule = active[order], rule[place[order]]
    by_antecedent = np.argsort(number[values.classes], kind="stable")
    starts = np.searchsorted(number[values.classes][by_antecedent], np.arange(count + 1))
    first, last = starts[antecedents[broken]], starts[antecedents[broken] + 1]
    everything = [by_antecedent[begin:end] for begin, end in zip(first.tolist(), last.tolist(), strict=True)]
    columns = sum(1 << column for column in chosen)
    return Found(
        [(columns, int(key // width), int(key % width)) for key in keys[broken].tolist()],
        np.searchsorted(own_rule, np.arange(len(broken) + 1)),
        own,
        indptr_of(last - first),
        np.concatenate(everything),
        summed(own_rule, values.counts[own], len(broken)),
        before[broken],
        shares(sizes[broken], bound.c),
    )


def _rows(indptr: Indptr, entries: Rows, places: list[int]) -> tuple[Indptr, Rows]:
    begins, held = taken(indptr, np.array(places, dtype=np.int64))
    return begins, entries[held]
