"""What a run has made: a release, its verdicts, its scores, and the private side."""

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import singledispatch
from pathlib import Path
from typing import Any, Generic, Self, TypeAlias, cast

from typing_extensions import TypeVar

from shoal import __version__
from shoal.addresses import without_passwords
from shoal.data._format_hints import told_once
from shoal.data._plural import counted
from shoal.data.baskets import Baskets
from shoal.data.clusters import Clusters
from shoal.data.groups import Groups
from shoal.data.parts import Engine, PartedBaskets, PartedRelease, PartedTable, schema_of
from shoal.data.release import Data, Release
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.data.trace import Trace
from shoal.data.verdict import Verdict
from shoal.errors import BrokenPromise, Infeasible, WrongUse
from shoal.measures.measure import Score
from shoal.models.model import Model

Stage = Callable[[str], None]
"""Told the name of each step as it begins: for progress bars."""

Original = TypeVar(
    "Original", bound=Table | Baskets | PartedTable | PartedBaskets, default=Table | Baskets, covariant=True
)
"""What was read, in memory unless told."""

UNMEASURED = (
    "Not measured: what rows in parts lose is told by `shoal measure`, which reads both sides into memory."
)

UNORDERED = "the order of the lines was not judged: copy the files to a disk that all workers see"
NO_DATABASE = "Rows in parts are not written into a database; leave --to away, or use --engine local."


@dataclass(frozen=True, slots=True, eq=False)
class Run(Generic[Original, Data]):
    """A finished run. `release` is public, all else is for the owner of the data.

    Parameters
    ----------
    original
        What was read; with an engine its schema is here, its rows are not.
    release, trace
        What the method made. With an engine, the rows of the release are made when they are written or asked for.
    verdicts
        One for each promise, from the release alone; none as long as nobody has judged it.
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
    engine
        Where the rows are; None for the memory of this machine. Its `close` lets go of them.
    unmeasured
        Why there are no scores; None where there are some, or nobody asked for any.
    """

    original: Original
    release: Release[Data]
    trace: Trace
    verdicts: tuple[Verdict, ...] = ()
    scores: tuple[Score, ...] = ()
    recipe: Mapping[str, Any] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    population: Table | None = None
    warnings: tuple[str, ...] = ()
    left_out: int = 0
    hierarchies: Mapping[str, str] = field(default_factory=dict)
    engine: Engine | None = None
    unmeasured: str | None = None

    def __post_init__(self) -> None:
        # What a run keeps is written, shown and handed on.
        for name in ("recipe", "warnings", "hierarchies"):
            object.__setattr__(self, name, without_passwords(getattr(self, name)))

    def __repr__(self) -> str:
        kept = "all promises kept" if self.holds else "a promise is broken"
        kept = kept if self.verdicts else "not judged yet"
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
        """Whether every promise was found to be kept."""
        return bool(self.verdicts) and all(verdict.holds for verdict in self.verdicts)

    def score(self, name: str) -> float:
        """The value of one score by its name."""
        return {score.name: score.value for score in self.scores}[name]

    def find(self, known: Any) -> Any:
        """What a neighbour finds in the release who knows some columns, ``{"age": "39"}``, or items of somebody."""
        from shoal.attacks._find import find_in

        schema = schema_of(self.original)
        if isinstance(schema, Table):
            trees = {
                column.name: column.hierarchy for column in schema.columns if column.hierarchy is not None
            }
            return find_in(
                cast(Release, self.release), {name: str(cell) for name, cell in known.items()}, trees
            )
        tree = {} if schema.hierarchy is None else {"items": schema.hierarchy}
        secrets = [schema.vocabulary[item] for item in schema.sensitive.tolist()]
        return find_in(cast(Release, self.release), tuple(known), tree, secrets)

    def explain(self, row: int) -> Any:
        """Why the cells of a row of the original, counted from 0, are as coarse as they are."""
        from shoal.attacks._explained_cells import explain_row

        if not isinstance(self.original, Table):
            raise WrongUse("Only the rows of a table in memory are explained.")
        return explain_row(self.original, cast(Release, self.release), row, self.trace.rows)

    def as_dict(self) -> dict[str, Any]:
        """The run as plain data: what run.json holds."""
        from shoal.io.hierarchies.load import hierarchy_as_data

        schema = schema_of(self.original)
        trees = (
            {column.name: column.hierarchy for column in schema.columns}
            if isinstance(schema, Table)
            else {"items": schema.hierarchy}
        )
        return {
            "tool": {"name": "shoal", "version": __version__},
            "engine": "local" if self.engine is None else self.engine.name,
            "recipe": dict(self.recipe),
            "hierarchies": {
                name: hierarchy_as_data(tree) for name, tree in trees.items() if tree is not None
            },
            "promises": [dict(promise) for promise in self.release.promises],
            "verdicts": [verdict.as_dict() for verdict in self.verdicts],
            "scores": [score.as_dict() for score in self.scores],
            "unmeasured": self.unmeasured,
            "seconds": dict(self.seconds),
            "notes": without_passwords(dict(self.trace.notes)),
            "warnings": list(self.warnings),
            "left_out": self.left_out,
        }

    def judged(self, verdicts: tuple[Verdict, ...], found: Mapping[str, int], seconds: float) -> Self:
        """The same run with its verdicts, and with what its owner should hear of what was found on the way.

        Raises
        ------
        BrokenPromise
            If a promise is not kept.
        """
        refuse_broken(verdicts)
        notes = {**self.trace.notes, **{name: found[name] for name in found if name == "classes"}}
        # What the owner should hear is found out once, before or when the release is written.
        concerns = () if self.verdicts else _concerns(self, found)
        return replace(
            self,
            verdicts=verdicts,
            trace=replace(self.trace, notes=notes),
            warnings=told_once((*self.warnings, *concerns)),
            seconds={**self.seconds, "verifying": self.seconds.get("verifying", 0.0) + seconds},
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
    ) -> Path:
        """Write the release folder, and prove the promises again from the files before it gets its name.

        Parameters
        ----------
        folder
            The folder to make, on a disk that all workers see. It appears whole or not at all.
        force
            Replace an earlier release of that name.
        report
            Write report.html, for the owner of the data; rows in parts have none.
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
        self.written(
            folder, force=force, report=report, table_format=table_format, safe_cells=safe_cells, to=to
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
        stage: Stage | None = None,
    ) -> Self:
        """Write as `write` does, and give the same run as run.json keeps it: with the verdicts on the files."""
        from shoal.io.releases.distributed import open_release
        from shoal.io.releases.folder import RUN, read_release, write_release

        engine, done, whole = self.engine, [self], cast(Run, self)
        private = {}
        if to is not None:
            _refuse_no_table(self.release.data)
        if engine is None and report:
            from shoal.report.page import render

            private["report.html"] = render(whole)
        if engine is not None and table_format == "csv" and not engine.numbers_lines:
            _refuse_line_breaks(schema_of(self.original), engine)
        tell = stage or (lambda _: None)
        tell("writing")
        begin = time.perf_counter()

        def finish(draft: Path) -> None:
            written = time.perf_counter()
            tell("verifying")
            release = read_release(draft) if engine is None else open_release(draft, engine)
            verdicts, found = judgment(release, self.population, engine)
            proved = self.judged(verdicts, found, time.perf_counter() - written)
            done[0] = replace(proved, seconds={**proved.seconds, "writing": written - begin})
            text = json.dumps(done[0].as_dict(), indent=1, ensure_ascii=False, default=str)
            (draft / RUN).write_text(text, encoding="utf-8")
            if to is not None:
                from shoal.io.tables.load import write_database

                write_database(cast(Table, whole.release.data), to, force=force)

        write_release(
            Path(folder),
            self.release,
            private=private,
            force=force,
            table_format=table_format,
            safe_cells=safe_cells,
            check=finish,
        )
        return done[0]


AnyRun: TypeAlias = Run[Any, Any]
"""A run wherever its rows are."""


def _refuse_no_table(data: object) -> None:
    """Refuse what cannot go into a database."""
    if isinstance(data, PartedRelease):
        raise WrongUse(NO_DATABASE)
    if not isinstance(data, Table):
        raise WrongUse("Only a published table can go into a database; leave --to away.")


def _refuse_line_breaks(schema: Table | Baskets, engine: Engine) -> None:
    """Refuse cells with line breaks as lines of text where these are read without looking at quotes."""
    for column in schema.columns if isinstance(schema, Table) else ():
        if column.role is not Role.IDENTIFYING and any(
            "\n" in text or "\r" in text for text in column.domain.labels
        ):
            raise WrongUse(
                f"Cells of {column.name} hold line breaks, at which {engine.name} would cut a CSV file: "
                "publish Parquet (--format parquet), or use --engine stream."
            )


def _concerns(run: AnyRun, found: Mapping[str, int]) -> tuple[str, ...]:
    """What the owner of the data should hear before publishing it."""
    from shoal.data._spellings import items_spelled_twice
    from shoal.models._achieved_levels import reached_k
    from shoal.models._distributed import verify_table
    from shoal.models.k_anonymity import KAnonymity
    from shoal.risks._distributed_warnings import concerns_in_parts
    from shoal.risks.disclosure_warnings import concerns, count_bare, missing_matched, warned_of_bare

    schema, release, engine = schema_of(run.original), run.release, run.engine
    data = release.data
    form = type(data if engine is None else data.schema)
    if isinstance(schema, Baskets):
        bare = found.get("bare", 0)
        if isinstance(data, Groups | Clusters):
            named = {item for promise in release.promises for item in promise.get("sensitive", ())}
            left_out = any(promise.get("safe", 1) < 1 for promise in release.promises)
            bare = count_bare(data, named, left_out=left_out)
        return (
            *items_spelled_twice(schema),
            *(warned_of_bare(bare, form) if form in (Groups, Clusters) else ()),
        )
    if form is not Table:
        return ()
    told = (
        concerns(schema, data)
        if engine is None
        else concerns_in_parts(run.original, data, found.get("classes", 0))
    )
    if not any(promise.get("missing_matches_all") for promise in release.promises):
        return told
    if engine is None:
        return (*told, missing_matched(reached_k(data) or 0))
    (verdict,) = verify_table([KAnonymity(k=2)], data, engine.memory)
    return (*told, missing_matched(int(verdict.value or 0)))


Judgment: TypeAlias = tuple[tuple[Verdict, ...], Mapping[str, int]]
"""Verdicts, and what else was found out of rows in parts: classes of a table, baskets without a public item."""


def judge(
    release: Release[Any], population: Table | None = None, engine: Engine | None = None
) -> tuple[Verdict, ...]:
    """Judge a release by each of its promises, from its published data alone.

    One more verdict comes at the end where published rows or baskets do not stand in canonical order, and one where
    nothing is published.

    Parameters
    ----------
    population
        For promises that are made beside a population: a release never holds it.
    engine
        Where the rows are, if they are in parts.
    """
    return judgment(release, population, engine)[0]


def judgment(
    release: Release[Any], population: Table | None = None, engine: Engine | None = None
) -> Judgment:
    """Judge a release as `judge` does, and tell what was found out on the way."""
    from shoal.models._population import PopulationModel
    from shoal.models._promised import promised

    models = promised(release.promises, release.suppressed)
    if population is not None:
        models = [
            model.among(population) if isinstance(model, PopulationModel) else model for model in models
        ]
    schema = release.data.schema if isinstance(release.data, PartedRelease | PartedBaskets) else release.data
    for model in models:
        model.refuse_idle(schema, release.details)
    return judge_data(release.data, models, engine)


@singledispatch
def judge_data(published: Any, models: list[Any], engine: Engine | None) -> Judgment:
    """Judge published data by promises and by its order: in memory, or where an engine has its rows."""
    from shoal.models._published_order import broken_order

    disorder = broken_order(published)
    return proved(models, published) + (() if disorder is None else (disorder,)), {}


@judge_data.register
def _(published: PartedBaskets, models: list[Any], engine: Engine) -> Judgment:
    from shoal.models._distributed_baskets import verify_baskets

    return verify_baskets(models, published, engine.memory), {}


@judge_data.register
def _(published: PartedRelease, models: list[Any], engine: Engine) -> Judgment:
    from shoal.io.releases.distributed import baskets_published
    from shoal.models._distributed import judge_table

    if isinstance(published.schema, Table):
        verdicts, classes = judge_table(models, published, engine.memory)
        return verdicts, {"classes": classes}
    if isinstance(published.schema, Baskets):
        return judge_data(baskets_published(published, engine), models, engine)
    return judge_sets(models, published)


def judge_sets(models: list[Any], published: PartedRelease, *, asked: bool = False) -> Judgment:
    """Judge groups or clusters whose lines are in parts; what is `asked` must be about something in them."""
    from shoal.io.releases.distributed import clusters_in, groups_in
    from shoal.models._distributed import judge_lines

    parse = groups_in if isinstance(published.schema, Groups) else clusters_in
    verdicts, found = judge_lines(models, published, parse, asked=asked)
    if asked and published.order is None:
        verdicts = tuple(_unordered(verdict) for verdict in verdicts)
    return verdicts, found


def proved(models: Iterable[Model], published: Any, engine: Engine | None = None) -> tuple[Verdict, ...]:
    """Judge published data by promises, and a table or baskets not by their order, which only a release promises.

    One more verdict comes at the end where nothing is published.
    """
    from shoal.models._nothing_published import nothing_published

    if isinstance(published, PartedRelease | PartedBaskets):
        return judge_data(replace(published, order=None), list(models), engine)[0]
    nothing = nothing_published(published)
    return (
        *(model.remarked(model.verify(published)) for model in models),
        *(() if nothing is None else (nothing,)),
    )


def _unordered(verdict: Verdict) -> Verdict:
    return replace(verdict, remark="; ".join(filter(None, (verdict.remark, UNORDERED))))


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
