"""release.json: how a release was made and what it promises, and nothing about its input."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from shoal.addresses import without_passwords
from shoal.data.release import Published, Release
from shoal.data.role import Role
from shoal.errors import BadData, WrongUse
from shoal.io.source import read_text

Form = TypeVar("Form")

FORMAT = 1
"""The version of the form of release.json. It grows when old readers could not read a new one."""

PRIVATE = frozenset({"seed", "source", "input", "path", "hierarchies", "hierarchy"})
"""Parameters and details that tell of the input, and are left out."""

_SHAPES: dict[str, dict[str, type]] = {
    "table": {"columns": list, "rows": int},
    "baskets": {"layout": str, "baskets": int, "items": int, "sensitive": list, "insensitive": list},
    "groups": {"baskets": int, "groups": int, "items": int},
    "clusters": {"baskets": int, "clusters": int, "items": int},
}
_MADE: dict[str, type] = {
    "method": str,
    "parameters": dict,
    "promises": list,
    "suppressed": int,
}
_RESERVED = frozenset(
    {"format", "tool", "form", "separator", *_MADE, *(key for shape in _SHAPES.values() for key in shape)}
)


@dataclass(frozen=True, slots=True)
class Facts:
    """What release.json says.

    Parameters
    ----------
    shape
        What the data file holds: ``form``, and columns with roles, or layout and sensitive items, and counts.
    made
        ``method``, ``parameters``, ``promises`` and ``suppressed``.
    details
        Public facts of the method.
    """

    shape: dict[str, Any]
    made: dict[str, Any]
    details: dict[str, Any]

    def release(self, data: Published) -> Release:
        """The release of which this is said."""
        return self.parted(data)

    def parted(self, data: Form) -> Release[Form]:
        """The release of which this is said, its data in any form."""
        return Release(
            data,
            self.made["method"],
            self.made["parameters"],
            tuple(self.made["promises"]),
            self.made["suppressed"],
            self.details,
        )


def facts_text(release: Release[Any], shape: Mapping[str, Any], version: str) -> str:
    """The text of release.json.

    The public facts of the method stand beside the others on the first level. Whatever could tell of the input (seed,
    paths, hierarchies) is left out.

    Parameters
    ----------
    release
        What is published.
    shape
        What the data file holds.
    version
        Of Shoal.
    """
    details = _public(release.details)
    taken = sorted(_RESERVED & set(details))
    if taken:
        raise WrongUse(
            f"A detail of a release cannot be called {taken[0]!r}: release.json uses that name itself."
        )
    facts = {
        "format": FORMAT,
        "tool": {"name": "shoal", "version": version},
        "method": release.method,
        "parameters": without_passwords(_public(release.parameters)),
        "promises": [dict(promise) for promise in release.promises],
        **shape,
        "suppressed": release.suppressed,
        **details,
    }
    return json.dumps(facts, ensure_ascii=False, indent=2, default=_plain) + "\n"


def read_facts(path: Path) -> Facts:
    """Read release.json.

    Raises
    ------
    BadData
        If it is no JSON object, of another version, or lacks something.
    """
    try:
        facts = json.loads(read_text(path))
    except (json.JSONDecodeError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else None
        raise BadData(
            "this is no JSON: it is damaged or cut off. Fetch the folder again.", path, line
        ) from None
    if not isinstance(facts, dict) or "format" not in facts:
        raise BadData("this is not the release.json of a release of Shoal.", path)
    if facts["format"] != FORMAT:
        raise BadData(
            f"the release has the format version {facts['format']!r}, and this version of Shoal reads {FORMAT}. "
            "Update Shoal.",
            path,
        )
    form = facts.get("form")
    if form not in _SHAPES:
        raise BadData(f"the form {form!r} of the data is none of {', '.join(_SHAPES)}.", path)
    for key, kind in {**_MADE, **_SHAPES[form]}.items():
        if not isinstance(facts.get(key), kind):
            raise BadData(f"{key!r} is missing or wrong. Fetch the folder again.", path)
    _check_lists(facts, form, path)
    shape = {key: facts[key] for key in ("form", "separator", *_SHAPES[form]) if key in facts}
    made = {key: facts[key] for key in _MADE}
    return Facts(shape, made, {key: value for key, value in facts.items() if key not in _RESERVED})


def _check_lists(facts: Mapping[str, Any], form: str, path: Path) -> None:
    """Refuse columns, items or promises of another form than the one they are written in."""
    if not all(
        isinstance(promise, dict) and isinstance(promise.get("model"), str) for promise in facts["promises"]
    ):
        raise BadData("a promise must be an object that names its model.", path)
    for column in facts["columns"] if form == "table" else ():
        if not isinstance(column, dict) or not isinstance(column.get("name"), str):
            raise BadData("a column must be an object with a name and a role.", path)
        if column.get("role") not in set(Role):
            raise BadData(
                f"the column has the role {column.get('role')!r}, which there is not.",
                path,
                column=column["name"],
            )
    for key in ("sensitive", "insensitive") if form == "baskets" else ():
        if not all(isinstance(item, str) for item in facts[key]):
            raise BadData(f"{key!r} must be a list of items.", path)


def _public(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in facts.items() if key not in PRIVATE}


def _plain(value: Any) -> Any:
    """Numbers of numpy, fractions and paths as JSON has them."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return str(value)
