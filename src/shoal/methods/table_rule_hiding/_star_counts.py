"""How many cells of each class and value to star, class by class: the fewest, in closed form."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from shoal.arrays import AnyArray, Counts, Mask, flagged, summed
from shoal.methods.table_rule_hiding._class_counts import Classes, Values, maxima, shares


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """The bound on what a class may show."""

    c: Fraction  # the largest confidence
    fewer_than: int | None = None
    """Rules above c in the worst case must be shown by fewer rows than this; None means no bound for the worst case."""

    def broken(self, shown: Counts, stars: Counts, sizes: Counts) -> Mask:
        """Which rules are broken: above the confidence, or above it in the worst case and shown too often."""
        most = shares(sizes, self.c)
        above: Mask = shown > most
        if self.fewer_than is not None:
            above |= (shown + stars > most) & (shown >= self.fewer_than)
        return above

    def cap(self, sizes: Counts) -> Counts:
        """How many rows of a class that needs stars may show one value.

        Without `fewer_than`, a share c of its rows. With `fewer_than` t, a value may be shown by t rows or more only if
        its rows and all stars together have a share of at most c. But a class needs stars because the rows of some
        value and the stars have a larger share, and starring a row of that value does not change their sum. So that
        value must come down to t - 1 rows, and because of its stars so must every other one.
        """
        most = shares(sizes, self.c)
        return most if self.fewer_than is None else np.minimum(most, self.fewer_than - 1)


def rules(values: Values, classes: Classes, bound: Bound) -> Mask:
    """The entries that are rules to hide: guarded values that their class reveals."""
    stars, sizes = values.stars[values.classes], classes.sizes[values.classes]
    return values.guarded & bound.broken(values.counts, stars, sizes)


def least_stars(values: Values, classes: Classes, bound: Bound) -> Counts:
    """The fewest stars of each entry that hide all rules of whole classes."""
    touched = flagged(values.classes[rules(values, classes, bound)], len(classes))
    cap = bound.cap(classes.sizes)[values.classes]
    needed: Counts = np.where(touched[values.classes] & values.guarded, np.maximum(values.counts - cap, 0), 0)
    return needed


def with_decoys(values: Values, classes: Classes, bound: Bound, drawn: AnyArray) -> tuple[Counts, Mask]:
    """The stars of each entry, with decoys, so that no guarded value has a share above c among its class's stars.

    Let b be the most stars that a value needs. There must be so many stars that b is a share of at most c of them, and
    no value may have more than that share. If the class does not have enough cells for that, it does not for any larger
    number either (the cells it can offer grow more slowly than what is needed), and the whole class is starred. For one
    value with a share p this happens if p > c·(2 - c).

    Decoys are taken from the values that the class shows most often. Ties between values are decided by a draw: if the
    first in any known order were taken, a star could not hide a value that comes after one that is shown.

    `drawn`: a number for each entry that decides ties. Returns the stars of each entry, and the classes that are
    starred as a whole.
    """
    needed = least_stars(values, classes, bound)
    count = len(classes)
    most, total = maxima(values.classes, needed, count), summed(values.classes, needed, count)
    up, down = bound.c.numerator, bound.c.denominator
    distinct, place = np.unique(most, return_inverse=True)
    least = np.array([-(-one * down // up) for one in distinct.tolist()], dtype=np.int64)[place]
    stars = np.maximum(total, least)
    share = shares(stars, bound.c)
    ceiling = np.where(values.guarded, np.minimum(values.counts, share[values.classes]), values.counts)
    whole = (total > 0) & (summed(values.classes, ceiling, count) < stars)
    room = np.maximum(ceiling - needed, 0)
    extra = np.where(whole | (total == 0), 0, stars - total)
    order = np.lexsort((drawn, needed - values.counts, values.classes))
    before = np.cumsum(room[order]) - room[order]
    start = np.searchsorted(values.classes[order], np.arange(count))
    inside = (
        before - before[np.minimum(start, len(before) - 1)][values.classes[order]] if len(before) else before
    )
    given = np.zeros_like(needed)
    given[order] = np.clip(extra[values.classes[order]] - inside, 0, room[order])
    return np.where(whole[values.classes], values.counts, needed + given), whole


def vanishing_stars(counts: Counts, guarded: Mask, c: Fraction) -> Counts:
    """The fewest stars, value by value, of a class whose starred rows no longer count.

    In a class that is ``*`` in every quasi-identifier, a row with a starred value tells nothing and belongs to no
    class. So a value may be shown by b rows if b is at most a share c of the rows that remain when no value has more.
    """
    low, high = 0, int(counts.max(initial=0))
    while low < high:
        b = (low + high + 1) // 2
        left = int(np.where(guarded, np.minimum(counts, b), counts).sum())
        low, high = (b, high) if b <= c * left else (low, b - 1)
    return np.where(guarded, np.maximum(counts - low, 0), 0)
