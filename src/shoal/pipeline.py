"""The order of the steps: read, anonymise, verify, measure, write. The only place that knows it."""

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal import registry
from shoal.data.baskets import Baskets
from shoal.data.hierarchy import Hierarchy
from shoal.data.release import Release
from shoal.data.table import Column, Table
from shoal.errors import BadData, WrongUse
from shoal.io.reading import Reading
from shoal.measures.measure import Score
from shoal.methods.method import Method
from shoal.methods.table_method import TableMethod, read_population
from shoal.models.verdict import Verdict
from shoal.outcome import Run, Stage, judge, refuse_broken
from shoal.recipe import Recipe, Roles, is_hierarchy_file, make_method, parameters_of

if TYPE_CHECKING:
    from shoal.data.profile import BasketsProfile, TableProfile

BASKET_ENDINGS = (".dat", ".spmf")
"""Endings of files that hold baskets and no table."""


def run(recipe: Recipe, *, stage: Stage | None = None) -> Run:
    """Run a recipe up to the scores. Writing is `Run.write`."""
    tell = stage or (lambda _: None)
    method = recipe.the_method()
    begin = time.perf_counter()
    tell("reading")
    data = read(recipe.source.path, method.accepts, recipe)
    reading = time.perf_counter() - begin
    finished = carry_out(method, data, seed=recipe.seed, stage=tell)
    return Run(
        original=finished.original,
        release=finished.release,
        trace=finished.trace,
        verdicts=finished.verdicts,
        scores=finished.scores,
        recipe=_kept(recipe),
        seconds={"reading": reading, **finished.seconds},
        population=finished.population,
    )


def _kept(recipe: Recipe) -> dict[str, Any]:
    """A recipe as a run keeps it: without the passwords of databases."""
    from shoal.io.database import is_database, parse_address

    plain = recipe.model_dump(mode="json", exclude_defaults=True, exclude_none=True)
    for section, key in (("source", "path"), ("output", "to")):
        if is_database(address := plain.get(section, {}).get(key)):
            plain[section][key] = parse_address(address).name
    return plain


def publish(recipe: Recipe, *, force: bool = False, stage: Stage | None = None) -> tuple[Run, Path]:
    """Run a recipe and write its release folder, and its rows into a database where it says so.

    Returns
    -------
    The run, and the folder that was written.

    Raises
    ------
    WrongUse
        If the recipe names no folder, or one that is there already and must not be replaced.
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
    tell = stage or (lambda _: None)
    finished = run(recipe, stage=tell)
    tell("writing")
    folder = finished.write(
        output.folder, force=force, report=output.report, table_format=output.format, to=output.to
    )
    return finished, folder


def carry_out(
    method: Method, data: Table | Baskets, *, seed: int | None = None, stage: Stage | None = None
) -> Run:
    """Anonymise data that is in memory, verify and measure.

    Raises
    ------
    BrokenPromise
        If the release does not keep a promise: a release like that leaves no method.
    """
    tell = stage or (lambda _: None)
    seconds = {}
    begin = time.perf_counter()
    tell(f"anonymizing by {method.name}")
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
    scores = measure(data, release)
    seconds["measuring"] = time.perf_counter() - begin
    recipe = {"method": parameters_of(method), "seed": seed}
    return Run(data, release, trace, verdicts, scores, recipe, seconds, population)


def read(source: Any, form: type, recipe: Recipe) -> Table | Baskets:
    """Read what a method accepts, as the recipe says."""
    if form is Baskets:
        from shoal.io.baskets import read_baskets

        roles = recipe.roles
        return read_baskets(
            source,
            layout=recipe.source.baskets,
            sensitive=roles.sensitive,
            insensitive=roles.insensitive,
            separator=recipe.source.reading.separator,
        )
    return read_roles(source, recipe.roles, recipe.source.reading, recipe.hierarchies)


def read_roles(
    source: Any, roles: Roles, reading: Reading, hierarchies: Mapping[str, str | Hierarchy]
) -> Table:
    """Read a table, give its columns their roles, and its quasi-identifiers their hierarchies."""
    from shoal.io.tables import read_table

    table = read_table(
        source,
        quasi=roles.quasi,
        sensitive=roles.sensitive,
        identifying=roles.identifying,
        insensitive=roles.insensitive,
        entity=roles.entity,
        others=roles.others,
        reading=reading,
    )
    return with_hierarchies(table, hierarchies)


def profile(
    source: Any,
    *,
    reading: Reading | None = None,
    layout: str | None = None,
    quasi: Sequence[str] | None = None,
) -> "TableProfile | BasketsProfile":
    """Look at data before anything is done to it.

    Parameters
    ----------
    layout
        The layout of baskets. A source without one is a table, unless its name ends in ``.dat`` or ``.spmf``.
    quasi
        Columns of a table to look at together; the suggested ones unless told.
    """
    from shoal.data.profile import profile_baskets, profile_table
    from shoal.io.source import format_of

    reading = reading or Reading()
    if layout is not None or (isinstance(source, str | Path) and format_of(source) in BASKET_ENDINGS):
        from shoal.io.baskets import read_baskets

        return profile_baskets(read_baskets(source, layout=layout, separator=reading.separator))
    return profile_table(read_roles(source, Roles(others="insensitive"), reading, {}), quasi)


def read_column(source: Any, name: str, reading: Reading) -> Column:
    """Read one column of a table, as a hierarchy needs it."""
    return read_roles(source, Roles(quasi=(name,), others="drop"), reading, {}).column(name)


def with_hierarchies(table: Table, given: Mapping[str, str | Hierarchy]) -> Table:
    """Give columns their hierarchies: objects, builders (``intervals:5,10``), files, or a ``folder`` of files.

    A hierarchy that is named for its column goes before one that is found in the folder.
    """
    from dataclasses import replace

    from shoal.data.builders import build
    from shoal.io.hierarchies import read_hierarchies, read_hierarchy

    wanted = {name: spec for name, spec in given.items() if name != "folder"}
    found: dict[str, str | Hierarchy] = {}
    if "folder" in given:
        folder = given["folder"]
        if isinstance(folder, Hierarchy):
            raise WrongUse("`folder` names a folder of hierarchy files, not a hierarchy.")
        found.update(read_hierarchies(folder, {column.name: column.domain for column in table.quasi}))
    found.update(wanted)
    for name in wanted:
        table.column(name)
    columns = []
    for column in table.columns:
        spec = found.get(column.name)
        if spec is None:
            columns.append(column)
            continue
        if isinstance(spec, Hierarchy):
            hierarchy = spec
        elif is_hierarchy_file(spec):
            hierarchy = read_hierarchy(spec, column.domain)
        else:
            hierarchy = build(spec, column.domain, column.name)
        columns.append(replace(column, hierarchy=hierarchy.covering(column.domain, column.name)))
    return Table(tuple(columns))


def verify_folder(folder: str | Path, population: str | None = None) -> tuple[Verdict, ...]:
    """Judge a written release by its own promises, from the published files alone.

    Parameters
    ----------
    population
        The file of the population, for promises that are made beside one.

    Raises
    ------
    BadData
        If the folder holds no release, or one that promises nothing.
    """
    from shoal.io.release_folder import read_release

    release = read_release(Path(folder))
    if not release.promises:
        raise BadData("the release promises nothing, so there is nothing to prove.", path=folder)
    if population is not None and isinstance(release.data, Table):
        return judge(release, read_population(population, release.data))
    return judge(release)


def verify_file(
    source: str | Path, promised: TableMethod, roles: Roles, reading: Reading | None = None
) -> tuple[Verdict, ...]:
    """Judge any published table: its cells are taken as they are, nothing is guessed.

    Parameters
    ----------
    promised
        What to prove, in the short forms and models that methods of tables take.

    Raises
    ------
    WrongUse
        If nothing is promised, or no column is a quasi-identifier.
    """
    from shoal.io.tables import read_published_table

    if not promised.models():
        raise WrongUse("Nothing to prove: say what is promised, for example --k 10.")
    if not roles.quasi:
        raise WrongUse("No column is a quasi-identifier; name those that an adversary may know with --quasi.")
    table = read_published_table(source, roles.quasi, roles.sensitive, roles.entity, reading)
    return tuple(model.verify(table) for model in promised.definite(table, published=True))


def measure(
    original: Table | Baskets, release: Release, names: tuple[str, ...] | None = None
) -> tuple[Score, ...]:
    """Every measure that can judge this form of release; or the named ones."""
    scores: list[Score] = []
    for name in names or registry.MEASURES:
        measure_class = registry.load("measure", name)
        if isinstance(release.data, measure_class.accepts):
            scores.extend(measure_class().scores(original, release))
    return tuple(scores)


def measure_folder(
    folder: str | Path, original: Any, hierarchies: Mapping[str, str | Hierarchy] | None = None
) -> tuple[Score, ...]:
    """Measure a written release against its original, from the release folder and the original alone.

    How to read the original, who is who and the hierarchies are taken from run.json, where it lies beside the release.
    """
    from shoal.io.release_folder import read_release, read_run

    release = read_release(Path(folder))
    recipe, kept = read_run(Path(folder))
    plan = Recipe(**{**recipe, "source": {**recipe.get("source", {}), "path": str(original)}})
    method_class = registry.load("method", release.method)
    if method_class.accepts is Baskets:
        return measure(read(original, Baskets, plan), release)
    table = read_roles(original, plan.roles, plan.source.reading, hierarchies or kept)
    return measure(table, release)


def anonymize(
    data: Any,
    method: str | Method,
    *,
    quasi: tuple[str, ...] | list[str] = (),
    sensitive: tuple[str, ...] | list[str] = (),
    identifying: tuple[str, ...] | list[str] = (),
    insensitive: tuple[str, ...] | list[str] = (),
    entity: str | None = None,
    others: str | None = None,
    hierarchies: Mapping[str, str | Hierarchy] | None = None,
    baskets: str | None = None,
    reading: Reading | None = None,
    seed: int | None = None,
    **parameters: Any,
) -> Run:
    """Read, anonymise, verify and measure in one line.

    Parameters
    ----------
    data
        A table or baskets already read, a path, or a polars, pandas or Arrow frame.
    method
        A method, or its name with its parameters behind: ``"mondrian", k=10``.
    quasi, sensitive, identifying, insensitive, entity, others
        Who is who (see `Role`); only for data that is not read yet.
    hierarchies
        Column to hierarchy, builder (``"intervals:5,10,20"``) or file.
    seed
        For methods that draw random numbers.

    Examples
    --------
    >>> import polars, shoal
    >>> frame = polars.DataFrame({"age": [20, 21, 40, 41], "illness": ["flu", "cold", "flu", "cold"]})
    >>> run = shoal.anonymize(frame, "mondrian", k=2, quasi=["age"], sensitive=["illness"])
    >>> run.release.to_polars()["age"].to_list()
    ['[20,21]', '[20,21]', '[40,41]', '[40,41]']
    """
    chosen = make_method({"name": method, **parameters}) if isinstance(method, str) else method
    if isinstance(data, Table | Baskets):
        return carry_out(chosen, data, seed=seed)
    roles = Roles(
        quasi=tuple(quasi),
        sensitive=tuple(sensitive),
        identifying=tuple(identifying),
        insensitive=tuple(insensitive),
        entity=entity,
        others=others,  # type: ignore[arg-type]
    )
    if chosen.accepts is Baskets:
        from shoal.io.baskets import read_baskets

        sets = read_baskets(data, layout=baskets, sensitive=roles.sensitive, insensitive=roles.insensitive)
        return carry_out(chosen, sets, seed=seed)
    return carry_out(chosen, read_roles(data, roles, reading or Reading(), hierarchies or {}), seed=seed)
