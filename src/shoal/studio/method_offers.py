"""From the promise of a recipe to its method and back: what can be promised, and which methods keep it."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from shoal import registry
from shoal.data.baskets import Baskets
from shoal.errors import ShoalError, WrongUse
from shoal.methods._candidates import Aim, Candidate, Goal
from shoal.methods.method import Method
from shoal.methods.table_method import TableMethod
from shoal.recipe import Recipe, Roles
from shoal.recommendation.candidate_list import candidates
from shoal.recommendation.goal import Stated
from shoal.studio.forms import entries

FIRST: Mapping[str, dict[str, Any]] = {"table": {"k": 10}, "baskets": {"k": 5, "m": 2}}
"""What is promised by default."""

SUPPRESSED = 0.05
"""The largest share of rows that an offered method may leave out."""

SECONDS = 60.0
"""The time limit of methods that have one."""

SETS: Mapping[Aim, tuple[str, ...]] = {
    Aim.COMBINATIONS: ("m", "k"),
    Aim.DEGREE: ("p",),
    Aim.COHERENCE: ("p", "k", "h"),
}
"""The parameters of each promise about baskets."""

OF_BASKETS = ("h", "p", "m")
"""Parameters of promises that, beside k, only baskets have; a method of tables may have a setting of the same name."""

OF_POPULATION = ("k_map", "presence", "population")
"""Promises about a population, which is a file on this machine."""

USUAL: Mapping[str, Any] = {"k": 5, "m": 2, "p": 4, "h": 0.8}
"""Values of promises about baskets to begin with. An adversary of coherence knows few items."""


def kind_of(recipe: Recipe) -> type[Method]:
    """The class of the method of a recipe."""
    kind: type[Method] = registry.load("method", recipe.method["name"])
    return kind


def of_baskets(recipe: Recipe) -> bool:
    """Whether a recipe is about baskets."""
    return kind_of(recipe).accepts is Baskets


@cache
def promise_fields(kind: type[Method]) -> tuple[str, ...]:
    """The parameters of a method that are its promise."""
    if not any(offered(kind)) and not kind.needs_link:
        asked = entries(kind, {}, kind.model_fields)
        numbers = [one.name for one in asked if one.shape in ("number", "whole") and one.default is None]
        return tuple([one.name for one in asked if one.required] or numbers)
    stated = set(Stated.model_fields).difference(OF_POPULATION if kind.needs_link else ())
    fitting = {"k", *OF_BASKETS} if kind.accepts is Baskets else stated.difference(OF_BASKETS)
    return tuple(name for name in Stated.model_fields if name in fitting and name in kind.model_fields)


@cache
def offered(kind: type[Method]) -> tuple[Aim, ...]:
    """The kinds of promises for which a method offers something."""
    goals = (Goal(aim=aim, promise={"k": 5}, k=5, h=0.5, p=2, m=2, confidence=0.5) for aim in Aim)
    fitting = (goal for goal in goals if (kind.accepts is Baskets) == goal.aim.of_baskets)
    found = tuple(goal.aim for goal in fitting if kind.candidates(goal))
    return found or ((Aim.CLASSES,) if _plain(kind) else ())


def _plain(kind: type[Method]) -> bool:
    """Whether a method keeps any promise of tables and needs no other parameter."""
    required = any(field.is_required() for field in kind.model_fields.values())
    return issubclass(kind, TableMethod) and not required


def candidates_for(aim: Aim, stated: Stated) -> list[Candidate]:
    """What `recommend` tries for a promise, and methods that it does not try although they keep the promise."""
    found = candidates(aim, stated, seconds=SECONDS, suppression_limit=SUPPRESSED)
    if aim is not Aim.CLASSES:
        return found
    tried = {one.method["name"] for one in found}
    more = [kind for name, kind in registry.load_all("method").items() if name not in tried and _plain(kind)]
    promise = stated.of_tables()
    able = [kind for kind in more if not kind(**promise).misfits()]
    return [*found, *(Candidate(kind.name, {"name": kind.name, **promise}) for kind in able)]


def stated_of(recipe: Recipe) -> Stated:
    """What a recipe promises, as it was stated before its method was chosen.

    Raises `WrongUse` if the method promises something of its own.
    """
    kind = kind_of(recipe)
    if not any(offered(kind)):
        raise WrongUse(f"{kind.name} makes a promise of its own; no other method keeps it.")
    return Stated(**{name: recipe.method[name] for name in promise_fields(kind) if name in recipe.method})


def offers(recipe: Recipe) -> list[Candidate]:
    """The methods, with parameters, that keep the promise of a recipe; none for a promise of a method's own."""
    try:
        stated = stated_of(recipe)
        aim = stated.aim(of_baskets(recipe), has_items(recipe.roles))
    except ShoalError:
        return []
    found = candidates_for(aim, stated)
    along = [dict(one.method) for one in found if one.trees]
    # Where there are hierarchies, a method follows them: then the same method without them is not offered.
    return [one for one in found if one.trees or not recipe.hierarchies or dict(one.method) not in along]


def aim_of(recipe: Recipe) -> Aim | None:
    """The kind of the promise of a recipe; None for a promise of a method's own."""
    try:
        return stated_of(recipe).aim(of_baskets(recipe), has_items(recipe.roles))
    except ShoalError:
        return None


def chosen(recipe: Recipe, among: list[Candidate] | None = None) -> Candidate | None:
    """The offer that a recipe's method is, with nothing changed, or None; `among`: the offers, where they are known."""
    here = {name: value for name, value in recipe.method.items() if value is not None}
    among = offers(recipe) if among is None else among
    found = [one for one in among if dict(one.method) == here]
    trees = [one for one in found if one.trees == bool(recipe.hierarchies)]
    return next(iter([*trees, *found]), None)


def label_of(recipe: Recipe) -> str:
    """The label of a recipe's method in lists of several."""
    now = chosen(recipe)
    return str(recipe.method["name"]) if now is None else now.label


def promised(recipe: Recipe, given: Mapping[str, Any]) -> Recipe:
    """The recipe with another promise, kept by the same method if it can, or by the first that can.

    Settings of the method that are not part of the promise are kept.

    Raises `WrongUse` if nothing is promised, or what is promised does not fit together.
    """
    if kind_of(recipe).needs_link:
        return _of_records(recipe, given)
    stated = Stated(**given)
    aim = stated.aim(of_baskets(recipe), has_items(recipe.roles))
    found = candidates_for(aim, stated)
    if not found:
        raise WrongUse("No method keeps that promise; promise something else.")
    label = now.label if (now := chosen(recipe)) is not None else ""
    name = recipe.method["name"]
    same = [one for one in found if one.label == label] or [
        one for one in found if one.method["name"] == name
    ]
    if not same:
        return taken(recipe, found[0])
    kind = kind_of(recipe)
    fields = {*promise_fields(kind), "name"}
    kept = {key: value for key, value in recipe.method.items() if key not in fields}
    new = {key: value for key, value in same[0].method.items() if key in fields}
    return recipe.model_copy(update={"method": {**new, **kept}})


def _of_records(recipe: Recipe, given: Mapping[str, Any]) -> Recipe:
    """The recipe with another promise, for linked tables, which only one method takes."""
    fields = promise_fields(kind_of(recipe))
    kept = {name: value for name, value in recipe.method.items() if name not in fields}
    changed = recipe.model_copy(update={"method": {**kept, **given}})
    changed.the_method()
    return changed


def taken(recipe: Recipe, candidate: Candidate) -> Recipe:
    """The recipe with a method as it is offered, on an engine that the method runs on."""
    method = {name: value for name, value in candidate.method.items() if value is not None}
    return fitted(recipe.model_copy(update={"method": method}))


def own_promise(recipe: Recipe, name: str, given: Mapping[str, Any]) -> Recipe:
    """The recipe with a method that makes a promise of its own."""
    return fitted(recipe.model_copy(update={"method": {"name": name, **given}}))


def fitted(recipe: Recipe) -> Recipe:
    """The recipe on an engine that its method runs on."""
    known = kind_of(recipe).engines
    if recipe.running.engine in known:
        return recipe
    return recipe.model_copy(update={"running": recipe.running.model_copy(update={"engine": known[0]})})


def first_method(baskets: bool, items: bool = False) -> dict[str, Any]:
    """Name and parameters of the method that a sitting begins with; `items`: for a table with a column of items."""
    stated = Stated(**FIRST["baskets" if baskets else "table"])
    return dict(candidates_for(stated.aim(baskets, items), stated)[0].method)


def has_items(roles: Roles) -> bool:
    """Whether people have items as well as cells."""
    return roles.items is not None or roles.items_from is not None


def for_roles(recipe: Recipe, roles: Roles) -> dict[str, Any]:
    """The method of a recipe, or another where it needs items or records that are missing, or cannot take them."""
    kind, items, linked = kind_of(recipe), has_items(roles), roles.link is not None
    if of_baskets(recipe) or (kind.needs_items == items and kind.needs_link == linked):
        return dict(recipe.method)
    if linked:
        name = next(name for name, one in registry.load_all("method").items() if one.needs_link)
        return {"name": name, "k": recipe.method.get("k") or FIRST["table"]["k"]}
    return first_method(baskets=False, items=items)
