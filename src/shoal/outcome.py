"""What a run has made: a release, its verdicts, its scores, and the private side."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal import __version__
from shoal.addresses import without_passwords
from shoal.data._plural import counted
from shoal.data.baskets import Baskets
from shoal.data.release import Published, Release
from shoal.data.table import Table
from shoal.data.trace import Trace
from shoal.data.verdict import Verdict
from shoal.errors import BrokenPromise, Infeasible, WrongUse
from shoal.measures.measure import Score
from shoal.models.model import Model

Stage = Callable[[str], None]
"""Told the name of each step as it begins: for progress bars."""


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A finished run. `release` is public, all else is for the owner of the data.

    Parameters
    ----------
    original
        What was read.
    release, trace
        What the method made.
    verdicts
        One for each promise, from the release alone.
    scores
        What the release costs in utility.
    recipe
        The recipe as plain data, without what cannot be written (a frame in memory).
    seconds
        Time of each step.
    population
        The population that promises were made beside, if any.
    warnings
        What the owner of the data should hear before publishing, in plain sentences: the promises are kept, but a
        column may be in the wrong role.
    left_out
        Rows that were not read because they have missing values.
    hierarchies
        Column to where its hierarchy comes from: a file, or a builder.
    """

    original: Table | Baskets
    release: Release
    trace: Trace
    verdicts: tuple[Verdict, ...]
    scores: tuple[Score, ...]
    recipe: Mapping[str, Any] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    population: Table | None = None
    warnings: tuple[str, ...] = ()
    left_out: int = 0
    hierarchies: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        forget_passwords(self, "recipe", "warnings", "hierarchies")

    def __repr__(self) -> str:
        kept = "all promises kept" if self.holds else "a promise is broken"
        return f"<Run: {self.release!r}, {kept}, {len(self.scores)} scores>"

    def _repr_html_(self) -> str:
        """What notebooks show: each promise, what it cost, warnings, and the release."""
        from shoal.data._notebook import card, facts, sign
        from shoal.report.cost import cost_of

        heading = (
            "All promises are kept" if self.holds else "A promise is broken: do not publish this release"
        )
        pairs = [(sign(verdict.holds), f"{verdict.model}: {verdict.promise}") for verdict in self.verdicts]
        cost = cost_of(self.scores)
        if cost is not None:
            pairs.append(("what it cost", f"{cost.figure} {cost.words}"))
            pairs += [(line.name, line.value) for line in cost.lines]
        if self.left_out:
            pairs.append(("left out", f"{counted(self.left_out, 'rows')} with missing values"))
        pairs += [("before you publish", warning) for warning in self.warnings]
        return card(heading, facts(pairs), self.release._repr_html_())

    @property
    def holds(self) -> bool:
        """Whether every promise is kept."""
        return all(verdict.holds for verdict in self.verdicts)

    def score(self, name: str) -> float:
        """The value of one score by its name."""
        return {score.name: score.value for score in self.scores}[name]

    def as_dict(self) -> dict[str, Any]:
        """The run as plain data: what run.json holds."""
        from shoal.io.hierarchies.load import hierarchy_as_data

        trees = (
            {column.name: column.hierarchy for column in self.original.columns}
            if isinstance(self.original, Table)
            else {"items": self.original.hierarchy}
        )
        return {
            "tool": {"name": "shoal", "version": __version__},
            "recipe": dict(self.recipe),
            "hierarchies": {
                name: hierarchy_as_data(tree) for name, tree in trees.items() if tree is not None
            },
            "promises": [dict(promise) for promise in self.release.promises],
            "verdicts": [verdict.as_dict() for verdict in self.verdicts],
            "scores": [score.as_dict() for score in self.scores],
            "seconds": dict(self.seconds),
            "notes": without_passwords(dict(self.trace.notes)),
            "warnings": list(self.warnings),
            "left_out": self.left_out,
        }

    def write(
        self,
        folder: str | Path,
        *,
        force: bool = False,
        report: bool = True,
        table_format: str = "csv",
        safe_cells: bool = False,
        to: str | None = None,
    ) -> Path:
        """Write the release folder, and prove the promises again from the files before it gets its name.

        Parameters
        ----------
        folder
            The folder to make. It appears whole or not at all.
        force
            Replace an earlier release of that name.
        report
            Write report.html, for the owner of the data.
        table_format
            ``csv`` or ``parquet``.
        safe_cells
            Put an apostrophe before cells of a table as csv that a spreadsheet would run as formulas.
        to
            Also write the rows of a published table into a database, ``postgresql://…?table=NAME``, in one
            transaction. If that fails, no folder is left behind either.

        Raises
        ------
        BrokenPromise
            If the written files do not keep the promises; then nothing is left behind.
        """
        from shoal.io.releases.folder import write_release

        private = {"run.json": json.dumps(self.as_dict(), indent=1, ensure_ascii=False, default=str)}
        if report:
            from shoal.report.page import render

            private["report.html"] = render(self)

        def finish(draft: Path) -> None:
            _prove(draft, self.population)
            if to is not None:
                _write_database(self.release, to, force)

        return write_release(
            Path(folder),
            self.release,
            private=private,
            force=force,
            table_format=table_format,
            safe_cells=safe_cells,
            check=finish,
        )


def forget_passwords(run: object, *names: str) -> None:
    """Take the passwords out of addresses in what a run keeps: it is written, shown and handed on."""
    for name in names:
        object.__setattr__(run, name, without_passwords(getattr(run, name)))


def _prove(folder: Path, population: Table | None) -> None:
    """Read a written release and judge it by its own promises."""
    from shoal.io.releases.folder import read_release

    refuse_broken(judge(read_release(folder), population))


def _write_database(release: Release, target: str, force: bool) -> None:
    """Write the rows of a published table into a database."""
    from shoal.io.tables.load import write_database

    if not isinstance(release.data, Table):
        raise WrongUse("Only a published table can go into a database; leave --to away.")
    write_database(release.data, target, force=force)


def judge(release: Release, population: Table | None = None) -> tuple[Verdict, ...]:
    """Judge a release by each of its promises, from its published data alone.

    One more verdict comes at the end where published rows or baskets do not stand in canonical order, and one where
    nothing is published.

    Parameters
    ----------
    population
        For promises that are made beside a population: a release never holds it.
    """
    from shoal.models._population import PopulationModel
    from shoal.models._promised import promised
    from shoal.models._published_order import broken_order

    models = promised(release.promises, release.suppressed)
    if population is not None:
        models = [
            model.among(population) if isinstance(model, PopulationModel) else model for model in models
        ]
    for model in models:
        model.refuse_idle(release.data, release.details)
    disorder = broken_order(release.data)
    return proved(models, release.data) + (() if disorder is None else (disorder,))


def proved(models: Iterable[Model], published: Published) -> tuple[Verdict, ...]:
    """Judge published data by promises; one more verdict comes at the end where nothing is published."""
    from shoal.models._nothing_published import nothing_published

    nothing = nothing_published(published)
    return (
        *(model.remarked(model.verify(published)) for model in models),
        *(() if nothing is None else (nothing,)),
    )


def refuse_broken(verdicts: tuple[Verdict, ...]) -> None:
    """Raise where a promise is broken, or nothing would be published: such a release must never be written."""
    from shoal.models._nothing_published import NOTHING

    for verdict in verdicts:
        if verdict.model == NOTHING:
            raise Infeasible(
                "The promises can only be kept by publishing nothing: every cell would be *, or every basket empty. "
                "Promise less, name fewer quasi-identifiers, or give finer hierarchies. Nothing was written."
            )
        if not verdict.holds:
            worst = (
                f" First: {verdict.offenders[0].where}: {verdict.offenders[0].why}."
                if verdict.offenders
                else ""
            )
            raise BrokenPromise(
                f"The release breaks {verdict.model} ({verdict.promise}).{worst} Nothing was written."
            )
