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
    "linkage": "pick out a person's row or basket, or that person's secret",
    "inference": "guess a person's secret",
    "certainty": "be certain of a person's secret",
}
"""Attacks that every report runs, and what they try to do; `shoal attack` runs all."""

PEOPLE = 300
"""The number of people that are attacked."""

CELLS = 500_000
"""Most public cells or items that the report attacks; for larger data there is `shoal attack`."""


@dataclass(frozen=True, slots=True)
class Tried:
    """An attack on the raw data and on the release, as texts."""

    name: str
    aim: str
    """`name`, `aim`: the attack, and what it tries to do."""
    before: str  # its success on the raw data, as a text
    promised: str  # the largest success that the promises allow; empty where they say nothing about it
    after: str
    control: str
    residual: str
    """`after`, `control`, `residual`: its success on the release, its success about people who are not in it, and what
    the release adds between the two."""
    sentence: str  # what the attack says itself
    parts: tuple[tuple[str, str], ...] = ()  # further figures of the attack on the release
    parts_before: tuple[tuple[str, str], ...] = ()  # the same on the raw data


def attacks_of(run: "AnyRun") -> tuple[Tried, ...]:
    """Run the quick attacks on a run; none where its rows are not in memory, or too many."""
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
