"""What is known to be wrong with the settings before a run, by step."""

from dataclasses import dataclass
from typing import Any

from shoal.recipe import Recipe
from shoal.studio.method_offers import of_baskets


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that a run would refuse."""

    step: str
    short: str  # a few words beside the step
    sentence: str  # what is wrong, and what to do
    column: str = ""  # the column that it is about, if it is about one


def faults_of(recipe: Recipe, found: dict[str, Any]) -> list[Fault]:
    """The faults of a recipe, as far as a look at its data tells; `found` is that look."""
    if of_baskets(recipe):
        return []
    return [*_of_roles(recipe, found), *_of_promise(recipe, found)]


def _of_roles(recipe: Recipe, found: dict[str, Any]) -> list[Fault]:
    roles = recipe.roles
    if not roles.quasi:
        sentence = (
            "No column is known, so nothing would become coarser. Choose in Roles what others may know."
        )
        return [Fault("roles", "no known column", sentence)]
    reasons = {one["name"]: one.get("identifier", "") for one in found["columns"]}
    return [
        Fault(
            "roles",
            "looks like an identifier",
            f"{name} looks like an identifier: {reasons[name]}. Its groups would be published as lists of identifiers. "
            "Make it identifying, or insist on it if others know it and it may be published.",
            name,
        )
        for name in roles.quasi
        if reasons.get(name) and name not in roles.insist
    ]


def _of_promise(recipe: Recipe, found: dict[str, Any]) -> list[Fault]:
    method = recipe.method
    if (method.get("k_map") or method.get("presence")) and not method.get("population"):
        sentence = "A promise about a population needs its file: a table with the same known columns."
        return [Fault("promise", "needs a population", sentence)]
    if found["sampled"]:
        return []
    asked = method.get("l") or 0
    values = {one["name"]: one["distinct"] + bool(one["missing"]) for one in found["columns"]}
    return [
        Fault(
            "promise",
            "cannot be kept",
            f"{name} has only {values[name]} different values, so no group can show {asked} of them. Promise fewer, or "
            f"make {name} something other than secret in Roles.",
            name,
        )
        for name in recipe.roles.sensitive
        if values.get(name, asked) < asked
    ][:1]
