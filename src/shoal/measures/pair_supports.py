"""How well any release of baskets tells how often two items go together: one scale for all forms."""

from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.arrays import AnyArray, Counts, Floats, Items, owners
from shoal.data.baskets import Baskets
from shoal.data.clusters import Clusters
from shoal.data.groups import Groups
from shoal.measures._comparison import Comparison
from shoal.measures.itemsets import relative_error, with_vocabulary
from shoal.measures.measure import BasketMeasure, Score
from shoal.measures.reconstruction import TwoSides
from shoal.mining.frequent_itemsets import supports_of


class PairSupports(BasketMeasure):
    """The relative error of the supports of pairs of items, as a reader of the release expects them.

    Pairs are drawn from baskets that hold them, so that pairs which many baskets hold are asked for most: half of them
    are pairs of any items that are not sensitive, half are a sensitive item and another. What a reader expects:

    - of published baskets, what they hold;
    - of an item that is published as a node of a hierarchy, an even share of the node's baskets;
    - of groups, the occurrences of a sensitive item spread evenly over the baskets of the group;
    - of a disassociated release, the mean of several datasets that are consistent with it.

    pair_error
        The mean over the pairs of |so − sp| / ((so + sp) / 2), from 0 (right) to 2 (never seen any more); with its
        parts for pairs without and with a sensitive item. It says the same of every form of release, so that releases
        of different methods can be compared by it.
    """

    name: ClassVar[str] = "pair-supports"
    not_distributable: ClassVar[str | None] = "pairs are drawn from single baskets"
    accepts: ClassVar[tuple[type, ...]] = (Baskets, Groups, Clusters)
    on_request: ClassVar[bool] = True
    scores_named: ClassVar[tuple[str, ...]] = ("pair_error",)

    pairs: int = Field(default=2000, ge=1, description="pairs that are drawn")
    reconstructions: int = Field(
        default=5, ge=1, description="datasets that are drawn from a disassociated release"
    )
    seed: int = Field(default=1, ge=0, description="draws the same pairs and datasets again")

    def compare(self, both: Comparison) -> tuple[Score, ...]:
        """Ask both sides for the same pairs."""
        original, _ = self.baskets(both)
        generator = np.random.default_rng(self.seed)
        secret = np.zeros(len(original.vocabulary), dtype=np.bool_)
        secret[original.sensitive] = True
        plain = drawn_pairs(original, secret, False, self.pairs, generator)
        telling = drawn_pairs(original, secret, True, self.pairs, generator)
        errors: dict[str, float] = {}
        for part, pairs in (("without sensitive items", plain), ("with a sensitive item", telling)):
            if len(pairs):
                before = supports_of(original, np.arange(0, 2 * len(pairs) + 1, 2), pairs.ravel())
                error, _ = relative_error(before, self._expected(both, pairs))
                errors[part] = error or 0.0
        if not errors:
            return ()
        meaning = "Mean relative error of the supports of pairs of items, 0 to 2."
        parts = errors if len(errors) > 1 else {}
        return (Score("pair_error", sum(errors.values()) / len(errors), meaning, parts=parts, by="pairs"),)

    def _expected(self, both: Comparison, pairs: Items) -> Floats:
        original, release = both.original, both.release
        published = release.data
        assert isinstance(original, Baskets)
        if isinstance(published, Groups):
            return expected_of_groups(original, published, pairs)
        if isinstance(published, Clusters):
            drawn = [
                _supports(both.reconstruction(self.seed + draw), original, pairs)
                for draw in range(self.reconstructions)
            ]
            mean: Floats = np.mean(drawn, axis=0)
            return mean
        assert isinstance(published, Baskets)
        nodes = release.details.get("nodes")
        if nodes and original.hierarchy is not None:
            return expected_of_nodes(original, published, nodes, pairs)
        return _supports(published, original, pairs)


def drawn_pairs(
    baskets: Baskets, secret: AnyArray, telling: bool, count: int, generator: np.random.Generator
) -> Items:
    """Different pairs of items of one basket each: of two that are not sensitive, or of one that is and another.

    A basket is drawn by one of its occurrences, and the other item from the rest of it.
    """
    able = secret[baskets.items] if telling else ~secret[baskets.items]
    occurrences = np.flatnonzero(able)
    if not len(occurrences):
        return np.empty((0, 2), dtype=np.int32)
    chosen = occurrences[generator.integers(0, len(occurrences), count)]
    rows = np.searchsorted(baskets.indptr, chosen, side="right") - 1
    other = baskets.indptr[rows] + (generator.random(count) * baskets.lengths[rows]).astype(np.int64)
    fits = (other != chosen) & ~secret[baskets.items[other]]
    pairs = np.stack([baskets.items[chosen[fits]], baskets.items[other[fits]]], axis=1)
    found: Items = np.unique(np.sort(pairs, axis=1), axis=0).astype(np.int32)
    return found


def _supports(published: Baskets, original: Baskets, pairs: Items) -> Floats:
    known = with_vocabulary(published, original.vocabulary)
    return supports_of(known, np.arange(0, 2 * len(pairs) + 1, 2), pairs.ravel()).astype(np.float64)


def expected_of_nodes(original: Baskets, published: Baskets, nodes: dict[str, int], pairs: Items) -> Floats:
    """Supports of pairs where items may be published as nodes: an even share of the baskets of both nodes.

    Two items below one node are expected nowhere together: a basket shows the node once.
    """
    assert original.hierarchy is not None
    hierarchy = original.hierarchy
    places = {text: place for place, text in enumerate(published.vocabulary)}
    shown = np.full(len(original.vocabulary), -1, dtype=np.int32)
    sizes = np.ones(len(original.vocabulary))
    leaves = {text: leaf for leaf, text in enumerate(hierarchy.leaves)}
    above = [(hierarchy.labels[level], hierarchy.nodes_at(level)) for level in range(len(hierarchy.labels))]
    for code, text in enumerate(original.vocabulary):
        if text in places and text not in nodes:
            shown[code] = places[text]
        elif text in leaves:
            names = (labels[of_leaf[leaves[text]]] for labels, of_leaf in above)
            name = next((name for name in names if name in places and name in nodes), None)
            if name is not None:
                shown[code], sizes[code] = places[name], nodes[name]
    one, other = shown[pairs[:, 0]], shown[pairs[:, 1]]
    apart = (one >= 0) & (other >= 0) & (one != other)
    found = np.zeros(len(pairs))
    both = np.stack([one[apart], other[apart]], axis=1)
    counts: Counts = supports_of(published, np.arange(0, 2 * len(both) + 1, 2), both.ravel())
    found[apart] = counts / (sizes[pairs[apart, 0]] * sizes[pairs[apart, 1]])
    return found


def expected_of_groups(original: Baskets, groups: Groups, pairs: Items) -> Floats:
    """Supports of pairs of public items, and of a sensitive item that is spread evenly over its groups."""
    two = TwoSides(original, groups)
    secret = np.zeros(len(original.vocabulary), dtype=np.bool_)
    secret[original.sensitive] = True
    public = Baskets(groups.basket_indptr, groups.items, groups.vocabulary)
    found = np.zeros(len(pairs))
    plain = np.flatnonzero(~secret[pairs].any(axis=1))
    if len(plain):
        found[plain] = _supports(public, original, pairs[plain])
    mixed = np.flatnonzero(secret[pairs].any(axis=1))
    if not len(mixed):
        return found
    first = secret[pairs[mixed, 0]]
    hidden = np.where(first, pairs[mixed, 0], pairs[mixed, 1])
    shown = np.where(first, pairs[mixed, 1], pairs[mixed, 0])
    number = {text: code for code, text in enumerate(groups.vocabulary)}
    row_of = owners(public.indptr)
    order = np.argsort(groups.items, kind="stable")
    begins = np.searchsorted(groups.items[order], np.arange(len(groups.vocabulary) + 1))
    for item in np.unique(hidden).tolist():
        members, weights = two.spread(item)
        share = np.bincount(members, weights=weights, minlength=len(public))
        for place in np.flatnonzero(hidden == item).tolist():
            code = number.get(original.vocabulary[shown[place]], -1)
            holders = order[begins[code] : begins[code + 1]] if code >= 0 else order[:0]
            found[mixed[place]] = share[row_of[holders]].sum()
    return found
