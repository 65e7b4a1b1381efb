"""(h,k,p)-coherence over all combinations of items, written from the definitions."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations

Basket = frozenset[str]
Mole = frozenset[str]


def support(baskets: Sequence[Basket], items: Iterable[str]) -> int:
    return len(cohort_of(baskets, items))


def cohort_of(baskets: Sequence[Basket], items: Iterable[str]) -> list[Basket]:
    wanted = frozenset(items)
    return [basket for basket in baskets if wanted <= basket]


def is_mole(
    baskets: Sequence[Basket], items: Iterable[str], private: Iterable[str], h: Fraction, k: int
) -> bool:
    cohort = cohort_of(baskets, items)
    if not cohort:
        return False
    return len(cohort) < k or any(Fraction(support(cohort, {item}), len(cohort)) > h for item in private)


def moles(
    baskets: Sequence[Basket], public: Iterable[str], private: Iterable[str], h: Fraction, k: int, p: int
) -> list[Mole]:
    """All moles of at most p items, including the empty set; shorter ones first."""
    known = sorted(public)
    return [
        frozenset(items)
        for size in range(min(p, len(known)) + 1)
        for items in combinations(known, size)
        if is_mole(baskets, items, private, h, k)
    ]


def minimal(found: Sequence[Mole]) -> set[Mole]:
    return {mole for mole in found if not any(other < mole for other in found)}


def greedy(found: set[Mole], supports: dict[str, int], pick: str) -> list[str]:
    """The items to suppress, one after another; ties are broken by more moles, then less loss, then the text."""
    left, chosen = set(found), []
    while left:
        counts = {item: sum(item in mole for mole in left) for mole in left for item in mole}
        best = min(
            (-score(pick, count, supports[item]), -count, supports[item], item)
            for item, count in counts.items()
        )[-1]
        chosen.append(best)
        left = {mole for mole in left if best not in mole}
    return chosen


def score(pick: str, count: int, loss: int) -> Fraction:
    return {"mm/il": Fraction(count, loss), "1/il": Fraction(1, loss), "mm": Fraction(count)}[pick]


def least_loss(found: set[Mole], supports: dict[str, int]) -> int:
    """The loss of the best set of items that hits every mole, over all sets of items."""
    items = sorted(set().union(*found))
    return min(
        sum(supports[item] for item in chosen)
        for size in range(len(items) + 1)
        for chosen in combinations(items, size)
        if all(mole & set(chosen) for mole in found)
    )
