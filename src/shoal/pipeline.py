"""The order of the steps: read, anonymize, verify, measure, write. The only place that knows it."""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, overload

from shoal import registry
from shoal.attacks._together import refuse_limits, refuse_risky
from shoal.attacks.attack import Target
from shoal.data._remote import refuse_address
from shoal.data.baskets import Baskets
from shoal.data.hierarchy import Hierarchy
from shoal.data.parts import Engine, PartedBaskets, PartedRelease, PartedTable, schema_of
from shoal.data.release import Release
from shoal.data.table import Table
from shoal.errors import WrongUse, warn
from shoal.io.overwrite_guard import refuse_source, refuse_source_folder
from shoal.io.reading import Reading, with_names
from shoal.measures.measure import Measure, Score
from shoal.methods.method import Method
from shoal.methods.table_method import TableMethod
from shoal.outcome import NO_DATABASE, UNMEASURED, AnyRun, Run, Stage, judgment
from shoal.recipe import Output, Recipe, make_method, parameters_of, roles_of
from shoal.sources import Intake, load, load_source


def run(recipe: Recipe, *, stage: Stage | None = None) -> AnyRun:
    """Run a recipe up to the scores. Writing is `Run.write`. What `Run.warnings` holds is issued as `ShoalWarning` too.

    The engine of the recipe, where it names one, is `Run.engine`: close it once the run is written.
    """
    engine = recipe.running.open()
    try:
        finished = run_on(engine, recipe, stage=stage)
    except BaseException:
        if engine is not None:
            engine.close()
        raise
    warn(finished.warnings)
    return finished


def run_on(
    engine: Engine | None,
    recipe: Recipe,
    *,
    source: Any = None,
    stage: Stage | None = None,
    judged: bool = True,
) -> AnyRun:
    """Run a recipe on an engine that is open, or in memory, and leave it to the caller to show its warnings.

    Parameters
    ----------
    source
        Instead of the recipe's.
    judged
        Judge the release; otherwise it is judged when it is written.
    """
    tell = stage or (lambda _: None)
    tell("reading")
    intake = _warned_of_formulas(load_source(recipe, source, engine), recipe.output)
    measures = recipe.the_measures()
    finished = carry_out(
        recipe.the_method(),
        intake,
        engine=engine,
        seed=recipe.seed,
        stage=tell,
        measures=(*default_measures(), *measures) if measures else None,
        judged=judged,
    )
    kept = recipe.model_dump(mode="json", exclude_defaults=True, exclude_none=True)
    if (drawn := finished.recipe.get("seed")) is not None:
        # So that the run can be repeated, where the recipe says no seed.
        kept["seed"] = drawn
    return replace(finished, recipe=kept)


def _warned_of_formulas(intake: Intake, output: Output | None = None) -> Intake:
    """The same data, with a warning where it is published with cells that a spreadsheet would run."""
    told = (output or Output()).formulas_told(schema_of(intake.data))
    return replace(intake, warnings=(*intake.warnings, *told))


def publish(recipe: Recipe, *, force: bool = False, stage: Stage | None = None) -> tuple[AnyRun, Path]:
    """Run a recipe and write its release folder, and its rows into a database where it says so.

    Returns
    -------
    The run, and the folder that was written.

    Raises
    ------
    WrongUse
        If the recipe names no folder, one that is there already and must not be replaced, or the data itself.
    """
    output = recipe.output
    if output.folder is None:
        raise WrongUse(
            "Nowhere to write: name the release folder with -o OUT (`folder` under [output] in a recipe)."
        )
    if os.path.lexists(output.folder) and not force:
        raise WrongUse(
            f"{output.folder} is there already; name another folder with -o, or replace it with --force."
        )
    refuse_source_folder(output.folder, recipe.source.path)
    if output.to is not None:
        refuse_source(output.to, recipe.source.path, recipe.source.reading.query)
    recipe.running.refuse_idle()
    refuse_address(output.folder, writing=True)
    if output.to is not None and recipe.running.engine != "local":
        raise WrongUse(NO_DATABASE)
    refuse_limits(output.max_risk, recipe.running.engine)
    with recipe.running.opened() as engine:
        # Rows in parts are read once less if they are judged where they are written.
        finished = run_on(engine, recipe, stage=stage, judged=engine is None)
        if output.max_risk:
            (stage or (lambda _: None))("attacking")
            refuse_risky(Target(finished.release, finished.original), output.max_risk)
        finished = finished.written(
            output.folder,
            force=force,
            report=output.report,
            table_format=output.format,
            safe_cells=output.safe_cells,
            to=output.to,
            stage=stage,
        )
    return finished, Path(output.folder)


def carry_out(
    method: Method,
    data: Table | Baskets | Intake,
    *,
    engine: Engine | None = None,
    seed: int | None = None,
    stage: Stage | None = None,
    measures: tuple[Measure, ...] | None = None,
    judged: bool = True,
) -> AnyRun:
    """Anonymize, verify and measure: by the given measures, or by all that run by default.

    Parameters
    ----------
    engine
        Where the rows of the data are; None for the memory of this machine.
    judged
        Judge the release; otherwise it is judged when it is written.

    Raises
    ------
    BrokenPromise
        If the release does not keep a promise: a release like that leaves no method.
    """
    intake = data if isinstance(data, Intake) else Intake(data)
    original: Any = intake.data
    schema = schema_of(original)
    tell = stage or (lambda _: None)
    tell(f"anonymizing by {method.name}")
    method.refuse_empty(original)
    seconds = {"reading": intake.seconds} if intake.seconds else {}
    begin = time.perf_counter()
    seed = method.seeded(seed)
    release, trace = _anonymized(method, original, engine, seed)
    seconds["anonymizing"] = time.perf_counter() - begin
    told = map(str, trace.notes.get("warnings", ()))
    finished: AnyRun = Run(
        original,
        release,
        trace,
        recipe={"method": parameters_of(method), "seed": seed, **_item_roles(schema), **intake.told},
        seconds=seconds,
        warnings=(*intake.warnings, *method.without_effect(schema), *told),
        left_out=intake.left_out,
        hierarchies=intake.hierarchies,
        engine=engine,
        unmeasured=None if engine is None else UNMEASURED,
    )
    if judged:
        tell("verifying")
        finished = _judged(finished, method)
    if engine is None:
        begin = time.perf_counter()
        tell("measuring")
        scores = measure(original, release, measures)
        spent = {**finished.seconds, "measuring": time.perf_counter() - begin}
        finished = replace(finished, scores=scores, seconds=spent)
    return finished


def _anonymized(method: Method, data: Any, engine: Engine | None, seed: int | None) -> tuple[Any, Any]:
    """The release and its trace, made where the rows are."""
    if engine is None:
        return method.anonymize(data, seed=seed)
    return method.anonymize_parts(data, engine, seed)


def _judged(run: AnyRun, method: Method) -> AnyRun:
    """A run with the verdicts on what it publishes, which is not written yet."""
    begin = time.perf_counter()
    data, population = run.release.data, None
    if isinstance(method, TableMethod) and isinstance(run.original, Table):
        population = method.population_of(run.original)
    if isinstance(data, PartedRelease) and isinstance(data.schema, Baskets):
        # Lines of baskets are read more than once to be judged, and once more to be written.
        data = replace(data, parts=data.parts.keep())
    run = replace(run, population=population, release=replace(run.release, data=data))
    return run.judged(*judgment(run.release, population, run.engine), time.perf_counter() - begin)


def _item_roles(data: Table | Baskets) -> dict[str, Any]:
    """The roles of items as a recipe tells them; a published form need not tell which items were sensitive."""
    if isinstance(data, Table):
        return {}
    named = {"sensitive": data.sensitive, "insensitive": data.insensitive}
    return {"roles": {role: [data.vocabulary[item] for item in items] for role, items in named.items()}}


def measure(
    original: Table | Baskets, release: Release, measures: tuple[Measure, ...] | None = None
) -> tuple[Score, ...]:
    """The given measures, or all that can judge this form of release; but for those that only run on request."""
    chosen = default_measures() if measures is None else measures
    fitting = [one for one in chosen if isinstance(release.data, one.accepts)]
    return tuple(score for one in fitting for score in one.scores(original, release))


def asked_scores(one: Measure, original: Table | Baskets, release: Release) -> tuple[Score, ...]:
    """The scores of a measure that is asked for by name.

    Raises
    ------
    WrongUse
        If it has none of this release.
    """
    if not isinstance(release.data, one.accepts):
        forms = " or ".join(form.__name__.lower() for form in one.accepts)
        raise WrongUse(
            f"The measure {one.name} is about {forms}, and this release is a {type(release.data).__name__.lower()}; "
            "leave it away. `shoal methods` lists what there is."
        )
    if not (scores := measure(original, release, (one,))):
        raise WrongUse(f"The measure {one.name} has nothing to say of this release; leave it away.")
    return scores


def default_measures() -> tuple[Measure, ...]:
    """Every measure that does not wait to be asked for."""
    return tuple(kind() for kind in registry.load_all("measure").values() if not kind.on_request)


@overload
def anonymize(data: Any, method: str | Method, *, engine: None = None, **options: Any) -> Run: ...


@overload
def anonymize(
    data: Any, method: str | Method, *, engine: Engine, **options: Any
) -> Run[PartedTable | PartedBaskets, PartedRelease]: ...


def anonymize(
    data: Any,
    method: str | Method,
    *,
    quasi: str | Sequence[str] = (),
    sensitive: str | Sequence[str] = (),
    identifying: str | Sequence[str] = (),
    insensitive: str | Sequence[str] = (),
    entity: str | None = None,
    others: str | None = None,
    hierarchies: Mapping[str, str | Hierarchy] | None = None,
    baskets: str | None = None,
    names: Sequence[str] | None = None,
    reading: Reading | None = None,
    seed: int | None = None,
    engine: Engine | None = None,
    **parameters: Any,
) -> AnyRun:
    """Read, anonymize, verify and measure in one line.

    What `Run.warnings` holds is issued as `ShoalWarning` too, once for each sentence.

    Parameters
    ----------
    data
        A table or baskets already read, a path, or a polars, pandas or Arrow frame; baskets also as `read_baskets`
        takes them, such as a list of lists or a matrix of 0 and 1. With an engine, a path that its workers see, what is
        in memory, whose rows are handed to it, or a frame of its own, such as one of Spark.
    method
        A method, or its name with its parameters behind: ``"mondrian", k=10``.
    quasi, sensitive, identifying, insensitive, entity, others
        Who is who (see `Role`): one name or several; only for data that is not read yet.
    hierarchies
        Column to hierarchy, builder (``"intervals:5,10,20"``) or file; that of the items of baskets under ``items``.
    baskets
        The layout of baskets that are not read yet: ``lines``, ``spmf``, ``long:ID,ITEM``, ``matrix`` or
        ``column:NAME``; found out from the content unless told.
    names
        The names of the columns, for a text without a header; of an array of 0 and 1, its items.
    reading
        What a source does not tell about itself, such as its separator.
    seed
        For methods that draw random numbers. Keep it as secret as the data; where ties are split and none is given, a
        new one is drawn, and kept in the run's recipe.
    engine
        Where the work is done: ``Spark(session)`` or ``Stream("4GB")``; in this machine's memory unless told. Then the
        rows of the release are in parts, and nothing is measured.

    Examples
    --------
    >>> import polars, shoal
    >>> frame = polars.DataFrame({"age": [20, 21, 40, 41], "illness": ["flu", "cold", "flu", "cold"]})
    >>> run = shoal.anonymize(frame, "mondrian", k=2, quasi=["age"], sensitive=["illness"])
    >>> run.release.to_polars()["age"].to_list()
    ['[20,21]', '[20,21]', '[40,41]', '[40,41]']
    """
    if isinstance(engine, str):
        raise WrongUse(
            f'An engine is an object: engine=shoal.Stream("4GB") or shoal.Spark(session), and not {engine!r}.'
        )
    if not isinstance(method, str | Method):
        raise WrongUse(
            f'A method is named, or an object: "mondrian" or shoal.Mondrian(k=10), and not {method!r}.'
        )
    chosen = make_method({"name": method, **parameters}) if isinstance(method, str) else method
    reading = with_names(reading, names)
    roles = roles_of(
        quasi=quasi,
        sensitive=sensitive,
        identifying=identifying,
        insensitive=insensitive,
        entity=entity,
        others=others,
    )
    if not isinstance(data, Table | Baskets):
        data = load(data, chosen, roles, reading, hierarchies or {}, layout=baskets, seed=seed, engine=engine)
        data = _warned_of_formulas(data)
    elif engine is not None:
        raise WrongUse("Data that is in memory already is worked on there; leave the engine away.")
    finished = carry_out(chosen, data, engine=engine, seed=seed)
    warn(finished.warnings)
    return finished
