"""Data: what was loaded, its first rows, and the kinds of its columns, which can be corrected."""

from pathlib import Path
from typing import Any

from shoal.data.domain import Kind
from shoal.errors import UnknownName, WrongUse
from shoal.io.source import format_of
from shoal.recipe import Roles, Source
from shoal.sources import BASKET_ENDINGS
from shoal.studio import queries, second_table
from shoal.studio.first_recipe import read_as, reread
from shoal.studio.method_offers import fitted, for_roles
from shoal.studio.walk import Act, Handler, Walk

ORDERED = 80
"""Most values that can be put in order by hand."""


async def facts(walk: Walk) -> dict[str, Any]:
    """What the step shows."""
    recipe = walk.recipe
    found, _ = await walk.studio.seen(walk.sitting, recipe)
    reading = recipe.source.reading
    return {
        "found": found,
        "source": recipe.source,
        "kinds": [kind.value for kind in Kind],
        "orders": {name: "\n".join(order) for name, order in reading.orders.items()},
        "reading": reading,
        "second": recipe.roles.link or recipe.roles.items_from,
        "second_path": walk.view.get("second", ""),
        "can_be_table": format_of(recipe.source.path) not in BASKET_ENDINGS,
    }


async def _take(walk: Walk, source: Source, said: str) -> None:
    """Read the data differently, if that is possible."""
    found = await walk.studio.look(walk.sitting, source)
    if found["form"] == "table":
        found = await walk.studio.both(walk.sitting, walk.recipe.roles, found)
    walk.sitting.change(reread(walk.recipe, found, source), said)


async def _kind(walk: Walk, act: Act) -> None:
    """Give a column another kind; an ordinal one gets its values in their present order to begin with."""
    column, kind = str(act["data"]["column"]), str(act["value"])
    source = walk.recipe.source
    kinds = {name: one for name, one in source.reading.kinds.items() if name != column}
    orders = {name: one for name, one in source.reading.orders.items() if name != column}
    if kind == Kind.ORDINAL:
        _, asked = await walk.studio.seen(walk.sitting, walk.recipe)
        values = await walk.studio.queries.ask(queries.values_of, asked, column)
        if len(values) > ORDERED:
            raise WrongUse(
                f"{column} has {len(values):,} values, too many to put in order by hand; numbers and dates have an "
                "order already."
            )
        orders[column] = tuple(values)
    else:
        kinds[column] = kind
    await _take(walk, read_as(source, kinds=kinds, orders=orders), f"{column} is {kind}")


async def _order(walk: Walk, act: Act) -> None:
    """Put the values of an ordinal column in order."""
    column = str(act["data"]["column"])
    source = walk.recipe.source
    order = tuple(line.strip() for line in str(act["value"]).splitlines() if line.strip())
    orders = {**source.reading.orders, column: order}
    await _take(walk, read_as(source, orders=orders), f"Order of {column}")


async def _reading(walk: Walk, act: Act) -> None:
    """Read the file differently: its separator, the texts for missing values, what to do with incomplete rows."""
    given, source = act["form"], walk.recipe.source
    missing = tuple(dict.fromkeys(("", *(one.strip() for one in str(given.get("missing", "")).split(",")))))
    names = tuple(one.strip() for one in str(given.get("names", "")).split(",") if one.strip())
    separator = {"tab": "\t", "": None}.get(str(given.get("separator", "")), str(given.get("separator", "")))
    changed = read_as(
        source,
        separator=separator,
        missing=missing,
        names=names or None,
        drop_missing="drop" in given.get("drop_missing", ()),
    )
    await _take(walk, changed, "Read differently")


async def _names(walk: Walk, act: Act) -> None:
    """Read the first line as data, and give the columns names."""
    names = tuple(one.strip() for one in str(act["form"].get("names", "")).split(",") if one.strip())
    found, _ = await walk.studio.seen(walk.sitting, walk.recipe)
    if len(names) != len(found["names"]):
        raise WrongUse(f"There are {len(found['names'])} columns, but {len(names)} names were typed.")
    await _take(walk, read_as(walk.recipe.source, names=names), "Names of columns")


async def _layout(walk: Walk, act: Act) -> None:
    """Read the file as baskets of a layout, or as a table where no layout is given."""
    layout = str(act["form"].get("layout", "") or act["data"].get("layout", "")).strip()
    source = walk.recipe.source.model_copy(update={"baskets": layout or None})
    await _take(walk, source, f"Read as baskets ({layout})" if layout else "Read as a table")


async def _uploaded(walk: Walk, act: Act) -> None:
    """Remember an uploaded file, which becomes the second table once its key is named."""
    walk.view["second"] = str(act["value"]["path"])


async def _second(walk: Walk, act: Act) -> None:
    """Join a second table about the same people: of items if their column is named, of records otherwise."""
    path, key, item = (str(act["form"].get(name, "")).strip() for name in ("second", "key", "item"))
    if not path or not key:
        raise WrongUse("Name the file of the second table and the column that joins both.")
    path = str(Path(path).expanduser().absolute())
    walk.studio.refuse_foreign(walk.sitting, path)
    found = await walk.studio.look(walk.sitting, walk.recipe.source)
    other = await walk.studio.look(walk.sitting, Source(path=path))
    if other["form"] != "table":
        raise WrongUse("The second file holds baskets, not a table.")
    for name, names in ((key, found["names"]), (key, other["names"]), (item or key, other["names"])):
        if name not in names:
            raise UnknownName("column", name, list(names))
    roles = walk.recipe.roles
    if item:
        roles = second_table.with_items(roles, found["names"], path, key, item)
    else:
        roles = second_table.with_records(roles, second_table.merged(found, other, path, key), path, key)
    _join(walk, roles, f"Second table {Path(path).name}")


async def _alone(walk: Walk, act: Act) -> None:
    """Remove the second table."""
    found = await walk.studio.look(walk.sitting, walk.recipe.source)
    walk.view.pop("second", None)
    _join(walk, second_table.without(walk.recipe.roles, found["names"]), "One table alone")


def _join(walk: Walk, roles: Roles, said: str) -> None:
    trees = {name: spec for name, spec in walk.recipe.hierarchies.items() if name in roles.quasi}
    changed = walk.recipe.model_copy(update={"roles": roles, "hierarchies": trees})
    method = for_roles(changed, roles)
    walk.sitting.change(fitted(changed.model_copy(update={"method": method})), said)


ACTIONS: dict[str, Handler] = {
    "kind": _kind,
    "order": _order,
    "reading": _reading,
    "names": _names,
    "layout": _layout,
    "uploaded": _uploaded,
    "second": _second,
    "alone": _alone,
}
