"""The codebook of a release: the type of every published column, and every code with what it means."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Any

import numpy as np

from shoal.data.baskets import Baskets
from shoal.data.dataset import Dataset, schema_of
from shoal.data.linked import Linked
from shoal.data.published_syntax import SUPPRESSED, is_formula, set_members
from shoal.data.related import Related
from shoal.data.summary import Summary
from shoal.data.table import Column, Table

LISTED = 250
"""Codes of a column, or items, that are listed one by one; of more only the notation is given."""

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_RANGE = re.compile(r"([\[(])([^,\[\]()]+),([^,\[\]()]+)([\])])")


def _is_date(text: str) -> bool:
    try:
        return _DATE.fullmatch(text) is not None and bool(date.fromisoformat(text))
    except ValueError:
        return False


_TYPES: tuple[tuple[str, Callable[[str], object]], ...] = (
    ("integer", _INTEGER.fullmatch),
    ("number", _NUMBER.fullmatch),
    ("date", _is_date),
)


@dataclass(frozen=True, slots=True)
class Codes:
    """The published values of a column."""

    values: tuple[str, ...] | None
    """All of them but missing ones, ascending; None where there are more than `LISTED`."""
    types: tuple[str, ...]
    """The types that all of them have, the narrowest first: ``integer``, ``number``, ``date``; none for texts."""
    missing: bool = False  # whether some cells are missing

    @property
    def type(self) -> str:
        """The type of the column in a table schema."""
        return self.types[0] if self.types else "string"

    def joined(self, other: "Codes") -> "Codes":
        """The codes of both."""
        values = (
            None if None in (self.values, other.values) else {*(self.values or ()), *(other.values or ())}
        )
        alone = [codes.types for codes in (self, other) if codes.values != ()]
        types = tuple(name for name, _ in _TYPES if alone and all(name in one for one in alone))
        return Codes(_listed(values), types, self.missing or other.missing)


def codes_of(texts: Iterable[str | None]) -> Codes:
    """The codes among texts; an empty text is a missing cell.

    >>> codes_of(["20", "7", ""])
    Codes(values=('20', '7'), types=('integer', 'number'), missing=True)
    """
    distinct = set(texts)
    present = {text for text in distinct if text}
    types = tuple(name for name, form in _TYPES if present and all(map(form, present)))
    return Codes(_listed(present), types, len(present) < len(distinct))


def columns_of(data: Any) -> dict[str, Codes]:
    """The codes of each column of a published table, wherever its rows are."""
    if not isinstance(data, Dataset):
        return {column.name: _of_column(column) for column in data.columns}
    found = data.parts.fold(_of_frame, _merged)
    return found or {name: Codes((), ()) for name in data.schema.names}


def items_of(data: Any) -> tuple[str, ...] | None:
    """The published items of baskets, groups or clusters, ascending; None where there are more than `LISTED`."""
    schema = schema_of(data)
    if isinstance(data, Dataset) and not isinstance(schema, Baskets):
        found = data.parts.fold(partial(_items_in, form=type(schema)), _both)
        return () if found is None else found[0]
    vocabulary: Sequence[str] = schema.vocabulary
    return _listed(set(vocabulary))


def tables_of(data: Any) -> dict[str, dict[str, Codes]] | None:
    """The codes of each table that is published, by the name of its file; None for forms that are no tables."""
    schema = schema_of(data)
    if isinstance(schema, Related):
        persons, records = schema.numbered()
        return {"data": columns_of(persons), "records": columns_of(records)}
    if isinstance(schema, Table):
        return {"data": columns_of(data)}
    if isinstance(schema, Summary):
        return {"data": columns_of(schema.cells)}
    if isinstance(schema, Linked):
        from shoal.io.releases.linked_files import summed

        return {"data": columns_of(schema.public), "sensitive": columns_of(summed(schema))}
    return None


def meaning(text: str) -> str:
    r"""What a published cell means; empty where it is a value like any other.

    >>> meaning("[25,31]"), meaning("[25,30)"), meaning("{a|b}"), meaning("a")
    ('25 to 31', '25 to below 30', 'a or b', '')
    """
    if text == SUPPRESSED:
        return "suppressed: any value"
    if (members := set_members(text)) is not None:
        return " or ".join(members)
    if (ends := _RANGE.fullmatch(text)) is not None:
        opened, low, high, closed = ends.groups()
        return f"{'above ' * (opened == '(')}{low} to {'below ' * (closed == ')')}{high}"
    return ""


def field(name: str, codes: Codes, guarded: bool = False, **said: Any) -> dict[str, Any]:
    """A column as a field of a table schema, with its codes.

    `guarded`: cells that a spreadsheet would run have an apostrophe before them.
    """
    kind = codes.type
    entry: dict[str, Any] = {"name": name, "type": kind, **said}
    if codes.values is None or not codes.values or kind not in ("string", "integer"):
        return entry
    values = [f"'{text}" if guarded and is_formula(text) else text for text in codes.values]
    typed: list[Any] = sorted(map(int, values)) if kind == "integer" else values
    entry["constraints"] = {"enum": typed}
    labeled = [(value, meaning(str(value))) for value in typed]
    if any(label for _, label in labeled):
        entry["categories"] = [
            {"value": value, **({"label": label} if label else {})} for value, label in labeled
        ]
    return entry


def _listed(values: set[str] | None) -> tuple[str, ...] | None:
    return None if values is None or len(values) > LISTED else tuple(sorted(values))


def _of_column(column: Column) -> Codes:
    missing = column.domain.missing
    labels = column.domain.labels
    used = np.flatnonzero(np.bincount(column.codes, minlength=len(labels))).tolist()
    return codes_of("" if code == missing else labels[code] for code in used)


def _of_frame(frame: Any) -> dict[str, Codes]:
    from shoal.data._frames import unnamed

    return {series.name: codes_of(unnamed(series).unique().to_list()) for series in frame}


def _merged(one: Mapping[str, Codes], other: Mapping[str, Codes]) -> dict[str, Codes]:
    return {name: codes.joined(other[name]) for name, codes in one.items()}


def _items_in(frame: Any, form: type) -> tuple[tuple[str, ...] | None]:
    """The items of some lines, alone in a tuple."""
    from shoal.io.releases.distributed import sets_in

    return (_listed(set(sets_in(frame.to_series().to_list(), "the release", form).vocabulary)),)


def _both(one: tuple[Any], other: tuple[Any]) -> tuple[tuple[str, ...] | None]:
    return (None if None in (*one, *other) else _listed({*one[0], *other[0]}),)
