"""Propose a release for data and a promise, by trying candidates and comparing their information loss.

::

    found = shoal.recommend("adult.csv", k=10, quasi=["age", "sex"], sensitive="occupation", others="drop")
    found.proposal.label, found.proposal.loss      # the least lossy release that keeps the promise
    found.command                                  # the command that makes it
    shoal.run(found.recipe)                        # or make it from Python
    found.reasons                                  # why, in sentences
    found.to_frame()                               # everything that was tried
"""

import os
import shlex
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.addresses import without_passwords
from shoal.comparison.results import Row, frame_of
from shoal.comparison.tally import Tally, Tell
from shoal.comparison.workers import Scheduler
from shoal.data.baskets import Baskets
from shoal.data.role import Roles
from shoal.data.table import Table
from shoal.errors import Infeasible, WrongUse
from shoal.io.reading import Reading, with_names
from shoal.methods._candidates import Aim, Candidate
from shoal.methods._full_domain.method import as_share
from shoal.option_names import new_name, spoken
from shoal.recipe import Recipe
from shoal.recommendation.candidate_list import Tried, candidates, harder, label_of, main_parameter
from shoal.recommendation.command_line import command_line
from shoal.recommendation.goal import Stated
from shoal.recommendation.problem import Problem
from shoal.recommendation.reasons import reasons
from shoal.recommendation.scale import By, Scale, scale_for

if TYPE_CHECKING:
    import polars

SHARE = 0.5
"""The largest share of the time that one candidate may take."""

OWN = 0.2
"""The share of the time that a method with its own time limit is given."""

RESERVE = 0.1
"""The share of the time that is reserved for the work after the runs."""

BEST = 3
"""The number of best candidates that are also tried with stronger promises."""


@dataclass(frozen=True, slots=True, eq=False)
class Recommendation:
    """A proposed release, and the candidates that it was chosen from."""

    aim: Aim
    scale: Scale
    tried: tuple[Tried, ...]  # all candidates, in the order in which they were tried
    proposal: Tried  # the one with the least loss
    recipe: Recipe  # the recipe of the proposal, without an output folder
    trees: Mapping[str, str]  # by column, the hierarchies that were built for the proposal
    profile: str  # a description of the data, in a sentence
    reasons: tuple[str, ...]  # why this one is proposed, in sentences
    seconds: float  # how long the search took

    def __repr__(self) -> str:
        return f"<Recommendation: {self.proposal.label}, of {len(self.tried)} candidates; {self.command}>"

    @property
    def command(self) -> str:
        """The command that makes the proposed release, without passwords in addresses."""
        return shlex.join(without_passwords(command_line(self.recipe)))

    @property
    def rows(self) -> tuple[Row, ...]:
        """Everything that was measured, one row per candidate, in the order in which they were tried."""
        return tuple({**one.row, "frontier": one.best, "meets": one.meets} for one in self.tried)

    def to_frame(self) -> "polars.DataFrame":
        """The candidates as a polars frame, one row each: method, parameters, scores, loss, privacy, seconds."""
        return frame_of(self.rows)

    @property
    def releases(self) -> tuple[Tried, ...]:
        """The candidates with a release, by ascending protection and, for equal protection, ascending loss."""
        sign = 1 if self.scale.high else -1
        made = (one for one in self.tried if one.status == "done" and one.loss is not None)
        return tuple(sorted(made, key=lambda one: (sign * (one.privacy or 0.0), one.loss or 0.0)))

    @property
    def frontier(self) -> tuple[Tried, ...]:
        """The Pareto frontier: those releases that no other beats."""
        return tuple(one for one in self.releases if one.best)


def recommend(
    data: Any,
    *,
    quasi: str | Sequence[str] = (),
    sensitive: str | Sequence[str] = (),
    identifying: str | Sequence[str] = (),
    insensitive: str | Sequence[str] = (),
    entity: str | None = None,
    others: str | None = None,
    items: str | None = None,
    items_from: str | None = None,
    item_separator: str | None = None,
    sensitive_items: str | Sequence[str] = (),
    insensitive_items: str | Sequence[str] = (),
    hierarchies: Mapping[str, str] | None = None,
    baskets: str | None = None,
    names: Sequence[str] | None = None,
    reading: Reading | None = None,
    time_limit: float = 60.0,
    suppression_limit: float = 0.05,
    by: By = "loss",
    jobs: int | None = None,
    **promised: Any,
) -> Recommendation:
    """Try methods and parameters that keep a promise, and propose the least lossy release.

    Parameters
    ----------
    data
        A path; or a frame of polars, pandas or Arrow, or baskets as `read_baskets` takes them, which are written to a
        temporary file during the call. Then the recipe names no existing file: run it by
        ``shoal.run(found.recipe, data=data)``.
    quasi, sensitive, identifying, insensitive, entity, others, baskets, names, reading
        As for `anonymize`.
    items, items_from, item_separator, sensitive_items, insensitive_items
        As for `anonymize`: for a table with items, for which ``k=5, m=2`` is promised.
    hierarchies
        For each column a builder (``"intervals:5,10,20"``) or file. For methods that need more hierarchies, they are
        built.
    time_limit
        Seconds for the whole search; candidates that are not finished by then are given up. If none is, the first one
        is finished nevertheless, and the reasons say so. The time to compile kernels, once per machine, does not count.
    suppression_limit
        The largest share of rows that a candidate may leave out.
    by
        What tables are compared by: the loss of their cells (``loss``), or the error of counting queries (``queries``).
    jobs
        Number of parallel runs; by default, the number of cores.
    **promised
        The promise: for a table ``k=10``, ``k=10, l=3``, ``risk=0.5`` and so on; for baskets ``h=0.5, k=5, p=2``, or
        ``p=10`` alone, or ``k=5, m=2``.

    Raises
    ------
    WrongUse
        If nothing is promised, or the promise does not fit the data.
    Infeasible
        If no candidate keeps the promise.
    """
    roles = Roles.of(
        quasi=quasi,
        sensitive=sensitive,
        identifying=identifying,
        insensitive=insensitive,
        entity=entity,
        others=others,
        items=items,
        items_from=items_from,
        item_separator=item_separator,
        sensitive_items=sensitive_items,
        insensitive_items=insensitive_items,
    )
    for name, spec in (hierarchies or {}).items():
        if not isinstance(spec, str):
            raise WrongUse(
                f"The hierarchy of {name!r} must be a builder or a file here: a recipe can hold no object."
            )
    search = partial(
        propose,
        stated=stated(promised),
        roles=roles,
        hierarchies=hierarchies,
        time_limit=time_limit,
        suppression_limit=suppression_limit,
        by=by,
        jobs=jobs,
    )
    named = with_names(reading, names)
    if isinstance(data, str | Path):
        return search(data, reading=named, baskets=baskets)
    with tempfile.TemporaryDirectory() as folder:
        path, layout, named = _written(data, Path(folder), baskets, named)
        found = search(path, reading=named, baskets=layout)
    source = found.recipe.source.model_copy(update={"path": path.name, "baskets": baskets})
    return replace(found, recipe=found.recipe.model_copy(update={"source": source}))


def stated(promised: Mapping[str, Any]) -> Stated:
    """The stated promise. Raises `WrongUse` with the new name of an old parameter of `recommend`."""
    for old in promised:
        if new := new_name("parameter", old, signature(recommend).parameters):
            raise WrongUse(f"recommend: The parameter {old!r} is now {new!r}.")
    return Stated(**promised)


def _written(
    data: Any, folder: Path, layout: str | None, reading: Reading
) -> tuple[Path, str | None, Reading]:
    """Write data in memory to a file that workers can read; returns the path, the layout, and how to read it."""
    from shoal.io.baskets.load import load_baskets, write_baskets
    from shoal.io.tables.dataframes import is_frame, open_frame

    path = folder / "data.parquet"
    if isinstance(data, Table):
        raise WrongUse(
            "A table that is read already knows its own roles: give the file or the frame it came from."
        )
    if layout is None and not isinstance(data, Baskets) and is_frame(data):
        opened = open_frame(data)
        opened.frame(opened.names).write_parquet(path)
        return path, None, replace(reading, orders={**opened.orders, **reading.orders})
    sets = data if isinstance(data, Baskets) else load_baskets(data, layout, reading).baskets
    write_baskets(replace(sets, layout="long:basket,item"), path)
    return path, "long:basket,item", Reading()


def propose(
    source: str | Path,
    stated: Stated,
    *,
    roles: Roles | None = None,
    reading: Reading | None = None,
    baskets: str | None = None,
    hierarchies: Mapping[str, str] | None = None,
    hierarchies_folder: str | None = None,
    time_limit: float = 60.0,
    suppression_limit: float = 0.05,
    by: By = "loss",
    jobs: int | None = None,
    tell: Tell | None = None,
) -> Recommendation:
    """Propose a release for data in a file, as `recommend` does; each worker reads the file once.

    `hierarchies_folder`: a folder of hierarchy files, for quasi-identifiers without another hierarchy. `tell`: progress
    callback; it receives how many candidates are finished, how many there are, and which are under way.
    """
    begin = time.monotonic()
    if not time_limit > 0:
        raise WrongUse(f"The time limit must be above 0 seconds, not {time_limit:g} (--time-limit).")
    if not 0 <= suppression_limit < 1:
        percent = as_share(suppression_limit)
        raise WrongUse(
            "The share of rows that may be suppressed must be at least 0 and below 1, not "
            f"{suppression_limit:g}{percent and f': {percent}'} (--suppression-limit)."
        )
    if jobs is not None and jobs < 1:
        raise WrongUse(f"The number of runs at a time must be at least 1, not {jobs} (--jobs).")
    _refuse_no_file(source)
    problem = Problem.of(
        source, stated, roles or Roles(), reading or Reading(), baskets, hierarchies or {}, hierarchies_folder
    )
    stated = problem.stated
    scale = scale_for(problem.aim, stated, by)
    own = max(time_limit * OWN, 1.0)
    first = candidates(problem.aim, stated, seconds=own, suppression_limit=suppression_limit)
    with Scheduler(jobs or os.cpu_count() or 1, begin + time_limit * (1 - RESERVE)) as scheduler:

        def carry_out(batch: Sequence[Candidate], before: int, *, finish_first: bool = False) -> list[Tried]:
            cells = {(cell := problem.cell(one, scale, time_limit * SHARE)).key: (one, cell) for one in batch}
            tally = Tally(tell, before + len(cells), before)
            done: list[Tried] = []
            for cell, answer in scheduler.answers(
                [cell for _, cell in cells.values()],
                finish_first=finish_first,
                begun=lambda cell: tally.begun(label_of(cells[cell.key][0])),
            ):
                done.append(problem.tried(cells[cell.key][0], cell, answer, scale))
                tally.ended(done[-1].label)
            return done

        found = carry_out(first, 0, finish_first=True)
        found += carry_out(_stronger(found, problem), len(found))
    marked = _with_frontier(found, scale)
    proposal = _least_lossy(marked, scale)
    chosen = problem.chosen(proposal.candidate)
    built = {name: spec for name, spec in chosen.hierarchies.items() if name not in problem.hierarchies}
    seconds = time.monotonic() - begin
    said = reasons(proposal, marked, scale, built, problem.names, seconds=seconds, time_limit=time_limit)
    tried, why = tuple(marked), tuple(map(spoken, said))
    return Recommendation(problem.aim, scale, tried, proposal, chosen, built, problem.profile, why, seconds)


def _refuse_no_file(source: object) -> None:
    what = "" if isinstance(source, str | Path) else f"a {type(source).__name__} in memory"
    if what or str(source) == "-":
        raise WrongUse(f"The data is read several times: give a file instead of {what or 'standard input'}.")


def _stronger(found: Sequence[Tried], problem: Problem) -> list[Candidate]:
    """The best candidates of different methods with stronger promises, to see what more protection would cost."""
    axis = main_parameter(problem.aim, problem.stated)
    if axis is None:
        return []
    usable = sorted((one for one in found if one.usable), key=lambda one: one.loss or 0.0)
    chosen: dict[str, Candidate] = {}
    for one in usable:
        chosen.setdefault(one.candidate.method["name"], one.candidate)
    rest = [one.candidate for one in usable if one.candidate not in chosen.values()]
    several = [harder(one, axis) for one in [*chosen.values(), *rest][:BEST]]
    depth = max(map(len, several), default=0)
    return [rungs[step] for step in range(depth) for rungs in several if step < len(rungs)]


def _with_frontier(found: Iterable[Tried], scale: Scale) -> list[Tried]:
    """Mark the candidates that no other beats."""
    every = list(found)
    places = [
        (one.privacy, one.loss)
        for one in every
        if one.status == "done" and one.privacy is not None and one.loss is not None
    ]

    def best(one: Tried) -> bool:
        if one.status != "done" or one.privacy is None or one.loss is None:
            return False
        here = (one.privacy, one.loss)
        return not any(scale.beats(other, here) for other in places)

    return [replace(one, best=best(one)) for one in every]


def _risks(found: Iterable[Tried]) -> Iterator[tuple[float, str]]:
    """The risks that candidates reached, and those that refused candidates with joined classes could have reached.

    Joined classes star no cells, so the confidence that they can reach is that of the worst case.
    """
    for one in found:
        if one.status == "done" and one.privacy is not None:
            yield one.privacy, one.candidate.label
        best = one.row.get("best")
        if one.status == "refused" and one.candidate.worst_case and best is not None:
            yield float(best), one.candidate.label


def _least_lossy(found: Sequence[Tried], scale: Scale) -> Tried:
    """The usable candidate with the least loss; ties go to the one with more protection, then to the first."""
    usable = [one for one in found if one.usable]
    if usable:
        sign = -1 if scale.high else 1
        return min(usable, key=lambda one: (one.loss or 0.0, sign * (one.privacy or 0.0)))
    raise _refusal(found, scale)


def _refusal(found: Sequence[Tried], scale: Scale) -> Infeasible:
    """The error if there is nothing to propose: the distinct reasons of methods, and the best that can be reached."""
    refused = [one for one in found if one.status != "timeout"]
    late = len(found) - len(refused)
    more = f" Time was too short for {late} more: give it with --time-limit." if late else ""
    if scale.risk is not None and (risks := sorted(_risks(found))):
        least, label = risks[0]
        return Infeasible(
            f"No candidate comes down to a risk of {scale.risk:g}; the least that can be reached is {least:.4g}, by "
            f"{label}.{more}",
            least,
        )
    said: dict[str, dict[str, None]] = {}
    for one in refused:
        said.setdefault(one.error, {})[one.candidate.method["name"]] = None
    sentences = [f"{', '.join(names)}: {error}" for error, names in said.items()]
    bests = [one.row["best"] for one in refused if one.row.get("best") is not None]
    best = (max if scale.high else min)(bests, default=None)
    return Infeasible(f"No candidate keeps the promise. {' '.join(sentences[:3])}{more}", best)
