"""What is wrong with a hierarchy: everything at once, each with its line.

A good hierarchy covers every value of the data, leads every leaf to one root, nests its levels, and gives a text one
meaning only.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import count, pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from shoal.arrays import Codes, Mask, Rows
from shoal.data.domain import Domain, Kind
from shoal.data.hierarchy import ROOT, Hierarchy, ambiguous_texts
from shoal.data.published_syntax import looks_published
from shoal.errors import WrongUse
from shoal.io.hierarchies.formats import Edges, LeafRows, Parsed, parse, rows_or_edges


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of a hierarchy."""

    fault: str
    """Which fault: ``uneven``, ``empty``, ``syntax``, ``duplicate``, ``nesting``, ``root``, ``ambiguous``, ``cycle``,
    ``parents``, ``range`` or ``missed``."""
    message: str  # what is wrong and what to do
    line: int | None = None  # where, counted from 1; None where it has no place in the file

    def __str__(self) -> str:
        return self.message if self.line is None else f"line {self.line}: {self.message}"


@dataclass(frozen=True, slots=True)
class Findings(Sequence[Finding]):
    """All faults of a hierarchy, in the order of their lines; empty, and so false, where there are none."""

    found: tuple[Finding, ...]  # the faults
    leaves: int
    levels: int
    """`leaves`, `levels`: the size of the hierarchy: its values, and its levels with the values and the root."""
    missed: tuple[str, ...] = ()  # the values of the data that the hierarchy misses

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, place: Any) -> Any:
        return self.found[place]

    def as_dict(self) -> dict[str, Any]:
        """The findings as plain data."""
        return {
            "leaves": self.leaves,
            "levels": self.levels,
            "missed": list(self.missed),
            "found": [asdict(finding) for finding in self.found],
        }


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """The text of each leaf on each level: ``texts[numbers[level, leaf]]``, and the line of each leaf."""

    texts: tuple[str, ...]
    numbers: Codes
    lines: Sequence[int | None]

    def hierarchy(self, *, by_width: bool = False) -> Hierarchy:
        """The hierarchy of levels that nest; its root is ``*`` whatever the file calls it."""
        labels, parents = [], []
        below: Codes | None = None
        for numbers in self.numbers:
            present, codes = np.unique(numbers, return_inverse=True)
            labels.append(tuple(self.texts[number] for number in present))
            if below is not None:
                up = np.zeros(len(labels[-2]), dtype=np.int32)
                up[below] = codes
                parents.append(up)
            below = codes.astype(np.int32)
        assert below is not None
        if len(labels) == 1 or len(labels[-1]) > 1:
            labels.append((ROOT,))
            parents.append(np.zeros(len(labels[-2]), dtype=np.int32))
        return Hierarchy((*labels[:-1], (ROOT,)), tuple(parents), by_width)


def faulty_leaves(levels: Levels) -> Iterator[Finding]:
    """Raw values that a reader of the release would take for something else."""
    for number, line in zip(levels.numbers[0] if len(levels.numbers) else (), levels.lines, strict=True):
        text = levels.texts[number]
        if looks_published(text):
            message = f"the value {text!r} looks like a published cell; a hierarchy starts with raw values."
            yield Finding("syntax", message, line)


def examine_rows(rows: LeafRows) -> tuple[list[Finding], Levels]:
    """All faults of rows, and the levels that can be made of the good ones."""
    found: list[Finding] = []
    cells, lines = _even_rows(rows, found)
    numbers: dict[str, int] = {}
    columns = zip(*cells, strict=True)
    matrix = [[numbers.setdefault(text, len(numbers)) for text in column] for column in columns]
    shape = (len(matrix), len(lines))
    levels = _groups_apart(Levels(tuple(numbers), np.array(matrix, dtype=np.int32).reshape(shape), lines))
    found += faulty_leaves(levels)
    found += _duplicates(levels)
    found += _forks(levels)
    found += _lost_leaves(levels)
    found += _ambiguities(levels)
    return found, levels


def group_name(text: str, taken: Collection[str]) -> str:
    """What a node is published as that has the name of one of its leaves.

    >>> group_name("sausage", {"sausage"}), group_name("sausage", {"sausage", "sausage (group)"})
    ('sausage (group)', 'sausage (group 2)')
    """
    names = (f"{text} (group{f' {number}' if number > 1 else ''})" for number in count(1))
    return next(name for name in names if name not in taken)


def _groups_apart(levels: Levels) -> Levels:
    """The levels with names of their own for nodes that are called like one of several leaves below them."""
    if len(levels.numbers) < 2:
        return levels
    texts, numbers = list(levels.texts), levels.numbers.copy()
    for number in dict.fromkeys(number for number, *_ in ambiguous_texts(_below_root(levels))):
        leaf = np.flatnonzero(levels.numbers[0] == number)
        above = levels.numbers[1:] == number
        larger = above.sum(axis=1) > 1
        if len(leaf) != 1 or not above[larger][:, leaf[0]].all() or texts[number] == ROOT:
            continue
        texts.append(group_name(texts[number], texts))
        numbers[1:][above & larger[:, None]] = len(texts) - 1
    return Levels(tuple(texts), numbers, levels.lines)


def _even_rows(rows: LeafRows, found: list[Finding]) -> tuple[list[list[str]], list[int]]:
    """The rows of the usual number of cells, short branches filled up; the others become findings.

    A row whose last cells are empty is a short branch: its leaf is repeated on the levels that it lacks, so that
    what stands above the leaf keeps its distance from the root.
    """
    filled = Counter(len(row) for row in rows.cells)
    usual = max(filled, key=lambda width: (filled[width], width))
    top = usual
    while top > 1 and not any(row[top - 1] for row in rows.cells if len(row) == usual):
        top -= 1
    cells, lines = [], []
    for row, line in zip(rows.cells, rows.lines, strict=True):
        if len(row) != usual:
            message = (
                f"the row has {len(row)} cells where most have {usual}; give every row a cell for each level."
            )
            found.append(Finding("uneven", message, line))
            continue
        length = next((place for place in range(top, 0, -1) if row[place - 1]), 0)
        if length == 0 or (row[0] and not all(row[:length])) or (not row[0] and length < top):
            message = "the row has an empty cell; repeat the text to its left there to skip a level."
            found.append(Finding("empty", message, line))
            continue
        cells.append([row[0]] * (top - length) + row[:length])
        lines.append(line)
    return cells, lines


def _duplicates(levels: Levels) -> Iterator[Finding]:
    if not len(levels.numbers):
        return
    first_line: dict[int, int | None] = {}
    for number, line in zip(levels.numbers[0].tolist(), levels.lines, strict=True):
        if number in first_line:
            message = f"the value {levels.texts[number]!r} stands on line {first_line[number]} already."
            yield Finding("duplicate", message, line)
        else:
            first_line[number] = line


def _forks(levels: Levels) -> Iterator[Finding]:
    """Nodes with two parents: the levels do not nest."""
    for level in range(1, len(levels.numbers) - 1):
        here, above = levels.numbers[level], levels.numbers[level + 1]
        pairs = here.astype(np.int64) * len(levels.texts) + above
        distinct, first = np.unique(pairs, return_index=True)
        nodes = distinct // len(levels.texts)
        for place in np.flatnonzero(nodes[1:] == nodes[:-1]) + 1:
            one, two = sorted((int(first[np.searchsorted(nodes, nodes[place])]), int(first[place])))
            yield Finding(
                "nesting",
                f"{levels.texts[here[two]]!r} of level {level} stands below {levels.texts[above[two]]!r} here and "
                f"below {levels.texts[above[one]]!r} on line {levels.lines[one]}; levels must nest.",
                levels.lines[two],
            )


def _lost_leaves(levels: Levels) -> Iterator[Finding]:
    """Leaves that do not end in the root although there is one, and roots in the middle."""
    if ROOT not in levels.texts:
        return
    root = levels.texts.index(ROOT)
    for level, numbers in enumerate(levels.numbers):
        is_root: Mask = numbers == root
        if level == 0 or is_root.all() or not is_root.any():
            continue
        if level == len(levels.numbers) - 1:
            lost = np.flatnonzero(~is_root)
            yield Finding(
                "root",
                f"{_shown(levels, lost)} {'reaches' if len(lost) == 1 else 'reach'} no root: the last cell must be "
                f"{ROOT!r}, as on the other lines.",
                levels.lines[lost[0]],
            )
        else:
            early = np.flatnonzero(is_root)
            yield Finding(
                "ambiguous",
                f"{ROOT!r} means any value, but stands on level {level} for {_shown(levels, early)} only; repeat the "
                "text to its left there, and keep it for the last cell.",
                levels.lines[early[0]],
            )


def _ambiguities(levels: Levels) -> Iterator[Finding]:
    root = levels.texts.index(ROOT) if ROOT in levels.texts else -1
    for number, low, high in ambiguous_texts(_below_root(levels)):
        if number != root:
            leaf = int(np.flatnonzero(levels.numbers[high] == number)[0])
            yield Finding(
                "ambiguous",
                f"{levels.texts[number]!r} means other values on level {high} than on level {low}; a published cell "
                "could not be distinguished; give each meaning its own text.",
                levels.lines[leaf],
            )


def _below_root(levels: Levels) -> Codes:
    """The levels without that of the root, where there is one."""
    single_top = len(levels.numbers) > 1 and bool(np.all(levels.numbers[-1] == levels.numbers[-1][:1]))
    return levels.numbers[:-1] if single_top else levels.numbers


def _shown(levels: Levels, leaves: Rows) -> str:
    texts = [repr(levels.texts[levels.numbers[0, leaf]]) for leaf in leaves[:5]]
    more = f" and {len(leaves) - 5} more" if len(leaves) > 5 else ""
    return ", ".join(texts) + more


def examine_edges(edges: Edges) -> tuple[list[Finding], Levels]:
    """All faults of edges, and the levels that can be made of what hangs from the root.

    A node keeps its distance from the root: where a branch is shorter than the longest one, its leaf is repeated on
    the levels between level 0 and its parent.
    """
    edges = _groups_below(edges)
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


def _groups_below(edges: Edges) -> Edges:
    """The edges with names of their own for nodes that have other names and their own below them."""
    own = {child for child, parent in zip(edges.children, edges.parents, strict=True) if child == parent}
    pairs = list(zip(edges.children, edges.parents, strict=True))
    nodes = own & {parent for child, parent in pairs if child != parent} - {ROOT}
    if not nodes or edges.ranges:
        return edges
    taken = {*edges.children, *edges.parents}
    names = {text: group_name(text, taken) for text in sorted(nodes)}
    children = [names.get(child, child) if child != parent else child for child, parent in pairs]
    return replace(edges, children=children, parents=[names.get(parent, parent) for _, parent in pairs])


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


HierarchySource: TypeAlias = str | Path | Iterable[Sequence[str]]
"""A hierarchy file, or rows of cells from leaf to root (or of child and parent)."""


def check(source: HierarchySource, domain: Domain | None = None) -> Findings:
    """List all faults of a hierarchy.

    `source`: a file of any format that `shoal.io.hierarchies.load.read_hierarchy` reads, or rows of cells. `domain`:
    the values of the data that it must cover. Raises `BadData` if the file cannot be read as a hierarchy at all.
    """
    if isinstance(source, str | Path):
        parsed = parse(source)
    else:
        cells = [[str(cell).strip() for cell in row] for row in source]
        if not cells:
            raise WrongUse("A hierarchy needs at least one row.")
        parsed = rows_or_edges(cells, list(range(1, len(cells) + 1)))
    found, levels = examine(parsed)
    missed: list[str] = []
    if domain is not None:
        missed = _missed(levels, parsed, domain)
        found += [
            Finding("missed", f"the data has {label!r}, and the hierarchy misses it.") for label in missed
        ]
    top = {levels.texts[number] for number in levels.numbers[-1:].ravel()}
    has_root = ROOT in top or (len(top) == 1 and len(levels.numbers) > 1)
    return Findings(
        tuple(sorted(found, key=lambda finding: (finding.line is None, finding.line or 0))),
        leaves=len(np.unique(levels.numbers[:1])),
        levels=len(levels.numbers) + (not has_root),
        missed=tuple(missed),
    )


def examine(parsed: Parsed) -> tuple[list[Finding], Levels]:
    """All faults of rows or edges, and the levels that can be made of what is good of them."""
    return examine_edges(parsed) if isinstance(parsed, Edges) else examine_rows(parsed)


def _missed(levels: Levels, parsed: Parsed, domain: Domain) -> list[str]:
    present = domain.labels[: domain.present]
    if isinstance(parsed, Edges) and parsed.ranges:
        inside = leaf_ranges(parsed, levels, domain) >= 0
        return [label for label, covered in zip(present, inside, strict=True) if not covered]
    known = {levels.texts[number] for number in levels.numbers[0]} if len(levels.numbers) else set()
    return [label for label in present if label not in known]
