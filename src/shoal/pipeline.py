"""The order of the steps: read, anonymize, verify, measure, write. The only place that knows it."""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, overload

from shoal import registry
from shoal.data._format_hints import told_once
from shoal.data.baskets import Baskets
from shoal.data.clusters import Clusters
from shoal.data.groups import Groups
from shoal.data.hierarchy import Hierarchy
from shoal.data.parts import Engine
from shoal.data.release import Release
from shoal.data.table import Table
from shoal.errors import WrongUse, warn
from shoal.io.overwrite_guard import refuse_source, refuse_source_folder
from shoal.io.reading import Reading, with_names
from shoal.measures.measure import Measure, Score
from shoal.methods.method import Method
from shoal.methods.table_method import TableMethod
from shoal.outcome import Run, Stage, judge, refuse_broken
from shoal.parted import PartedRun, carry_out_parts, judged, publish_parts, seeded_recipe
from shoal.parted_intake import take_in_parts, warned_of_formulas
from shoal.recipe import Output, Recipe, Roles, make_method, parameters_of, roles_of
from shoal.sources import Intake, take_in, take_in_for, told_of_baskets, with_item_hierarchy


def run(recipe: Recipe, *, stage: Stage | None = None) -> Run:
    """Run a recipe up to the scores. Writing is `Run.write`. What `Run.warnings` holds is issued as `ShoalWarning` too.

    Raises
    ------
    WrongUse
        If the recipe asks for another engine: rows in parts are written as they are made (`publish`).
    """
    if recipe.running.engine != "local":
        raise WrongUse(
            f"The recipe runs on {recipe.running.engine}, whose rows are not brought here: publish it (`shoal run`) "
            "or call shoal.anonymize with an engine."
        )
    finished = run_quietly(recipe, stage)
    warn(finished.warnings)
    return finished


def run_quietly(recipe: Recipe, stage: Stage | None = None) -> Run:
    """Run a recipe that works in memory, and leave it to the caller to show its warnings."""
    tell = stage or (lambda _: None)
    method = recipe.the_method()
    begin = time.perf_counter()
    tell("reading")
    intake = take_in(recipe.source.path, method, recipe)
    reading = time.perf_counter() - begin
    measures = recipe.the_measures()
    further = (*default_measures(), *measures) if measures else None
    finished = carry_out(method, intake.data, seed=recipe.seed, stage=tell, measures=further)
    seconds = {"reading": reading, **finished.seconds}
    plain = recipe.model_dump(mode="json", exclude_defaults=True, exclude_none=True)
    kept = seeded_recipe(plain, finished.recipe)
    return replace(_after(intake, finished, recipe.output), recipe=kept, seconds=seconds)


def _after(intake: Intake, finished: Run, output: Output | None = None) -> Run:
    """A run that also says what was said about its data."""
    formulas = (output or Output()).formulas_told(intake.data)
    return replace(
        finished,
        left_out=intake.left_out,
        hierarchies=intake.hierarchies,
        warnings=told_once((*intake.warnings, *formulas, *finished.warnings)),
    )


def publish(
    recipe: Recipe, *, force: bool = False, stage: Stage | None = None
) -> tuple[Run | PartedRun, Path]:
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
    tell = stage or (lambda _: None)
    if recipe.running.engine != "local":
        return publish_parts(recipe, force=force, stage=tell), Path(output.folder)
    finished = run_quietly(recipe, tell)
    tell("writing")
    folder = finished.write(
        output.folder,
        force=force,
        report=output.report,
        table_format=output.format,
        safe_cells=output.safe_cells,
        to=output.to,
    )
    return finished, folder


def carry_out(
    method: Method,
    data: Table | Baskets,
    *,
    seed: int | None = None,
    stage: Stage | None = None,
    measures: tuple[Measure, ...] | None = None,
) -> Run:
    """Anonymize data that is in memory, verify and measure: by the given measures, or by all that run by default.

    Raises
    ------
    BrokenPromise
        If the release does not keep a promise: a release like that leaves no method.
    """
    tell = stage or (lambda _: None)
    seconds = {}
    begin = time.perf_counter()
    tell(f"anonymizing by {method.name}")
    method.refuse_empty(data)
    seed = method.seeded(seed)
    release, trace = method.anonymize(data, seed=seed)
    seconds["anonymizing"] = time.perf_counter() - begin
    begin = time.perf_counter()
    tell("verifying")
    population = (
        method.population_of(data) if isinstance(method, TableMethod) and isinstance(data, Table) else None
    )
    verdicts = judge(release, population)
    refuse_broken(verdicts)
    seconds["verifying"] = time.perf_counter() - begin
    begin = time.perf_counter()
    tell("measuring")
    scores = measure(data, release, measures)
    seconds["measuring"] = time.perf_counter() - begin
    recipe = {"method": parameters_of(method), "seed": seed, **_item_roles(data)}
    told = map(str, trace.notes.get("warnings", ()))
    said = (*_concerns(data, release), *method.without_effect(data), *told)
    return Run(data, release, trace, verdicts, scores, recipe, seconds, population, warnings=said)


def _item_roles(data: Table | Baskets) -> dict[str, Any]:
    """The roles of items as a recipe tells them; a published form need not tell which items were sensitive."""
    if isinstance(data, Table):
        return {}
    named = {"sensitive": data.sensitive, "insensitive": data.insensitive}
    return {"roles": {role: [data.vocabulary[item] for item in items] for role, items in named.items()}}


def _concerns(original: Table | Baskets, release: Release) -> tuple[str, ...]:
    """What the owner of the data should hear before publishing it."""
    from shoal.data._spellings import items_spelled_twice
    from shoal.models._achieved_levels import reached_k
    from shoal.risk.disclosure_warnings import concerns, count_bare, missing_matched, warned_of_bare

    if isinstance(original, Baskets):
        bare: tuple[str, ...] = ()
        if isinstance(release.data, Groups | Clusters):
            named = {item for promise in release.promises for item in promise.get("sensitive", ())}
            left_out = any(promise.get("safe", 1) < 1 for promise in release.promises)
            bare = warned_of_bare(count_bare(release.data, named, left_out=left_out), type(release.data))
        return (*items_spelled_twice(original), *bare)
    if not isinstance(release.data, Table):
        return ()
    found = concerns(original, release.data)
    if any(promise.get("missing_matches_all") for promise in release.promises):
        return (*found, missing_matched(reached_k(release.data) or 0))
    return found


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
def anonymize(data: Any, method: str | Method, *, engine: Engine, **options: Any) -> PartedRun: ...


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
) -> Run | PartedRun:
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
    finished: Run | PartedRun
    if isinstance(data, Table | Baskets):
        if engine is not None:
            raise WrongUse("Data that is in memory already is worked on there; leave the engine away.")
        finished = carry_out(chosen, data, seed=seed)
    elif engine is not None:
        taken = take_in_parts(
            chosen, data, engine, roles, reading, hierarchies or {}, layout=baskets, seed=seed
        )
        finished = judged(carry_out_parts(chosen, warned_of_formulas(taken), engine, seed=seed))
    else:
        if chosen.accepts is Baskets:
            intake = _baskets_taken_in(data, roles, baskets, reading, hierarchies or {})
        else:
            intake = take_in_for(chosen, data, roles, reading, hierarchies or {})
        finished = _after(intake, carry_out(chosen, intake.data, seed=seed))
        if chosen.accepts is Baskets:
            told = told_of_baskets(baskets, reading)
            finished = replace(finished, recipe={**finished.recipe, "source": told})
    warn(finished.warnings)
    return finished


def _baskets_taken_in(
    data: Any, roles: Roles, layout: str | None, reading: Reading, hierarchies: Mapping[str, str | Hierarchy]
) -> Intake:
    from shoal.io.baskets.load import receive_baskets

    arrival = receive_baskets(data, layout, reading, sensitive=roles.sensitive, insensitive=roles.insensitive)
    return Intake(with_item_hierarchy(arrival.baskets, hierarchies), warnings=arrival.remarks)
