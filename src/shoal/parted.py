"""The order of the steps for rows in parts: read, anonymize, write, verify. No row passes through this process."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from shoal import __version__, registry
from shoal.addresses import without_passwords
from shoal.data._remote import refuse_address
from shoal.data.baskets import Baskets
from shoal.data.clusters import Clusters
from shoal.data.groups import Groups
from shoal.data.parts import Engine, PartedBaskets, PartedRelease, PartedTable
from shoal.data.release import Release
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.data.trace import Trace
from shoal.data.verdict import Verdict
from shoal.errors import WrongUse
from shoal.measures.measure import Score
from shoal.methods.method import Method
from shoal.models.model import Model
from shoal.outcome import Stage, forget_passwords, refuse_broken
from shoal.parted_intake import PartedIntake, take_in_parts, warned_of_formulas
from shoal.recipe import Recipe, Running, parameters_of

UNMEASURED = (
    "Not measured: what rows in parts lose is told by `shoal measure`, which reads both sides into memory."
)


@dataclass(frozen=True, slots=True, eq=False)
class PartedRun:
    """A finished run on rows in parts. `release` is public, all else is for the owner of the data.

    Parameters
    ----------
    intake
        What was read: its schema is here, its rows are not.
    release, trace
        What the method made. The rows of the release are made when they are written or asked for.
    engine
        Where the rows are. Its `close` lets go of them.
    verdicts
        One for each promise, once they were judged.
    recipe, seconds
        As of a run in memory.
    concerns
        What the owner should hear of the release; found out when it is judged.
    idle
        What is said of parameters and roles that change nothing.
    """

    intake: PartedIntake
    release: Release[PartedRelease]
    trace: Trace
    engine: Engine
    verdicts: tuple[Verdict, ...] = ()
    recipe: Mapping[str, Any] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    concerns: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        forget_passwords(self, "recipe")

    def __repr__(self) -> str:
        return f"<PartedRun on {self.engine.name}: {self.release.data.rows:,} published>"

    @property
    def data(self) -> PartedTable | PartedBaskets:
        """What was read."""
        return self.intake.data

    @property
    def left_out(self) -> int:
        """Rows that were left out because they have missing values."""
        return self.intake.left_out

    @property
    def hierarchies(self) -> Mapping[str, str]:
        """Column to where its hierarchy comes from: a file, or a builder."""
        return without_passwords(self.intake.hierarchies)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the owner should hear, in the order of a run in memory."""
        told = map(str, self.trace.notes.get("warnings", ()))
        return without_passwords((*self.intake.warnings, *self.concerns, *self.idle, *told))

    @property
    def scores(self) -> tuple[Score, ...]:
        """None: what rows in parts lose is told by `shoal measure` of what was written (see `unmeasured`)."""
        return ()

    @property
    def unmeasured(self) -> str:
        """Why there are no scores."""
        return UNMEASURED

    @property
    def holds(self) -> bool:
        """Whether every promise was found to be kept."""
        return bool(self.verdicts) and all(verdict.holds for verdict in self.verdicts)

    def as_dict(self) -> dict[str, Any]:
        """The run as plain data: what run.json holds."""
        from shoal.io.hierarchies.load import hierarchy_as_data

        schema = self.data.schema
        trees = (
            {column.name: column.hierarchy for column in schema.columns}
            if isinstance(schema, Table)
            else {"items": schema.hierarchy}
        )
        return {
            "tool": {"name": "shoal", "version": __version__},
            "engine": self.engine.name,
            "recipe": dict(self.recipe),
            "hierarchies": {
                name: hierarchy_as_data(tree) for name, tree in trees.items() if tree is not None
            },
            "promises": [dict(promise) for promise in self.release.promises],
            "verdicts": [verdict.as_dict() for verdict in self.verdicts],
            "scores": [],
            "seconds": dict(self.seconds),
            "notes": without_passwords(dict(self.trace.notes)),
            "warnings": list(self.warnings),
            "left_out": self.left_out,
        }

    def _judged(
        self, verdicts: tuple[Verdict, ...], found: dict[str, int], seconds: dict[str, float]
    ) -> "PartedRun":
        """The same run with its verdicts, and what was found out on the way."""
        told = {name: number for name, number in found.items() if name == "classes"}
        trace = replace(self.trace, notes={**self.trace.notes, **told})
        # What the owner should hear is found out once, before or when the release is written.
        concerns = self.concerns if self.verdicts else _concerns(self, found)
        return replace(
            self,
            verdicts=verdicts,
            trace=trace,
            concerns=concerns,
            seconds={**self.seconds, **seconds},
        )

    def _refuse_line_breaks(self, table_format: str) -> None:
        """Refuse cells with line breaks as lines of text where these are read without looking at quotes."""
        schema = self.data.schema
        if table_format != "csv" or self.engine.numbers_lines or not isinstance(schema, Table):
            return
        for column in schema.columns:
            if column.role is not Role.IDENTIFYING and any(
                "\n" in text or "\r" in text for text in column.domain.labels
            ):
                raise WrongUse(
                    f"Cells of {column.name} hold line breaks, at which {self.engine.name} would cut a CSV file: "
                    "publish Parquet (--format parquet), or use --engine stream."
                )

    def write(
        self,
        folder: str | Path,
        *,
        force: bool = False,
        table_format: str = "csv",
        safe_cells: bool = False,
        stage: Stage | None = None,
    ) -> "PartedRun":
        """Write the release folder as part files, and prove the promises from them before it gets its name.

        Parameters
        ----------
        folder
            The folder to make, on a disk that all workers see. It appears whole or not at all.
        force
            Replace an earlier release of that name.
        table_format
            ``csv`` or ``parquet``.
        safe_cells
            Put an apostrophe before cells of a table as csv that a spreadsheet would run as formulas.

        Returns
        -------
        The same run, with the verdicts on the files.

        Raises
        ------
        BrokenPromise
            If the written files do not keep the promises; then nothing is left behind.
        """
        from shoal.io.releases.folder import write_release

        refuse_address(folder, writing=True)
        self._refuse_line_breaks(table_format)
        tell = stage or (lambda _: None)
        done = [self]
        begin = time.perf_counter()
        tell("writing")

        def prove(draft: Path) -> None:
            written = time.perf_counter()
            tell("verifying")
            verdicts, found = judge_files(draft, self.engine)
            refuse_broken(verdicts)
            spent = {"writing": written - begin, "verifying": time.perf_counter() - written}
            done[0] = self._judged(verdicts, found, spent)
            text = json.dumps(done[0].as_dict(), indent=1, ensure_ascii=False, default=str)
            (draft / "run.json").write_text(text, encoding="utf-8")

        write_release(
            Path(folder),
            self.release,
            force=force,
            table_format=table_format,
            safe_cells=safe_cells,
            check=prove,
        )
        return done[0]


def engine_of(wanted: Running) -> Engine | None:
    """The engine that a recipe asks for; None for the memory of this machine."""
    if wanted.engine == "local":
        return None
    kind = registry.load("engine", wanted.engine)
    engine: Engine = kind.within(wanted.memory or "4GB", wanted.master or "local[*]")
    return engine


def run_parts(recipe: Recipe, engine: Engine, *, source: Any = None, stage: Stage | None = None) -> PartedRun:
    """Run a recipe up to the release, whose rows are still to be written and judged."""
    method, plan = recipe.the_method(), recipe.source
    if stage is not None:
        stage("reading")
    intake = take_in_parts(
        method,
        plan.path if source is None else source,
        engine,
        recipe.roles,
        plan.reading,
        recipe.hierarchies,
        folder=plan.hierarchies_folder,
        layout=plan.baskets,
        seed=recipe.seed,
    )
    intake = warned_of_formulas(intake, recipe.output)
    finished = carry_out_parts(method, intake, engine, seed=recipe.seed, stage=stage)
    kept = recipe.model_dump(mode="json", exclude_defaults=True, exclude_none=True)
    return replace(finished, recipe=seeded_recipe(kept, finished.recipe))


def seeded_recipe(recipe: dict[str, Any], finished: Mapping[str, Any]) -> dict[str, Any]:
    """A recipe with the seed that the run drew, where it says none: so that the run can be repeated."""
    drawn = finished.get("seed")
    return recipe if drawn is None else {**recipe, "seed": drawn}


def carry_out_parts(
    method: Method,
    intake: PartedIntake,
    engine: Engine,
    *,
    seed: int | None = None,
    stage: Stage | None = None,
) -> PartedRun:
    """Anonymize rows in parts."""
    if stage is not None:
        stage(f"anonymizing by {method.name}")
    begin = time.perf_counter()
    method.refuse_empty(intake.data)
    seed = method.seeded(seed)
    release, trace = method.anonymize_parts(intake.data, engine, seed)
    seconds = {"reading": intake.seconds, "anonymizing": time.perf_counter() - begin}
    recipe = {"method": parameters_of(method), "seed": seed, **intake.told}
    idle = method.without_effect(intake.data.schema)
    return PartedRun(intake, release, trace, engine, recipe=recipe, seconds=seconds, idle=idle)


def publish_parts(recipe: Recipe, *, force: bool = False, stage: Stage | None = None) -> PartedRun:
    """Run a recipe on its engine, and write its release folder."""
    output = recipe.output
    assert output.folder is not None
    refuse_address(output.folder, writing=True)
    if output.to is not None:
        raise WrongUse(
            "Rows in parts are not written into a database; leave --to away, or use --engine local."
        )
    engine = engine_of(recipe.running)
    assert engine is not None
    try:
        finished = run_parts(recipe, engine, stage=stage)
        return finished.write(
            output.folder,
            force=force,
            table_format=output.format,
            safe_cells=output.safe_cells,
            stage=stage,
        )
    finally:
        engine.close()


def _concerns(run: PartedRun, found: Mapping[str, int]) -> tuple[str, ...]:
    """What the owner of the data should hear before publishing it."""
    from shoal.data._spellings import items_spelled_twice
    from shoal.models._distributed import verify_table
    from shoal.models.k_anonymity import KAnonymity
    from shoal.risk._distributed_warnings import concerns_in_parts
    from shoal.risk.disclosure_warnings import missing_matched, warned_of_bare

    data, form = run.data, type(run.release.data.schema)
    bare = warned_of_bare(found.get("bare", 0), form) if form in (Groups, Clusters) else ()
    if isinstance(data, PartedBaskets):
        return (*items_spelled_twice(data.schema), *bare)
    told = concerns_in_parts(data, run.release.data, found.get("classes", 0))
    if any(promise.get("missing_matches_all") for promise in run.release.promises):
        (verdict,) = verify_table([KAnonymity(k=2)], run.release.data, run.engine.memory)
        told += (missing_matched(int(verdict.value or 0)),)
    return told


def judged(run: PartedRun) -> PartedRun:
    """The same run with verdicts on the rows that it publishes, which are not written yet.

    Raises
    ------
    BrokenPromise
        If the release does not keep a promise.
    """
    begin = time.perf_counter()
    data = run.release.data
    if isinstance(data.schema, Baskets):
        # Lines of baskets are read more than once to be judged, and once more to be written.
        run = replace(run, release=replace(run.release, data=replace(data, parts=data.parts.keep())))
    verdicts, found = judge_parts(run.release, run.engine)
    refuse_broken(verdicts)
    return run._judged(verdicts, found, {"verifying": time.perf_counter() - begin})


Judgment: TypeAlias = tuple[tuple[Verdict, ...], dict[str, int]]
"""Verdicts, and what else was found out on the way: the classes of a table, baskets without a public item."""


def judge_files(folder: str | Path, engine: Engine) -> Judgment:
    """Judge a written release by its own promises, from its files alone, where the engine works."""
    from shoal.io.releases.distributed import open_baskets, open_release
    from shoal.models._distributed_baskets import verify_baskets

    release = open_release(folder, engine)
    if isinstance(release.data.schema, Baskets):
        return verify_baskets(models_of(release), open_baskets(folder, engine), engine.memory), {}
    return judge_parts(release, engine)


def judge_parts(release: Release[PartedRelease], engine: Engine) -> Judgment:
    """Judge a release whose rows are in parts by its own promises, where its rows are."""
    from shoal.io.releases.distributed import baskets_published
    from shoal.models._distributed import judge_table
    from shoal.models._distributed_baskets import verify_baskets

    models: list[Any] = models_of(release)
    schema = release.data.schema
    if isinstance(schema, Table):
        verdicts, classes = judge_table(models, release.data, engine.memory)
        return verdicts, {"classes": classes}
    if isinstance(schema, Baskets):
        return verify_baskets(models, baskets_published(release.data, engine), engine.memory), {}
    return judge_sets(models, release.data)


def judge_sets(models: list[Any], published: PartedRelease, *, asked: bool = False) -> Judgment:
    """Judge groups or clusters whose lines are in parts; what is `asked` must be about something in them."""
    from shoal.io.releases.distributed import clusters_in, groups_in
    from shoal.models._distributed import judge_lines

    parse = groups_in if isinstance(published.schema, Groups) else clusters_in
    return judge_lines(models, published, parse, asked=asked)


def models_of(release: Release[PartedRelease]) -> list[Model]:
    """What a release promises."""
    from shoal.models._promised import promised

    return promised(release.promises, release.suppressed)
