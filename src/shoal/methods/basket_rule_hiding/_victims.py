"""Choose the baskets that lose an item: those where it matters least.

A frequent itemset is lost when it falls below the least support. Only sets whose support is close enough to that for
the planned removals can be lost, and the closer they are, the more a basket that holds them is worth keeping.
"""

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Counts, Floats, Mask, Rows
from shoal.data.baskets import Baskets
from shoal.methods.basket_rule_hiding._item_index import Border, ItemIndex, Rule
from shoal.mining.frequent_itemsets import Itemsets, frequent_itemsets

SIZE = 3
"""The most items of a protected set: most rules that people read are that short."""

NEARBY = 500
"""How many sets are considered for one choice: those closest to being lost."""

LIMIT = 2_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Protected:
    """Frequent itemsets that should stay frequent."""

    table: Counts  # the items of each set, one set per row; short sets repeat their last item
    supports: Counts  # the number of baskets that hold each set
    least: int  # the support below which a set is lost

    @classmethod
    def of(cls, baskets: Baskets, rules: list[Rule], border: Border) -> "Protected":
        """The frequent pairs and triples, except those that contain a whole rule, which must go."""
        found = frequent_itemsets(baskets, border.least, 2)
        if len(found) * 20 < LIMIT:
            found = frequent_itemsets(baskets, border.least, SIZE, limit=LIMIT)
        table = np.concatenate([_padded(found, size) for size in range(2, SIZE + 1)])
        supports = np.concatenate([found.supports[found.sizes == size] for size in range(2, SIZE + 1)])
        keep = ~hold_a_rule(table, rules, len(baskets.vocabulary))
        return cls(table[keep], supports[keep], border.least)

    def weights(self, index: ItemIndex, item: int, rows: Rows, count: int) -> Floats:
        """How much each of some baskets is needed if `count` of them lose an item."""
        within = (self.table == item).any(axis=1) & (self.supports - count < self.least)
        places = np.flatnonzero(within)
        places = places[np.argsort(self.supports[places], kind="stable")][:NEARBY]
        weights = np.zeros(len(rows))
        held = ItemIndex(index.baskets.take(rows))
        held.prepare(self.table[places].ravel().tolist())
        for place in places.tolist():
            mask = np.ones(len(rows), dtype=np.bool_)
            for other in set(self.table[place].tolist()) - {item}:
                mask &= held.column(other)
            weights[mask] += 1 / (self.supports[place] - self.least + 1)
        return weights


def hold_a_rule(table: Counts, rules: list[Rule], width: int) -> Mask:
    """Which sets, one per row, contain all items of a rule."""
    first, second, third = np.sort(table, axis=1).T
    pairs = _sorted_items(rules, 2)
    wanted = pairs[:, 0] * width + pairs[:, 1]
    found = np.zeros(len(table), dtype=np.bool_)
    for one, other in ((first, second), (first, third), (second, third)):
        found |= np.isin(one * width + other, wanted)
    triples = _sorted_items(rules, 3)
    # Use the number of a pair instead of the pair itself, so that the product stays small.
    numbers, begin = np.unique(triples[:, 0] * width + triples[:, 1], return_inverse=True)
    if len(numbers):
        key = first * width + second
        place = np.minimum(np.searchsorted(numbers, key), len(numbers) - 1)
        whole = np.isin(place * width + third, begin * width + triples[:, 2])
        found |= (numbers[place] == key) & whole
    return found


def _sorted_items(rules: list[Rule], size: int) -> Counts:
    """The items of the rules of one size, one rule per row, ascending."""
    sets = [sorted(rule.items) for rule in rules if len(rule.items) == size]
    return np.array(sets, dtype=np.int64).reshape(-1, size)


def _padded(found: Itemsets, size: int) -> Counts:
    """The sets of one size, padded with their last item."""
    columns = found.columns(np.flatnonzero(found.sizes == size), size).astype(np.int64)
    return np.concatenate([columns, np.repeat(columns[:, -1:], SIZE - size, axis=1)], axis=1)
