"""A cut through the tree of items, raised until every combination is frequent enough."""

from itertools import product

import numpy as np

from shoal.arrays import AnyArray, Counts, Mask, Rows, distinct, flagged, indptr_by
from shoal.data.baskets import Baskets
from shoal.methods.km_generalization._item_tree import ItemTree
from shoal.mining.frequent_itemsets import frequent_itemsets

CHUNK = 4096
"""How many rare combinations are processed at a time."""


class Cut:
    """The node that each item is published as, and the cost of that.

    The cost of a node is the number of occurrences under it times its share of all leaves (the normalized certainty
    penalty, NCP); an item itself costs nothing.

    `tree`: the tree. `baskets`: the baskets to publish, in codes of the tree's items.
    """

    def __init__(self, tree: ItemTree, baskets: Baskets) -> None:
        self.tree, self.baskets = tree, baskets
        self.under = tree.items_under()
        self.node_of = np.arange(tree.items, dtype=np.int64)
        self.alive = np.arange(len(tree.labels)) < tree.items
        supports = baskets.supports
        self.occurrences = np.array([int(supports[items].sum()) for items in self.under], dtype=np.int64)
        self.penalty = np.where(np.arange(len(tree.labels)) < tree.items, 0, tree.sizes)
        self.cost_under = np.zeros(len(tree.labels), dtype=np.int64)
        order = np.argsort(baskets.items, kind="stable")
        row_of = np.repeat(np.arange(len(baskets)), baskets.lengths)
        self.item_rows = np.split(row_of[order], np.cumsum(supports)[:-1])
        self.known_rows: dict[int, Rows] = {}

    @property
    def cost(self) -> int:
        """The cost of the cut, in leaves times occurrences."""
        return int((self.penalty[self.node_of] * self.baskets.supports).sum())

    def rows(self, node: int) -> Rows:
        """The baskets that hold something under a node, ascending."""
        if node < self.tree.items:
            return self.item_rows[node]
        if node not in self.known_rows:
            parts = [self.item_rows[item] for item in self.under[node].tolist()]
            self.known_rows[node] = distinct(np.concatenate(parts))
        return self.known_rows[node]

    def raise_to(self, node: int) -> None:
        """Publish everything under a node as that node."""
        items = self.under[node]
        self.alive[self.node_of[items]] = False
        self.node_of[items] = node
        self.alive[node] = True
        change = self._rise(node)
        for above in self.tree.chain(node):
            self.cost_under[above] += change

    def _rise(self, node: int) -> int:
        """The additional cost of raising the cut to a node."""
        return int(self.occurrences[node] * self.penalty[node] - self.cost_under[node])

    def protect(self, k: int, m: int, within: Mask | None = None) -> int:
        """Raise the cut until every combination of up to m nodes is held by at least k baskets, or by none.

        Sizes go up one by one (Apriori-based anonymization), since a coarser cut never breaks what was reached for
        smaller sizes. Rare combinations are mined, each one whose nodes are still published is fixed at the least cost,
        and the rest is mined again.

        `within`: consider only these items. Returns how many times combinations were mined.
        """
        counted = 0
        for size in range(1, m + 1):
            while True:
                counted += 1
                rare = self._rare(k, size, within)
                if not len(rare):
                    break
                for begin in range(0, len(rare), CHUNK):
                    some = rare[begin : begin + CHUNK]
                    for nodes in some[self.alive[some].all(axis=1)].tolist():
                        if self.alive[nodes].all():
                            self._mend(nodes, k)
        return counted

    def lower(self, k: int, m: int) -> int:
        """Replace nodes by their children where the promise allows it, the most expensive first.

        Raising the cut may have gone too far. Call this last, because it does not keep costs up to date.

        Returns how many nodes were replaced.
        """
        children: dict[int, list[int]] = {}
        for node, parent in enumerate(self.tree.parents.tolist()):
            children.setdefault(parent, []).append(node)
        waiting = {node for node in np.unique(self.node_of).tolist() if node >= self.tree.items}
        lowered = 0
        while waiting:
            node = max(waiting, key=lambda one: (int(self.occurrences[one] * self.penalty[one]), -one))
            waiting.remove(node)
            for child in children[node]:
                self.node_of[self.under[child]] = child
            if self._stands(node, children[node], k, m):
                waiting |= {child for child in children[node] if child >= self.tree.items}
                lowered += 1
            else:
                self.node_of[self.under[node]] = node
        return lowered

    def _stands(self, node: int, children: list[int], k: int, m: int) -> bool:
        """Whether all combinations with a child of a node are frequent enough among the baskets that hold the node."""
        used, baskets = self.generalized(rows=self.rows(node))
        is_child = np.isin(used, children)
        if (baskets.supports[is_child] < k).any():
            return False
        for size in range(2, m + 1):
            found = frequent_itemsets(baskets, 1, size)
            places = np.flatnonzero((found.sizes == size) & (found.supports < k))
            if is_child[found.columns(places, size)].any():
                return False
        return True

    def _rare(self, k: int, size: int, within: Mask | None) -> AnyArray:
        """The combinations of nodes that fewer than k baskets hold, the rarest first."""
        if within is not None:
            within = np.isin(self.node_of, self.node_of[within])
        used, baskets = self.generalized(within)
        found = frequent_itemsets(baskets, 1, size)
        places = np.flatnonzero((found.sizes == size) & (found.supports < k))
        table = used[found.columns(places, size)]
        return table[np.lexsort((*np.sort(table, axis=1).T[::-1], found.supports[places]))]

    def generalized(self, within: Mask | None = None, rows: Rows | None = None) -> tuple[Counts, Baskets]:
        """The nodes that are published, and the baskets, or some of them, in terms of these nodes."""
        some = self.baskets if rows is None else self.baskets.take(rows)
        items = some.items
        row_of = np.repeat(np.arange(len(some)), some.lengths)
        if within is not None:
            row_of, items = row_of[within[items]], items[within[items]]
        width = len(self.tree.labels)
        pairs = distinct(row_of * width + self.node_of[items])
        present = flagged(pairs % width, width)
        used = np.flatnonzero(present)
        codes = (np.cumsum(present) - 1)[pairs % width]
        indptr = indptr_by(pairs // width, len(some))
        labels = tuple(self.tree.labels[node] for node in used.tolist())
        return used, Baskets(indptr, codes.astype(np.int32), labels)

    def _mend(self, nodes: list[int], k: int) -> None:
        """Raise the cut at the least cost so that k baskets hold what a combination becomes."""
        choices = {}
        for chosen in product(*(self.tree.chain(node) for node in nodes)):
            top = self._topmost(chosen)
            if top != tuple(sorted(nodes)) and top not in choices:
                choices[top] = sum(self._rise(node) for node in top if not self.alive[node])
        for top in sorted(choices, key=lambda one: (choices[one], one)):
            if self._support(top) >= k:
                for node in top:
                    if not self.alive[node]:
                        self.raise_to(node)
                return
        raise AssertionError("the root is held by k baskets")

    def _topmost(self, nodes: tuple[int, ...]) -> tuple[int, ...]:
        """Those of some nodes that lie under no other of them, each once."""
        unique = set(nodes)
        return tuple(sorted(node for node in unique if unique.isdisjoint(self.tree.chain(node)[1:])))

    def _support(self, nodes: tuple[int, ...]) -> int:
        """How many baskets hold something under each of some nodes."""
        parts = sorted((self.rows(node) for node in nodes), key=len)
        rows = parts[0]
        for other in parts[1:]:
            at = np.minimum(np.searchsorted(other, rows), len(other) - 1)
            rows = rows[other[at] == rows]
        return len(rows)
