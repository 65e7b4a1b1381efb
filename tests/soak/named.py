"""Random parameters of methods and models: generators for those that depend on the data; others are drawn by type."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from pydantic.fields import FieldInfo
from tests.soak.fields import draw_field

from shoal import registry
from shoal.data.table import Table


@dataclass
class Facts:
    """What parameters may refer to: columns and their values, or items."""

    quasi: list[str] = field(default_factory=list)
    values: dict[str, list[str]] = field(default_factory=dict)
    items: list[str] = field(default_factory=list)
    secrets: list[str] = field(default_factory=list)

    @property
    def sensitive(self) -> list[str]:
        return list(self.values)


Draw = Callable[[Random, Facts], Any]


def a_column(random: Random, facts: Facts) -> str | None:
    return random.choice([None, *facts.sensitive])


def some_values(random: Random, facts: Facts) -> list[str]:
    """Some values of one sensitive column; a value that a column does not have would be refused there."""
    known = random.choice([*facts.values.values(), []])
    return random.sample(known, min(len(known), random.randint(0, 3)))


def bounds(random: Random, facts: Facts) -> dict[str, float]:
    known = random.choice([*facts.values.values(), ["x"]])
    chosen = random.sample(known, min(len(known), random.randint(1, 3)))
    return {value: round(random.uniform(0.1, 1), 2) for value in chosen}


def order(random: Random, facts: Facts) -> list[str] | None:
    """An order of the values of the sensitive column; none where there are several, which it would not fit."""
    known = sorted(
        {value for values in facts.values.values() for value in values if value.strip()} - {"?", "NA"}
    )
    return random.sample(known, len(known)) if len(facts.values) == 1 and random.random() < 0.3 else None


def tree(random: Random, facts: Facts) -> dict[str, list[str]] | None:
    """A tree of the values of the sensitive column, including the missing one; none where there are several."""
    known = sorted(
        {"", *(value.strip() for values in facts.values.values() for value in values)} - {"?", "NA"}
    )
    if len(facts.values) != 1 or random.random() > 0.2:
        return None
    return {value: [f"kind{place // 2}", "*"] if value else ["", "*"] for place, value in enumerate(known)}


def guards(random: Random, facts: Facts) -> dict[str, Any]:
    """Two sensitive columns: the values of the second name nodes in a tree of the values of the first."""
    if len(facts.values) < 2:
        return {}
    column, guard = random.sample(facts.sensitive, 2)
    nodes = [value.strip() for value in facts.values[guard] if value.strip()] or ["node"]
    known = {"", *(value.strip() for value in facts.values[column])} - set(nodes)
    return {
        "column": column,
        "guard": guard,
        "tree": {value: [random.choice(nodes), "*"] if value else ["", "*"] for value in sorted(known)},
    }


def weights(random: Random, facts: Facts) -> dict[str, float]:
    return {name: random.choice([0.5, 1, 2, 3.25]) for name in facts.quasi if random.random() < 0.5}


def levels(random: Random, facts: Facts) -> dict[str, int]:
    return {name: random.randint(0, 3) for name in facts.quasi if random.random() < 0.3}


def least_levels(random: Random, facts: Facts) -> dict[str, int]:
    """Lowest levels of columns that are always generalized; a level above the coarsest is refused."""
    return {name: random.randint(0, 1) for name in facts.quasi if random.random() < 0.1}


def raw(random: Random, facts: Facts) -> list[str]:
    return [name for name in facts.quasi if random.random() < 0.2]


def rules(random: Random, facts: Facts) -> list[str]:
    usable = [item for item in facts.items if item == item.strip() and "+" not in item and "=>" not in item]
    found = []
    for _ in range(random.choice([0, 1, 1, 2])):
        if len(usable) > 2:
            one, other, third = random.sample(usable, 3)
            found.append(random.choice([f"{one} => {other}", f"{one} + {third} => {other}"]))
    return found


def _makes_classes(kind: Any) -> bool:
    return kind.accepts is Table and kind.publishes is None and not kind.needs_items and not kind.needs_link


def first_step(random: Random, facts: Facts) -> str:
    """A method of tables for a first step, which keeps promises of all columns whatever its own parameters are."""
    kinds = {name: registry.load("method", name) for name in registry.METHODS}
    plain = {name: kind for name, kind in kinds.items() if _makes_classes(kind)}
    own = {"anonymize_with", "stars_match_all"}
    return random.choice([name for name, kind in plain.items() if not own & kind.model_fields.keys()])


NAMED: dict[str, Draw] = {
    "column": a_column,
    "values": some_values,
    "bounds": bounds,
    "weights": weights,
    "max_level": levels,
    "min_level": least_levels,
    "raw": raw,
    "rules": rules,
    "anonymize_with": first_step,
    "options": lambda random, facts: {},
    "order": order,
    "tree": tree,
    "guard": a_column,
    "x": lambda random, facts: [name for name in facts.quasi if random.random() < 0.5],
    "sensitive": lambda random, facts: [],
    "sensitive_items": lambda random, facts: [],
    "insensitive_items": lambda random, facts: [],
    "clusters": lambda random, facts: random.choice(["mondrian", "mondrian", "lattice"]),
    "bound": lambda random, facts: random.choice(
        [{"relational": 0.0}, {"relational": 0.2}, {"relational": 1.0}, {"items": 0.5}]
    ),
    "time_limit": lambda random, facts: 600.0,
    "keep_suppressed": lambda random, facts: random.random() < 0.8,
    "max_suppressed": lambda random, facts: random.choice([0, 1, 2, 5]),
    "columns": lambda random, facts: random.sample(facts.sensitive, min(len(facts.sensitive), 1)),
    "matrix": lambda random, facts: None,
    "rho1": lambda random, facts: random.choice([0.02, 0.1, 0.3]),
    "rho2": lambda random, facts: random.choice([0.35, 0.5, 0.9]),
    "d": lambda random, facts: random.choice([0.05, 0.1, 0.25]),
    "d_gamma": lambda random, facts: random.choice([0.3, 0.6, 0.95]),
    "improve_steps": lambda random, facts: random.choice([[], [1], [40], [300]]),
}
"""Generators by the name of the parameter."""

NEVER = frozenset({"population", "entity", "promises"})
"""Parameters that a case makes itself: files, roles and models."""


def parameters(
    random: Random,
    owner: str,
    fields: Mapping[str, FieldInfo],
    facts: Facts,
    share: float,
    without: Iterable[str] = (),
) -> dict[str, Any]:
    """Some parameters of a method or model, among them all that it requires."""
    left_out = {*without, *NEVER}
    found: dict[str, Any] = {}
    for name, one in fields.items():
        if name in left_out or (not one.is_required() and random.random() > share):
            continue
        if name == "improve" and one.annotation is not bool:
            continue  # a search that ends by the clock ends differently each time
        value = NAMED[name](random, facts) if name in NAMED else draw_field(random, owner, name, one)
        if value is None and one.is_required() and facts.sensitive:
            value = random.choice(facts.sensitive)
        if value is not None:
            found[name] = value
    if "max_suppressed" in found:
        found.pop("suppression_limit", None)  # not both
    return found


def drawable(owner: str, fields: Mapping[str, FieldInfo]) -> None:
    """Draw every parameter once, so that one without a generator is noticed."""
    facts = Facts(["q"], {"s": ["a", "b"]}, ["a", "b", "c"], ["a"])
    parameters(Random(1), owner, fields, facts, share=1.0)
