"""Promise: what is promised to the people in the data, as sentences to fill in, with the models behind them."""

from dataclasses import replace
from functools import cache
from typing import Any

from shoal import registry
from shoal.data.baskets import Baskets
from shoal.data.table import Table
from shoal.errors import ShoalError, WrongUse
from shoal.methods._candidates import Aim
from shoal.models._promises import Promises
from shoal.models.model import Model
from shoal.recommendation.goal import Stated
from shoal.studio import method_offers
from shoal.studio.forms import Entry, entries, entry_of
from shoal.studio.promise_sentences import OF_SETS, SENTENCES, SETS_TITLES
from shoal.studio.walk import Act, Handler, Walk

SHOWN_FIRST = ("k", "l")
NEEDS_SECRET = ("l", "c", "entropy_l", "t", "distance", "alpha", "beta", "delta", "confidence")
AWAY = ("promises", "risk", "h", "p", "m")
"""Fields that the form leaves out; most have forms of their own."""


async def facts(walk: Walk) -> dict[str, Any]:
    """What the step shows."""
    recipe = walk.recipe
    if method_offers.of_baskets(recipe):
        return _of_sets(walk)
    names = _asked_for(walk)
    secret = bool(recipe.roles.sensitive)
    shown: list[dict[str, Any]] = [
        {
            "entry": entry,
            "before": SENTENCES.get(entry.name, (entry.help, ""))[0],
            "after": SENTENCES.get(entry.name, ("", ""))[1],
            "model": _model_of(entry.name, entry.shape),
            "able": secret or entry.name not in NEEDS_SECRET,
        }
        for entry in entries(Stated, recipe.method, names)
    ]
    given = {name for name, value in recipe.method.items() if value is not None}
    first = [one for one in shown if one["entry"].name in SHOWN_FIRST or one["entry"].name in given]
    return {
        "first": first,
        "rest": [one for one in shown if one not in first],
        "secret": secret,
        "added": [_added(one) for one in recipe.method.get("promises") or ()],
        "models": _further(secret),
        "form": _model_form(walk),
        "own": _own_promises(Table, recipe.method) if secret else [],
        "method": recipe.method["name"],
    }


def _asked_for(walk: Walk) -> list[str]:
    """The fields that the form asks for; where others may use the studio, no paths on this machine."""
    linked = walk.recipe.roles.link is not None
    away = (*AWAY, *method_offers.OF_POPULATION) if walk.studio.remote or linked else AWAY
    fields = (
        method_offers.promise_fields(method_offers.kind_of(walk.recipe)) if linked else Stated.model_fields
    )
    return [name for name in fields if name not in away]


@cache
def _model_of(name: str, shape: str) -> dict[str, str] | None:
    """The model that a field such as k stands for, with its paper."""
    trial: dict[str, Any] = {"k": 2, "l": 2, "c": 1.0, "confidence": 0.5}
    usual = {"whole": 2, "number": 0.5, "choice": None}
    value = trial.get(name, usual.get(shape))
    if value is None or name not in Promises.model_fields:
        return None
    given: dict[str, Any] = {name: 2.0 if name == "entropy_l" else value}
    if name == "c":
        given["l"] = 2
    models = Promises(**given).models()
    return {"name": models[-1].name, "paper": models[-1].paper} if models else None


def _added(promise: dict[str, Any]) -> dict[str, Any]:
    made: Model = registry.load("model", promise["model"]).from_promise(dict(promise))
    return {"model": made.name, "said": ", ".join(f"{k} {v}" for k, v in promise.items() if k != "model")}


def _further(secret: bool) -> list[dict[str, str]]:
    """Models of tables that have no field of their own and can be asked for in a form."""
    short = {"k-anonymity", *(found["name"] for name in Promises.model_fields if (found := _short(name)))}
    kinds = registry.load_all("model")
    return [
        {"name": name, "said": (kind.__doc__ or "").split("\n")[0]}
        for name, kind in kinds.items()
        if Table in kind.accepts
        and name not in short
        and "population" not in kind.model_fields
        and Baskets not in kind.accepts
        and _asked(kind)
        and hasattr(kind, "bound")
        and secret
    ]


@cache
def _short(name: str) -> dict[str, str] | None:
    entry = entry_of(Promises, name, None)
    return None if entry is None else _model_of(name, entry.shape)


@cache
def _asked(kind: type[Model]) -> bool:
    """Whether a form can ask for all that a model requires."""
    required = [name for name, field in kind.model_fields.items() if field.is_required()]
    return all(entry_of(kind, name, None) is not None for name in required)


def _model_form(walk: Walk) -> dict[str, Any] | None:
    name = walk.view.get("model")
    if not name:
        return None
    kind: type[Model] = registry.load("model", name)
    fields = [field for field in kind.model_fields if field not in ("entity", "population")]
    text = (kind.__doc__ or "").split("\n")[0]
    asked = entries(kind, {}, fields)
    columns = tuple(walk.recipe.roles.sensitive)
    asked = [replace(one, shape="choice", options=columns) if one.name == "column" else one for one in asked]
    return {"name": name, "said": text, "paper": kind.paper, "entries": asked}


def _of_sets(walk: Walk) -> dict[str, Any]:
    recipe = walk.recipe
    now = method_offers.aim_of(recipe)
    kinds = [
        {
            "aim": aim,
            "title": SETS_TITLES[aim],
            "parts": [
                (before, entry_of(Stated, name, _stated(recipe.method, name, now is aim)), after)
                for before, name, after in OF_SETS[aim]
            ],
            "able": aim is not Aim.DEGREE or bool(recipe.roles.sensitive),
        }
        for aim in method_offers.SETS
    ]
    return {
        "sets": kinds,
        "now": now,
        "own": _own_promises(Baskets, recipe.method),
        "method": recipe.method["name"],
    }


def _own_promises(form: type, method: dict[str, Any]) -> list[dict[str, Any]]:
    """The methods that keep a promise no other method keeps, with the fields they ask for."""
    return [
        {
            "name": name,
            "said": (kind.__doc__ or "").split("\n")[0],
            "entries": _own_entries(kind, method),
        }
        for name, kind in registry.load_all("method").items()
        if kind.accepts is form
        and not kind.needs_items
        and not kind.needs_link
        and not method_offers.offered(kind)
    ]


def _own_entries(kind: Any, method: dict[str, Any]) -> list[Entry]:
    values = method if method["name"] == kind.name else {}
    return entries(kind, values, method_offers.promise_fields(kind))


def _stated(method: dict[str, Any], name: str, chosen: bool) -> Any:
    return method.get(name) if chosen and method.get(name) is not None else method_offers.USUAL.get(name)


async def _promise(walk: Walk, act: Act) -> None:
    """Promise what the form for tables says."""
    names = _asked_for(walk)
    asked = {entry.name: entry for entry in entries(Stated, {}, names)}
    given: dict[str, Any] = {}
    for name, text in act["form"].items():
        if name in asked and (value := asked[name].parsed(text)) is not None:
            given[name] = value
    if given.get("distance") == "by-kind" or "t" not in given:
        given.pop("distance", None)
    if "l" not in given:
        given.pop("c", None)
    if given.get("population") and not (given.get("k_map") or given.get("presence")):
        raise WrongUse("First type what is promised about the population; then name its file.")
    kept = {"promises": more} if (more := walk.recipe.method.get("promises")) else {}
    changed = method_offers.promised(walk.recipe, {**given, **kept})
    if not walk.recipe.roles.sensitive and (about := [name for name in NEEDS_SECRET if name in given]):
        raise WrongUse(f"{about[0]} is about a secret column: choose one in Roles first.")
    walk.sitting.change(changed, f"Promise {', '.join(f'{k} {v}' for k, v in given.items())}")


async def _sets(walk: Walk, act: Act) -> None:
    """Promise what the form for baskets says."""
    aim = Aim(act["data"]["aim"])
    given = {}
    for name in method_offers.SETS[aim]:
        entry = entry_of(Stated, name, None)
        assert entry is not None
        text = act["form"].get(name, "")
        given[name] = entry.parsed(text) if str(text).strip() else method_offers.USUAL[name]
    if aim is Aim.DEGREE and not walk.recipe.roles.sensitive:
        raise WrongUse("This promise is about secret items: name some in Roles first.")
    changed = method_offers.promised(walk.recipe, given)
    walk.sitting.change(changed, f"Promise {', '.join(f'{k} {v}' for k, v in given.items())}")


async def _own(walk: Walk, act: Act) -> None:
    """Make a promise that only one method keeps."""
    name = str(act["data"]["method"])
    kind = registry.load("method", name)
    given = {}
    for entry in entries(kind, {}, method_offers.promise_fields(kind)):
        value = entry.parsed(act["form"].get(entry.name, ""))
        if value is not None:
            given[entry.name] = value
        elif entry.required:
            raise WrongUse(f"{entry.label} is required: {entry.help}.")
    if not given:
        raise WrongUse("Fill in at least one field.")
    changed = method_offers.own_promise(walk.recipe, name, given)
    changed.the_method()
    walk.sitting.change(changed, f"Promise of {name}")


async def _choose_model(walk: Walk, act: Act) -> None:
    walk.view["model"] = str(act["form"].get("model", "")) or None


async def _put_model(walk: Walk, act: Act) -> None:
    """Add a promise by its model."""
    name = walk.view["model"]
    kind: type[Model] = registry.load("model", name)
    given = {}
    for entry in entries(kind, {}, kind.model_fields):
        value = entry.parsed(act["form"].get(entry.name, ""))
        if value not in (None, entry.default):
            given[entry.name] = value
    promise = kind(**given).as_promise()
    method = {**walk.recipe.method, "promises": [*(walk.recipe.method.get("promises") or ()), promise]}
    changed = walk.recipe.model_copy(update={"method": method})
    try:
        changed.the_method()
    except ShoalError as error:
        raise WrongUse(f"This method cannot keep {name}: {error}") from error
    walk.sitting.change(changed, f"Promise {name}")
    walk.view["model"] = None


async def _drop_model(walk: Walk, act: Act) -> None:
    """Drop an added promise."""
    rest = list(walk.recipe.method.get("promises") or ())
    gone = rest.pop(int(act["data"]["place"]))
    method = {name: value for name, value in walk.recipe.method.items() if name != "promises"}
    walk.change(f"No {gone['model']}", method=method | ({"promises": rest} if rest else {}))


ACTIONS: dict[str, Handler] = {
    "promise": _promise,
    "sets": _sets,
    "own": _own,
    "choose-model": _choose_model,
    "put-model": _put_model,
    "drop-model": _drop_model,
}
