"""What workers tell of their parts, beside the rows that they make: plain data on one of the rows of a part."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import polars

    from shoal.data.dataset import Parts

    Frame: TypeAlias = polars.DataFrame

NOTE = "(note)"
"""The column of notes: a JSON object in one row of a part, and nothing in the others."""


def noted(frame: "Frame", told: Mapping[str, Any]) -> "Frame":
    """Rows with what is told of them, on the first one; there must be one."""
    import polars as pl

    note = pl.Series(NOTE, [json.dumps(told), *[None] * (frame.height - 1)], dtype=pl.String)
    return frame.with_columns(note)


def notes_in(frame: "Frame") -> list[dict[str, Any]]:
    """What is told on the rows of a frame."""
    return [json.loads(note) for note in frame[NOTE].drop_nulls().to_list()]


def notes_of(parts: "Parts") -> tuple[int, list[dict[str, Any]]]:
    """How many rows there are, and what is told on them, in any order."""
    found = parts.fold(
        lambda frame: (frame.height, notes_in(frame)),
        lambda one, other: (one[0] + other[0], one[1] + other[1]),
    )
    return found or (0, [])
