"""The order of the steps for rows in parts: read, anonymise, write, verify. No row passes through this process."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from shoal import __version__, registry
from shoal.data.baskets import Baskets
from shoal.data.groups import Groups
from shoal.data.hierarchy import Hierarchy
from shoal.data.parts import Engine, PartedBaskets, PartedRelease, PartedTable
from shoal.data.release import Release
from shoal.data.table import Table
from shoal.data.trace import Trace
from shoal.errors import WrongUse
from shoal.intake import draw_of, folder_and_columns, give_hierarchies, with_item_hierarchy
from shoal.io.reading import Reading
from shoal.methods.method import Method
from shoal.models.model import Model
from shoal.models.verdict import Verdict
from shoal.outcome import Stage, refuse_broken
from shoal.recipe import Recipe, Roles, Running, parameters_of

UNMEASURED = (
    "Not measured: what rows in parts lose is told by `shoal measure`, which reads both sides into memory."
)


@dataclass(frozen=True, slots=True, eq=False)
class PartedRun:
    """A finished run on rows in parts. `release` is public, all else is for the owner of the data.

    Parameters
    ----------
    data
        What was read: its schema is here, its rows are not.
    release, trace
        What the method made. The rows of the release are made when they are written or asked for.
    engine
        Where the rows are. Its `close` lets go of them.
    verdicts
        One for each promise, once they were judged.
    recipe, seconds, warnings, left_out, hierarchies
        As of a run in memory.
    """

    data: PartedTable | PartedBaskets
    release: Release[PartedRelease]
    trace: Trace
    engine: Engine
    verdicts: tuple[Verdict, ...] = ()
    recipe: Mapping[str, Any] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    left_out: int = 0
    hierarchies: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<PartedRun on {self.engine.name}: {self.release.data.rows:,} published>"

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
        from shoal.io.hierarchies import hierarchy_as_data

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
            "notes": dict(self.trace.notes),
            "warnings": list(self.warnings),
            "left_out": self.left_out,
        }

    def _judged(
        self, verdicts: tuple[Verdict, ...], found: dict[str, int], seconds: dict[str, float]
    ) -> "PartedRun":
        """The same run with its verdicts, and what was found out on the way."""
        trace = replace(self.trace, notes={**self.trace.notes, **found})
        # What the owner should hear is found out once, before or when the release is written.
        told = () if self.verdicts else _concerns(self, found.get("classes", 0))
        return replace(
            self,
            verdicts=verdicts,
            trace=trace,
            warnings=(*told, *self.warnings),
            seconds={**self.seconds, **seconds},
        )

    def write(
        self,
        folder: str | Path,
        *,
        force: bool = False,
        table_format: str = "csv",
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

        Returns
        -------
        The same run, with the verdicts on the files.

        Raises
        ------
        BrokenPromise
            If the written files do not keep the promises; then nothing is left behind.
        """
        from shoal.io.parted_release import refuse_remote
        from shoal.io.release_folder import write_release

        refuse_remote(folder)
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

        write_release(Path(folder), self.release, force=force, table_format=table_format, check=prove)
        return done[0]


def engine_of(wanted: Running) -> Engine | None:
    """The engine that a recipe asks for; None for the memory of this machine."""
    if wanted.engine == "local":
        return None
    kind = registry.load("engine", wanted.engine)
    engine: Engine = kind.within(wanted.memory or "4GB", wanted.master or "local[*]")
    return engine


def refuse_uncut(method: Method, engine: Engine) -> None:
    """Refuse a method that does not run there, before anything is read."""
    if engine.name not in method.engines and engine.name in registry.ENGINES:
        raise WrongUse(
            f"{method.name} does not run on {engine.name}: {method.uncut}. Run it on one machine with --engine local."
        )


def run_parts(recipe: Recipe, engine: Engine, *, source: Any = None, stage: Stage | None = None) -> PartedRun:
    """Run a recipe up to the release, whose rows are still to be written and judged."""
    method = recipe.the_method()
    refuse_uncut(method, engine)
    plan = recipe.source
    origin = plan.path if source is None else source
    finished = carry_out_parts(
        method,
        origin,
        engine,
        recipe.roles,
        plan.reading,
        recipe.hierarchies,
        plan.hierarchies_folder,
        plan.baskets,
        recipe.seed,
        stage,
    )
    kept = recipe.model_dump(mode="json", exclude_defaults=True, exclude_none=True)
    return replace(finished, recipe=kept)


def carry_out_parts(
    method: Method,
    source: Any,
    engine: Engine,
    roles: Roles,
    reading: Reading,
    hierarchies: Mapping[str, str | Hierarchy],
    folder: str | None = None,
    layout: str | None = None,
    seed: int | None = None,
    stage: Stage | None = None,
) -> PartedRun:
    """Read rows in parts and anonymise them."""
    tell: Callable[[str], None] = stage or (lambda _: None)
    refuse_uncut(method, engine)
    begin = time.perf_counter()
    tell("reading")
    left_out = 0
    warnings: list[str] = []
    told: dict[str, str] = {}
    data: PartedTable | PartedBaskets
    if method.accepts is Baskets:
        data = _take_in_baskets(source, engine, roles, reading, hierarchies, layout, seed)
    else:
        data, left_out, warnings, told = _take_in_table(source, engine, roles, reading, hierarchies, folder)
    read = time.perf_counter()
    tell(f"anonymizing by {method.name}")
    release, trace = method.anonymize_parts(data, engine, seed)
    seconds = {"reading": read - begin, "anonymizing": time.perf_counter() - read}
    warnings += [*method.idle(), *map(str, trace.notes.get("warnings", ()))]
    recipe = {"method": parameters_of(method), "seed": seed, **_as_read(data, layout, reading)}
    return PartedRun(data, release, trace, engine, (), recipe, seconds, tuple(warnings), left_out, told)


def _as_read(data: PartedTable | PartedBaskets, layout: str | None, reading: Reading) -> dict[str, Any]:
    """What a recipe tells of baskets: a published form need not tell which items were sensitive."""
    if isinstance(data, PartedTable):
        return {}
    schema = data.schema
    named = {"sensitive": schema.sensitive, "insensitive": schema.insensitive}
    separator = None if reading.separator is None else {"separator": reading.separator}
    source = {"baskets": layout, "reading": separator}
    return {
        "roles": {role: [schema.vocabulary[item] for item in items] for role, items in named.items()},
        "source": {name: value for name, value in source.items() if value is not None},
    }


def publish_parts(recipe: Recipe, *, force: bool = False, stage: Stage | None = None) -> PartedRun:
    """Run a recipe on its engine, and write its release folder."""
    from shoal.io.parted_release import refuse_remote

    output = recipe.output
    assert output.folder is not None
    refuse_remote(output.folder)
    if output.to is not None:
        raise WrongUse(
            "Rows in parts are not written into a database; leave --to away, or use --engine local."
        )
    engine = engine_of(recipe.running)
    assert engine is not None
    try:
        finished = run_parts(recipe, engine, stage=stage)
        return finished.write(output.folder, force=force, table_format=output.format, stage=stage)
    finally:
        engine.close()


def _concerns(run: PartedRun, classes: int) -> tuple[str, ...]:
    """What the owner of the data should hear before publishing it."""
    from shoal.data.concerns import missing_matched
    from shoal.data.parted_concerns import concerns_in_parts
    from shoal.models.in_parts import verify_table
    from shoal.models.k_anonymity import KAnonymity

    if not isinstance(run.data, PartedTable):
        return ()
    found = concerns_in_parts(run.data, run.release.data, classes)
    if any(promise.get("missing_matches_all") for promise in run.release.promises):
        (verdict,) = verify_table([KAnonymity(k=2)], run.release.data, run.engine.memory)
        found += (missing_matched(int(verdict.value or 0)),)
    return found


def judged(run: PartedRun) -> PartedRun:
    """The same run with verdicts on the rows that it publishes, which are not written yet.

    Raises
    ------
    BrokenPromise
        If the release does not keep a promise.
    """
    if isinstance(run.release.data.schema, Baskets):
        # Their promise is judged on the files, when they are written.
        return run
    begin = time.perf_counter()
    verdicts, found = judge_parts(run.release, run.engine)
    refuse_broken(verdicts)
    return run._judged(verdicts, found, {"verifying": time.perf_counter() - begin})


Judgement: TypeAlias = tuple[tuple[Verdict, ...], dict[str, int]]
"""Verdicts, and what else was found out on the way: the classes of a table."""


def judge_files(folder: str | Path, engine: Engine) -> Judgement:
    """Judge a written release by its own promises, from its files alone, where the engine works."""
    from shoal.io.parted_release import open_baskets, open_release
    from shoal.models.baskets_in_parts import verify_baskets

    release = open_release(folder, engine)
    if isinstance(release.data.schema, Baskets):
        return verify_baskets(models_of(release), open_baskets(folder, engine), engine.memory), {}
    return judge_parts(release, engine)


def judge_parts(release: Release[PartedRelease], engine: Engine) -> Judgement:
    """Judge a release whose rows are in parts by its own promises, where its rows are."""
    from shoal.models.in_parts import judge_table

    models: list[Any] = models_of(release)
    schema = release.data.schema
    if isinstance(schema, Table):
        verdicts, classes = judge_table(models, release.data, engine.memory)
        return verdicts, {"classes": classes}
    return judge_sets(models, release.data), {}


def judge_sets(models: list[Any], published: PartedRelease) -> tuple[Verdict, ...]:
    """Judge groups or clusters whose lines are in parts."""
    from shoal.io.parted_release import clusters_in, groups_in
    from shoal.models.in_parts import verify_lines

    parse = groups_in if isinstance(published.schema, Groups) else clusters_in
    return verify_lines(models, published, parse)


def models_of(release: Release[PartedRelease]) -> list[Model]:
    """What a release promises."""
    from shoal.models.promised import promised

    return promised(release.promises)


def _take_in_table(
    source: Any,
    engine: Engine,
    roles: Roles,
    reading: Reading,
    hierarchies: Mapping[str, str | Hierarchy],
    folder: str | None,
) -> tuple[PartedTable, int, list[str], dict[str, str]]:
    from shoal.io.parted import receive_parted_table

    arrival = receive_parted_table(
        source,
        engine,
        quasi=roles.quasi,
        sensitive=roles.sensitive,
        identifying=roles.identifying,
        insensitive=roles.insensitive,
        entity=roles.entity,
        others=roles.others,
        reading=reading,
        columns=tuple(folder_and_columns(hierarchies, folder)[1]),
    )
    schema, told, warnings = give_hierarchies(arrival.table.schema, hierarchies, folder)
    return replace(arrival.table, schema=schema), arrival.left_out, warnings, told


def _take_in_baskets(
    source: Any,
    engine: Engine,
    roles: Roles,
    reading: Reading,
    hierarchies: Mapping[str, str | Hierarchy],
    layout: str | None,
    seed: int | None,
) -> PartedBaskets:
    from shoal.io.parted_baskets import read_parted_baskets

    drawn = draw_of(roles, seed)
    own = engine.own(source)
    read = read_parted_baskets(
        engine,
        str(source) if own is None else own,
        layout=layout,
        sensitive=roles.sensitive,
        insensitive=roles.insensitive,
        separator=reading.separator,
    )
    if drawn is not None:
        from shoal.data.drawn_roles import draw_roles_in_parts

        read = draw_roles_in_parts(read, **drawn)
    return replace(read, schema=with_item_hierarchy(read.schema, hierarchies))
