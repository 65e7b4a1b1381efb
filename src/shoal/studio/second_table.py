"""A second table about the same people: records that are published beside the persons, or items, one per row."""

from typing import Any

from shoal.data.role import Roles
from shoal.errors import UnknownName
from shoal.io.tables.linked_records import split_link
from shoal.studio.first_recipe import resuggested


def place_of(roles: Roles) -> tuple[str, str]:
    """The file of records and the column that joins it; both empty where there is none."""
    return ("", "") if roles.link is None else split_link(roles.link)


def merged(found: dict[str, Any], other: dict[str, Any], path: str, key: str) -> dict[str, Any]:
    """What was found in both tables, with the columns of both in one list."""
    more = [{**one, "second": path} for one in other["columns"] if one["name"] != key]
    columns = [one if one["name"] != key else _joining(one) for one in found["columns"]]
    return {
        **found,
        "columns": [*columns, *more],
        "second": {"path": path, "key": key, "rows": other["rows"]},
    }


def _joining(column: dict[str, Any]) -> dict[str, Any]:
    reason = "it joins the tables and identifies persons; new numbers are published instead"
    return {**column, "role": "identifying", "reason": reason}


def with_records(roles: Roles, found: dict[str, Any], path: str, key: str) -> Roles:
    """The roles with a table of records, whose columns get the roles that are suggested."""
    joined = roles.model_copy(
        update={"link": f"{path}:{key}", "items": None, "items_from": None, "entity": None}
    )
    old = {name: str(role) for role, names in roles.by_column().items() for name in names}
    columns = [
        {**one, "role": old.get(one["name"], one["role"])} for one in found["columns"] if one["name"] != key
    ]
    return resuggested(joined, [*columns, {"name": key, "role": "identifying"}])


def with_items(roles: Roles, names: list[str], path: str, key: str, item: str) -> Roles:
    """The roles with a table of items, one per row."""
    if key not in names:
        raise UnknownName("column", key, names)
    return roles.model_copy(update={"items_from": f"{path}:{key},{item}", "items": None, "link": None})


def without(roles: Roles, names: list[str]) -> Roles:
    """The roles without the second table; `names` are the columns of the first."""
    kept = {
        role: tuple(name for name in getattr(roles, role) if name in names)
        for role in ("quasi", "sensitive", "identifying", "insensitive", "insist")
    }
    nothing: dict[str, Any] = {
        "link": None,
        "items_from": None,
        "sensitive_items": (),
        "insensitive_items": (),
    }
    return roles.model_copy(update={**kept, **nothing})


def source_of(found: dict[str, Any], source: dict[str, Any], column: str) -> dict[str, Any]:
    """The file that a column is in."""
    files = {one["name"]: one["second"] for one in found.get("columns", ()) if "second" in one}
    return {"path": files[column]} if column in files else source
