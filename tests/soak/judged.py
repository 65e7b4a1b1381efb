"""One case from end to end: run on every engine, judged, compared, falsified."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests.contract.parted import EQUAL
from tests.soak.cases import Case
from tests.soak.checks import check
from tests.soak.engines import PARTS, Engines, Outcome
from tests.soak.feasible import refute
from tests.soak.published import Published, read
from tests.soak.tampering import falsify
from tests.soak.ties import applies, follows

import shoal
from shoal import registry
from shoal.data.verdict import Verdict


@dataclass
class Judged:
    """The outcome of a case on all engines."""

    case: Case
    outcomes: list[Outcome] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    tampered: str = ""


def run_case(case: Case, engines: Engines, home: Path, spark: bool = False) -> Judged:
    """Run a case on the engines, and say everything that is wrong."""
    folder = home / f"case-{case.seed}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    found = Judged(case)
    try:
        recipe = case.lay_out(folder)
        population = recipe["method"].get("population")
        for engine in registry.ENGINES:
            if engine != "spark" or spark:
                found.outcomes.append(engines(engine, case, recipe, folder))
        for outcome in found.outcomes:
            found.faults += [f"{outcome.engine}: {fault}" for fault in _faults(case, outcome, population)]
            if outcome.status == "published" and case.proved and population is None:
                by_stream = partial(engines.verify, outcome.folder, case)
                found.faults += _unproved(f"{outcome.engine}, verify by stream", by_stream)
        found.faults += _differences(case, found.outcomes)
        if case.shuffled and found.outcomes[0].status == "published" and applies(case):
            fault = follows(case, found.outcomes[0], engines, folder / "shuffled")
            found.faults += [f"ties: {fault}"] if fault else []
        if case.tampered and not found.faults and found.outcomes[0].status == "published":
            found.tampered, fault = falsify(case, found.outcomes[0], recipe["method"].get("population"))
            found.faults += [f"tampering: {fault}"] if fault else []
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return found


def _faults(case: Case, outcome: Outcome, population: str | None) -> list[str]:
    if outcome.status == "crashed":
        return [f"{outcome.error}: {outcome.message}"]
    if outcome.status == "refused":
        if not outcome.message or outcome.message != outcome.message.strip():
            return ["a refusal says nothing"]
        return list(refute(case)) if outcome.error == "Infeasible" else []
    try:
        found = list(check(case, outcome))[:5]
    except Exception as error:
        found = [f"the published files cannot be judged: {type(error).__name__}: {error}"]
    return [*found, *_unproved("verify", lambda: shoal.verify(outcome.folder, population=population))]


def _unproved(what: str, verify: Callable[[], Sequence[Verdict]]) -> list[str]:
    try:
        return [f"{what}: {one.model} is broken: {one.offenders}" for one in verify() if not one.holds]
    except Exception as error:
        return [f"{what}: {type(error).__name__}: {error}"]


def _differences(case: Case, outcomes: list[Outcome]) -> list[str]:
    """What engines disagree about although they should not."""
    local, *others = outcomes
    found = []
    for other in others:
        if "crashed" in (local.status, other.status) or PARTS.search(other.message):
            continue
        if (local.status, local.code) != (other.status, other.code):
            statuses = [f"{one.engine}: {one.name}. {one.message[:200]}" for one in (local, other)]
            found.append(f"engines differ: {'; '.join(statuses)}")
        elif local.status == "published":
            found += [f"{other.engine}: {fault}" for fault in _unlike(case, local, other)]
    return found


def _unlike(case: Case, local: Outcome, other: Outcome) -> list[str]:
    here, there = read(local.folder), read(other.folder)
    if here.promises != there.promises:
        return ["other promises than in memory"]
    drawn = case.recipe["seed"] is None and "random" in case.recipe["method"].values()
    if case.method in EQUAL and not drawn:
        if here.text != there.text:
            return ["other data than in memory"]
        return [] if here.facts == there.facts else ["another release.json than in memory"]
    return _other_sizes(here, there)


def _other_sizes(here: Published, there: Published) -> list[str]:
    for name in ("rows", "baskets", "items"):
        if here.facts.get(name) != there.facts.get(name):
            return [f"{there.facts.get(name)} {name} instead of {here.facts.get(name)}"]
    return []
