"""Explain in sentences why a release is proposed."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shoal.data._plain_text import counted
from shoal.methods._candidates import Aim
from shoal.methods._improvement.method import Improvable
from shoal.recipe import make_method
from shoal.recommendation.candidate_list import Tried
from shoal.recommendation.goal import spelled
from shoal.recommendation.scale import Scale
from shoal.report.wording import number

WORDS = {
    "refused": "cannot keep the promise here",
    "timeout": "was given up",
    "failed": "failed",
    "crashed": "crashed",
    "broken": "broke the promise and was thrown away",
}

IMPROVED = 60.0
"""Seconds that whoever has them may spend on single rows."""


def reasons(
    proposal: Tried,
    found: Sequence[Tried],
    scale: Scale,
    trees: Mapping[str, str],
    names: Sequence[str] = (),
    *,
    seconds: float,
    time_limit: float,
) -> tuple[str, ...]:
    """The reasons as sentences, the most important first. `names`: quasi-identifiers without order or hierarchy."""
    first, *rest = _sentences(proposal, found, scale, trees, names)
    late = sum(one.status == "timeout" for one in found if one.candidate.axis is None)
    if late and seconds > time_limit:
        begun = f"{counted(late, 'other candidates')} {'was' if late == 1 else 'were'} given up"
        rest.insert(
            0,
            f"The limit of {time_limit:g} second{'s' * (time_limit != 1)} was passed: {number(round(seconds, 1))} "
            f"were needed to have a release at all, and {begun}. Give more with --time-limit to try more.",
        )
    return (first, *rest)


def _sentences(
    proposal: Tried, found: Sequence[Tried], scale: Scale, trees: Mapping[str, str], names: Sequence[str]
) -> Iterator[str]:
    usable = [one for one in found if one.usable]
    base = [one for one in usable if one.candidate.axis is None]
    lost = f"{number(proposal.loss or 0.0)} ({scale.meaning})"
    yield (
        f"Of {len(base)} releases that keep the promise, each proved from its published form, {proposal.label} loses "
        f"least: {lost}."
        if len(base) > 1
        else f"{proposal.label} is the only release that was made and keeps the promise, proved from its published "
        f"form; it loses {lost}."
    )
    if proposal.candidate.axis is not None:
        name = proposal.candidate.axis
        yield f"It keeps more than was stated, {spelled(name)} = {proposal.candidate.method[name]}, at no further loss."
    yield from _rivals(proposal, base)
    yield from _protection(proposal, found, scale)
    suppressed = int(proposal.row.get("suppressed") or 0)
    if suppressed:
        rows = int(proposal.row.get("rows") or 0)
        yield f"It leaves out {suppressed:,} of {rows:,} rows, which count as lost."
    if proposal.row.get("starred_cells"):
        yield f"It stars {int(proposal.row['starred_cells']):,} sensitive cells, which count as lost."
    if proposal.candidate.remark:
        yield proposal.candidate.remark
    if proposal.candidate.lists and names:
        yield (
            f"Its cells of {', '.join(names)} list the exact values of a class, such as {{a|b|c}}: give a hierarchy "
            "(--hierarchy) to publish groups with names instead."
        )
    if "time_limit" in proposal.candidate.method:
        seconds = proposal.candidate.method["time_limit"]
        yield (
            f"It searches for up to {seconds:g} seconds; if it stops before the best is proved, a slower machine may "
            "find less."
        )
    if scale.loss == "lm_mean" and may_be_improved(proposal.candidate.method):
        yield (
            f"Rows were not moved one by one: --improve {IMPROVED:g} spends {IMPROVED:g} seconds more on that, and the "
            "release may lose less; its classes may overlap then."
        )
    if trees:
        shown = ", ".join(f"{name} {spec}" for name, spec in trees.items())
        yield f"Hierarchies were built from the values alone ({shown}): see whether their groups mean something."
    yield from _failures(found)


def may_be_improved(method: Mapping[str, Any]) -> bool:
    """Whether a method, as a recipe has it, can move single rows, and was not told to; classes may overlap then.

    >>> may_be_improved({"name": "mondrian", "k": 3}), may_be_improved({"name": "mondrian", "k": 3, "improve": 5})
    (True, False)
    >>> may_be_improved({"name": "mondrian", "k": 3, "publish": "sets"})
    False
    """
    made = make_method(dict(method))
    # Lists of values are improved by how many values they name, and not by the loss that candidates are compared by.
    if not isinstance(made, Improvable) or made.improving or getattr(made, "publish", None) == "sets":
        return False
    return not made.model_copy(update={"improve": IMPROVED}).misfits()


def _rivals(proposal: Tried, base: Sequence[Tried]) -> Iterator[str]:
    """Sentences on the best candidates of the other methods, and on the worst one of the same method."""
    bests: dict[str, Tried] = {}
    for one in sorted(base, key=lambda one: one.loss or 0.0):
        bests.setdefault(one.candidate.method["name"], one)
    others = [one for name, one in bests.items() if name != proposal.candidate.method["name"]]
    if others:
        text = ", ".join(f"{one.label} loses {number(one.loss or 0.0)}" for one in others)
        yield f"By comparison, {text}."
    same = [one for one in base if one.candidate.method["name"] == proposal.candidate.method["name"]]
    worst = max(same, key=lambda one: one.loss or 0.0)
    if (worst.loss or 0.0) > (proposal.loss or 0.0):
        yield f"{worst.label} would lose {number(worst.loss or 0.0)}: the parameters matter."


def _protection(proposal: Tried, found: Sequence[Tried], scale: Scale) -> Iterator[str]:
    if scale.aim is Aim.RULES:
        row = proposal.row
        parts = [f"{number(row['confidence_published'])} as published"]
        if row.get("confidence_stars"):
            parts.append(f"{number(row['confidence_stars'])} for who reads the stars")
        parts.append(f"{number(proposal.privacy or 0.0)} in the worst case")
        yield f"A class tells a sensitive value with a confidence of at most {', '.join(parts)}."
    stronger = [one for one in found if one.usable and one.best and one is not proposal]
    ahead = [
        one
        for one in stronger
        if one.privacy is not None
        and proposal.privacy is not None
        and ((one.privacy > proposal.privacy) == scale.high)
        and one.privacy != proposal.privacy
    ]
    if not ahead:
        return
    near = min(ahead, key=lambda one: one.loss or 0.0)
    words = "a worst case of" if scale.aim is Aim.RULES else f"{scale.privacy} ="
    yield (
        f"More protection: {words} {number(near.privacy or 0.0)} would lose {number(near.loss or 0.0)} "
        f"({near.label})."
    )


def _failures(found: Sequence[Tried]) -> Iterator[str]:
    """Sentences on candidates without a release, and why there is none."""
    failures: dict[tuple[str, str], dict[str, None]] = {}
    for one in found:
        if one.status != "done" and one.candidate.axis is None:
            failures.setdefault((one.status, one.error), {})[one.candidate.label] = None
    for (status, error), labels in failures.items():
        yield f"Without a release: {'; '.join(labels)} {WORDS[status]} ({error.rstrip('.')})."
    stronger = [one for one in found if one.candidate.axis is not None]
    if refused := next((one for one in stronger if one.status == "refused"), None):
        yield f"A stronger promise could not be kept: {refused.error}"
    if late := sum(one.status == "timeout" for one in stronger):
        yield f"Time was too short for {late} stronger promises."
    missed = sum(one.status == "done" and not one.meets for one in found)
    if missed:
        yield f"{missed} further releases keep their own promise, but not the risk that was stated."
