"""What is wrong with a hierarchy: everything at once, each with its line.

A good hierarchy covers every value of the data, leads every leaf to one root, nests its levels, and gives a text one
meaning only.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np

from shoal.data.domain import Domain
from shoal.data.hierarchy import ROOT
from shoal.errors import WrongUse
from shoal.io.hierarchies.check_edges import examine_edges, leaf_ranges
from shoal.io.hierarchies.check_rows import examine_rows
from shoal.io.hierarchies.findings import Finding, Findings, Levels
from shoal.io.hierarchies.formats import Edges, Parsed, parse, rows_or_edges

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
