"""Run all steps in their order: read, anonymize, verify, measure, write.

Only `Run.written` knows a part of this order too: it verifies what it wrote, and measures it if that was left to it.
"""

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, overload

import numpy as np

from shoal.attacks._together import refuse_limits, refuse_risky
from shoal.attacks.attack import Target
from shoal.data._ties import tie_key
from shoal.data.baskets import Baskets
from shoal.data.dataset import kept, schema_of
from shoal.data.hierarchy import Hierarchy
from shoal.data.release import Release
from shoal.data.role import Roles
from shoal.data.table import Table
from shoal.data.trace import Trace
from shoal.engines.local import Local
from shoal.engines.protocol import Engine, Judgment, engine_for, engine_given
from shoal.errors import BadData, Stage, WrongUse, logged, warn
from shoal.io.overwrite_guard import refuse_existing, refuse_source, refuse_source_folder
from shoal.io.reading import Reading, with_names
from shoal.io.source import refuse_address
from shoal.measures._chosen import comparison_of, default_measures, measured
from shoal.measures.measure import Measure, Scores
from shoal.methods.method import Method
from shoal.outcome import AnyRun, Beside, Run, judgment, refuse_broken
from shoal.preparation.transform import Transform, prepared
from shoal.recipe import Recipe, make_method, make_transform, parameters_of, step_as_data
from shoal.sources import Intake, Request, load


def run(
    recipe: Recipe | str | Path | Mapping[str, Any], *, data: Any = None, stage: Stage | None = None
) -> AnyRun:
    """Run a recipe up to the scores; `Run.write` writes the release. All `Run.warnings` are issued as `ShoalWarning`.

    If the recipe names an engine, it is `Run.engine`: close it once the run is written.

    Parameters
    ----------
    recipe
        A recipe, the path of its TOML file, or what such a file holds as a dictionary.
    data
        Data to use instead of the source that the recipe names: anything that `anonymize` takes and still has to read.
    stage
        Progress callback; steps are also logged to ``shoal``.
    """
    if isinstance(recipe, Mapping):
        recipe = Recipe(**recipe)
    elif not isinstance(recipe, Recipe):
        if not isinstance(recipe, str | Path):
            raise WrongUse(f"A recipe is a path, a dictionary or a shoal.Recipe, and not {recipe!r}.")
        recipe = Recipe.read(recipe)
    method, engine = recipe.ready()
    try:
        finished = run_on(engine, recipe, method, source=data, stage=stage)
    except BaseException:
        engine.close()
        raise
    warn(finished.warnings)
    return finished


def run_on(
    engine: Engine,
    recipe: Recipe,
    method: Method | None = None,
    *,
    source: Any = None,
    stage: Stage | None = None,
    verify: bool = True,
) -> AnyRun:
    """Run a recipe on an open engine, and leave it to the caller to show the warnings.

    `method`: the method of the recipe, if it was built already. `source`: a source to use instead of the recipe's.
    `verify`: judge the release now; otherwise it is judged when it is written.
    """
    logged(stage)("reading")
    method = method or recipe.the_method()
    measures = (*default_measures(), *recipe.the_measures()) if recipe.measures else None
    finished = carry_out(
        method,
        load(request_of(recipe, source), method, engine),
        engine=engine,
        seed=recipe.seed,
        stage=stage,
        measures=measures,
        verify=verify,
        recipe=recipe.model_dump(mode="json", exclude_defaults=True, exclude_none=True),
    )
    return _judged_together(finished, recipe, recipe.source.path if source is None else source, stage)


def _judged_together(finished: AnyRun, recipe: Recipe, source: Any, stage: Stage | None) -> AnyRun:
    """Judge a run together with earlier releases, if the recipe names any.

    Raises `BrokenPromise` if together they break a promise.
    """
    output = recipe.output
    if not output.after:
        if output.who is not None:
            raise WrongUse("--who belongs to --after: name the earlier release too, or omit it.")
        return finished
    from shoal.series import refuse_together

    logged(stage)("judging earlier releases")
    said = refuse_together(finished, output.after, source, output.who, recipe)
    return replace(
        finished, trace=replace(finished.trace, notes={**finished.trace.notes, "series": list(said)})
    )


def request_of(recipe: Recipe, source: Any = None) -> Request:
    """The request for what a recipe reads, or for another source if one is given."""
    plan, output = recipe.source, recipe.output
    return Request(
        plan.path if source is None else source,
        recipe.roles,
        plan.reading,
        recipe.hierarchies,
        plan.hierarchies_folder,
        plan.baskets,
        recipe.seed,
        preparation=tuple(map(make_transform, recipe.preparation)),
        formulas=not output.safe_cells and output.format == "csv",
    )


def publish(recipe: Recipe, *, force: bool = False, stage: Stage | None = None) -> tuple[AnyRun, Path]:
    """Run a recipe and write its release folder, and its rows into a database if it says so.

    Returns the run and the folder that was written. Raises `WrongUse` if the recipe names no folder, a folder that
    exists and must not be replaced, or the data itself.
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
    refuse_address(output.folder, writing=True)
    for step in map(make_transform, recipe.preparation):
        step.refuse_key_inside(output.folder, recipe.source.path)
    if output.to is not None:
        recipe.running.kind.refuse_database()
    if output.pdf:
        from shoal.report.pdf import find_browser

        if not output.report:
            raise WrongUse("--pdf prints the report, which is not to be written; omit one of the two.")
        find_browser()
    if output.value_map is not None:
        if Path(output.value_map).resolve().is_relative_to(Path(output.folder).resolve() / "release"):
            raise WrongUse(
                f"{output.value_map} would be published with the release; write --value-map somewhere else."
            )
        refuse_existing(output.value_map, force, recipe.source.path)
    if output.max_risk:
        refuse_limits(output.max_risk, recipe.running.kind)
    method, opened = recipe.ready()
    with closing(opened) as engine:
        # The release is judged once, from its files.
        finished = run_on(engine, recipe, method, stage=stage, verify=False)
        if output.max_risk:
            logged(stage)("attacking")
            tried = refuse_risky(Target(finished.release, finished.original), output.max_risk)
            risks = {name: {"limit": output.max_risk[name], **one.as_dict()} for name, one in tried.items()}
            finished = replace(finished, risks=risks)
        mapped = finished.value_map() if output.value_map is not None else None
        finished = finished.written(
            output.folder,
            force=force,
            report=output.report,
            table_format=output.format,
            safe_cells=output.safe_cells,
            to=output.to,
            strict=output.strict,
            beside=Beside(output, output.also, output.pdf),
            stage=stage,
        )
        if mapped is not None:
            from shoal.io.tables.delimited import write_delimited

            write_delimited(mapped, Path(str(output.value_map)))
    return finished, Path(output.folder)


def carry_out(
    method: Method,
    data: Table | Baskets | Intake,
    *,
    engine: Engine | None = None,
    seed: int | None = None,
    stage: Stage | None = None,
    measures: tuple[Measure, ...] | None = None,
    verify: bool = True,
    recipe: Mapping[str, Any] | None = None,
) -> AnyRun:
    """Anonymize, verify and measure: by the given measures, or by all that run by default.

    `engine`: where the rows of the data are; in this machine's memory by default. `verify`: judge the release now;
    otherwise it is judged when it is written. `recipe`: the recipe of the run as plain data; by default the method, its
    seed and what is known of the data. Raises `BrokenPromise` if the release does not keep a promise: no such release
    may leave a method.
    """
    engine = engine or Local()
    intake = data if isinstance(data, Intake) else Intake(data)
    original, schema = intake.data, schema_of(intake.data)
    tell = logged(stage)
    tell(f"anonymizing by {method.name}")
    _refuse_empty_baskets(schema, method, here=schema is original)
    clock = [time.perf_counter()]
    seed = tie_key(None) if seed is None and method.splits_ties else seed
    release, trace = _with_intake(*method.anonymize(original, engine, seed), intake)
    clock.append(time.perf_counter())
    population = method.population_of(schema)
    proof: Judgment | None = None
    if verify:
        tell("verifying")
        release = replace(release, data=kept(release.data))
        proof = judgment(release, population, engine)
        refuse_broken(proof[0])
    clock.append(time.perf_counter())
    both, scores = None, Scores()
    if engine.unmeasured is None:
        tell("measuring")
        both = comparison_of(original, release)
        scores = measured(both, measures)
    clock.append(time.perf_counter())
    reading = {"reading": intake.seconds} if intake.seconds else {}
    spent = dict(zip(("anonymizing", "verifying", "measuring"), np.diff(clock).tolist(), strict=True))
    made = recipe or {"method": parameters_of(method), "seed": seed, **_item_roles(schema), **intake.read_as}
    notes = map(str, trace.notes.get("warnings", ()))
    finished: AnyRun = Run(
        original,
        release,
        trace,
        scores=scores,
        recipe={**made, **_repeating(seed, method, trace, intake)},
        seconds={**reading, **spent},
        population=population,
        warnings=(*intake.warnings, *method.without_effect(schema), *notes),
        left_out=intake.left_out,
        hierarchies=intake.hierarchies,
        preparation=intake.preparation,
        engine=engine,
        unmeasured=engine.unmeasured,
        measures=measures,
        both=both,
    )
    return finished if proof is None else finished.with_verdicts(*proof)


def _with_intake(release: Release[Any], trace: Trace, intake: Intake) -> tuple[Release[Any], Trace]:
    """Add the preparation to the release, where it is public, and the reader's notes to the trace, which is private."""
    done = prepared(intake.preparation) if intake.preparation else {}
    if done:
        release = replace(release, details={**release.details, "prepared": done})
    if intake.notes:
        read = {"intake": list(intake.notes), "unread": list(intake.unread)}
        trace = replace(trace, notes={**trace.notes, **read})
    return release, trace


def _refuse_empty_baskets(baskets: Table | Baskets, method: Method, here: bool) -> None:
    """Refuse baskets that are all empty, or without sensitive items if the method is about hiding those.

    A release of such baskets would say nothing. `here`: whether they are in memory.
    """
    if isinstance(baskets, Table):
        return
    if not len(baskets.items if here else baskets.vocabulary):
        raise BadData("no basket holds an item, so there is nothing to publish.")
    known = here and method.needs_sensitive and len(baskets.sensitive) > 0
    if known and not baskets.supports[baskets.sensitive].any():
        raise BadData("no basket holds a sensitive item, so there is nothing to hide.")


def _repeating(seed: int | None, method: Method, trace: Trace, intake: Intake) -> dict[str, Any]:
    """What repeats a run exactly: the seed that was drawn, the preparation, and the steps that a timed search took."""
    found: dict[str, Any] = {} if seed is None else {"seed": seed}
    if intake.preparation:
        found["preparation"] = [step_as_data(step) for step in intake.preparation]
    if (done := method.repeated(trace.notes)) != method:
        found["method"] = parameters_of(done)
    return found


def _item_roles(data: Table | Baskets) -> dict[str, Any]:
    """The roles of items as a recipe holds them; the release does not always tell which items were sensitive."""
    if isinstance(data, Table):
        return {}
    named = {"sensitive": data.sensitive, "insensitive": data.insensitive}
    return {"roles": {role: [data.vocabulary[item] for item in items] for role, items in named.items()}}


@overload
def anonymize(data: Any, method: str | Method, *, engine: None = None, **options: Any) -> Run: ...


@overload
def anonymize(data: Any, method: str | Method, *, engine: Engine, **options: Any) -> AnyRun: ...


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
    insist: str | Sequence[str] = (),
    items: str | None = None,
    items_from: str | None = None,
    item_separator: str | None = None,
    link: str | None = None,
    sensitive_items: str | Sequence[str] = (),
    insensitive_items: str | Sequence[str] = (),
    hierarchies: Mapping[str, str | Hierarchy] | None = None,
    baskets: str | None = None,
    names: Sequence[str] | None = None,
    reading: Reading | None = None,
    preparation: Sequence[Mapping[str, Any] | Transform] = (),
    seed: int | None = None,
    engine: Engine | None = None,
    **parameters: Any,
) -> AnyRun:
    """Read, anonymize, verify and measure in one call.

    Each sentence of `Run.warnings` is also issued once as a `ShoalWarning`.

    Parameters
    ----------
    data
        A table or baskets already read, a path, or a polars, pandas or Arrow frame; baskets also as `read_baskets`
        takes them, such as a list of lists or a matrix of 0 and 1. With an engine: a path that its workers can read,
        data in memory, whose rows are handed to it, or a frame of the engine itself, such as one of Spark.
    method
        A method, or the name of one, with its parameters as further arguments: ``"mondrian", k=10``.
    quasi, sensitive, identifying, insensitive, entity, others
        The roles of columns (see `Role`): one name or several; only for data that is not read yet.
    insist
        Columns to accept as quasi-identifiers although they look like identifiers; otherwise such columns are refused.
    items, items_from, item_separator, sensitive_items, insensitive_items
        The column that holds a set of items in each row, or another table with them,
        ``"visits.csv:patient,diagnosis"``; what separates items; and which of them are secret, or neither secret nor
        known.
    link
        Another table with records of the persons, ``"visits.csv:patient"``; its columns get roles like the others.
    hierarchies
        For each column its hierarchy, a builder (``"intervals:5,10,20"``) or a file; for the items of baskets, under
        ``items``.
    baskets
        The layout of baskets that are not read yet: ``lines``, ``spmf``, ``long:ID,ITEM``, ``matrix`` or
        ``column:NAME``; detected from the content by default.
    names
        The names of the columns, for a text file without a header; for an array of 0 and 1, its items.
    reading
        What a source does not tell about itself, such as its separator.
    preparation
        Steps to apply to columns before the method, in this order, such as
        ``shoal.preparation.TopCoding(limits={"age": 90})``, or the same as plain data, as in a recipe.
    seed
        The seed of methods that draw random numbers. Keep it as secret as the data. If the method may separate equal
        rows and no seed is given, a new one is drawn and kept in the run's recipe.
    engine
        Where the work is done: ``Spark(session)`` or ``Stream("4GB")``. By default, a Spark frame is processed in its
        own session, and everything else in this machine's memory. With another engine the rows of the release are
        distributed, and measured when it is written.

    Examples
    --------
    >>> import polars, shoal
    >>> frame = polars.DataFrame({"age": [20, 21, 40, 41], "illness": ["flu", "cold", "flu", "cold"]})
    >>> run = shoal.anonymize(frame, "mondrian", k=2, quasi=["age"], sensitive=["illness"])
    >>> run.release.to_polars()["age"].to_list()
    ['[20,21]', '[20,21]', '[40,41]', '[40,41]']
    """
    _refuse_misused(method, engine, data, preparation, seed)
    chosen = _chosen(method, parameters)
    reading = with_names(reading, names)
    roles = Roles.of(
        quasi=quasi,
        sensitive=sensitive,
        identifying=identifying,
        insensitive=insensitive,
        entity=entity,
        others=others,
        insist=insist,
        items=items,
        items_from=items_from,
        item_separator=item_separator,
        link=link,
        sensitive_items=sensitive_items,
        insensitive_items=insensitive_items,
    )
    engine = engine or engine_for(data)
    steps = tuple(make_transform(one) for one in preparation)
    if isinstance(data, Table | Baskets):
        _refuse_unused(roles, reading, hierarchies, baskets)
        data = engine.held(data)
    else:
        request = Request(
            data, roles, reading, hierarchies or {}, layout=baskets, seed=seed, preparation=steps
        )
        data = load(request, chosen, engine)
    finished = carry_out(chosen, data, engine=engine, seed=seed)
    warn(finished.warnings)
    return finished


def _chosen(method: str | Method, parameters: Mapping[str, Any]) -> Method:
    """The method, made of its name and parameters where it is no object yet."""
    if isinstance(method, str):
        return make_method({"name": method, **parameters})
    if parameters:
        raise WrongUse(
            f"The method is an object, which has its parameters already: give {', '.join(parameters)} to "
            f"{type(method).__name__}(…), and not beside it."
        )
    return method


def _refuse_unused(roles: Roles, reading: Reading, hierarchies: Any, layout: str | None) -> None:
    """Refuse options of reading for data that was read already: the promise would be about other columns than named."""
    if roles != Roles.of() or reading != Reading() or hierarchies or layout is not None:
        raise WrongUse(
            "Roles, hierarchies and how to read are given when data is read: give them to shoal.read_table or "
            "shoal.read_baskets, or give the path or the frame here, and not what was read."
        )


def _refuse_misused(method: Any, engine: Any, data: Any, preparation: Any, seed: Any) -> None:
    """Refuse arguments of a wrong type with a clear message."""
    engine_given(engine)
    if seed is not None and (not isinstance(seed, int | np.integer) or seed < 0):
        raise WrongUse(f"A seed is a whole number from 0 on, and not {seed!r}.")
    if not isinstance(method, str | Method):
        raise WrongUse(
            f'A method is named, or an object: "mondrian" or shoal.methods.Mondrian(k=10), and not {method!r}.'
        )
    if preparation and isinstance(data, Table | Baskets):
        raise WrongUse("Data is prepared when it is read: give the path or the frame, and not what was read.")
