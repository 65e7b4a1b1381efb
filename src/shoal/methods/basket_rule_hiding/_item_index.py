"""Baskets as columns that can be changed: which baskets hold each of a few items."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, floor

import numpy as np

from shoal.arrays import Items, Mask, flagged, indptr_by, owners
from shoal.data.baskets import Baskets


@dataclass(frozen=True, slots=True, order=True)
class Rule:
    """A rule to hide, as codes of items."""

    antecedent: tuple[int, ...]
    consequent: tuple[int, ...]

    @property
    def items(self) -> tuple[int, ...]:
        """All items of the rule."""
        return (*self.antecedent, *self.consequent)


@dataclass(frozen=True, slots=True)
class Border:
    """The thresholds at which a rule is found: a least number of baskets, and a least confidence."""

    least: int
    share: Fraction

    def reached(self, both: int, left: int) -> bool:
        """Whether a miner finds a rule, given the supports of both sides together and of the left side."""
        return both >= self.least and both > 0 and both >= self.share * left

    def right_removals(self, both: int, left: int) -> int:
        """The fewest baskets that must lose an item of the right side."""
        by_support = both - self.least + 1
        by_confidence = both - (ceil(self.share * left) - 1)
        return max(0, min(by_support, by_confidence))

    def left_removals(self, both: int, left: int) -> int:
        """The fewest baskets with both sides that must lose an item of the left side."""
        if not self.reached(both, left):
            return 0
        by_support = both - self.least + 1
        if self.share == 1:
            return by_support
        return min(by_support, floor((both - self.share * left) / (1 - self.share)) + 1)

    def left_additions(self, both: int, left: int) -> int:
        """The fewest baskets without the right side to which the whole left side must be added."""
        return max(0, floor(both / self.share) - left + 1)


@dataclass(slots=True)
class ItemIndex:
    """Baskets with changes: items removed from and added to baskets."""

    baskets: Baskets  # the baskets before any change, in canonical order
    columns: dict[int, Mask] = field(default_factory=dict)
    """Which baskets now hold an item, for the items requested so far."""

    def column(self, item: int) -> Mask:
        """Which baskets now hold an item; write to the mask to change that."""
        if item not in self.columns:
            column = np.zeros(len(self.baskets), dtype=np.bool_)
            column[owners(self.baskets.indptr)[self.baskets.items == item]] = True
            self.columns[item] = column
        return self.columns[item]

    def prepare(self, items: Iterable[int]) -> None:
        """Make the columns of many items at once."""
        missing = sorted(set(items) - self.columns.keys())
        if not missing:
            return
        slots = np.full(len(self.baskets.vocabulary), -1, dtype=np.int32)
        slots[missing] = np.arange(len(missing), dtype=np.int32)
        slot = slots[self.baskets.items]
        table = np.zeros((len(missing), len(self.baskets)), dtype=np.bool_)
        table[slot[slot >= 0], owners(self.baskets.indptr)[slot >= 0]] = True
        self.columns.update(zip(missing, table, strict=True))

    def holding(self, items: tuple[int, ...]) -> Mask:
        """Which baskets now hold all of some items."""
        mask: Mask = self.column(items[0]).copy()
        for item in items[1:]:
            mask &= self.column(item)
        return mask

    def supports(self, rule: Rule) -> tuple[int, int]:
        """How many baskets hold both sides of a rule, and how many its left side."""
        both = self.holding(rule.antecedent)
        left = int(np.count_nonzero(both))
        for item in rule.consequent:
            both &= self.column(item)
        return int(np.count_nonzero(both)), left

    def changed(self) -> Baskets:
        """The baskets with all changes; items that no basket holds any more stay in the vocabulary."""
        kept = np.ones(len(self.baskets.items), dtype=np.bool_)
        rows = owners(self.baskets.indptr)
        added_rows, added_items = [], []
        for item, column in self.columns.items():
            places = np.flatnonzero(self.baskets.items == item)
            kept[places] = column[rows[places]]
            held = flagged(rows[places], len(self.baskets))
            new = np.flatnonzero(column & ~held)
            added_rows.append(new)
            added_items.append(np.full(len(new), item, dtype=np.int32))
        row_of = np.concatenate([rows[kept], *added_rows])
        items: Items = np.concatenate([self.baskets.items[kept], *added_items])
        order = np.lexsort((items, row_of))
        indptr = indptr_by(row_of, len(self.baskets))
        return replace(self.baskets, indptr=indptr, items=items[order])


def open_rules(index: ItemIndex, rules: Iterable[Rule], border: Border) -> Iterator[Rule]:
    """The rules that a miner still finds."""
    return (rule for rule in rules if border.reached(*index.supports(rule)))
