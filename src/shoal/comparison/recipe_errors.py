"""What is wrong with a recipe of a comparison, in plain words: which table, which key, what is allowed."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from shoal.errors import told, wanted

TABLES = {"sweep": ("name",), "chart": ("name", "sweep"), "published": ("label", "chart")}
"""Tables of which a recipe has several, and the keys that tell which one it is."""

ALTERNATIVES = frozenset({"str", "int", "float", "bool"})
"""What pydantic calls simple alternatives of a value; the names of others have a bracket."""

Place = tuple[str | int, ...]


def explained(error: ValidationError, recipe: Mapping[str, Any], kind: type[BaseModel]) -> str:
    """Say what is wrong with a recipe: tables by their names, the key, what is allowed, and what came.

    `recipe`: as it was read. `kind`: what it was to be.
    """
    found: dict[Place, list[Mapping[str, Any]]] = {}
    for problem in error.errors():
        found.setdefault(_without_alternatives(problem["loc"]), []).append(problem)
    return " ".join(
        f"{_said(place, problems, recipe, kind)}."
        for place, problems in found.items()
        # A list that misses its wrong entry is not wrong itself.
        if not any(len(other) > len(place) and other[: len(place)] == place for other in found)
    )


def _without_alternatives(place: Place) -> Place:
    return tuple(
        part for part in place if isinstance(part, int) or (part not in ALTERNATIVES and "[" not in part)
    )


def _said(
    place: Place, problems: Sequence[Mapping[str, Any]], recipe: Mapping[str, Any], kind: type[BaseModel]
) -> str:
    first, where = problems[0], _called(place, recipe)
    if len(problems) > 1:
        return f"{where} must be {' or '.join(dict.fromkeys(map(wanted, problems)))}, not {first['input']!r}"
    if first["type"] == "value_error" and isinstance(first["input"], dict):
        return f"{where} must be {wanted(first)}"  # without repeating the whole table
    return told(where, first, _keys(place[:-1], kind))


def _called(place: Place, recipe: Mapping[str, Any]) -> str:
    """A place in words.

    >>> _called(("sweep", 0, "seeds", 1), {"sweep": [{"name": "cost"}]})
    'sweep cost: entry 2 of seeds'
    """
    table, rest = "", place
    match place:
        case (str(head), int(number), *keys) if head in TABLES:
            entry = recipe[head][number]
            names = [entry[key] for key in TABLES[head] if entry.get(key)] if isinstance(entry, dict) else []
            name = names[0] if names and isinstance(names[0], str) else f"number {number + 1}"
            table, rest = f"{head} {name}", tuple(keys)
        case ("datasets", str(name), *keys):
            table, rest = f"dataset {name}", tuple(keys)
    key = ""
    for part in rest:
        key = f"entry {part + 1} of {key}" if isinstance(part, int) else f"{key}.{part}" if key else part
    return f"{table}: {key}" if table and key else table or key


def _keys(place: Place, kind: type) -> list[str]:
    """The keys that a table of a recipe may have."""
    for part in place:
        annotations = {name: field.annotation for name, field in getattr(kind, "model_fields", {}).items()}
        kind = _table_in(annotations.get(str(part))) or kind
    if is_dataclass(kind):
        return [field.name for field in fields(kind)]
    return list(getattr(kind, "model_fields", ()))


def _table_in(annotation: Any) -> type | None:
    """The kind of table that an annotation speaks of, such as that of ``tuple[Sweep, ...]``."""
    if isinstance(annotation, type) and (issubclass(annotation, BaseModel) or is_dataclass(annotation)):
        return annotation
    return next((found for part in get_args(annotation) if (found := _table_in(part)) is not None), None)
