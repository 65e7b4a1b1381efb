"""Risk before, promise, and risk after, side by side: the same attacks on the raw data and on the release.

The raw data is attacked in the form of the release, so that both figures answer one question about one adversary.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.attacks._bounds import promised_bound
from shoal.attacks._raw_form import in_form_of
from shoal.attacks._together import attack_all
from shoal.attacks.attack import Attacked, Target
from shoal.data.dataset import Dataset
from shoal.data.release import Release
from shoal.data.table import Table
from shoal.models._matching import shared_readers
from shoal.report.wording import percent

if TYPE_CHECKING:
    from shoal.outcome import AnyRun

QUICK = {
    "linkage": "to pick somebody's row or basket, or her secret",
    "inference": "to guess a secret of somebody",
    "certainty": "to be certain of a secret",
}
"""Attacks that every report runs, and what they try; `shoal attack` runs all."""

PEOPLE = 300
"""So many people are tried."""

CELLS = 500_000
"""Of more public cells or items than these the report says nothing: `shoal attack` does."""


@dataclass(frozen=True, slots=True)
class Tried:
    """An attack before and after."""

    name: str
    aim: str
    """`name`, `aim`: of the attack, and what it tries."""
    before: str  # its success on the raw data, as a text
    promised: str  # the largest success that the promises allow; empty where they say nothing about it
    after: str
    control: str
    residual: str
    """`after`, `control`, `residual`: its success on the release, that about people outside of it, and what is left
    between."""
    sentence: str  # what the attack says itself
    parts: tuple[tuple[str, str], ...] = ()  # further figures of the attack on the release
    parts_before: tuple[tuple[str, str], ...] = ()  # the same on the raw data


def attacks_of(run: "AnyRun") -> tuple[Tried, ...]:
    """The quick attacks on a run whose rows are in memory; none where they are elsewhere, or too many."""
    original, release = run.original, run.release
    if isinstance(original, Dataset):
        return ()
    if (original.rows * len(original.quasi) if isinstance(original, Table) else len(original.items)) > CELLS:
        return ()
    raw: Release = Release(in_form_of(original, release.data), "none", {}, release.promises)
    with shared_readers():
        after, before = (
            attack_all(Target(one, original), list(QUICK), people=PEOPLE, strict=False)
            for one in (release, raw)
        )
    return tuple(
        _tried(name, before.get(name), after[name], promised_bound(release, name))
        for name in QUICK
        if name in after
    )


def _tried(name: str, before: Attacked | None, after: Attacked, bound: float | None) -> Tried:
    return Tried(
        name,
        QUICK[name],
        "–" if before is None else percent(before.success),
        "" if bound is None else f"at most {percent(bound)}",
        percent(after.success),
        percent(after.control),
        percent(after.residual),
        after.sentence,
        _texts(after),
        () if before is None else _texts(before),
    )


def _texts(attacked: Attacked) -> tuple[tuple[str, str], ...]:
    return tuple((part, percent(share)) for part, share in attacked.parts.items())
