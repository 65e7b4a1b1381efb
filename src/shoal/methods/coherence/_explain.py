"""The steps of a suppression in words: tree, score table, the item to remove, and again."""

from collections.abc import Iterator, Sequence
from itertools import islice

from shoal.methods.coherence._mole_tree import MoleTree
from shoal.methods.coherence._moles import Moles

LINES = 200
"""At most so many nodes of a tree, lines of a score table, moles and steps are told; the rest is counted."""

LINKS = 5
"""At most so many nodes of an item are listed in the score table."""

WORDS = {"mm/il": "max MM/IL", "1/il": "max 1/IL", "mm": "max MM"}


def explanation(
    moles: Moles, chosen: Sequence[int], pick: str, vocabulary: Sequence[str], losses: Sequence[int]
) -> str:
    """Tell how items were picked, step by step.

    Parameters
    ----------
    moles
        The minimal moles.
    chosen
        The items that were suppressed because of moles of several items, in order.
    pick
        How they were picked.
    vocabulary, losses
        The text and the loss of each item.
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
    """The tree and the score table."""
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
    """Texts with commas between them, as many as there is room for; `count` is how many there are in all."""
    count = len(texts) if count is None else count
    shown = ", ".join(texts[:LINES]) or "none"
    return f"{shown}, … ({count:,} in all)" if count > min(LINES, len(texts)) else shown
