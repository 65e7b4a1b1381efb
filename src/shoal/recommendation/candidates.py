"""What is tried: methods with parameters that keep a stated promise, the promising and quick ones first."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from shoal.methods.table_method import TableMethod
from shoal.recipe import make_method
from shoal.recommendation.goal import Aim, Stated

SUPPRESSION = (0.01, 0.05)
"""Shares of rows that may be left out, where fewer are not asked for."""

CONFIDENCES = (1.0, 0.8, 0.6)
"""Of a risk: the confidences that are tried, as parts of it."""

SIZES = (3, 5, 10, 25, 50)
"""Sizes of classes that are tried for a risk."""

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
"""Stronger values of each parameter, to show what more protection would cost."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A method with its parameters.

    Parameters
    ----------
    label
        What it is called beside others.
    method
        Name and parameters, as a recipe has them.
    trees
        Whether columns (or items) without a hierarchy get one that is built.
    axis
        The parameter in which it is stronger than what was stated, if any.
    """

    label: str
    method: Mapping[str, Any] = field(default_factory=dict)
    trees: bool = False
    axis: str | None = None


def candidates(aim: Aim, stated: Stated, *, seconds: float, suppression_limit: float) -> list[Candidate]:
    """What to try for a stated promise, the quickest first. What it cannot be promised of is left out.

    Parameters
    ----------
    seconds
        What a method with a time limit of its own is given.
    suppression_limit
        The largest share of rows that may be left out.
    """
    if aim in (Aim.CLASSES, Aim.RULES):
        found = _of_classes(stated, seconds, suppression_limit) if aim is Aim.CLASSES else _of_rules(stated)
        return [one for one in found if not _of_table(one).misfits()]
    if aim is Aim.COHERENCE:
        return _of_coherence(stated, seconds)
    return _of_degree(stated) if aim is Aim.DEGREE else _of_combinations(stated)


def _of_table(candidate: Candidate) -> TableMethod:
    method = make_method(dict(candidate.method))
    assert isinstance(method, TableMethod)
    return method


def _of_classes(stated: Stated, seconds: float, suppression_limit: float) -> list[Candidate]:
    promise = stated.of_tables()
    mondrian = {"name": "mondrian", **promise}
    lattice = {"name": "lattice", **promise, "time_limit": round(seconds, 1)}
    limits = [share for share in SUPPRESSION if share < suppression_limit]
    limits += [suppression_limit] if suppression_limit else []
    found = [
        Candidate("mondrian", mondrian),
        Candidate("mondrian, relaxed", mondrian | {"partitioning": "relaxed"}),
        Candidate("mondrian, split loss", mondrian | {"split": "loss"}),
        Candidate("mondrian, sets", mondrian | {"publish": "sets"}),
        Candidate("mondrian along hierarchies", mondrian, trees=True),
        Candidate("lattice", lattice, trees=True),
    ]
    for share in limits:
        found.append(
            Candidate(f"lattice, {share:.0%} suppressed", lattice | {"suppression_limit": share}, trees=True)
        )
    local = lattice | {"local": True}
    found.append(
        Candidate("lattice, local", local | ({"suppression_limit": limits[0]} if limits else {}), trees=True)
    )
    samarati = {"name": "samarati", **promise, **({"suppression_limit": limits[0]} if limits else {})}
    return [*found, Candidate("samarati", samarati, trees=True)]


def _of_rules(stated: Stated) -> list[Candidate]:
    """For a confidence: all strategies; for a risk: confidences and class sizes with each of them."""
    promise = stated.of_tables()
    if stated.risk is None:
        hidden = {"name": "table-rule-hiding", "k": 2, **promise, "confidence": stated.confidence}
        relaxed = hidden | {"options": {"partitioning": "relaxed"}}
        strategies = ("star", "decoy", "merge")
        found = [Candidate(f"table-rule-hiding, {one}", hidden | {"strategy": one}) for one in strategies]
        found += [
            Candidate(f"table-rule-hiding, {one}, relaxed", relaxed | {"strategy": one}) for one in strategies
        ]
        few = hidden | {"strategy": "star", "fewer_than": 2}
        return [*found, Candidate("table-rule-hiding, star, fewer than 2", few)]
    top = stated.risk if stated.confidence is None else min(stated.risk, stated.confidence)
    least = stated.k or 2
    sizes = dict.fromkeys([least, *(size for size in SIZES if size > least)])
    found = []
    for part in CONFIDENCES:
        c = float(f"{top * part:.4g}")
        for k in sizes:
            hidden = {"name": "table-rule-hiding", **promise, "k": k, "confidence": c}
            found.append(Candidate("table-rule-hiding, merge", hidden | {"strategy": "merge"}))
            if part == 1:
                found.append(Candidate("table-rule-hiding, star", hidden | {"strategy": "star"}))
                few = hidden | {"strategy": "star", "fewer_than": 2}
                found.append(Candidate("table-rule-hiding, star, fewer than 2", few))
    return found


def _of_coherence(stated: Stated, seconds: float) -> list[Candidate]:
    promise = {"name": "coherence", "h": stated.h, "k": stated.k, "p": stated.p}
    found = [Candidate(f"coherence, {pick}", promise | {"pick": pick}) for pick in ("mm/il", "1/il", "mm")]
    optimal = promise | {"pick": "optimal", "time_limit": round(seconds, 1)}
    return [*found, Candidate("coherence, optimal", optimal)]


def _of_degree(stated: Stated) -> list[Candidate]:
    found = [Candidate("permutation-mondrian", {"name": "permutation-mondrian", "p": stated.p})]
    for order in ("gray", "rcm", "nearest", "lexicographic", "bipartite"):
        method = {"name": "cahd", "p": stated.p, **({} if order == "gray" else {"order": order})}
        found.insert(0 if order == "gray" else len(found), Candidate(f"cahd, {order}", method))
    return found


def _of_combinations(stated: Stated) -> list[Candidate]:
    promise = {"k": stated.k, "m": stated.m or 2}
    apart = {"name": "disassociation", **promise}
    found = [
        Candidate("disassociation", apart),
        Candidate("disassociation, larger clusters", apart | {"max_cluster_size": _larger(stated.k or 2)}),
        Candidate("disassociation, pooled", apart | {"small": "pool"}),
        Candidate("disassociation, not refined", apart | {"refine": False}),
    ]
    coarse = {"name": "km-generalization", **promise}
    for algorithm in ("aa", "lra", "vpa"):
        method = coarse | ({} if algorithm == "aa" else {"algorithm": algorithm})
        found.append(Candidate(f"km-generalization, {algorithm}", method, trees=True))
    return found


def _larger(k: int) -> int:
    """Twice the size of clusters that disassociation has by default."""
    return 2 * max(30, 2 * k)


def main_parameter(aim: Aim, stated: Stated) -> str | None:
    """The parameter that protection is measured by: the first that is stated."""
    if aim is Aim.DEGREE:
        return "p"
    if aim is Aim.RULES:
        return None
    if aim in (Aim.COHERENCE, Aim.COMBINATIONS):
        return "k"
    given = stated.of_tables()
    return next((name for name in HARDER if name in given), None)


def harder(candidate: Candidate, axis: str) -> list[Candidate]:
    """The same method with stronger values of a parameter."""
    value = candidate.method.get(axis)
    if value is None or axis not in HARDER:
        return []
    found = []
    for stronger in HARDER[axis](value):
        plain = float(f"{stronger:.4g}") if isinstance(stronger, float) else stronger
        method = {**candidate.method, axis: plain}
        if axis == "k" and "max_cluster_size" in method:
            method["max_cluster_size"] = _larger(int(plain))
        found.append(Candidate(candidate.label, method, candidate.trees, axis))
    return found
