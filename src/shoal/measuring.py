"""What a written release costs, from the two files alone.

::

    shoal.measure("out", original="people.csv")
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal import registry
from shoal.data.baskets import Baskets
from shoal.data.dataset import schema_of, with_schema
from shoal.data.hierarchy import Hierarchy
from shoal.data.release import Release
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.engines.local import Local
from shoal.engines.protocol import Engine
from shoal.errors import BadData
from shoal.measures._chosen import asked_scores, comparison_of, measured
from shoal.measures.measure import Score
from shoal.recipe import Recipe, Roles, make_measure
from shoal.sources import load_baskets, load_table, with_hierarchies


def measure(
    folder: str | Path,
    original: Any,
    hierarchies: Mapping[str, str | Hierarchy] | None = None,
    measures: Sequence[str | Mapping[str, Any]] | None = None,
    *,
    engine: Engine | None = None,
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
    measures
        Names of measures, or tables with name and options: only these. All that run by default unless told.
    engine
        Where both sides are read: ``Spark(session)`` or ``Stream("4GB")``; in this machine's memory unless told. There
        only measures are taken for which counts over the rows are enough. It stays open.

    Raises
    ------
    BadData
        If the folder has no run.json, or the release cannot have been made from that original.
    """
    from shoal.io.releases.folder import read_run
    from shoal.measures._provenance import refuse_other_original

    where = engine or Local()
    recipe, kept = read_run(Path(folder))
    release = where.open_release(Path(folder))
    path = str(original) if isinstance(original, str | Path) else None
    plan = Recipe(**{**recipe, "source": {**recipe.get("source", {}), "path": path or "-"}})
    if registry.load("method", release.method).accepts is Baskets:
        trees = hierarchies or kept
        data = load_baskets(
            original, plan.roles, plan.source.reading, trees, plan.source.baskets, plan.seed, where
        ).data
    else:
        roles = plan.roles if "roles" in recipe else _roles_in(release)
        read = load_table(original, roles, plan.source.reading, {}, engine=where).data
        table = schema_of(read)
        table = with_hierarchies(table, hierarchies) if hierarchies else _with_kept(table, kept, path)
        data = with_schema(read, table)
    both = comparison_of(data, release)
    refuse_other_original(both, path)
    if measures is None:
        return measured(both)
    return tuple(score for one in measures for score in asked_scores(make_measure(one), both))


def _with_kept(table: Table, kept: Mapping[str, Hierarchy], path: str | None) -> Table:
    """The original with the hierarchies of the run, which cover its values if it is the original."""
    try:
        return with_hierarchies(table, kept)
    except BadData as error:
        raise BadData(
            f"this is not the original of this release, or it is read in another way: {error}", path=path
        ) from error


def _roles_in(release: Release[Any]) -> Roles:
    """The roles that a release names; a run of data that was in memory kept no others."""
    published = schema_of(release.data)
    if not isinstance(published, Table):
        return Roles()
    named = {role: tuple(column.name for column in published.with_role(role)) for role in Role}
    return Roles(
        quasi=named[Role.QUASI],
        sensitive=named[Role.SENSITIVE],
        insensitive=named[Role.INSENSITIVE],
        entity=next(iter(named[Role.ENTITY]), None),
        others="drop",
    )
