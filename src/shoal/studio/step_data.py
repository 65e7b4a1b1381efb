"""Data: what was loaded, its first rows, and the kinds of its columns, which can be corrected."""

from typing import Any

from shoal.data.domain import Kind
from shoal.errors import WrongUse
from shoal.io.source import format_of
from shoal.recipe import Source
from shoal.sources import BASKET_ENDINGS
from shoal.studio import queries
from shoal.studio.first_recipe import read_as, reread
from shoal.studio.walk import Act, Handler, Walk

ORDERED = 80
"""So many values can be put in order by hand."""


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
        "can_be_table": format_of(recipe.source.path) not in BASKET_ENDINGS,
    }


async def _take(walk: Walk, source: Source, said: str) -> None:
    """Read the data otherwise, if it can be read so."""
    found = await walk.studio.look(walk.sitting, source)
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
    """Read the file otherwise: its separator, its marks of missing values, its incomplete rows."""
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
    await _take(walk, changed, "Read otherwise")


async def _names(walk: Walk, act: Act) -> None:
    """Take the first line for data, and give the columns names."""
    names = tuple(one.strip() for one in str(act["form"].get("names", "")).split(",") if one.strip())
    found, _ = await walk.studio.seen(walk.sitting, walk.recipe)
    if len(names) != len(found["names"]):
        raise WrongUse(f"There are {len(found['names'])} columns, and {len(names)} names were typed.")
    await _take(walk, read_as(walk.recipe.source, names=names), "Names of columns")


async def _layout(walk: Walk, act: Act) -> None:
    """Read the file as baskets of a layout, or as a table where there is none."""
    layout = str(act["form"].get("layout", "") or act["data"].get("layout", "")).strip()
    source = walk.recipe.source.model_copy(update={"baskets": layout or None})
    await _take(walk, source, f"Read as baskets ({layout})" if layout else "Read as a table")


ACTIONS: dict[str, Handler] = {
    "kind": _kind,
    "order": _order,
    "reading": _reading,
    "names": _names,
    "layout": _layout,
}
