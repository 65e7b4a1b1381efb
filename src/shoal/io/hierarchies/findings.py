"""Faults of a hierarchy, and its levels while they are judged."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from shoal.arrays import Codes
from shoal.data.hierarchy import ROOT, Hierarchy
from shoal.data.published_syntax import looks_published


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
