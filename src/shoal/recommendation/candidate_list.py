"""Candidates for a stated promise, as the methods offer them, and the results of trying them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from shoal import registry
from shoal.comparison.results import Row
from shoal.data.baskets import Baskets
from shoal.errors import ShoalError
from shoal.methods._candidates import Aim, Candidate, Goal
from shoal.methods.method import Method
from shoal.methods.table_method import TableMethod
from shoal.recipe import make_method
from shoal.recommendation.goal import Stated, spelled

SUPPRESSION = (0.01, 0.05)
"""Shares of rows that candidates may leave out, as far as the limit allows."""

HARDER: Mapping[str, Callable[[Any], tuple[Any, ...]]] = {
    "k": lambda k: (2 * k, 5 * k, 10 * k),
    "l": lambda l: (l + 1, l + 2),  # noqa: E741
    "entropy_l": lambda l: (l + 1, l + 2),  # noqa: E741
    "t": lambda t: (t * 3 / 4, t / 2),
    "alpha": lambda alpha: (alpha * 3 / 4, alpha / 2),
    "beta": lambda beta: (beta * 3 / 4, beta / 2),
    "delta": lambda delta: (delta * 3 / 4, delta / 2),
    "maximal_risk": lambda risk: (risk / 2, risk / 5),
    "average_risk": lambda risk: (risk / 2, risk / 5),
    "k_map": lambda k: (2 * k, 5 * k),
    "presence": lambda presence: (presence * 3 / 4, presence / 2),
    "p": lambda p: (2 * p, 4 * p),
}
"""For each parameter, stronger values to try, to show what more protection would cost."""


def candidates(aim: Aim, stated: Stated, *, seconds: float, suppression_limit: float) -> list[Candidate]:
    """The candidates for a stated promise, the quickest first, without those that cannot make this promise.

    `seconds`: the time for a method with its own time limit. `suppression_limit`: the largest share of rows that may be
    left out.
    """
    limits = [share for share in SUPPRESSION if share < suppression_limit]
    limits += [suppression_limit] if suppression_limit else []
    goal = Goal(
        aim=aim,
        promise={} if aim.of_baskets else stated.of_tables(),
        k=stated.k,
        h=stated.h,
        p=stated.p,
        m=stated.m,
        confidence=stated.confidence,
        risk=stated.risk,
        seconds=seconds,
        limits=tuple(limits),
    )
    kinds: list[type[Method]] = list(registry.load_all("method").values())
    offered = [
        one for kind in kinds if (kind.accepts is Baskets) == aim.of_baskets for one in kind.candidates(goal)
    ]
    return sorted((one for one in offered if _fits(one)), key=lambda one: one.turn)


def _fits(candidate: Candidate) -> bool:
    """Whether the promise can be made about the kind of classes that a candidate forms."""
    try:
        method = make_method(dict(candidate.method))
    except ShoalError:
        return True  # trying it will say what is wrong
    return not (isinstance(method, TableMethod) and method.misfits())


def main_parameter(aim: Aim, stated: Stated) -> str | None:
    """The parameter by which protection is measured: the first one that is stated."""
    if aim is Aim.DEGREE:
        return "p"
    if aim is Aim.RULES:
        return None
    if aim in (Aim.COHERENCE, Aim.COMBINATIONS, Aim.ITEMS):
        return "k"
    given = stated.of_tables()
    return next((name for name in HARDER if name in given), None)


def harder(candidate: Candidate, axis: str) -> list[Candidate]:
    """Candidates for the same method with stronger values of a parameter."""
    value = candidate.method.get(axis)
    if value is None or axis not in HARDER:
        return []
    kind: type[Method] = registry.load("method", candidate.method["name"])
    found = []
    for stronger in HARDER[axis](value):
        plain = float(f"{stronger:.4g}") if isinstance(stronger, float) else stronger
        found.append(replace(candidate, method=kind.strengthened(candidate.method, axis, plain), axis=axis))
    return found


def label_of(candidate: Candidate) -> str:
    """What a candidate is called, with the parameters that tell it from others of the same name."""
    axis = candidate.axis
    named = {*candidate.shown, *(("k", axis) if axis else ())}
    shown = {name: value for name, value in candidate.method.items() if name in named}
    words = [f"{spelled(name)} {value:g}" for name, value in shown.items() if isinstance(value, int | float)]
    return ", ".join([candidate.label, *words])


@dataclass(frozen=True, slots=True)
class Tried:
    """A candidate with the result of trying it."""

    candidate: Candidate
    status: str
    error: str
    """`status`, `error`: ``done`` if a release was made and proved to keep the promise; otherwise why there is none."""
    loss: float | None
    privacy: float | None
    """`loss`, `privacy`: on the scale of the recommendation; None if there is no release."""
    seconds: float | None
    meets: bool  # whether it also meets the risk that was stated
    best: bool  # whether no other candidate beats it in loss and protection
    row: Row  # everything that was measured

    @property
    def label(self) -> str:
        """What it is called, with the parameters that tell it from others of the same name."""
        return label_of(self.candidate)

    @property
    def usable(self) -> bool:
        """Whether the candidate can be proposed."""
        return self.status == "done" and self.meets and self.loss is not None
