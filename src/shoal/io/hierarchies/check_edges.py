"""What is wrong with a hierarchy of children and parents."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from shoal.arrays import Codes, Rows
from shoal.data.domain import Domain, Kind
from shoal.data.hierarchy import ROOT
from shoal.errors import WrongUse
from shoal.io.hierarchies.findings import Finding, Levels, faulty_leaves
from shoal.io.hierarchies.formats import Edges


def examine_edges(edges: Edges) -> tuple[list[Finding], Levels]:
    """All faults of edges, and the levels that can be made of what hangs from the root.

    A node keeps its distance from the root: where a branch is shorter than the longest one, its leaf is repeated on
    the levels between level 0 and its parent.
    """
    found = [
        Finding("empty", f"the parent of {child!r} is empty; name it, or write {ROOT!r}.", line)
        for child, parent, line in zip(edges.children, edges.parents, edges.lines, strict=True)
        if not parent
    ]
    numbers: dict[str, int] = {}
    first_lines: dict[str, int | None] = {}
    for side in (edges.children, edges.parents):
        for name, parent, line in zip(side, edges.parents, edges.lines, strict=True):
            if parent:
                numbers.setdefault(name, len(numbers))
                first_lines.setdefault(name, line)
    names = tuple(numbers)
    parents, lines = _parents(edges, numbers, found)
    top, depths = _tops(parents)
    roots = np.flatnonzero(parents == np.arange(len(names)))
    lost = np.flatnonzero(parents[top] != top)
    found += _cycles(names, parents, lost, lines)
    is_leaf = np.ones(len(names), dtype=np.bool_)
    is_leaf[parents] = False
    root = numbers.get(ROOT, -1)
    if root not in roots and len(roots):
        root = int(roots[np.argmax(np.bincount(top[is_leaf], minlength=len(names))[roots])])
    for other in roots[roots != root]:
        message = (
            f"{names[other]!r} stands below nothing, and so does the root {names[root]!r}; give it a parent."
        )
        found.append(Finding("root", message, first_lines[names[other]]))
    leaves = np.flatnonzero(is_leaf & (top == root))
    height = int(depths[leaves].max(initial=0))
    rows, nodes = [leaves], leaves
    for level in range(1, height + 1):
        nodes = np.where(depths[nodes] > height - level, parents[nodes], nodes)
        rows.append(nodes)
    leaf_lines = [lines[int(leaf)] for leaf in leaves]
    levels = Levels(names, np.array(rows if height else rows[:0], dtype=np.int32), leaf_lines)
    found += _faulty_ranges(edges, levels) if edges.ranges else faulty_leaves(levels)
    return found, levels


def _parents(
    edges: Edges, numbers: dict[str, int], found: list[Finding]
) -> tuple[Rows, dict[int, int | None]]:
    """The parent of each name (a root is its own), and the line that says so.

    A line that puts a name below itself only says that the node is repeated.
    """
    parents: Rows = np.arange(len(numbers), dtype=np.int64)
    names = tuple(numbers)
    lines: dict[int, int | None] = {}
    for child, parent, line in zip(edges.children, edges.parents, edges.lines, strict=True):
        if not parent or child == parent:
            continue
        node, above = numbers[child], numbers[parent]
        if child == ROOT:
            message = f"{ROOT!r} means any value: it is the root, and cannot stand below {parent!r}."
            found.append(Finding("root", message, line))
        elif node not in lines:
            parents[node], lines[node] = above, line
        else:
            where = "" if line is None else f" on line {lines[node]}"
            first = names[parents[node]]
            if parent == first:
                found.append(Finding("duplicate", f"the parent of {child!r} was given{where} already.", line))
            else:
                message = f"{child!r} stands below {parent!r} here and below {first!r}{where}; it can have one parent."
                found.append(Finding("parents", message, line))
    return parents, lines


def _tops(parents: Rows) -> tuple[Rows, Rows]:
    """What each node reaches when it climbs as far as it can, and in how many steps; by doubling the stride."""
    top, steps = parents, (parents != np.arange(len(parents))).astype(np.int64)
    for _ in range(len(parents).bit_length()):
        steps = steps + steps[top]
        top = top[top]
    return top, steps


def _cycles(
    names: tuple[str, ...], parents: Rows, lost: Rows, lines: dict[int, int | None]
) -> Iterator[Finding]:
    """One finding for each circle that leaves run into instead of reaching a root."""
    seen: set[int] = set()
    for start in lost.tolist():
        path: dict[int, None] = {}
        node = start
        while node not in seen and node not in path:
            path[node] = None
            node = int(parents[node])
        if node in path:
            circle = list(path)[list(path).index(node) :]
            shown = " → ".join(names[place] for place in (*circle[:10], circle[0]))
            message = f"{shown} runs in a circle and reaches no root; break it."
            yield Finding("cycle", message, lines.get(node))
        seen.update(path)


def _faulty_ranges(edges: Edges, levels: Levels) -> Iterator[Finding]:
    for child, parent, line in zip(edges.children, edges.parents, edges.lines, strict=True):
        (low, high), (least, most) = edges.ranges[child], edges.ranges[parent]
        if low < least or high > most:
            yield Finding("range", f"the range {child} is not inside {parent}, which stands above it.", line)
    if not len(levels.numbers):
        return
    leaves = [levels.texts[number] for number in levels.numbers[0]]
    ordered = sorted(zip(leaves, levels.lines, strict=True), key=lambda leaf: edges.ranges[leaf[0]])
    for (one, _), (two, line) in pairwise(ordered):
        if edges.ranges[one][1] > edges.ranges[two][0]:
            yield Finding("range", f"the ranges {one} and {two} overlap.", line)


def leaf_ranges(edges: Edges, levels: Levels, domain: Domain) -> Codes:
    """The leaf of a hierarchy of ranges that each present value of a domain falls into; -1 for none."""
    if domain.kind is not Kind.NUMERIC:
        raise WrongUse(f"The hierarchy is made of ranges of numbers, and the column is {domain.kind}.")
    assert domain.values is not None
    ends = np.array([edges.ranges[levels.texts[number]] for number in levels.numbers[0]]).reshape(-1, 2)
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    values = domain.values[: domain.present]
    places = np.searchsorted(ends[order, 0], values, side="right") - 1
    inside = (places >= 0) & (values <= ends[order[places], 1])
    return np.where(inside, order[places], -1).astype(np.int32)
