"""Inspect data, and verify the promises of published files.

::

    shoal.inspect("people.csv")                          # what the data holds, and likely roles of columns
    shoal.verify("out")                                  # a written release, by its own promises
    shoal.verify("any.csv", k=10, quasi=["age", "zip"])  # any table, by the promises that are asked for
    shoal.verify("any.dat", promises=[KmAnonymity(k=5, m=2)])
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal import registry
from shoal.data.baskets import Baskets
from shoal.data.dataset import schema_of, with_schema
from shoal.data.groups import Groups
from shoal.data.hierarchy import Hierarchy
from shoal.data.linked import Linked
from shoal.data.release import Release
from shoal.data.role import Role, Roles
from shoal.data.summary import Summary
from shoal.data.table import Table
from shoal.engines.protocol import Engine, engine_given
from shoal.errors import BadData, WrongUse, warn
from shoal.io.reading import Reading, with_names
from shoal.methods.table_method import read_population
from shoal.models._judged import Verdicts
from shoal.models._promises import Promises, refuse_unused_population
from shoal.models._promises import promised as promised_by
from shoal.models._release_checks import broken_folder, broken_papers
from shoal.models.model import Model
from shoal.outcome import judgment
from shoal.sources import form_of, hierarchies_of, hierarchy_of, profile

if TYPE_CHECKING:
    from shoal.data.profile import BasketsProfile, TableProfile


def inspect(
    source: Any,
    *,
    reading: Reading | None = None,
    baskets: str | None = None,
    names: Sequence[str] | None = None,
    quasi: str | Sequence[str] | None = None,
) -> "TableProfile | BasketsProfile":
    """Profile data before anything is done to it.

    Parameters
    ----------
    source
        A path, an address of a database, or a frame of polars, pandas or Arrow; baskets as `read_baskets` takes them.
    names
        The names of the columns, for a text file without a header; for an array of 0 and 1, its items.
    baskets
        The layout of baskets. A source without one is a table, unless its name ends in ``.dat`` or ``.spmf``.
    quasi
        Columns of a table to examine together; the suggested ones by default.
    """
    together = (quasi,) if isinstance(quasi, str) else quasi
    found = profile(source, reading=with_names(reading, names), layout=baskets, quasi=together)
    warn(getattr(found, "notes", ()))
    return found


def verify(
    source: str | Path | Release[Any],
    *,
    quasi: str | Sequence[str] = (),
    sensitive: str | Sequence[str] = (),
    insensitive: str | Sequence[str] = (),
    entity: str | None = None,
    items: str | None = None,
    reading: Reading | None = None,
    baskets: str | None = None,
    population: str | None = None,
    hierarchies: Mapping[str, str | Hierarchy] | None = None,
    promises: Sequence[Model | Mapping[str, Any]] = (),
    engine: Engine | None = None,
    **promised: Any,
) -> Verdicts:
    """Prove promises from the published data alone.

    Parameters
    ----------
    source
        A release, the folder of one, or any published file: a table, baskets, groups or clusters.
    quasi, sensitive, insensitive, entity, items
        The roles of columns or items, and the column that holds items; a release has its own.
    baskets
        The layout of a file of baskets.
    population
        The file of the population, for promises that refer to one.
    hierarchies
        Hierarchies of the population's columns, if published cells are nodes of them: objects, builders or files. A
        folder that `Run.write` made has its own.
    promises
        The promises to prove: models for any form of data, such as ``[KmAnonymity(k=5, m=2)]``, or plain data as in
        release.json.
    engine
        Where the files are read: ``Spark(session)`` or ``Stream("4GB")``; in this machine's memory by default. It
        stays open.
    **promised
        The promises to prove of a table, in the short forms that methods take: ``k=10``, ``l=3``. By default, a release
        is judged by its own promises.

    Returns
    -------
    A tuple with one verdict for each promise; `Verdict.holds` says whether it is kept, and `Verdicts.judged` by which
    columns or items. If a release is judged by its own promises, a verdict ``canonical-order`` is added if it is not in
    canonical order, and ``data-package`` if datapackage.json or README.md contradict the files. A release folder that
    holds anything else is not judged any further: its only verdict is ``release-folder``.
    """
    if not isinstance(source, str | Path | Release):
        raise WrongUse(
            "What is verified is a release, its folder or a published file, and not a "
            f"{type(source).__name__}: write it to a file first."
        )
    roles = Roles.of(quasi=quasi, sensitive=sensitive, insensitive=insensitive, entity=entity, items=items)
    asked = Promises(**{**promised, "population": population, "promises": promises})
    return verify_as_asked(source, Asked(asked, roles, reading, baskets, Trees(hierarchies or {})), engine)


@dataclass(frozen=True, slots=True)
class Trees:
    """The hierarchies of a population's columns, for published cells that are nodes of them.

    Parameters
    ----------
    hierarchies
        The hierarchy of a column of the population, whose nodes published cells are: a file, or how to build one.
    folder
        Folder of such hierarchies: <column>.csv and *_hierarchy_<column>.csv.
    orders
        The values of an ordinal column in ascending order: a published cell may be a range of them.
    """

    hierarchies: Mapping[str, str | Hierarchy] = field(default_factory=dict)
    folder: str | None = None
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def population(self, path: str | None, table: Table, source: str | Path | Release[Any]) -> Table | None:
        """Read the population of a published table, with the given hierarchies or those in the release's run.json.

        A value of the population that a hierarchy does not contain matches only the root, as it does when a release is
        made.

        `path`: the file of the population, or None. `source`: where the table comes from; if it is a folder with a
        run.json, that tells the hierarchies and orders of the run. Raises `UnknownName` for a hierarchy of a column
        that is no quasi-identifier of the table. Raises `WrongUse` if there are hierarchies and no population.
        """
        given = bool(self.hierarchies) or self.folder is not None
        if path is None:
            if given:
                raise WrongUse(
                    "Hierarchies have no effect here: they tell what published cells mean in a population. Give its "
                    "file with --population, or omit them."
                )
            return None
        kept, orders = _kept(source)
        population = read_population(path, table, {**orders, **self.orders})
        trees = (
            hierarchies_of(population, self.hierarchies, self.folder)
            if given
            else {name: tree for name, tree in kept.items() if name in population.names}
        )
        population.select(trees)
        columns = []
        for column in population.columns:
            hierarchy = hierarchy_of(column, trees[column.name]) if column.name in trees else column.hierarchy
            if hierarchy is not None and not hierarchy.missed(column.domain):
                hierarchy = hierarchy.covering(column.domain, column.name)
            columns.append(replace(column, hierarchy=hierarchy))
        return Table(tuple(columns))


@dataclass(frozen=True, slots=True)
class Asked:
    """The promises to prove of published data, and how to read the data if it is not a release."""

    promises: Promises = field(default_factory=Promises)
    """The promises to prove; if empty, those of the release itself."""
    roles: Roles = field(default_factory=Roles)  # the roles to judge by; by default, those of the release
    reading: Reading | None = None
    layout: str | None = None  # the layout of a file of baskets
    trees: Trees = field(default_factory=Trees)  # hierarchies of the population's columns

    def population(
        self, table: Table, source: str | Path | Release[Any], models: Iterable[Model]
    ) -> Table | None:
        """The population of a published table, if there is one; some of the models must refer to it."""
        if self.promises.population is not None:
            refuse_unused_population(models)
        orders = {} if self.reading is None else self.reading.orders
        trees = replace(self.trees, orders={**orders, **self.trees.orders})
        return trees.population(self.promises.population, table, source)


def verify_as_asked(
    source: str | Path | Release[Any], asked: Asked, engine: Engine | None = None
) -> Verdicts:
    """Judge a release or any published file by the promises asked for, or else by those of the release itself.

    `engine`: where the files are read; in this machine's memory by default. Raises `WrongUse` if nothing is promised,
    if the promises are about different forms of data, or if no column of a table is a quasi-identifier.
    """
    if (broken := not_whole(source)) is not None:
        return broken
    models: list[Any] = list(asked.promises.models())
    _refuse_different_forms(models)
    engine = engine_given(engine)
    release = _release(source, asked, engine)
    data = _published(source, asked, models, engine) if release is None else release.data
    data = with_schema(data, _in_roles(schema_of(data), asked.roles))
    schema = schema_of(data)
    own = not models
    if release is not None and own:
        if not release.promises:
            path = None if isinstance(source, Release) else str(source)
            raise BadData("the release promises nothing, so there is nothing to prove.", path=path)
        models = promised_by(release.promises, release.suppressed)
    for model in models:
        model.accept(schema)
    if isinstance(schema, Table):
        schema.refuse_without_quasi()
    if not own:
        engine.refuse_unknown(data, models)
    population = asked.population(schema, source, models) if isinstance(schema, Table) else None
    if own:
        assert release is not None
        verdicts, found = judgment(replace(release, data=data), population, engine)
        if all(verdicts) and (unlike := _unlike_papers(source, release)):
            verdicts = (*verdicts, broken_papers(unlike))
    else:
        if isinstance(schema, Table | Linked):
            models = list(asked.promises.definite(schema.class_table, population, published=True))
        verdicts, found = engine.judge(data, models, asked=True)
    named = roles_given(asked.roles)
    wanted = None if release is not None and not named else named
    return Verdicts(verdicts, engine.judged(data, models, wanted, found))


def not_whole(source: str | Path | Release[Any]) -> Verdicts | None:
    """The verdict on a release folder with files that are not part of the release; None for all other sources."""
    from shoal.io.releases.folder import is_release, strays

    found = strays(source) if not isinstance(source, Release) and is_release(source) else ()
    return Verdicts((broken_folder(found),), None) if found else None


def _unlike_papers(source: str | Path | Release[Any], release: Release[Any]) -> list[tuple[str, str]]:
    """Where datapackage.json and README.md of a release folder contradict its files."""
    from shoal.io.releases.data_package import disagreements
    from shoal.io.releases.folder import published_folder

    return [] if isinstance(source, Release) else disagreements(published_folder(source), release)


def _release(source: Any, asked: Asked, engine: Engine) -> Release[Any] | None:
    """Open the release that is to be judged; None for a file that is not a release."""
    from shoal.io.releases.folder import is_release

    wanted = asked.promises.models() or asked.roles.quasi
    if not isinstance(source, Release) and not is_release(source) and (wanted or _is_file(source)):
        return None
    return engine.open_release(source)


def _published(source: Any, asked: Asked, models: Sequence[Model], engine: Engine) -> Any:
    """Read a published file that is not a release, in the form that the promises are about."""
    forms = models[0].accepts if models else (Table,)
    if Summary in forms:
        raise WrongUse(
            f"{models[0].name} judges cross-tables, and only a release.json tells how their cells add up: name the "
            "folder that `shoal summarize … -o` made."
        )
    if Table in forms:
        _refuse_unproven(source, bool(models))
    form = next(form for form in (Table, Baskets, Groups, *forms) if form in forms)
    return engine.open_published(source, form, asked.reading, asked.roles, asked.layout)


def _in_roles(schema: Any, roles: Roles) -> Any:
    """Published data with the given roles, if any."""
    from shoal.io.baskets.load import with_roles

    if isinstance(schema, Table):
        return with_column_roles(schema, roles)
    if isinstance(schema, Linked) and roles_given(roles):
        raise WrongUse(
            "Columns of linked tables have the roles that release.json names; omit --quasi and so on."
        )
    if isinstance(schema, Baskets) and (roles.sensitive or roles.insensitive):
        return with_roles(schema, roles)
    return schema


def _refuse_different_forms(models: Sequence[Model]) -> None:
    """Refuse promises about different forms of data."""
    for model in models:
        if not set(model.accepts) & set(models[-1].accepts):
            first, last = _forms(model), _forms(models[-1])
            raise WrongUse(
                f"{model.name} judges {first}, and {models[-1].name} {last}: prove them one by one."
            )


def _refuse_unproven(source: str | Path, promised: bool) -> None:
    """Refuse if nothing is promised, or the promise is about another form of data; the message says how to ask."""
    form = form_of(source)
    if promised and form is Table:
        return
    names = [name for name, kind in registry.load_all("model").items() if form in kind.accepts]
    if form is Table:
        said = (
            "Nothing to prove: say what is promised, for example --k 10, or --model NAME with the parameters of a "
            f"model: {', '.join(names)}."
        )
    else:
        required = [
            f"--{name.replace('_', '-')} …"
            for name, facts in registry.load("model", names[0]).model_fields.items()
            if facts.is_required()
        ]
        said = (
            f"{source}: these look like {form.__name__.lower()}, and what is asked is about tables"
            if promised
            else f"{source}: these look like {form.__name__.lower()}, and nothing is promised"
        )
        said += f". Say it with --model {names[0]} {' '.join(required)}"
        said += f", or another model of such data: {', '.join(names[1:])}." if names[1:] else "."
    if (Path(source).parent / "release.json").is_file():
        said += f" Or prove what its own release.json promises: shoal verify {Path(source).parent}"
    raise WrongUse(said)


def _forms(model: Model) -> str:
    return " and ".join(form.__name__.lower() for form in model.accepts)


def with_column_roles(table: Table, roles: Roles) -> Table:
    """The table with the given roles, if any; every other column then becomes insensitive."""
    given = roles_given(roles)
    if not given:
        return table
    table.select(given)
    return Table(tuple(replace(one, role=given.get(one.name, Role.INSENSITIVE)) for one in table.columns))


def roles_given(roles: Roles) -> dict[str, Role]:
    """For each column that is given a role that matters for judging, that role."""
    named = roles.by_column()
    judged = (Role.QUASI, Role.SENSITIVE, Role.ENTITY, Role.ITEMS)
    return {name: role for role in judged for name in named[role]}


def _is_file(source: str | Path) -> bool:
    """Whether a source is not a folder of a release: a file, standard input, a database, or part files."""
    from shoal.io.source import STANDARD_INPUT, is_database

    place = Path(source)
    if str(source) == STANDARD_INPUT or is_database(source) or place.is_file():
        return True
    return any(place.glob("part-*"))


def _kept(
    source: str | Path | Release[Any],
) -> tuple[dict[str, str | Hierarchy], dict[str, tuple[str, ...]]]:
    """The hierarchies and orders of columns in the private run.json of a folder, if it has one."""
    from shoal.io.releases.folder import RUN, read_run

    if isinstance(source, Release) or not (Path(source) / RUN).is_file():
        return {}, {}
    recipe, trees = read_run(source)
    reading = recipe.get("source", {}).get("reading", {})
    return {**trees}, {name: tuple(order) for name, order in reading.get("orders", {}).items()}
