"""Warn of sensitive values that are certain to whoever finds a class: k-anonymity hides rows, and not what they share.

The report names every such class. A run warns where they are more than a handful, and where the value is more than what
everybody could guess: a class all of whose rows have what nearly all rows have tells little about anybody.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from shoal.risks.role_guards import WORTH_A_WORD

COMMON = 0.9
"""A value of so many rows is no news where it is certain: the class is within a distance of 0.1 of the whole."""


@dataclass(frozen=True, slots=True)
class Certain:
    """The classes of a release in which a sensitive column has a single value."""

    column: str  # the sensitive column
    rows: Mapping[str, int]
    """By value: the rows of the classes that have no other, or their persons where somebody may have several rows."""
    total: int  # the rows, or persons, of all classes
    noun: str = "rows"  # what is counted: rows, or persons


def warned_of_certain(
    found: Sequence[Certain], counts: Callable[[str], Mapping[str, int]], *, perturbed: bool = False
) -> tuple[str, ...]:
    """One sentence about sensitive columns of which a share of the rows that is worth a word has a certain value.

    `counts`: how many published rows have each value of a column; it is not asked without need. `perturbed`: whether
    other columns are perturbed, so that nothing else can be promised.
    """
    told = []
    for one in found:
        if sum(one.rows.values()) < WORTH_A_WORD * one.total or not one.total:
            continue
        held = counts(one.column)
        every = sum(held.values())
        common = [value for value in one.rows if held.get(value, 0) >= COMMON * every]
        share = sum(count for value, count in one.rows.items() if value not in common) / one.total
        if share >= WORTH_A_WORD:
            told.append((one, share, common))
    if not told:
        return ()
    told.sort(key=lambda entry: (-entry[1], entry[0].column))
    (first, share, common), noun = told[0], told[0][0].noun
    why = f"in their classes all {noun} have one value, and whoever finds the class learns it"
    if len(told) == 1:
        of = f"{share:.1%} of the {noun}{_beside(common)}"
        said = f"The sensitive column {first.column!r} is certain for {of}: {why}."
    else:
        shares = ", ".join(f"{one.column!r} ({share:.1%}{_beside(common)})" for one, share, common in told)
        said = f"{len(told)} sensitive columns are certain for some {noun}: {why}: {shares}."
    return (f"{said} {_advice(noun, perturbed)}",)


def _beside(common: Sequence[str]) -> str:
    """What was not counted, in words."""
    values = " and ".join(value or "a missing value" for value in common)
    return f", not counting {values}, which nearly all have" if common else ""


def _advice(noun: str, perturbed: bool) -> str:
    if perturbed:
        return "Perturb such a column too."
    bound = "an --alpha below 1" if noun == "persons" else "a small --t"
    return f"k-anonymity does not prevent that: promise --l 2 too, so that every class has two values, or {bound}."
