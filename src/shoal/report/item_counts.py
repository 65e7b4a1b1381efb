"""Items before and after: how many baskets hold them, and what a reader of the release counts."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from shoal.arrays import Counts, Floats
from shoal.data.baskets import Baskets
from shoal.data.clusters import Clusters
from shoal.data.groups import Groups
from shoal.data.hierarchy import Hierarchy
from shoal.data.release import Published
from shoal.measures._interval_syntax import NodeTexts
from shoal.report.marginals import BARS, Marginal, Pair
from shoal.report.wording import count, shown

SHOWN = 24
"""Items that tables list; the rest are only counted."""

USUAL = 0.98
"""The share of baskets whose sizes have bars of their own; the largest baskets share the last bar."""


@dataclass(frozen=True, slots=True)
class Item:
    """An item, how many baskets of the original hold it, and how many a reader of the release counts."""

    text: str
    role: str
    before: int
    after: float
    published_as: str


@dataclass(frozen=True, slots=True)
class Node:
    """A node that is published in place of items: how many items it stands for, and the baskets that hold it."""

    text: str
    leaves: int
    baskets: int


@dataclass(frozen=True, slots=True)
class Secret:
    """A sensitive item of groups."""

    text: str  # the item
    baskets: int
    groups: int
    """`baskets`, `groups`: the baskets and the groups that hold it."""
    degree: float  # the smallest size of a group per basket in it that holds the item
    divergence: float | None
    """How far what groups show of it among public items is from the truth; None where that was not measured."""


@dataclass(frozen=True, slots=True)
class ItemFacts:
    """What is reported about the items."""

    form: str  # ``baskets``, ``groups`` or ``clusters``
    items: tuple[Item, ...]
    changed: int
    item_count: int
    """`items`, `changed`, `item_count`: items whose baskets changed, those that lost most first; how many changed, and
    how many items there are."""
    unseen: int  # items of the original that a reader counts in no basket
    frequent: Marginal | None  # the most frequent items before and after, as shares of all baskets
    lengths: Marginal | None
    """How many items baskets hold, before and after; None where baskets are not published one by one."""
    nodes: tuple[Node, ...] = ()
    node_count: int = 0
    """`nodes`, `node_count`: the nodes that are published in place of items, the most frequent ones first."""
    secrets: tuple[Secret, ...] = ()  # the sensitive items of groups


def items_of(original: Baskets, data: Published, divergences: Mapping[str, float]) -> ItemFacts | None:
    """Compare the items of baskets with what is published; `divergences`: of sensitive items, where measured."""
    match data:
        case Baskets():
            after, names, nodes = _counted(original, data)
            found = _facts("baskets", original, after, names)
            return ItemFacts(
                "baskets",
                *found,
                lengths=_lengths(original.lengths, data.lengths),
                nodes=nodes[:SHOWN],
                node_count=len(nodes),
            )
        case Clusters():
            counts = np.bincount(data.items, minlength=len(data.vocabulary))
            supports = dict(zip(data.vocabulary, counts.tolist(), strict=True))
            after = np.array([float(supports.get(text, 0)) for text in original.vocabulary])
            return ItemFacts("clusters", *_facts("clusters", original, after, {}), lengths=None)
        case Groups():
            secrets = _secrets(data, divergences)
            return ItemFacts(
                "groups", (), 0, len(original.vocabulary), 0, None, None, secrets=secrets[:SHOWN]
            )
    return None


def _counted(original: Baskets, published: Baskets) -> tuple[Floats, dict[str, str], tuple[Node, ...]]:
    """The baskets that a reader counts for each item of the original; those of a node are split among its items."""
    supports = published.supports
    held = dict(zip(published.vocabulary, supports.tolist(), strict=True))
    after = np.array([float(held.get(text, 0)) for text in original.vocabulary])
    if original.hierarchy is None:
        return after, {}, ()
    names, nodes = _nodes(original, original.hierarchy, held)
    for code, text in enumerate(original.vocabulary):
        if text in names:
            node = nodes[names[text]]
            after[code] = node.baskets / max(node.leaves, 1)
    ordered = tuple(sorted(nodes.values(), key=lambda node: (-node.baskets, node.text)))
    return after, names, ordered


def _nodes(
    original: Baskets, tree: Hierarchy, held: Mapping[str, int]
) -> tuple[dict[str, str], dict[str, Node]]:
    """The node that stands for each item that is not published itself, and the nodes."""
    known = set(original.vocabulary)
    texts = NodeTexts(tree)
    names: dict[str, str] = {}
    nodes: dict[str, Node] = {}
    for text, baskets in held.items():
        if text in known or text not in texts:
            continue
        leaves = [tree.leaves[place] for place in texts.leaves(text).tolist()]
        nodes[text] = Node(text, len(leaves), baskets)
        names |= dict.fromkeys((leaf for leaf in leaves if leaf in known and leaf not in held), text)
    return names, nodes


def _facts(
    form: str, original: Baskets, after: Floats, names: Mapping[str, str]
) -> tuple[tuple[Item, ...], int, int, int, Marginal]:
    before = original.supports
    roles = np.full(len(before), "public", dtype=object)
    roles[original.sensitive], roles[original.insensitive] = "sensitive", "insensitive"
    most = np.argsort(-(before - after), kind="stable")[:SHOWN]
    items = tuple(
        Item(
            shown(original.vocabulary[code], 40),
            str(roles[code]),
            int(before[code]),
            float(after[code]),
            _published_as(form, original.vocabulary[code], float(after[code]), names),
        )
        for code in most.tolist()
        if before[code] != after[code]
    )
    top = np.argsort(-before, kind="stable")[:BARS]
    rows = max(len(original), 1)
    pairs = tuple(
        Pair(
            shown(original.vocabulary[code]),
            shown(original.vocabulary[code]),
            float(before[code] / rows),
            float(after[code] / rows),
        )
        for code in top.tolist()
    )
    shift = float(np.abs(before - after).sum() / max(before.sum(), 1))
    frequent = Marginal("items", pairs, upright=False, binned=False, shift=shift)
    unseen = int(((before > 0) & (after == 0)).sum())
    return items, int((before != after).sum()), int((before > 0).sum()), unseen, frequent


def _published_as(form: str, text: str, after: float, names: Mapping[str, str]) -> str:
    if text in names:
        return shown(names[text], 40)
    if after:
        return "itself"
    return "a name without a count" if form == "clusters" else "nothing"


def _lengths(before: Counts, after: Counts) -> Marginal:
    """How many items baskets hold, before and after; the few largest baskets share the last bar."""
    both = np.concatenate((before, after))
    if not len(both):
        return Marginal("items in a basket", (), upright=True, binned=False, shift=0.0)
    usual = int(np.quantile(both, USUAL, method="higher"))
    step = usual // BARS + 1
    bars = usual // step + 1
    more = int(both.max()) >= bars * step
    shares = [
        np.bincount(np.minimum(lengths // step, bars), minlength=bars + 1) / max(len(lengths), 1)
        for lengths in (before, after)
    ]
    lows = [place * step for place in range(bars)]
    labels = [count(low) if step == 1 else f"{count(low)}–{count(low + step - 1)}" for low in lows]
    labels += [f"{count(bars * step)}+"] if more else []
    pairs = tuple(
        Pair(label, f"{label} item{'s' * (label != '1')}", float(one), float(other))
        for label, one, other in zip(labels, *shares, strict=False)
    )
    shift = float(np.abs(shares[0] - shares[1]).sum() / 2)
    return Marginal("items in a basket", pairs, upright=True, binned=False, shift=shift)


def _secrets(groups: Groups, divergences: Mapping[str, float]) -> tuple[Secret, ...]:
    """The sensitive items, the most exposed ones first."""
    sizes = np.repeat(groups.sizes, np.diff(groups.sensitive_indptr))
    degrees = sizes / groups.sensitive_counts
    found = []
    for item in np.unique(groups.sensitive_items).tolist():
        here = groups.sensitive_items == item
        text = groups.vocabulary[item]
        total = int(groups.sensitive_counts[here].sum())
        found.append(
            Secret(shown(text, 40), total, int(here.sum()), float(degrees[here].min()), divergences.get(text))
        )
    return tuple(sorted(found, key=lambda secret: (secret.degree, -secret.baskets)))
