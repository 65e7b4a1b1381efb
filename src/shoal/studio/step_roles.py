"""Roles: what columns or items are to the people in the data, with suggestions, and what the raw data gives away."""

from typing import Any

from shoal.errors import UnknownName, WrongUse
from shoal.recipe import Roles
from shoal.studio import queries
from shoal.studio.first_recipe import resuggested
from shoal.studio.method_offers import for_roles, has_items, of_baskets
from shoal.studio.walk import Act, Handler, Walk

WORDS = {
    "quasi": ("Known", "others may know it; it is made coarser"),
    "sensitive": ("Secret", "nobody may learn whose it is; it is published unchanged, but within a group"),
    "insensitive": ("Harmless", "neither known nor secret; it is published unchanged"),
    "identifying": ("Identifying", "identifies a person; it is not published"),
    "entity": ("Person number", "says which rows belong to one person"),
    "items": ("List of items", "what a person has, such as products; others may know some of it"),
}
ALONE = ("entity", "items")
"""Roles that only one column can have."""

ITEM_WORDS = {
    "public": ("Known", "others may know that a person has it"),
    "sensitive": ("Secret", "nobody may learn it"),
    "insensitive": ("Harmless", "neither known nor secret"),
}


async def facts(walk: Walk) -> dict[str, Any]:
    """What the step shows."""
    recipe = walk.recipe
    found, source = await walk.studio.seen(walk.sitting, recipe)
    if of_baskets(recipe):
        return {"found": found, "words": ITEM_WORDS, **_items(walk, source)}
    now = {name: str(role) for role, names in recipe.roles.by_column().items() for name in names}
    own = {one["name"] for one in found["columns"] if "second" not in one}
    quasi = [name for name in recipe.roles.quasi if name in own]
    return {
        "with_items": has_items(recipe.roles),
        "item_lists": {
            "sensitive": ", ".join(recipe.roles.sensitive_items),
            "insensitive": ", ".join(recipe.roles.insensitive_items),
        },
        "found": found,
        "words": WORDS,
        "now": now,
        "suggestions": {one["name"]: one["role"] for one in found["columns"]},
        "identifiers": {one["name"]: one["identifier"] for one in found["columns"] if one.get("identifier")},
        "insisted": set(recipe.roles.insist),
        "risk": walk.later("risk", queries.raw_risk, source, quasi, recipe.roles.entity) if quasi else {},
    }


def _items(walk: Walk, source: dict[str, Any]) -> dict[str, Any]:
    roles = walk.recipe.roles
    wanted = str(walk.view.get("wanted", ""))
    listed = walk.later("items", queries.items_named, source, wanted)
    now = dict.fromkeys(roles.sensitive, "sensitive") | dict.fromkeys(roles.insensitive, "insensitive")
    return {"wanted": wanted, "listed": listed, "now": now, "named": sorted(now.items())}


def _with(roles: Roles, names: list[str], role: str) -> Roles:
    """The roles with some columns or items given another one; the roles in `ALONE` are for one column each."""
    if role in ALONE and len(names) > 1:
        raise WrongUse(
            "Only one column can say which rows belong to one person, and only one can hold items."
        )
    fields = {
        key: tuple(one for one in getattr(roles, key) if one not in names)
        for key in ("quasi", "sensitive", "identifying", "insensitive")
    }
    single = {key: None if getattr(roles, key) in names else getattr(roles, key) for key in ALONE}
    if role in ALONE:
        if (before := single[role]) is not None:
            fields["identifying"] = (*fields["identifying"], before)
        single[role] = names[0]
    elif role in fields:
        fields[role] = (*fields[role], *names)
    insist = tuple(name for name in roles.insist if name in fields["quasi"])
    return roles.model_copy(update={**fields, **single, "insist": insist})


def _fit_trees(walk: Walk, roles: Roles) -> dict[str, str]:
    """The hierarchies of columns that still have a use for one; others would have no effect."""
    trees = walk.recipe.hierarchies
    if of_baskets(walk.recipe):
        return dict(trees)
    return {
        name: spec for name, spec in trees.items() if name in (*roles.quasi, *roles.sensitive, roles.items)
    }


def _change(walk: Walk, roles: Roles, said: str) -> None:
    method = for_roles(walk.recipe, roles)
    walk.change(said, roles=roles, hierarchies=_fit_trees(walk, roles), method=method)


async def _role(walk: Walk, act: Act) -> None:
    """Give one column or item a role."""
    name, role = str(act["data"]["name"]), str(act["value"])
    _change(walk, _with(walk.recipe.roles, [name], role), f"{name} is {role}")


async def _roles(walk: Walk, act: Act) -> None:
    """Give many columns or items a role."""
    names, role = list(act["form"].get("chosen", ())), str(act["form"]["role"])
    if not names:
        raise WrongUse("Choose some first: each has a checkbox on its left.")
    _change(walk, _with(walk.recipe.roles, names, role), f"{len(names)} are {role}")


async def _insist(walk: Walk, act: Act) -> None:
    """Insist that a column is known although it looks like an identifier, or no longer insist."""
    name, roles = str(act["data"]["name"]), walk.recipe.roles
    rest = tuple(one for one in roles.insist if one != name)
    insist = (*rest, name) if act["value"] else rest
    said = "Insist" if act["value"] else "Do not insist"
    _change(walk, roles.model_copy(update={"insist": insist}), f"{said} on {name}")


async def _suggest(walk: Walk, act: Act) -> None:
    """Take all suggestions."""
    found, _ = await walk.studio.seen(walk.sitting, walk.recipe)
    _change(walk, resuggested(walk.recipe.roles, found["columns"]), "Suggested roles")


async def _named(walk: Walk, act: Act) -> None:
    """Give items a role by a typed list of names."""
    text, role = str(act["form"].get("names", "")), str(act["form"]["role"])
    names = [one.strip() for one in text.replace("\n", ",").split(",") if one.strip()]
    if not names:
        raise WrongUse("Type the names of items, with commas between them.")
    _, source = await walk.studio.seen(walk.sitting, walk.recipe)
    unknown = await walk.studio.queries.ask(queries.unknown_items, source, names)
    if unknown:
        listed = await walk.studio.queries.ask(queries.items_named, source, "")
        raise UnknownName("item", unknown[0], [name for name, _ in listed])
    _change(walk, _with(walk.recipe.roles, names, role), f"{len(names)} items are {role}")


async def _items_of_people(walk: Walk, act: Act) -> None:
    """Say which items of people are secret or harmless."""
    named = {
        f"{role}_items": tuple(
            one.strip() for one in str(act["form"].get(role, "")).split(",") if one.strip()
        )
        for role in ("sensitive", "insensitive")
    }
    _change(walk, walk.recipe.roles.model_copy(update=named), "Roles of items")


async def _search(walk: Walk, act: Act) -> None:
    walk.view["wanted"] = str(act.get("value", ""))


ACTIONS: dict[str, Handler] = {
    "role": _role,
    "roles": _roles,
    "insist": _insist,
    "suggest": _suggest,
    "named": _named,
    "items-of-people": _items_of_people,
    "search": _search,
}
