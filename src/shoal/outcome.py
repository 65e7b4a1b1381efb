"""The result of a run: a release, its verdicts, its scores, and the private information beside them."""

import json
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Self, TypeAlias, cast

import numpy as np
from typing_extensions import TypeVar

from shoal import __version__
from shoal.addresses import without_passwords
from shoal.data._plain_text import counted, visible
from shoal.data.baskets import Baskets
from shoal.data.dataset import Dataset, schema_of, with_schema
from shoal.data.groups import Groups
from shoal.data.profile import without_hints
from shoal.data.release import Data, Release
from shoal.data.table import Table
from shoal.data.trace import Trace
from shoal.data.verdict import Verdict
from shoal.engines.local import Local
from shoal.engines.protocol import Engine, Judgment
from shoal.errors import BrokenPromise, Infeasible, Stage, WrongUse, logged
from shoal.measures._chosen import comparison_of, left_out, measured
from shoal.measures._comparison import Comparison
from shoal.measures.measure import Measure, Scores
from shoal.option_names import spoken
from shoal.preparation.transform import Transform
from shoal.risks.group_readers import warned_of_readers

if TYPE_CHECKING:
    import polars

    from shoal.io.releases.terms import Terms

Original = TypeVar("Original", bound=Table | Baskets | Dataset, default=Table | Baskets, covariant=True)
"""The type of the original data; in memory by default."""


@dataclass(frozen=True, slots=True)
class Beside:
    """What is written in addition to the proved files: texts for recipients, copies of a table, a printed report."""

    terms: "Terms | None" = None
    also: tuple[str, ...] = ()
    pdf: bool = False

    def write(self, published: Path, release: Release[Any]) -> None:
        """Write the texts and copies into the published folder, from the release as it was read back from there."""
        from shoal.io.releases.data_package import write_package

        if self.also:
            from shoal.io.releases.copies import write_copies

            write_copies(published, release, self.also)
        write_package(published, release, self.terms)

    def report(self, folder: Path, run: "Run") -> None:
        """Write the report of a run into a folder, and print it as PDF if asked to."""
        from shoal.io.releases.folder import PRINTED, REPORT
        from shoal.report.page import render
        from shoal.report.pdf import write_pdf

        (folder / REPORT).write_text(render(run), encoding="utf-8")
        if self.pdf:
            write_pdf(folder / REPORT, folder / PRINTED)


UNJUDGED = "Not judged yet: write it, or call shoal.verify"

BESIDE = Beside()
"""Nothing beyond what every release has."""


@dataclass(frozen=True, slots=True, eq=False)
class Run(Generic[Original, Data]):
    """A finished run. `release` is public; everything else is for the owner of the data.

    Parameters
    ----------
    original
        The data that was read; with an engine, its schema without its rows.
    release, trace
        What the method made. With an engine, the rows of the release are computed when they are written or asked for.
    verdicts
        One for each promise, from the release alone; empty until the release is judged.
    scores
        What the release costs in utility.
    recipe
        The recipe as plain data, without what cannot be written (a frame in memory).
    seconds
        Duration of each step.
    population
        The population that the promises refer to, if any.
    warnings
        What the owner of the data should know before publishing, in plain sentences: the promises are kept, but a
        column may have the wrong role.
    left_out
        Number of rows that were not read because they have missing values.
    hierarchies
        For each column, where its hierarchy comes from: a file, or a builder.
    preparation
        The steps that were applied to columns before the method.
    engine
        Where the rows are. Its `close` releases them.
    unmeasured
        What was not measured, and why; None where nothing is missing.
    measures
        The measures to take; None for all that run by default.
    both
        The original and the release for comparison, once they are measured.
    risks
        For each attack that a limit was set for: the limit, and the figures of the attack.
    """

    original: Original
    release: Release[Data]
    trace: Trace
    verdicts: tuple[Verdict, ...] = ()
    scores: Scores = field(default_factory=Scores)
    recipe: Mapping[str, Any] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    population: Table | None = None
    warnings: tuple[str, ...] = ()
    left_out: int = 0
    hierarchies: Mapping[str, str] = field(default_factory=dict)
    preparation: tuple[Transform, ...] = ()
    engine: Engine = field(default_factory=Local)
    unmeasured: str | None = None
    measures: tuple[Measure, ...] | None = None
    both: Comparison | None = None
    risks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # What a run keeps is written to files and shown, so that it must hold no passwords.
        for name in ("recipe", "warnings", "hierarchies"):
            object.__setattr__(self, name, without_passwords(getattr(self, name)))
        object.__setattr__(self, "warnings", tuple(map(spoken, self.warnings)))
        object.__setattr__(self, "scores", Scores(self.scores))

    def __repr__(self) -> str:
        kept = "all promises kept" if self.holds else "a promise is broken"
        kept = kept if self.verdicts else "not judged yet"
        return f"<Run: {self.release!r}, {kept}, {len(self.scores)} scores>"

    def __str__(self) -> str:
        """Each promise, the release, what it cost, and warnings, as lines."""
        from shoal.report.cost import cost_of

        cost = cost_of(self.scores)
        lines = [] if cost is None else [f"Cost: {cost.figure} {cost.words}".replace("\u00a0", " ")]
        if self.left_out:
            lines.append(f"Left out: {counted(self.left_out, 'rows')} with missing values")
        lines += [f"WARNING {warning}" for warning in self.warnings]
        if self.scores:
            lines.append(f"{counted(len(self.scores), 'scores')}: print(run.scores) shows them")
        judged = [str(verdict) for verdict in self.verdicts] or [UNJUDGED]
        return "\n".join([*judged, str(self.release), *map(visible, lines)])

    def _repr_html_(self) -> str:
        """The run as notebooks show it: each promise, what it cost, warnings, and the release."""
        from shoal.data._notebook import card, facts, sign
        from shoal.report.cost import cost_of

        heading = (
            "All promises are kept" if self.holds else "A promise is broken: do not publish this release"
        )
        heading = heading if self.verdicts else UNJUDGED
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
        """Whether every promise was found to be kept."""
        return bool(self.verdicts) and all(verdict.holds for verdict in self.verdicts)

    def score(self, name: str) -> float:
        """The value of one score by its name."""
        return self.scores[name].value

    def find(self, known: Any) -> Any:
        """Find what the release tells a neighbor who knows some columns, ``{"age": "39"}``, or items of somebody."""
        from shoal.attacks._find import find_in

        schema = schema_of(self.original)
        if isinstance(schema, Table):
            trees = {
                column.name: column.hierarchy for column in schema.columns if column.hierarchy is not None
            }
            return find_in(cast(Release, self.release), known, trees)
        tree = {} if schema.hierarchy is None else {"items": schema.hierarchy}
        secrets = [schema.vocabulary[item] for item in schema.sensitive.tolist()]
        return find_in(cast(Release, self.release), known, tree, secrets, schema.vocabulary)

    def explain(self, row: int) -> Any:
        """Explain why the cells of a row of the original, counted from 0, are published as coarsely as they are."""
        from shoal.attacks._explained_cells import explain_row

        if not isinstance(self.original, Table):
            raise WrongUse("Only the rows of a table in memory are explained.")
        return explain_row(self.original, cast(Release, self.release), row, self.trace.rows)

    def value_map(self) -> "polars.DataFrame":
        """How each value of the original is published, and in how many rows: for the owner of the data alone."""
        from shoal.data._value_map import value_map

        if not isinstance(self.original, Table) or not isinstance(self.release.data, Table):
            raise WrongUse("Values are mapped of a published table in memory; omit --value-map.")
        return value_map(self.original, self.release.data, self.trace.rows)

    def as_dict(self) -> dict[str, Any]:
        """The run as plain data: what run.json holds."""
        return {
            "tool": {"name": "shoal", "version": __version__},
            "engine": self.engine.name,
            "recipe": dict(self.recipe),
            "preparation": [step.sentence() for step in self.preparation],
            "hierarchies": _hierarchies(schema_of(self.original)),
            "promises": [dict(promise) for promise in self.release.promises],
            "verdicts": [verdict.as_dict() for verdict in self.verdicts],
            "scores": [score.as_dict() for score in self.scores],
            "unmeasured": self.unmeasured,
            "risks": {name: dict(one) for name, one in self.risks.items()},
            "seconds": dict(self.seconds),
            "notes": without_passwords(dict(self.trace.notes)),
            "warnings": list(self.warnings),
            "left_out": self.left_out,
        }

    def with_verdicts(
        self,
        verdicts: tuple[Verdict, ...],
        found: Mapping[str, int],
        seconds: float = 0,
        files: Release[Any] | None = None,
    ) -> Self:
        """The same run with its verdicts, and with the warnings that follow from the counts found while judging it.

        `files`: the release as read back from its files, to be used where its rows would otherwise be computed again.
        Raises `BrokenPromise` if a promise is not kept.
        """
        refuse_broken(verdicts)
        notes = {**self.trace.notes, **{name: found[name] for name in found if name == "classes"}}
        # The warnings are found once, either before or while the release is written.
        concerns = () if self.verdicts else self._concerns(found, files or self.release)
        return replace(
            self,
            verdicts=verdicts,
            trace=replace(self.trace, notes=notes),
            warnings=without_hints((*self.warnings, *concerns)),
            seconds={**self.seconds, "verifying": self.seconds.get("verifying", 0.0) + seconds},
        )

    def _concerns(self, found: Mapping[str, int], published: Release[Any]) -> tuple[str, ...]:
        """Disclosure warnings; pseudonyms that differ in every row are left out: they say nothing without the key."""
        schema = schema_of(self.original)
        hashed = {name for step in self.preparation if step.hides for name in step.columns_changed}
        alone: set[str] = set()
        if isinstance(self.original, Table | Dataset) and isinstance(schema, Table):
            rows = self.original.rows
            kept = [column for column in schema.columns if column.name in hashed]
            alone = {one.name for one in kept if one.domain.missing is None and one.domain.present == rows}
        release = replace(published, data=_without(published.data, alone))
        said = self.engine.warnings(_without(self.original, alone), release, found)
        if not isinstance(release.data, Groups):
            return said
        attacked = int(np.count_nonzero(np.diff(release.data.sensitive_indptr)))
        measured = {score.name: float(score.value) for score in self.scores}
        return (*said, *warned_of_readers(measured, attacked, release.promises, release.parameters))

    def with_scores(self, both: Comparison) -> Self:
        """The same run with its scores."""
        begin = time.perf_counter()
        scores = measured(both, self.measures)
        spent = {**self.seconds, "measuring": time.perf_counter() - begin}
        return replace(
            self, scores=scores, seconds=spent, unmeasured=left_out(both, self.measures), both=both
        )

    def write(
        self,
        folder: str | Path,
        *,
        force: bool = False,
        report: bool = True,
        table_format: str = "csv",
        safe_cells: bool = False,
        to: str | None = None,
        strict: bool = False,
        terms: "Terms | None" = None,
        also: Sequence[str] = (),
        pdf: bool = False,
    ) -> Path:
        """Write the release folder; it gets its name only after the promises were proved again from the files.

        Parameters
        ----------
        folder
            The folder to make, on a disk that all workers see. It appears whole or not at all.
        force
            Replace an earlier release of that name.
        report
            Write report.html, for the owner of the data, if the run was measured.
        table_format
            ``csv`` or ``parquet``.
        safe_cells
            In csv, put an apostrophe before cells of a table that a spreadsheet would run as formulas.
        to
            Also write the rows of a published table into a database, ``postgresql://…?table=NAME``, in one
            transaction. If that fails, no folder is left behind either.
        strict
            Write nothing if there is a warning.
        terms
            Title, license and data-use text for the recipients: they go into datapackage.json and README.md.
        also
            Copies of a table for other programs, beside the data file: ``xlsx``, ``sav`` (SPSS) and ``dta`` (Stata).
        pdf
            Print report.html as report.pdf too, by Chromium, Chrome or Edge.

        Raises
        ------
        BrokenPromise
            If the written files do not keep the promises, or if a strict run has warnings; then nothing is left behind.
        """
        self.written(
            folder,
            force=force,
            report=report,
            table_format=table_format,
            safe_cells=safe_cells,
            to=to,
            strict=strict,
            beside=Beside(terms, tuple(also), pdf),
        )
        return Path(folder)

    def written(
        self,
        folder: str | Path,
        *,
        force: bool = False,
        report: bool = True,
        table_format: str = "csv",
        safe_cells: bool = False,
        to: str | None = None,
        strict: bool = False,
        beside: Beside = BESIDE,
        stage: Stage | None = None,
    ) -> Self:
        """Write as `write` does, and return the run as run.json records it: with the verdicts on the files."""
        from shoal.io.releases.folder import RELEASE, RUN, write_release

        if to is not None:
            self.engine.refuse_database()
            if not isinstance(self.release.data, Table):
                raise WrongUse("Only a published table can go into a database; omit --to.")
        self.engine.refuse_unwritable(schema_of(self.original), table_format)
        for step in self.preparation:
            step.refuse_key_inside(folder)
        tell = logged(stage)
        tell("writing")
        begin, finished = time.perf_counter(), self

        def finish(draft: Path) -> None:
            nonlocal finished
            written = time.perf_counter()
            tell("verifying")
            published = self.engine.open_release(draft)
            found = judgment(published, self.population, self.engine)
            files = published if isinstance(published.data, Dataset) else None
            proved = self.with_verdicts(*found, time.perf_counter() - written, files)
            if strict:
                refuse_warned(proved.warnings)
            beside.write(draft / RELEASE, published)
            if self.both is None:
                tell("measuring")
                proved = proved.with_scores(comparison_of(self.original, published))
            del published  # frees its memory for the report, which needs both sides too
            finished = replace(proved, seconds={**proved.seconds, "writing": written - begin})
            if report:
                beside.report(draft, cast(Run, finished))
            text = json.dumps(finished.as_dict(), indent=1, ensure_ascii=False, default=str)
            (draft / RUN).write_text(text, encoding="utf-8")
            if to is not None:
                from shoal.io.tables.load import write_database

                write_database(cast(Table, self.release.data), to, force=force)

        write_release(
            Path(folder),
            self.release,
            force=force,
            table_format=table_format,
            safe_cells=safe_cells,
            check=finish,
        )
        return finished


def refuse_warned(warnings: Sequence[str]) -> None:
    """Refuse to publish if there are warnings. Raises `BrokenPromise` with all of them."""
    if warnings:
        raise BrokenPromise(
            f"Nothing was written: --strict allows no warning, and there {'is' if len(warnings) == 1 else 'are'} "
            f"{len(warnings)}:\n" + "\n".join(f"- {warning}" for warning in warnings)
        )


def _hierarchies(schema: Any) -> dict[str, Any]:
    """The hierarchies of columns, or that of items, as plain data."""
    table = isinstance(schema, Table)
    trees = {one.name: one.hierarchy for one in schema.every_column} if table else {"items": schema.hierarchy}
    used = {name: tree for name, tree in trees.items() if tree is not None}
    if not used:
        return {}
    from shoal.io.hierarchies.load import hierarchy_as_data

    return {name: hierarchy_as_data(tree) for name, tree in used.items()}


def _without(data: Any, names: Collection[str]) -> Any:
    """A table without some columns, wherever its rows are."""
    schema = schema_of(data)
    if not names or not isinstance(schema, Table):
        return data
    return with_schema(data, Table(tuple(one for one in schema.columns if one.name not in names)))


AnyRun: TypeAlias = Run[Any, Any]
"""A run wherever its rows are."""


def judge(
    release: Release[Any], population: Table | None = None, engine: Engine | None = None
) -> tuple[Verdict, ...]:
    """Judge a release by each of its promises, from its published data alone.

    Another verdict is added at the end if nothing is published, and one if the published rows or baskets are not in
    canonical order.

    `population`: for promises that refer to a population, which a release never contains. `engine`: where the rows are;
    in this machine's memory by default.
    """
    return judgment(release, population, engine or Local())[0]


def judgment(release: Release[Any], population: Table | None, engine: Engine) -> Judgment:
    """Judge a release as `judge` does, and also return the counts found on the way."""
    from shoal.models._matching import PopulationModel
    from shoal.models._promises import promised

    models = promised(release.promises, release.suppressed)
    if population is not None:
        models = [
            model.among(population) if isinstance(model, PopulationModel) else model for model in models
        ]
    for model in models:
        model.refuse_vacuous(schema_of(release.data), release.details)
    return engine.judge(release.data, models)


def refuse_broken(verdicts: tuple[Verdict, ...]) -> None:
    """Raise if a promise is broken or nothing would be published: such a release must never be written."""
    from shoal.models._release_checks import NOTHING

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
