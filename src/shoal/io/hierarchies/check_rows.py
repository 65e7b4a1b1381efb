"""What is wrong with a hierarchy of rows from leaf to root."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from shoal.arrays import Mask, Rows
from shoal.data.hierarchy import ROOT, ambiguous_texts
from shoal.io.hierarchies.findings import Finding, Levels, faulty_leaves
from shoal.io.hierarchies.formats import LeafRows


def examine_rows(rows: LeafRows) -> tuple[list[Finding], Levels]:
    """All faults of rows, and the levels that can be made of the good ones."""
    found: list[Finding] = []
    cells, lines = _even_rows(rows, found)
    numbers: dict[str, int] = {}
    columns = zip(*cells, strict=True)
    matrix = [[numbers.setdefault(text, len(numbers)) for text in column] for column in columns]
    shape = (len(matrix), len(lines))
    levels = Levels(tuple(numbers), np.array(matrix, dtype=np.int32).reshape(shape), lines)
    found += faulty_leaves(levels)
    found += _duplicates(levels)
    found += _forks(levels)
    found += _lost_leaves(levels)
    found += _ambiguities(levels)
    return found, levels


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
    single_top = len(levels.numbers) > 1 and bool(np.all(levels.numbers[-1] == levels.numbers[-1][:1]))
    below_root = levels.numbers[:-1] if single_top else levels.numbers
    for number, low, high in ambiguous_texts(below_root):
        if number != root:
            leaf = int(np.flatnonzero(levels.numbers[high] == number)[0])
            yield Finding(
                "ambiguous",
                f"{levels.texts[number]!r} means other values on level {high} than on level {low}; a published cell "
                "could not be told apart; give each meaning its own text.",
                levels.lines[leaf],
            )


def _shown(levels: Levels, leaves: Rows) -> str:
    texts = [repr(levels.texts[levels.numbers[0, leaf]]) for leaf in leaves[:5]]
    more = f" and {len(leaves) - 5} more" if len(leaves) > 5 else ""
    return ", ".join(texts) + more
