"""A reader of groups who has learned from other releases which member of a group holds its sensitive item.

The reader has seen releases of the same method beside their originals: with other sensitive items, or of other people.
A conditional logit learns from them by what holders differ from the other members of their groups: they are larger,
stand in the middle, or have a basket that few others have. Nothing is learned of the release that is attacked.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.arrays import Floats, Mask, Rows, flagged
from shoal.data._basket_orders import distinct_baskets, orders_of
from shoal.data.baskets import Baskets
from shoal.data.groups import Groups
from shoal.errors import WrongUse
from shoal.risks._group_members import central, common_items, largest, shares_of

FEATURES = (
    "length",
    "logarithm of the length",
    "is the largest",
    "items in common with another member, on the average",
    "the same, as a share of the items of both",
    "is the most central",
    "share of items that no other member holds",
    "logarithm of the equal members",
    "logarithm of the equal baskets in all groups",
    "mean logarithm of the supports of its items",
    "distance from the middle of the group in Gray order",
)
"""What a reader looks at."""

RIDGE = 1.0
"""How strongly weights are held back, in groups: few examples teach little."""


@dataclass(frozen=True, slots=True, eq=False)
class LearnedReader:
    """A weight for each feature, in units of its spread inside groups."""

    weights: Floats
    scale: Floats
    """`weights`, `scale`: the chance of a member is proportional to the exponential of Σ weight · feature / scale."""
    groups: int  # how many groups were learned from

    def likelihoods(self, groups: Groups) -> Floats:
        """The chance that each member holds a sensitive item of its group, as the reader sees it; 1 in each group."""
        return _chances(features(groups) / self.scale @ self.weights, groups.group_indptr)

    def named(self, groups: Groups) -> Mask:
        """The likeliest member of each group; several, where they are equally likely."""
        chances = self.likelihoods(groups)
        best = np.maximum.reduceat(chances, groups.group_indptr[:-1])
        named: Mask = chances >= np.repeat(best, groups.sizes) * (1 - 1e-9)
        return named

    def success(self, groups: Groups, original: Baskets) -> float:
        """How often the reader is right, over groups with a sensitive item.

        A basket is named, and thereby everybody with its public items: the share of them who hold a sensitive item of
        the group is what counts.

        Raises `WrongUse` if no group has a sensitive item.
        """
        asked = _asked(groups)
        if not len(asked):
            raise WrongUse("No group has a sensitive item, so there is nothing to find out.")
        named = self.named(groups)
        begin = groups.group_indptr[:-1]
        right = np.add.reduceat(np.where(named, shares_of(original, groups), 0.0), begin)
        return float((right / np.add.reduceat(named.astype(np.float64), begin))[asked].mean())


def learn(examples: Sequence[tuple[Groups, Baskets]]) -> LearnedReader:
    """Learn from releases beside their originals.

    `examples`: published groups, and the baskets with the sensitive items that they were made from. Raises `WrongUse`
    if no group of the examples has a sensitive item, or there are none.
    """
    from scipy.optimize import minimize

    found = [_examples(groups, original) for groups, original in examples]
    found = [one for one in found if len(one[1])]
    if not found:
        raise WrongUse("There is no group with a sensitive item to learn from; give other releases.")
    values = np.concatenate([one[0] for one in found])
    truth = np.concatenate([one[1] for one in found])
    sizes = np.concatenate([one[2] for one in found])
    begin = np.concatenate(([0], np.cumsum(sizes)))
    centered = values - np.repeat(np.add.reduceat(values, begin[:-1]) / sizes[:, None], sizes, axis=0)
    spread = np.sqrt((centered**2).mean(axis=0))
    scale = np.where(spread > 0, spread, 1.0)
    centered /= scale

    def loss(weights: Floats) -> tuple[float, Floats]:
        chances = _chances(centered @ weights, begin)
        likelihood = float((truth * np.log(np.maximum(chances, 1e-300))).sum())
        slope = centered.T @ (truth - chances)
        return RIDGE * float(weights @ weights) - likelihood, 2 * RIDGE * weights - slope

    fitted = minimize(loss, np.zeros(len(FEATURES)), jac=True, method="L-BFGS-B")
    return LearnedReader(fitted.x, scale, len(sizes))


def _asked(groups: Groups) -> Rows:
    """The groups with a sensitive item."""
    return np.flatnonzero(np.diff(groups.sensitive_indptr))


def _examples(groups: Groups, original: Baskets) -> tuple[Floats, Floats, Rows]:
    """Features of the members of groups with sensitive items, who holds them as shares of 1, and the groups' sizes."""
    shares = shares_of(original, groups)
    total = np.add.reduceat(shares, groups.group_indptr[:-1])
    usable = flagged(_asked(groups), len(groups))
    usable &= total > 0
    inside = np.repeat(usable, groups.sizes)
    truth = (shares / np.repeat(np.where(total > 0, total, 1.0), groups.sizes))[inside]
    return features(groups)[inside], truth, groups.sizes[usable]


def _chances(scores: Floats, begin: Rows) -> Floats:
    """Scores as chances that sum to 1 in each group."""
    sizes = np.diff(begin)
    powers = np.exp(scores - np.repeat(np.maximum.reduceat(scores, begin[:-1]), sizes))
    chances: Floats = powers / np.repeat(np.add.reduceat(powers, begin[:-1]), sizes)
    return chances


def features(groups: Groups) -> Floats:
    """What a reader sees of each member: a line a published basket, a column for each of `FEATURES`."""
    begin, sizes = groups.group_indptr[:-1], groups.sizes
    lengths = np.diff(groups.basket_indptr).astype(np.float64)
    used, items = np.unique(groups.items, return_inverse=True)
    distinct = distinct_baskets(groups.basket_indptr, items.astype(np.int32), len(used))
    group = np.repeat(np.arange(len(groups)), sizes)
    others = np.repeat(np.maximum(sizes - 1, 1), sizes)
    common, alone = common_items(groups)
    around = np.repeat(np.add.reduceat(lengths, begin), sizes) - lengths
    _, kind, equals = np.unique(
        group * np.int64(len(distinct)) + distinct.of_row, return_inverse=True, return_counts=True
    )
    logs = np.concatenate(([0.0], np.cumsum(np.log(distinct.supports)[distinct.items])))
    weight = (logs[distinct.indptr[1:]] - logs[distinct.indptr[:-1]]) / np.maximum(
        np.diff(distinct.indptr), 1
    )
    place = np.empty(len(distinct))
    (order,) = orders_of("gray", distinct)
    place[order] = np.cumsum(distinct.counts[order])
    at = place[distinct.of_row]
    middle = at[np.lexsort((at, group))][groups.group_indptr[:-1] + sizes // 2]
    columns = (
        lengths,
        np.log1p(lengths),
        largest(groups),
        common / others,
        common / np.maximum(lengths * others + around - common, 1),
        central(groups),
        alone / np.maximum(lengths, 1),
        np.log(equals[kind]),
        np.log(distinct.counts[distinct.of_row]),
        weight[distinct.of_row],
        np.log1p(np.abs(at - np.repeat(middle, sizes))),
    )
    return np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])
