"""The tree of sensitive values: from each value up to the root."""

from collections.abc import Mapping

import numpy as np

from shoal.arrays import Rows
from shoal.errors import BadData

Tree = Mapping[str, tuple[str, ...]]
"""Each value and the nodes above it, up to the root."""


def flaw_of(tree: Tree) -> str:
    """What keeps paths from being a tree; empty where nothing does.

    >>> flaw_of({"flu": ("lung", "*"), "cold": ("nose", "*")})
    ''
    >>> flaw_of({"flu": ("lung", "a"), "cold": ("lung", "b")})
    "'lung' lies under 'a' and under 'b'"
    >>> flaw_of({"a": ("x", "y", "*"), "b": ("y", "x", "*")})
    "'x' stands for other values on one level than on another"
    """
    heights = {len(path) for path in tree.values()}
    if len(heights) != 1 or 0 in heights:
        return "its branches are of different lengths, or empty" if heights else "it has no value"
    above: dict[tuple[int, str], str] = {}
    for path in tree.values():
        for level in range(len(path) - 1):
            parent = above.setdefault((level, path[level]), path[level + 1])
            if parent != path[level + 1]:
                return f"{path[level]!r} lies under {parent!r} and under {path[level + 1]!r}"
    below: dict[str, dict[int, set[str]]] = {}
    for text, path in tree.items():
        for level, node in enumerate((text, *path)):
            below.setdefault(node, {}).setdefault(level, set()).add(text)
    for node, levels in below.items():
        if any(values != next(iter(levels.values())) for values in levels.values()):
            return f"{node!r} stands for other values on one level than on another"
    roots = sorted({path[-1] for path in tree.values()})
    return f"it has several roots: {', '.join(map(repr, roots[:3]))}" if len(roots) > 1 else ""


def levels_of(tree: Tree, labels: tuple[str, ...], present: Rows) -> list[Rows]:
    """The node of each value on each level that counts: first the values themselves, last the one node over them all.

    A level counts where it joins values that occur and are apart below. So neither values that do not occur nor levels
    between which nothing is joined change a distance.

    `present`: codes of the values that occur. Raises `BadData` if the tree misses one of them.
    """
    texts = {code: labels[code] for code in present.tolist()}
    for text in texts.values():
        if text not in tree:
            raise BadData(f"the tree of the promise misses {text!r}; add it there.")
    levels = [np.arange(len(labels), dtype=np.int64)]
    apart = len(texts)
    for level in range(len(next(iter(tree.values()), ()))):
        nodes: dict[str, int] = {}
        here = np.zeros(len(labels), dtype=np.int64)
        for code, text in texts.items():
            here[code] = nodes.setdefault(tree[text][level], len(nodes))
        if len(nodes) < apart:
            levels.append(here)
            apart = len(nodes)
    return levels
