"""Rules between sets of items: baskets that hold these often hold those too.

::

    found = frequent_itemsets(baskets, least=60)
    rules = association_rules(found, confidence=0.5)
    rules.confidences, rules.supports                          # one number a rule
    rules.texts(baskets.vocabulary)                            # [(("beer",), ("nuts",)), …]
    after = association_rules(frequent_itemsets(other, 60), 0.5)
    rules.found_in(after)                                      # which of the rules hold in the other baskets as well
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from shoal.arrays import Codes, Floats, Mask, Rows, freeze, owners, ranges
from shoal.errors import WrongUse
from shoal.mining.frequent_itemsets import LIMIT, TOP, Children, Itemsets


def parse_rule(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Read a rule: items with `` + `` between them on both sides of `` => ``; the spaces belong to these marks.

    >>> parse_rule("beer + nuts => wine")
    (('beer', 'nuts'), ('wine',))

    Raises `WrongUse` if there is no arrow, a side has no items, or an item stands twice.
    """
    sides = [
        tuple(sorted({item.strip() for item in re.split(r"(?:^|\s)\+(?=\s|$)", side)}))
        for side in re.split(r"(?:^|\s)=>(?=\s|$)", text)
    ]
    if len(sides) != 2 or not all(item for side in sides for item in side):
        raise WrongUse(f"A rule is written with spaces as 'beer + nuts => wine', not {text!r}.")
    if both := set(sides[0]) & set(sides[1]):
        raise WrongUse(f"The rule {text!r} has {min(both)!r} on both sides.")
    return sides[0], sides[1]


def rule_text(antecedent: Iterable[str], consequent: Iterable[str]) -> str:
    """Write a rule as `parse_rule` reads it."""
    return f"{' + '.join(antecedent)} => {' + '.join(consequent)}"


@dataclass(frozen=True, slots=True, eq=False)
class AssociationRules:
    """Rules as places of frequent itemsets."""

    itemsets: Itemsets
    """The sets that the rules are made of. Every part of a frequent set is frequent, so that all stand here."""
    wholes: Rows  # the place of the set of all items of each rule
    antecedents: Rows
    consequents: Rows
    """`antecedents`, `consequents`: the places of what stands before and after the arrow."""

    def __post_init__(self) -> None:
        freeze(self, np.int64, "wholes", "antecedents", "consequents")

    def __len__(self) -> int:
        return len(self.wholes)

    @property
    def supports(self) -> Rows:
        """The number of baskets that hold all items of each rule."""
        return self.itemsets.supports[self.wholes]

    @property
    def confidences(self) -> Floats:
        """The share of baskets with the antecedent that hold the consequent as well."""
        shares: Floats = self.supports / self.itemsets.supports[self.antecedents]
        return shares

    def texts(self, vocabulary: tuple[str, ...]) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
        """Antecedent and consequent of each rule."""
        before = self.itemsets.texts(vocabulary, self.antecedents.tolist())
        after = self.itemsets.texts(vocabulary, self.consequents.tolist())
        return list(zip(before, after, strict=True))

    def found_in(self, others: "AssociationRules") -> Mask:
        """Which of these rules are among others, over the same vocabulary."""
        wholes = others.itemsets.places_of(*self.itemsets.members(self.wholes))
        antecedents = others.itemsets.places_of(*self.itemsets.members(self.antecedents))
        width = len(others.itemsets) + 1
        found: Mask = (wholes >= 0) & (antecedents >= 0)
        found &= np.isin(wholes * width + antecedents, others.wholes * width + others.antecedents)
        return found


def association_rules(
    itemsets: Itemsets, confidence: float | Fraction, *, consequent: int | None = None, limit: int = LIMIT
) -> AssociationRules:
    """Every rule of two disjoint sets, neither of them empty, whose confidence is at least a threshold.

    An item that moves from before the arrow to after it never raises the confidence (Agrawal and Srikant 1994), so only
    rules that hold are carried on.

    `itemsets`: all frequent itemsets at some support (and up to some size): rules with that support. `confidence`: the
    least one, a share. Compared exactly: 0.2 is one fifth. `consequent`: the largest number of items after the arrow;
    any by default. `limit`: more rules than this are refused. Raises `WrongUse` if the confidence is not between 0 and
    1, or there are too many rules.
    """
    share = confidence if isinstance(confidence, Fraction) else Fraction(str(confidence))
    if not 0 < share <= 1:
        raise WrongUse(f"The confidence of a rule must be above 0 and at most 1, not {confidence}.")
    children = Children.of(itemsets)
    parts: list[tuple[Rows, Rows, Rows]] = []
    total = 0
    for size in range(2, int(itemsets.sizes.max(initial=0)) + 1):
        sets = np.flatnonzero(itemsets.sizes == size)
        ranks = itemsets.ranks[itemsets.columns(sets, size)]
        places = np.repeat(np.arange(len(sets)), size)
        masks = np.tile(1 << np.arange(size, dtype=np.int64), len(sets))
        for moved in range(1, size if consequent is None else min(size, consequent + 1)):
            before = _parts_of(children, ranks, places, ~masks)
            holds = _holds(itemsets, sets[places], before, share)
            places, masks, before = places[holds], masks[holds], before[holds]
            parts.append((sets[places], before, _parts_of(children, ranks, places, masks)))
            total += len(places)
            if total > limit:
                raise WrongUse(f"There are more than {limit} rules; ask for more support or confidence.")
            if moved + 1 < size:
                places, masks = _one_more(places, masks, size)
    wholes, antecedents, consequents = (
        np.concatenate([part[place] for part in parts]) if parts else np.empty(0, dtype=np.int64)
        for place in range(3)
    )
    order = np.lexsort([antecedents, wholes])
    return AssociationRules(itemsets, wholes[order], antecedents[order], consequents[order])


def _parts_of(children: Children, ranks: Codes, places: Rows, masks: Rows) -> Rows:
    """The places of parts of sets: of the columns whose bits are set."""
    here = np.full(len(places), TOP, dtype=np.int64)
    for column in range(ranks.shape[1]):
        taken = (masks >> column) & 1 == 1
        here[taken] = children.below(here[taken], ranks[places[taken], column])
    return here


def _holds(itemsets: Itemsets, wholes: Rows, antecedents: Rows, share: Fraction) -> Mask:
    """Which rules have enough confidence, by whole numbers."""
    assert itemsets.rows * max(share.numerator, share.denominator) < 2**62
    mask: Mask = (
        itemsets.supports[wholes] * share.denominator >= itemsets.supports[antecedents] * share.numerator
    )
    return mask


def _one_more(places: Rows, masks: Rows, size: int) -> tuple[Rows, Rows]:
    """Move one more item, behind all that were moved, over the arrow: each choice of items is made once."""
    highest = np.zeros(len(masks), dtype=np.int64)
    for column in range(size):
        highest[(masks >> column) & 1 == 1] = column
    indptr, moved = ranges(highest + 1, size - 1 - highest)
    grown = owners(indptr)
    return places[grown], masks[grown] | (np.int64(1) << moved)
