"""The thresholds that make a set of items a mole, as exact numbers."""

from dataclasses import dataclass
from fractions import Fraction

from shoal.data._plain_text import counted
from shoal.errors import Infeasible
from shoal.models._exact import rounded_up


@dataclass(frozen=True, slots=True)
class Promise:
    """The bounds of (h,k,p)-coherence."""

    h: Fraction  # largest share of a private item among the baskets that hold a set
    k: int  # least number of baskets that hold a set
    p: int  # largest number of items that an adversary knows

    def limit(self, support: int) -> int:
        """How many of `support` baskets may hold the same private item."""
        return self.h.numerator * support // self.h.denominator

    def check(self, baskets: int, peak: int, item: str) -> None:
        """Refuse a promise that cannot be kept, because the empty set is a mole (theorem 1 of the paper).

        `baskets`: how many baskets there are. `peak`, `item`: the support of the most frequent private item, and its
        text.
        """
        if baskets < self.k:
            raise Infeasible(
                f"k = {self.k} cannot be kept: there {'is' if baskets == 1 else 'are'} only "
                f"{counted(baskets, 'baskets')}. The largest k is {baskets}.",
                baskets,
            )
        if peak > self.limit(baskets):
            best = rounded_up(Fraction(peak, baskets))
            raise Infeasible(
                f"h = {float(self.h):g} cannot be kept: {peak:,} of all {baskets:,} baskets hold the sensitive item "
                f"{item!r}, and whoever knows nothing at all knows that. The least h is {best:g}.",
                best,
            )


def largest_below(share: Fraction, largest: int) -> Fraction:
    """The largest fraction with a denominator of at most `largest` that is not above a share from 0 to 1.

    Counts of at most `largest` baskets exceed this fraction exactly when they exceed the share, and their products with
    it stay short: ``0.1234567890123`` of 10 million baskets fits into 64 bits.

    >>> largest_below(Fraction("0.333"), 10), largest_below(Fraction("0.4"), 10)
    (Fraction(3, 10), Fraction(2, 5))
    """
    if share.denominator <= largest:
        return share
    low, high = (0, 1), (1, 1)
    while low[1] + high[1] <= largest:
        # Descend the Stern-Brocot tree, as many steps at a time as stay on the same side of the share.
        middle = Fraction(low[0] + high[0], low[1] + high[1])
        towards_high = middle <= share
        moving, fixed = (low, high) if towards_high else (high, low)
        room = (largest - moving[1]) // fixed[1]
        steps = min(_steps(moving, fixed, share, towards_high), room)
        moved = (moving[0] + steps * fixed[0], moving[1] + steps * fixed[1])
        low, high = (moved, high) if towards_high else (low, moved)
    return Fraction(*low)


def _steps(moving: tuple[int, int], fixed: tuple[int, int], share: Fraction, towards_high: bool) -> int:
    """How many times `fixed` can be added to `moving` until it would pass the share."""
    gap = abs(share.numerator * moving[1] - moving[0] * share.denominator)
    step = abs(fixed[0] * share.denominator - share.numerator * fixed[1])
    steps = gap // step
    # An end above the share must stay above it.
    return steps if towards_high or gap % step else steps - 1
