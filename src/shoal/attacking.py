"""Attack a release, given only its files and its original.

::

    shoal.attack("out", original="people.csv", holdout=0.1)
    shoal.attack(run, holdout=0.1)

Attacks run on the owner's own data, to see before publishing what others could learn.

`find` looks for somebody in a written release, and `explain` says why the cells of a row are as they are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from shoal.arrays import Rows
from shoal.attacks._explained_cells import Explanation, explain_row
from shoal.attacks._find import Found, find_in
from shoal.attacks._together import attack_all
from shoal.attacks.attack import Attacked, Target
from shoal.data._equal_rows import mixed_codes
from shoal.data.baskets import Baskets, ragged_ranks
from shoal.data.hierarchy import Hierarchy
from shoal.data.release import Release
from shoal.data.table import Table
from shoal.errors import WrongUse
from shoal.measuring import plan_of, read_original
from shoal.outcome import AnyRun, Run
from shoal.pipeline import carry_out
from shoal.progress import part
from shoal.recipe import Recipe, make_method
from shoal.risks.learned_secrets import aligned
from shoal.sources import Request, load_table, read_baskets_for

FEWEST = 2
"""The smallest number of people that must be held out, and that must remain."""

MANY_TWINS = 0.9
"""Above this share of people with an identical row in the original, equal rows do not show that people are the same."""


def attack(
    folder: str | Path | AnyRun,
    original: Any = None,
    *,
    control: Any = None,
    holdout: float | None = None,
    other: str | Path | AnyRun | None = None,
    attacks: str | Sequence[str] | None = None,
    people: int | None = None,
    seed: int = 0,
) -> dict[str, Attacked]:
    """Run every attack that applies to a release.

    Parameters
    ----------
    folder
        A folder that `Run.write` or `shoal anonymize … -o` made, with its run.json; or a run with its rows in memory.
    original
        The data that the release was made from; a run already has it.
    control
        People of the same kind who are not in the release.
    holdout
        Instead of `control`: repeat the recipe of the run without this share of the people, and attack that release.
        The result then describes the method, and not this particular release.
    other
        Another release about some of the same people: its folder, or a run.
    attacks
        Names of the attacks to run; by default all that apply.
    people, seed
        The largest number of people to try, and the seed with which they are drawn.

    Returns
    -------
    The result of each attack, by its name.
    """
    from shoal.io.releases.folder import read_release

    if control is not None and holdout is not None:
        raise WrongUse(
            "Give people outside of the release with --control, or hold some out with --holdout, not both."
        )
    if holdout is not None and not 0 < holdout < 1:
        raise WrongUse(f"The share of people that is held out must be above 0 and below 1, not {holdout}.")
    with part("reading"):
        release, data, plan = _attacked(folder, original)
    others = other.release if isinstance(other, Run) else None if other is None else read_release(Path(other))
    if others is not None and type(others.data) is not type(release.data):
        raise WrongUse(
            "The other release has another form: both must be tables, baskets, groups or clusters."
        )
    outside = None if control is None else _read_control(control, data, plan)
    if outside is not None:
        _refuse_same_people(outside, data)
    target: Target = Target(release, data, outside, others)
    if holdout is not None:
        target = held_out(target, plan, holdout, seed)
    chosen = (attacks,) if isinstance(attacks, str) else attacks or None
    return attack_all(target, chosen, people=people, seed=seed)


def _attacked(folder: str | Path | AnyRun, original: Any) -> tuple[Release, Table | Baskets, Recipe]:
    """The release to attack, its original, and the recipe of the run."""
    if not isinstance(folder, Run):
        if original is None:
            raise WrongUse("A folder is attacked beside its original: give --original INPUT.")
        return read_original(folder, original)
    if original is not None:
        raise WrongUse("A run has its original already; omit it.")
    if not isinstance(folder.original, Table | Baskets):
        raise WrongUse("A run is attacked where its rows are in memory; write it, and attack the folder.")
    return folder.release, folder.original, plan_of(folder.recipe, folder.release)


def held_out(target: Target, plan: Recipe, share: float, seed: int) -> Target:
    """Hold out a share of the people: the release that the same recipe makes of the rest, with them as a control."""
    data = target.original
    count = data.rows if isinstance(data, Table) else len(data)
    chosen = np.random.default_rng(seed).permutation(count)
    outside = round(share * count)
    if min(outside, count - outside) < FEWEST:
        raise WrongUse(
            f"{share:g} of {count:,} people cannot be held out; give a larger share, or --control."
        )
    rest, held = np.sort(chosen[outside:]), np.sort(chosen[:outside])
    with part(f"repeating the run without {share:.0%} of the people"):
        run = carry_out(make_method(dict(plan.method)), data.take(rest), seed=plan.seed, measures=())
    assert isinstance(run.release, Release)
    return replace(target, release=run.release, original=data.take(rest), control=data.take(held))


def _read_control(control: Any, original: Table | Baskets, plan: Recipe) -> Table | Baskets:
    """Read the control, people who are not in the release, with the column roles of the original."""
    if isinstance(control, Table | Baskets):
        return control
    if isinstance(original, Baskets):
        return read_baskets_for(control, plan)
    roles = plan.roles.model_copy(update={"others": "drop"})
    request = Request(control, roles, plan.source.reading, preparation=plan.the_preparation())
    table: Table = load_table(request).data
    if table.names != original.names:
        played = {column.name: column.role for column in original.columns}
        table.select(played)  # names the first column that is missing
        table = Table(tuple(replace(table.column(name), role=role) for name, role in played.items()))
    return table


def _refuse_same_people(control: Table | Baskets, original: Table | Baskets) -> None:
    """Refuse a control that consists of people of the original, since it could not serve as one.

    Some rows are equal by chance: about as many as have an identical row within the original.
    """
    classes, own = _equal_people(control, original)
    inside = np.bincount(classes[:own], minlength=int(classes.max(initial=-1)) + 1)
    found = float((inside[classes[own:]] > 0).mean()) if len(classes) > own else 0.0
    twins = float((inside[classes[:own]] > 1).mean()) if own else 1.0
    if twins < MANY_TWINS and found > (1 + twins) / 2:
        raise WrongUse(
            f"{found:.0%} of the control are in the original with the same values. A control must be other people: "
            "give a file of people who are not in the release, or --holdout."
        )


def _equal_people(control: Table | Baskets, original: Table | Baskets) -> tuple[Rows, int]:
    """Number people with equal values alike, those of the original first; also how many are of the original."""
    if isinstance(original, Baskets):
        assert isinstance(control, Baskets)
        codes = {item: code for code, item in enumerate(original.vocabulary)}
        named = np.array([codes.get(item, len(codes)) for item in control.vocabulary], dtype=np.int64)
        indptr = np.concatenate((original.indptr, original.indptr[-1] + control.indptr[1:]))
        items: Rows = np.concatenate((original.items, named[control.items]), dtype=np.int64)
        return ragged_ranks(indptr, items), len(original)
    assert isinstance(control, Table)
    mixed = []
    for column in original.columns:
        there = aligned(control.column(column.name), column)
        size = len(column.domain)
        mixed.append((np.concatenate((column.codes, np.where(there < 0, size, there))), size + 1))
    return np.unique(mixed_codes(mixed, original.rows + control.rows), return_inverse=True)[1], original.rows


def as_plain(found: Mapping[str, Attacked]) -> dict[str, Any]:
    """The results of all attacks as plain data, by their names."""
    return {name: one.as_dict() for name, one in found.items()}


def find(folder: str | Path, known: Mapping[str, Any] | Sequence[str] | str) -> Found:
    """Find what a release tells a neighbor who knows some columns or items of somebody.

    Parameters
    ----------
    folder
        The folder of a release. If its private run.json is there, its hierarchies tell what published cells mean.
    known
        Columns and their values, as a mapping or as ``["age=39"]``, or items of a basket.
    """
    from shoal.io.releases.folder import RUN, read_release, read_run

    release = read_release(Path(folder))
    trees: Mapping[str, Hierarchy] = {}
    sensitive: Sequence[str] = ()
    if (Path(folder) / RUN).is_file():
        recipe, trees = read_run(folder)
        sensitive = tuple(recipe.get("roles", {}).get("sensitive", ()))
    return find_in(release, known, trees, sensitive)


def explain(folder: str | Path, original: Any, row: int) -> Explanation:
    """Explain why the cells of a row of the original, counted from 0, are published as coarsely as they are."""
    release, data, _ = read_original(folder, original)
    if not isinstance(data, Table):
        raise WrongUse("Only rows of a table are explained; say with --known what is known of a basket.")
    return explain_row(data, release, row)
