"""Pictures that a method provides for the owner of the data, as plain data among the notes of its trace.

``notes["pictures"]`` is a list of objects, each with its ``kind``, a ``title`` and a ``caption``:

``matrix``
    ``cells``, lists of numbers of equal length, for a matrix that has ``rows`` rows and ``columns`` columns.
``histogram``
    ``counts`` of something (its ``unit``), and a label for each of them under ``labels``.

Other kinds are ignored, so that a method may provide more than this page can draw.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix, binned to few cells."""

    title: str
    caption: str
    rows: int
    columns: int
    cells: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts of something, with a label each."""

    title: str
    caption: str
    unit: str
    labels: tuple[str, ...]
    counts: tuple[int, ...]


Picture = Matrix | Histogram


def pictures_of(notes: Mapping[str, Any]) -> tuple[Picture, ...]:
    """The pictures among the notes of a trace, in their order."""
    found: list[Picture] = []
    for entry in notes.get("pictures", ()):
        match entry:
            case {"kind": "matrix", "title": title, "caption": caption, "cells": cells}:
                lines = tuple(tuple(line) for line in cells)
                found.append(Matrix(title, caption, entry["rows"], entry["columns"], lines))
            case {"kind": "histogram", "title": title, "caption": caption, "counts": counts}:
                labels = tuple(map(str, entry["labels"]))
                found.append(Histogram(title, caption, entry["unit"], labels, tuple(counts)))
    return tuple(found)
