"""release.json: how a release was made and what it promises, and nothing about its input."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from shoal.addresses import without_passwords
from shoal.data.baskets import Baskets
from shoal.data.release import Release
from shoal.data.role import Role, Roles
from shoal.data.table import Table
from shoal.errors import BadData, UnknownName, WrongUse
from shoal.io.baskets.layouts import parse_layout
from shoal.io.reading import own_reading
from shoal.io.releases.summary_file import check_summary
from shoal.io.source import read_text
from shoal.io.tables.load import read_published_table

Form = TypeVar("Form")

FORMAT = 1
"""The version of the form of release.json. It grows when old readers could not read a new one."""

ITEM_ROLES = ("sensitive", "insensitive")

PRIVATE = frozenset({"seed", "source", "input", "path", "hierarchies", "hierarchy"})
"""Parameters and details that reveal the input, and are left out."""

_SHAPES: dict[str, dict[str, type]] = {
    "table": {"columns": list, "rows": int},
    "clustered": {"columns": list, "sets": str, "rows": int, "clusters": int, "items": int},
    "baskets": {"layout": str, "baskets": int, "items": int, "sensitive": list, "insensitive": list},
    "groups": {"baskets": int, "groups": int, "items": int},
    "clusters": {"baskets": int, "clusters": int, "items": int},
    "related": {"columns": list, "records": list, "key": str, "rows": int, "record_rows": int},
    "linked": {"columns": list, "link": str, "rows": int, "groups": int},
    "summary": {"columns": list, "tables": list, "values": list, "total": str, "cells": int},
}
_MADE: dict[str, type] = {
    "method": str,
    "parameters": dict,
    "promises": list,
    "suppressed": int,
}
_RESERVED = frozenset(
    {
        "format",
        "tool",
        "form",
        "separator",
        "safe_cells",
        *_MADE,
        *(key for shape in _SHAPES.values() for key in shape),
    }
)
_DETAILS: dict[str, type] = {
    "levels": dict,
    "parts": list,
    "nodes": dict,
    "leaves": int,
    "public_items": int,
    "perturbed": list,
    "prepared": dict,
}
"""The public facts that methods tell, and what was done to columns before: a release has no others."""

PERSONS = "numbers are valid inside a class only"
"""What is noted of the column that says which rows belong to one person."""

_KINDS = {int: "a whole number from 0 on", str: "a text", list: "a list", dict: "an object"}
_CHANGED = "Fetch the folder again."


@dataclass(frozen=True, slots=True)
class Facts:
    """What release.json says."""

    shape: dict[str, Any]
    """What the data file holds: ``form``, and columns with roles, or layout and sensitive items, and counts."""
    made: dict[str, Any]  # ``method``, ``parameters``, ``promises`` and ``suppressed``
    details: dict[str, Any]  # public facts of the method
    version: str = ""  # of the tool that made the release

    def release(self, data: Form) -> Release[Form]:
        """The release of which this is said, its data in any form."""
        return Release(
            data,
            self.made["method"],
            self.made["parameters"],
            tuple(self.made["promises"]),
            self.made["suppressed"],
            self.details,
        )


def baskets_shape(schema: Baskets, rows: int) -> dict[str, Any]:
    """What release.json says of baskets."""
    shape: dict[str, Any] = {"form": "baskets", "layout": schema.layout}
    if parse_layout(schema.layout).form == "column":
        from shoal.io.baskets.layouts import published_separator

        shape["separator"] = published_separator(schema.vocabulary)
    return shape | {
        "baskets": rows,
        "items": len(schema.vocabulary),
        "sensitive": [schema.vocabulary[item] for item in schema.sensitive],
        "insensitive": [schema.vocabulary[item] for item in schema.insensitive],
    }


def baskets_in_roles(baskets: Baskets, shape: Mapping[str, Any]) -> Baskets:
    """Published baskets, their items in the roles that release.json names.

    A sensitive item that is not published any more is no secret of this release.
    """
    from shoal.io.baskets.load import with_roles

    known = set(baskets.vocabulary)
    sensitive, insensitive = (tuple(filter(known.__contains__, shape[role])) for role in ITEM_ROLES)
    return with_roles(baskets, Roles(sensitive=sensitive, insensitive=insensitive))


def facts_text(release: Release[Any], shape: Mapping[str, Any], version: str) -> str:
    """The text of release.json.

    The public facts of the method stand beside the others on the first level. Whatever could reveal the input (seed,
    paths, hierarchies) is left out.
    """
    details = _public(release.details)
    taken = sorted(_RESERVED & set(details))
    if taken:
        raise WrongUse(
            f"A detail of a release cannot be called {taken[0]!r}: release.json uses that name itself."
        )
    if unknown := sorted(set(details) - set(_DETAILS)):
        raise WrongUse(
            f"A detail of a release cannot be called {unknown[0]!r}: there are {', '.join(_DETAILS)}. Add it to them."
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

    Raises `BadData` if it is no JSON object, of another version, lacks something, or says something that no release
    says.
    """
    facts = object_in(path)
    if not isinstance(facts, dict) or "format" not in facts:
        raise BadData("this is not the release.json of a release of Shoal.", path)
    if type(facts["format"]) is not int:
        raise BadData(f"'format' is damaged: it must be a whole number. {_CHANGED}", path)
    if facts["format"] != FORMAT:
        raise BadData(
            f"the release has the format version {facts['format']!r}, and this version of Shoal reads {FORMAT}. "
            "Update Shoal.",
            path,
        )
    form = facts.get("form")
    if not isinstance(form, str) or form not in _SHAPES:
        raise BadData(f"the form {form!r} of the data is none of {', '.join(_SHAPES)}.", path)
    own = {**_MADE, **_SHAPES[form]}
    for key, kind in own.items():
        _check_kind(facts.get(key), kind, key, path)
    column = form == "baskets" and facts["layout"].startswith("column:")
    if facts.get("safe_cells", True) is not True:
        raise BadData(f"'safe_cells' is true or not there. {_CHANGED}", path)
    optional = {"tool": dict, **_DETAILS, **({"separator": str} if column else {})}
    for key in facts.keys() - own.keys() - {"format", "form", "safe_cells"}:
        if key not in optional:
            raise BadData(f"{key!r} is nothing that the release.json of {form} says. {_CHANGED}", path)
        _check_kind(facts[key], optional[key], key, path)
    tool = facts.get("tool", {"name": "", "version": ""})
    if tool.keys() != {"name", "version"} or not all(isinstance(text, str) for text in tool.values()):
        raise BadData(f"'tool' has a name and a version, and nothing else. {_CHANGED}", path)
    if not all(isinstance(words, str) for words in facts.get("prepared", {}).values()):
        raise BadData(f"'prepared' says in words what was done to columns. {_CHANGED}", path)
    named = (isinstance(one, dict) and isinstance(one.get("model"), str) for one in facts["promises"])
    if not all(named):
        raise BadData("a promise must be an object that names its model.", path)
    if form in ("table", "clustered", "linked"):
        _check_columns(facts["columns"], facts["promises"], path)
    elif form == "related":
        _check_columns(facts["columns"], facts["promises"], path)
        _check_records(facts, path)
    elif form == "baskets":
        _check_items(facts, path)
    elif form == "summary":
        check_summary(facts, path)
    _check_parts(facts, path)
    shape = {key: facts[key] for key in ("form", "separator", "safe_cells", *_SHAPES[form]) if key in facts}
    made = {key: facts[key] for key in _MADE}
    return Facts(shape, made, {key: facts[key] for key in _DETAILS if key in facts}, tool["version"])


def object_in(path: Path) -> object:
    """What a JSON file holds; it names nothing twice, and has no numbers that JSON has not."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        twice = sorted(
            {name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else ()
        )
        if twice:
            raise BadData(f"{twice[0]!r} is named twice. {_CHANGED}", path)
        return dict(pairs)

    def number(text: str) -> float:
        raise BadData(f"{text} is not a JSON number. {_CHANGED}", path)

    try:
        return json.loads(read_text(path), object_pairs_hook=once, parse_constant=number)
    except (json.JSONDecodeError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else None
        raise BadData(f"this is not JSON: it is damaged or cut off. {_CHANGED}", path, line) from None


def _check_kind(value: object, kind: type, key: str, path: Path) -> None:
    """Refuse a value of another kind: numbers are whole and not negative, and true is not a number."""
    if type(value) is not kind or (type(value) is int and value < 0):
        raise BadData(f"{key!r} is missing or wrong: it must be {_KINDS[kind]}. {_CHANGED}", path)


def _check_columns(columns: list[Any], promises: list[Any], path: Path) -> None:
    """Refuse columns of another form than the one they are written in, and roles that no release gives them."""
    roles = _roles_of(columns, path)
    if Role.QUASI not in roles.values():
        raise BadData("no column is a quasi-identifier, so nothing can be proved of persons.", path)
    if len([role for role in roles.values() if role is Role.ITEMS]) > 1:
        raise BadData(f"two columns hold items, and no release has more than one. {_CHANGED}", path)
    persons = {name for name, role in roles.items() if role is Role.ENTITY}
    counted = {promise["entity"] for promise in promises if isinstance(promise.get("entity"), str)}
    if len(persons) > 1 or persons != counted:
        raise BadData(
            "one column at most says which rows belong to one person, and the promises name it: by its role it is "
            f"{_listed(persons)}, by the promises {_listed(counted)}. {_CHANGED}",
            path,
        )


def _check_parts(facts: Mapping[str, Any], path: Path) -> None:
    """Refuse parts whose rows are not those that are published; rows of stars belong to none."""
    parts = facts.get("parts")
    if parts is None:
        return
    for part in parts:
        if not isinstance(part, dict) or part.keys() != {"levels", "rows"}:
            raise BadData(f"a part must be an object with levels and rows. {_CHANGED}", path)
        _check_kind(part["levels"], dict, "levels", path)
        _check_kind(part["rows"], int, "rows", path)
    stars = facts["parameters"].get("keep_suppressed")  # a method around another one does not tell it so
    shown = {
        facts.get("rows", 0) - facts["suppressed"] * kept for kept in (False, True) if stars in (kept, None)
    }
    if (rows := sum(part["rows"] for part in parts)) not in shown:
        raise BadData(
            f"its 'parts' have {rows:,} rows, and {max(shown, default=0):,} are published in parts: it was changed "
            "after it was made. Fetch the folder again.",
            path,
        )


def _check_records(facts: Mapping[str, Any], path: Path) -> None:
    """Refuse columns of records that are called like others, or have a role that records have not."""
    roles = _roles_of(
        [*facts["columns"], *facts["records"], {"name": facts["key"], "role": "insensitive"}], path
    )
    for column in facts["records"]:
        if roles[column["name"]] in (Role.ENTITY, Role.ITEMS):
            raise BadData("records have no such column.", path, column=column["name"])


def _roles_of(columns: list[Any], path: Path) -> dict[str, Role]:
    """The role of each column, all of them written as they should be."""
    roles: dict[str, Role] = {}
    for column in columns:
        if (
            not isinstance(column, dict)
            or not isinstance(column.get("name"), str)
            or not column.keys() <= {"name", "role", "note"}
            or column.get("note", PERSONS) != PERSONS
        ):
            raise BadData("a column must be an object with a name and a role.", path)
        name, role = column["name"], column.get("role")
        if not isinstance(role, str) or role not in set(Role):
            raise BadData(f"the column has the role {role!r}, which there is not.", path, column=name)
        if role == Role.IDENTIFYING:
            raise BadData("the column is identifying, and no release has such a column.", path, column=name)
        if name in roles:
            raise BadData(f"the column is named twice. {_CHANGED}", path, column=name)
        roles[name] = Role(role)
    return roles


def _listed(names: set[str]) -> str:
    return " and ".join(sorted(names)) or "none"


def _check_items(facts: Mapping[str, Any], path: Path) -> None:
    """Refuse a layout that there is not, and items that have no role or two."""
    named: list[str] = []
    for key in ("sensitive", "insensitive"):
        if not all(isinstance(item, str) for item in facts[key]):
            raise BadData(f"{key!r} must be a list of items.", path)
        named += facts[key]
    if len(set(named)) < len(named):
        twice = next(item for item in sorted(named) if named.count(item) > 1)
        raise BadData(f"the item {twice!r} is named twice as sensitive or insensitive. {_CHANGED}", path)
    try:
        parse_layout(facts["layout"], facts.get("separator"))
    except WrongUse as error:
        raise BadData(f"the layout is none: {error}", path) from None


def _public(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in facts.items() if key not in PRIVATE}


def _plain(value: Any) -> Any:
    """Numbers of numpy, fractions and paths as JSON has them."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return str(value)


def refuse_other_columns(found: Iterable[str], named: Iterable[str], path: Path) -> None:
    """Refuse a published table whose columns are not those of its release.json."""
    if unlike := set(found) ^ set(named):
        raise BadData(
            f"the columns are not those that release.json names: {', '.join(sorted(unlike))}.", path
        )


def roles_of(columns: Sequence[Mapping[str, str]]) -> dict[str, Role]:
    """The role of each column that release.json names."""
    return {column["name"]: Role(column["role"]) for column in columns}


def plain_roles(columns: Sequence[Mapping[str, str]]) -> dict[str, Role]:
    """The same where tables are joined: what is neither known nor secret is insensitive there."""
    known = (Role.QUASI, Role.SENSITIVE)
    return {name: role if role in known else Role.INSENSITIVE for name, role in roles_of(columns).items()}


def read_named_table(path: Path, roles: Mapping[str, Role], shape: Mapping[str, Any], *also: str) -> Table:
    """A table of a release, whose columns are those that release.json gives roles, and some more."""
    named = {role: [name for name in roles if roles[name] is role] for role in Role}
    entity, items = (next(iter(named[role]), None) for role in (Role.ENTITY, Role.ITEMS))
    known = named[Role.QUASI], named[Role.SENSITIVE], entity
    try:
        table = read_published_table(path, *known, own_reading(path), "safe_cells" in shape, items)
    except UnknownName as error:
        raise BadData(f"the columns are not those that release.json names. {error}", path) from None
    refuse_other_columns(table.names, [*roles, *also], path)
    return table
