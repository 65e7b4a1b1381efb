"""Explain a suppression step by step: the tree, the score table, the item to remove, and so on.

Every path of the mole tree from its root is a minimal mole, with its items in descending order of MM, so that moles
share prefixes; items of equal MM are in descending order of their texts. A node knows how many moles pass through it.
For each item, the score table has MM, IL and the nodes that carry it (Xu, Wang, Fu, Yu, KDD 2008).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from shoal.methods.coherence._moles import Moles
from shoal.methods.coherence._pick import key_of


@dataclass(slots=True, eq=False)
class Node:
    """A node of the mole tree: an item on a path."""

    item: int  # the code of the item; -1 for the root
    parent: "Node | None" = None
    moles: int = 0  # how many moles pass through here; 0 for the root, as in the paper's figure
    children: dict[int, "Node"] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Score:
    """A line of the score table: how many moles contain the item, its loss, and the nodes that carry it."""

    moles: int
    loss: int
    nodes: dict[int, Node] = field(default_factory=dict)


class MoleTree:
    """Minimal moles as a tree with a score table, from which items can be suppressed.

    `moles`: sets of codes; children are in the order of the moles. `size`: the number of nodes below the root.
    `scores`: the score table, with the items that are in a mole, by ascending codes.
    """

    def __init__(self, moles: Sequence[tuple[int, ...]], losses: Sequence[int]) -> None:
        self.root = Node(-1)
        self.size = 0
        self.scores: dict[int, Score] = {}
        for mole in moles:
            for item in mole:
                self.scores.setdefault(item, Score(0, int(losses[item]))).moles += 1
        self.scores = dict(sorted(self.scores.items()))
        place = {item: (-score.moles, -item) for item, score in self.scores.items()}
        for mole in moles:
            self._add(sorted(mole, key=place.__getitem__))

    def _add(self, path: Sequence[int]) -> None:
        node = self.root
        for item in path:
            if item not in node.children:
                node.children[item] = Node(item, node)
                self.size += 1
                self.scores[item].nodes[id(node.children[item])] = node.children[item]
            node = node.children[item]
            node.moles += 1

    def best(self, pick: str) -> int:
        """The item to suppress next."""
        key = key_of(pick)
        return min(self.scores, key=lambda item: key(self.scores[item].moles, self.scores[item].loss, item))

    def remove(self, item: int) -> None:
        """Suppress an item: the moles that contain it disappear, and the numbers of other items fall."""
        for node in list(self.scores[item].nodes.values()):
            gone = node.moles
            above = node.parent
            assert above is not None
            del above.children[item]
            while above is not self.root:
                assert above is not None
                above.moles -= gone
                self._fall(above, gone)
                if not above.moles:
                    assert above.parent is not None
                    del above.parent.children[above.item]
                    self._unlink(above)
                above = above.parent
            for below in _subtree(node):
                self._fall(below, below.moles)
                self._unlink(below)

    def _fall(self, node: Node, moles: int) -> None:
        score = self.scores[node.item]
        score.moles -= moles
        if not score.moles:
            # Nodes of the item that are still in the tree have no moles any more, and go in this step too.
            del self.scores[node.item]

    def _unlink(self, node: Node) -> None:
        self.size -= 1
        if node.item in self.scores:
            self.scores[node.item].nodes.pop(id(node), None)

    def walk(self) -> Iterator[tuple[int, Node]]:
        """Every node below the root with its depth, parents before children."""
        waiting = [(1, child) for child in reversed(self.root.children.values())]
        while waiting:
            depth, node = waiting.pop()
            yield depth, node
            waiting += [(depth + 1, child) for child in reversed(node.children.values())]


def _subtree(node: Node) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.children.values()


LINES = 200
"""The most nodes of a tree, lines of a score table, moles and steps that are listed; the rest is counted."""

LINKS = 5
"""The most nodes of an item that are listed in the score table."""

WORDS = {"mm/il": "max MM/IL", "1/il": "max 1/IL", "mm": "max MM"}


def explanation(
    moles: Moles, chosen: Sequence[int], pick: str, vocabulary: Sequence[str], losses: Sequence[int]
) -> str:
    """Explain how items were picked, step by step.

    `chosen`: the items suppressed because of moles of several items, in order. `vocabulary`, `losses`: the text and the
    loss of each item.
    """
    sets = list(moles.sets())
    shown = [f"({', '.join(vocabulary[item] for item in mole)})" for mole in islice(sets, LINES)]
    lines = [
        f"size-1 moles: {_listed([vocabulary[item] for item in moles.singles.tolist()])}",
        f"minimal moles: {_listed(shown, len(sets))}",
    ]
    tree = MoleTree(sets, losses)
    if pick in WORDS:
        for step, item in enumerate(chosen):
            if step == LINES:
                lines.append(f"… and {len(chosen) - LINES:,} steps more")
                break
            lines += [*_picture(tree, vocabulary), f"to remove ({WORDS[pick]}): {vocabulary[item]}", "-----"]
            tree.remove(item)
        else:
            lines += _picture(tree, vocabulary)
    else:
        lines += _picture(tree, vocabulary)
    removed = [vocabulary[item] for item in [*moles.singles.tolist(), *chosen]]
    lines.append(f"suppressed: {_listed(removed)}")
    return "\n".join(lines)


def _picture(tree: MoleTree, vocabulary: Sequence[str]) -> Iterator[str]:
    """The tree and the score table, as lines of text."""
    yield "tree:"
    yield "null : 0"
    for depth, node in islice(tree.walk(), LINES):
        yield f"{'  ' * depth}{vocabulary[node.item]} : {node.moles}"
    if tree.size > LINES:
        yield f"… and {tree.size - LINES:,} nodes more"
    yield "score table:"
    if not tree.scores:
        return
    head = ("item", "MM", "IL", "node_links")
    rows = [
        (
            vocabulary[item],
            str(score.moles),
            str(score.loss),
            f"[{_listed([vocabulary[item]] * min(len(score.nodes), LINKS), len(score.nodes))}]",
        )
        for item, score in islice(tree.scores.items(), LINES)
    ]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for item, moles, loss, links in (head, *rows):
        yield f"{item:<{widths[0]}}  {moles:>{widths[1]}}  {loss:>{widths[2]}}  {links}"
    if len(tree.scores) > LINES:
        yield f"… and {len(tree.scores) - LINES:,} items more"


def _listed(texts: Sequence[str], count: int | None = None) -> str:
    """A comma-separated list of as many texts as there is room for; `count` is how many there are in all."""
    count = len(texts) if count is None else count
    shown = ", ".join(texts[:LINES]) or "none"
    return f"{shown}, … ({count:,} in all)" if count > min(LINES, len(texts)) else shown
