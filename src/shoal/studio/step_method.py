"""Method: recommended by one click, or chosen among those that keep the promise; with its settings."""

import re
from typing import Any

from shoal.engines.protocol import engines_here
from shoal.errors import UnknownName, WrongUse
from shoal.methods._candidates import Candidate
from shoal.methods.method import Method
from shoal.recipe import Recipe
from shoal.studio import method_offers
from shoal.studio.forms import entries, entry_of
from shoal.studio.step_hierarchies import usual_trees
from shoal.studio.walk import Act, Handler, Walk

ENGINES = {
    name: kind.place if kind.in_memory else f"{kind.place}, for data larger than memory"
    for name, kind in engines_here().items()
}
HIDDEN = ("improve_steps", "population", "explain")
"""Settings that the page does not show."""

SECONDS = 30.0
"""The time limit of a recommendation."""

SHORT = 100
"""Characters up to which an offer shows the whole description of a setting."""


async def facts(walk: Walk) -> dict[str, Any]:
    """What the step shows."""
    recipe = walk.recipe
    kind = method_offers.kind_of(recipe)
    offers = method_offers.offers(recipe)
    now = method_offers.chosen(recipe, offers)
    asked = walk.studio.jobs.of(walk.sitting, "recommend")
    last = asked[-1] if asked else None
    promise = (*method_offers.promise_fields(kind), *HIDDEN)
    return {
        "offers": [_offer(one, recipe) for one in offers],
        "now": now.label if now is not None else None,
        "name": recipe.method["name"],
        "said": (kind.__doc__ or "").split("\n")[0],
        "paper": kind.paper,
        "settings": entries(kind, recipe.method, [name for name in kind.model_fields if name not in promise]),
        "engines": {name: words for name, words in ENGINES.items() if name in kind.engines},
        "engine": recipe.running.engine,
        "seed": recipe.seed,
        "lacking": lacking(recipe) if now is not None and now.trees else [],
        "asked": last,
        "found": last.result if last is not None and last.state == "done" else None,
        "fresh": last is not None and _same_question(last.task["recipe"], recipe),
        "limit": SECONDS,
    }


def _offer(candidate: Candidate, recipe: Recipe) -> dict[str, Any]:
    kind = method_offers.kind_of(recipe.model_copy(update={"method": dict(candidate.method)}))
    return {
        "label": candidate.label,
        "said": (kind.__doc__ or "").split("\n")[0],
        "settings": _differs(candidate, kind),
        "remark": candidate.remark,
        "trees": candidate.trees,
        "in_memory": recipe.running.engine not in kind.engines,
    }


def _differs(candidate: Candidate, kind: type[Method]) -> list[str]:
    """The settings of an offer that differ from the defaults, each with what it means."""
    usual = {"name", *method_offers.promise_fields(kind)}
    given = {name: value for name, value in candidate.method.items() if name not in usual}
    return [
        f"{_said_of(name.replace('_', ' '), value)} ({_shortly(kind.model_fields[name].description or '')})"
        for name, value in given.items()
        if name in kind.model_fields and value is not None and value != kind.model_fields[name].default
    ]


def _shortly(description: str) -> str:
    """The description of a setting, or its first clause where it is long."""
    return description if len(description) <= SHORT else re.split("[:;] ", description)[0]


def _said_of(name: str, value: Any) -> str:
    return f"{'with' if value else 'without'} {name}" if isinstance(value, bool) else f"with {name} {value}"


def _same_question(asked: dict[str, Any], recipe: Recipe) -> bool:
    """Whether a recommendation was asked for the same data, roles and promise."""
    from shoal.studio.sitting import plain

    here = plain(recipe)
    fields = method_offers.promise_fields(method_offers.kind_of(Recipe(**asked)))
    promise = {name: asked["method"].get(name) for name in fields}
    same = all(asked.get(part) == here.get(part) for part in ("source", "roles"))
    return same and promise == {name: here["method"].get(name) for name in fields}


def lacking(recipe: Recipe) -> list[str]:
    """Columns, or ``items``, that have no hierarchy yet."""
    names = ["items"] if method_offers.of_baskets(recipe) else list(recipe.roles.quasi)
    return [name for name in names if name not in recipe.hierarchies]


async def with_trees(walk: Walk, recipe: Recipe) -> Recipe:
    """The recipe with a default hierarchy wherever there is none."""
    names = lacking(recipe)
    if not names:
        return recipe
    built = await usual_trees(walk, recipe, names)
    return recipe.model_copy(update={"hierarchies": {**recipe.hierarchies, **built}})


async def _take(walk: Walk, act: Act) -> None:
    """Take a method as it is offered; hierarchies that it needs are built."""
    label = str(act["value"])
    offers = {one.label: one for one in method_offers.offers(walk.recipe)}
    if label not in offers:
        raise UnknownName("method", label, list(offers))
    changed = method_offers.taken(walk.recipe, offers[label])
    changed = await with_trees(walk, changed) if offers[label].trees else changed
    walk.sitting.change(changed, f"Method {label}")


async def _setting(walk: Walk, act: Act) -> None:
    """Change one setting of the method."""
    name, kind = str(act["data"]["name"]), method_offers.kind_of(walk.recipe)
    entry = entry_of(kind, name, None)
    if entry is None:
        raise UnknownName("setting", name, list(kind.model_fields))
    value = entry.parsed(act["value"])
    method = {key: one for key, one in walk.recipe.method.items() if key != name}
    if value is not None and value != entry.default:
        method[name] = value
    changed = walk.recipe.model_copy(update={"method": method})
    changed.the_method()
    walk.sitting.change(changed, f"{entry.label} {'default' if value is None else value}")


async def _engine(walk: Walk, act: Act) -> None:
    engine = str(act["value"])
    if engine not in ENGINES:
        raise UnknownName("engine", engine, list(ENGINES))
    walk.change(f"Work {ENGINES[engine]}", running=walk.recipe.running.model_copy(update={"engine": engine}))


async def _seed(walk: Walk, act: Act) -> None:
    text = str(act["value"]).strip()
    if text and not text.isdigit():
        raise WrongUse(f"A seed is a whole number from 0 on, not {text!r}.")
    walk.change("Seed", seed=int(text) if text else None)


async def _recommend(walk: Walk, act: Act) -> None:
    """Try the methods that keep the promise, in a process of its own."""
    stated = method_offers.stated_of(walk.recipe)
    stated.aim(method_offers.of_baskets(walk.recipe), method_offers.has_items(walk.recipe.roles))
    found, _ = await walk.studio.seen(walk.sitting, walk.recipe)
    if found["sampled"]:
        raise WrongUse("This file is too large to try many methods on it; choose one of those below.")
    walk.studio.begin(walk.sitting, "recommend", walk.recipe, time_limit=SECONDS)


async def _accept(walk: Walk, act: Act) -> None:
    """Take what was recommended."""
    job = walk.studio.jobs.find(walk.sitting, int(act["data"]["run"]))
    made = Recipe(**job.result["recipe"])
    method = {name: value for name, value in made.method.items() if value is not None}
    walk.change(f"Recommended: {job.result['label']}", method=method, hierarchies=dict(made.hierarchies))


ACTIONS: dict[str, Handler] = {
    "take": _take,
    "setting": _setting,
    "engine": _engine,
    "seed": _seed,
    "recommend": _recommend,
    "accept": _accept,
}
