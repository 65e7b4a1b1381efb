"""What a written release costs, from the two files alone.

::

    shoal.measure("out", original="people.csv")
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal import registry
from shoal.data.baskets import Baskets
from shoal.data.hierarchy import Hierarchy
from shoal.data.release import Release
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.errors import BadData
from shoal.measures.measure import Scores
from shoal.pipeline import asked_scores
from shoal.pipeline import measure as measure_all
from shoal.recipe import Recipe, Roles, make_measure
from shoal.sources import read_baskets_for, read_roles, with_hierarchies


def measure(
    folder: str | Path,
    original: Any,
    hierarchies: Mapping[str, str | Hierarchy] | None = None,
    measures: Sequence[str | Mapping[str, Any]] | None = None,
    *,
    baskets: str | None = None,
) -> Scores:
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
    baskets
        The layout of an original that holds baskets; that of the run unless told.

    Returns
    -------
    The scores: a tuple that also knows them by name (``scores["lm"].value``), and as a frame (``scores.to_frame()``).

    Raises
    ------
    BadData
        If the folder has no run.json, or the release cannot have been made from that original.
    """
    release, data, _ = read_original(folder, original, hierarchies, baskets)
    if measures is None:
        return measure_all(data, release)
    return Scores(score for one in measures for score in asked_scores(make_measure(one), data, release))


def read_original(
    folder: str | Path,
    original: Any,
    hierarchies: Mapping[str, str | Hierarchy] | None = None,
    baskets: str | None = None,
) -> tuple[Release, Table | Baskets, Recipe]:
    """A written release, what it was made from as its run.json says to read it, and the recipe of the run.

    Raises
    ------
    BadData
        If the folder has no run.json, or the release cannot have been made from that original.
    """
    from shoal.io.releases.folder import read_release, read_run
    from shoal.measures._provenance import refuse_other_original

    recipe, kept = read_run(Path(folder))
    release = read_release(Path(folder))
    path = str(original) if isinstance(original, str | Path) else None
    layout = {} if baskets is None else {"baskets": baskets}
    plan = Recipe(**{**recipe, "source": {**recipe.get("source", {}), "path": path or "-", **layout}})
    data: Table | Baskets
    if registry.load("method", release.method).accepts is Baskets:
        data = read_baskets_for(original, plan, hierarchies or kept)
    else:
        roles = plan.roles if "roles" in recipe else _roles_in(release)
        table = read_roles(original, roles, plan.source.reading, {})
        data = with_hierarchies(table, hierarchies) if hierarchies else _with_kept(table, kept, path)
    refuse_other_original(data, release, path)
    return release, data, plan


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
