"""The first recipe of a sitting: suggested roles, a default promise, and the first method that keeps it."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.engines.protocol import engines_here
from shoal.recipe import Recipe, Roles, Running, Source
from shoal.studio.method_offers import first_method, fitted
from shoal.studio.sitting import Sitting

if TYPE_CHECKING:
    from shoal.studio.state import Studio

ROLES = ("quasi", "sensitive", "identifying", "insensitive")


async def begin_with(studio: "Studio", sitting: Sitting, path: str) -> None:
    """Begin a sitting with a file. Raises `ShoalError` if it cannot be read."""
    source = Source(path=path)
    found = await studio.look(sitting, source)
    sitting.name = Path(path).name
    sitting.change(recipe_for(found, source), f"Loaded {sitting.name}")


def recipe_for(found: dict[str, Any], source: Source) -> Recipe:
    """A recipe to begin with; `found`: what a look at the data found."""
    baskets = found["form"] == "baskets"
    if baskets and source.baskets is None:
        source = source.model_copy(update={"baskets": found["layout"]})
    roles = Roles() if baskets else suggested(found["columns"])
    fits = not found["sampled"]
    running = Running(engine=next(name for name, kind in engines_here().items() if kind.in_memory is fits))
    return fitted(Recipe(source=source, roles=roles, method=first_method(baskets), running=running))


def suggested(columns: list[dict[str, Any]]) -> Roles:
    """The suggested role of every column."""
    named: dict[str, Any] = {
        role: tuple(one["name"] for one in columns if one["role"] == role) for role in ROLES
    }
    entity, items = (
        next((one["name"] for one in columns if one["role"] == role), None) for role in ("entity", "items")
    )
    return Roles(**named, entity=entity, items=items)


def resuggested(roles: Roles, columns: list[dict[str, Any]]) -> Roles:
    """The suggested roles of columns; roles of items, and columns that are insisted on, are kept from `roles`."""
    new = suggested(columns)
    entity = new.entity if roles.link is None else None
    named = (new.entity,) if new.entity is not None and entity is None else ()
    parts: dict[str, Any] = {role: getattr(new, role) for role in ROLES}
    parts["identifying"] = (*new.identifying, *named)
    insist = tuple(name for name in roles.insist if name in new.quasi)
    return roles.model_copy(update={**parts, "entity": entity, "items": new.items, "insist": insist})


def reread(recipe: Recipe, found: dict[str, Any], source: Source) -> Recipe:
    """The recipe for data that is read differently; columns that still exist keep their roles and hierarchies."""
    baskets = found["form"] == "baskets"
    was = recipe.source.baskets is not None
    if baskets != was:
        return recipe_for(found, source)
    if baskets:
        return recipe.model_copy(update={"source": source})
    old = {name: role for role, names in recipe.roles.by_column().items() for name in names}
    columns = [{**one, "role": str(old.get(one["name"], one["role"]))} for one in found["columns"]]
    names = {one["name"] for one in columns}
    roles = resuggested(recipe.roles, columns)
    trees = {name: spec for name, spec in recipe.hierarchies.items() if name in names}
    return recipe.model_copy(update={"source": source, "roles": roles, "hierarchies": trees})


def read_as(source: Source, **changed: Any) -> Source:
    """The source with some options of its reading changed."""
    return source.model_copy(update={"reading": replace(source.reading, **changed)})
