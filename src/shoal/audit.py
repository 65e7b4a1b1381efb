"""What can be told of data and of published files, without making anything: inspect, verify, measure.

::

    shoal.inspect("people.csv")                          # what there is, and which roles columns may play
    shoal.verify("out")                                  # a written release, by its own promises
    shoal.verify("any.csv", k=10, quasi=["age", "zip"])  # any table, by the promises that are asked for
    shoal.measure("out", original="people.csv")          # what the release costs
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from shoal import registry
from shoal.data.baskets import Baskets
from shoal.data.hierarchy import Hierarchy
from shoal.data.release import Release
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.errors import BadData, WrongUse
from shoal.intake import profile, read_baskets_for, read_roles, with_hierarchies, with_item_hierarchy
from shoal.io.reading import Reading
from shoal.measures.measure import Score
from shoal.methods.table_method import TableMethod, read_population
from shoal.models.verdict import Verdict
from shoal.outcome import judge
from shoal.pipeline import measure as measure_all
from shoal.recipe import Recipe, Roles, explain, roles_of

if TYPE_CHECKING:
    from shoal.data.profile import BasketsProfile, TableProfile


def inspect(
    source: Any,
    *,
    reading: Reading | None = None,
    baskets: str | None = None,
    quasi: str | Sequence[str] | None = None,
) -> "TableProfile | BasketsProfile":
    """Look at data before anything is done to it.

    Parameters
    ----------
    source
        A path, an address of a database, or a frame of polars, pandas or Arrow.
    baskets
        The layout of baskets. A source without one is a table, unless its name ends in ``.dat`` or ``.spmf``.
    quasi
        Columns of a table to look at together; the suggested ones unless told.
    """
    together = (quasi,) if isinstance(quasi, str) else quasi
    return profile(source, reading=reading, layout=baskets, quasi=together)


def verify(
    source: str | Path | Release,
    *,
    quasi: str | Sequence[str] = (),
    sensitive: str | Sequence[str] = (),
    entity: str | None = None,
    reading: Reading | None = None,
    population: str | None = None,
    **promised: Any,
) -> tuple[Verdict, ...]:
    """Judge published data, from what is published alone.

    Parameters
    ----------
    source
        A release, the folder of one, or any published table.
    quasi, sensitive, entity
        Who is who in a table; a release knows it itself.
    population
        The file of the population, for promises that are made beside one.
    **promised
        What to prove, as methods of tables take it: ``k=10``, ``l=3``, ``promises=[…]``. A release is judged by its own
        promises unless told.

    Returns
    -------
    One verdict for each promise; `Verdict.holds` says whether it is kept.
    """
    roles = roles_of(quasi=quasi, sensitive=sensitive, entity=entity)
    try:
        asked = TableMethod(population=population, **promised)
    except ValidationError as error:
        raise WrongUse(explain(error)) from error
    return verify_as_asked(source, asked, roles, reading)


def verify_as_asked(
    source: str | Path | Release, promised: TableMethod, roles: Roles, reading: Reading | None = None
) -> tuple[Verdict, ...]:
    """Judge a release or any published table; what is asked for goes before what a release promises itself."""
    release = source if isinstance(source, Release) else None
    if release is None and not promised.models() and not roles.quasi and not _is_table(source):
        release = _release_in(source)
    if release is None or promised.models():
        return verify_table(release or source, promised, roles, reading)
    if not release.promises:
        raise BadData("the release promises nothing, so there is nothing to prove.", path=_path_of(source))
    if promised.population is not None and isinstance(release.data, Table):
        return judge(release, read_population(promised.population, release.data))
    return judge(release)


def verify_table(
    source: str | Path | Release, promised: TableMethod, roles: Roles, reading: Reading | None = None
) -> tuple[Verdict, ...]:
    """Judge any published table, or that of a release: its cells are taken as they are, nothing is guessed.

    Parameters
    ----------
    promised
        What to prove, in the short forms and models that methods of tables take.
    roles
        Who is who. The table of a release has its own roles unless told.

    Raises
    ------
    WrongUse
        If nothing is promised, or no column is a quasi-identifier.
    """
    from shoal.io.release_folder import is_release
    from shoal.io.tables import read_published_table

    if not promised.models():
        raise WrongUse("Nothing to prove: say what is promised, for example --k 10.")
    if isinstance(source, Release) or is_release(source):
        data = (source if isinstance(source, Release) else _release_in(source)).data
        for model in promised.models():
            model.accept(data)
        assert isinstance(data, Table)
        table = _with_roles(data, roles)
    else:
        table = read_published_table(source, roles.quasi, roles.sensitive, roles.entity, reading)
    if not table.quasi:
        raise WrongUse("No column is a quasi-identifier; name those that an adversary may know with --quasi.")
    return tuple(model.verify(table) for model in promised.definite(table, published=True))


def measure(
    folder: str | Path, original: Any, hierarchies: Mapping[str, str | Hierarchy] | None = None
) -> tuple[Score, ...]:
    """Measure a written release against its original.

    Parameters
    ----------
    folder
        What `Run.write` or `shoal anonymize … -o` made. Its run.json tells how to read the original, who is who, and
        the hierarchies.
    original
        What the release was made from.
    hierarchies
        Instead of those in run.json.

    Raises
    ------
    BadData
        If the folder has no run.json, or the release cannot have been made from that original.
    """
    from shoal.io.release_folder import read_release, read_run
    from shoal.measures.provenance import refuse_other_original

    recipe, kept = read_run(Path(folder))
    release = read_release(Path(folder))
    path = _path_of(original)
    plan = Recipe(**{**recipe, "source": {**recipe.get("source", {}), "path": path or "-"}})
    data: Table | Baskets
    if registry.load("method", release.method).accepts is Baskets:
        data = with_item_hierarchy(read_baskets_for(original, plan), hierarchies or kept)
    else:
        roles = plan.roles if "roles" in recipe else _roles_in(release)
        table = read_roles(original, roles, plan.source.reading, {})
        data = with_hierarchies(table, hierarchies) if hierarchies else _with_kept(table, kept, path)
    refuse_other_original(data, release, path)
    return measure_all(data, release)


def _with_kept(table: Table, kept: Mapping[str, Hierarchy], path: str | None) -> Table:
    """The original with the hierarchies of the run, which cover its values if it is the original."""
    try:
        return with_hierarchies(table, kept)
    except BadData as error:
        raise BadData(
            f"this is not the original of this release, or it is read in another way: {error}", path=path
        ) from error


def _roles_in(release: Release) -> Roles:
    """The roles that a release names; a run of data that was in memory kept no others."""
    if not isinstance(release.data, Table):
        return Roles()
    named = {role: tuple(column.name for column in release.data.with_role(role)) for role in Role}
    return Roles(
        quasi=named[Role.QUASI],
        sensitive=named[Role.SENSITIVE],
        insensitive=named[Role.INSENSITIVE],
        entity=next(iter(named[Role.ENTITY]), None),
        others="drop",
    )


def _with_roles(table: Table, roles: Roles) -> Table:
    """The table with other roles, where some are given; a column that has none then is insensitive."""
    given = {
        **dict.fromkeys(roles.quasi, Role.QUASI),
        **dict.fromkeys(roles.sensitive, Role.SENSITIVE),
        **({roles.entity: Role.ENTITY} if roles.entity else {}),
    }
    if not given:
        return table
    table.select(given)
    return Table(tuple(replace(one, role=given.get(one.name, Role.INSENSITIVE)) for one in table.columns))


def _release_in(folder: str | Path | Release) -> Release:
    from shoal.io.release_folder import read_release

    assert not isinstance(folder, Release)
    return read_release(folder)


def _is_table(source: str | Path | Release) -> bool:
    """Whether a source is no folder of a release: a file, standard input, or a database."""
    from shoal.io.database import is_database
    from shoal.io.source import STANDARD_INPUT

    assert not isinstance(source, Release)
    return str(source) == STANDARD_INPUT or is_database(source) or Path(source).is_file()


def _path_of(source: Any) -> str | None:
    return str(source) if isinstance(source, str | Path) else None
