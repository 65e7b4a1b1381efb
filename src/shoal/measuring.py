"""Measure the information loss of a written release, from its files and its original.

::

    shoal.measure("out", original="people.csv")
"""

import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal import registry
from shoal.data.baskets import Baskets
from shoal.data.clustered_table import ClusteredTable
from shoal.data.dataset import schema_of, with_schema
from shoal.data.hierarchy import Hierarchy
from shoal.data.linked import Linked
from shoal.data.related import Related
from shoal.data.release import Release
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.engines.protocol import Engine, engine_given
from shoal.errors import BadData, WrongUse
from shoal.io.reading import Reading
from shoal.io.source import part_files
from shoal.measures._chosen import asked_scores, comparison_of, left_out, measured
from shoal.measures._comparison import Comparison
from shoal.measures.measure import Scores
from shoal.recipe import Recipe, Roles, make_measure
from shoal.sources import (
    Request,
    likely_layout,
    load_baskets,
    load_table,
    looks_like_baskets,
    looks_like_table,
    with_hierarchies,
)

FORMS = ("lines", "spmf", "long", "matrix")
"""Layouts of baskets that a text may have."""

GIVE = "Give the data that the release was made from."
"""What to do about an original of another form."""


def measure(
    folder: str | Path,
    original: Any,
    hierarchies: Mapping[str, str | Hierarchy] | None = None,
    measures: str | Sequence[str | Mapping[str, Any]] | None = None,
    *,
    baskets: str | None = None,
    engine: Engine | None = None,
) -> Scores:
    """Measure a written release against its original.

    Parameters
    ----------
    folder
        A folder that `Run.write` or `shoal anonymize … -o` made. Its run.json tells how to read the original, the roles
        of its columns, and the hierarchies.
    original
        The data that the release was made from.
    hierarchies
        Hierarchies to use instead of those in run.json.
    measures
        The measures to take: names, or mappings with name and options; a single name may be given by itself. By
        default, all that run without being named.
    baskets
        The layout of an original that holds baskets; that of the run by default.
    engine
        Where both sides are read: ``Spark(session)`` or ``Stream("4GB")``; in this machine's memory by default. On
        another engine, only measures are taken that need no more than counts over the rows; the logger ``shoal`` names
        the others. The engine stays open.

    Returns
    -------
    The scores: a tuple that also gives them by name (``scores["lm"].value``), and as a frame (``scores.to_frame()``).

    Raises
    ------
    BadData
        If the folder has no run.json, or the release cannot have been made from that original.
    """
    scores, missing = measured_and_missing(
        folder, original, hierarchies, measures, baskets=baskets, engine=engine
    )
    if missing is not None:
        logging.getLogger("shoal").info(missing)
    return scores


def measured_and_missing(
    folder: str | Path,
    original: Any,
    hierarchies: Mapping[str, str | Hierarchy] | None = None,
    measures: str | Sequence[str | Mapping[str, Any]] | None = None,
    *,
    baskets: str | None = None,
    engine: Engine | None = None,
) -> tuple[Scores, str | None]:
    """The scores that `measure` returns, and a sentence on those that the engine does not measure, if there are any."""
    if not isinstance(folder, str | Path):
        raise WrongUse(
            f"A release is measured from the folder in which it was written, and {type(folder).__name__} is none: "
            "write it, or look at the scores of its run."
        )
    both, _ = read_both(folder, original, hierarchies, baskets, engine)
    if measures is None:
        return measured(both), left_out(both)
    wanted = tuple(map(make_measure, (measures,) if isinstance(measures, str) else measures))
    return Scores(score for one in wanted for score in asked_scores(one, both)), left_out(both, wanted)


def read_original(folder: str | Path, original: Any) -> tuple[Release, Table | Baskets, Recipe]:
    """Read a written release and its original, as run.json describes it; also the recipe of the run."""
    both, plan = read_both(folder, original)
    return both.release, both.original, plan


def read_both(
    folder: str | Path,
    original: Any,
    hierarchies: Mapping[str, str | Hierarchy] | None = None,
    baskets: str | None = None,
    engine: Engine | None = None,
) -> tuple[Comparison, Recipe]:
    """Read a written release and its original for comparison, as run.json describes it; also the recipe of the run.

    Raises `BadData` if the folder has no run.json, or the release cannot have been made from that original.
    """
    from shoal.io.releases.folder import read_run
    from shoal.measures._provenance import refuse_other_original

    where = engine_given(engine)
    recipe, kept = read_run(Path(folder))
    release = where.open_release(Path(folder))
    path = str(original) if isinstance(original, str | Path) else None
    layout = {} if baskets is None else {"baskets": baskets}
    plan = plan_of(recipe, release, path, **layout)
    if registry.load("method", release.method).accepts is Baskets:
        trees, source = hierarchies or kept, plan.source
        request = Request(original, plan.roles, source.reading, trees, layout=source.baskets, seed=plan.seed)
        try:
            data = load_baskets(request, where).data
        except (WrongUse, BadData) as error:
            if not looks_like_table(original, source.baskets):
                raise
            raise BadData(
                f"this looks like a table, and the release is one of baskets. {GIVE}", path
            ) from error
    else:
        steps = plan.the_preparation()
        for step in steps:
            if step.key_file is not None and not Path(step.key_file).is_file():
                # A new key would give different values.
                raise BadData("the key of this release is missing; put it back.", step.key_file)
        request = Request(original, plan.roles, plan.source.reading, preparation=steps)
        try:
            read = load_table(request, where).data
        except (WrongUse, BadData) as error:
            if not _is_baskets(original, plan.source.reading, release, where):
                raise
            raise BadData(f"this looks like baskets, and the release is a table. {GIVE}", path) from error
        table = schema_of(read)
        if isinstance(schema_of(release.data), Related) and not isinstance(table, Related):
            raise BadData(
                "run.json does not say where the records are, as they were in memory.", Path(folder)
            )
        table = with_hierarchies(table, hierarchies) if hierarchies else _with_kept(table, kept, path)
        data = with_schema(read, table)
    both = comparison_of(data, release)
    refuse_other_original(both, path)
    return both, plan


def _is_baskets(original: Any, reading: Reading, release: Release[Any], engine: Engine) -> bool:
    """Whether a file that cannot be read as the original table looks like baskets, and has no column of the release."""
    if not isinstance(original, str | Path) or not os.path.exists(original):
        return False
    original = part_files(original)[0]
    columns = engine.column_names(original, reading)
    if any(set(columns).intersection(names) for names in _roles_in(release).by_column().values()):
        return False
    if looks_like_baskets(original, reading, engine) and not looks_like_table(original, None):
        return True
    return likely_layout(original, FORMS) is not None


def plan_of(
    recipe: Mapping[str, Any], release: Release[Any], path: str | None = None, **source: Any
) -> Recipe:
    """The recipe of a run; if it has no roles, because its data was in memory, with those that the release names."""
    plan = Recipe(**{**recipe, "source": {**recipe.get("source", {}), "path": path or "-", **source}})
    return plan if "roles" in recipe else plan.model_copy(update={"roles": _roles_in(release)})


def _with_kept(table: Table, kept: Mapping[str, Hierarchy], path: str | None) -> Table:
    """Give the original the hierarchies of the run, and refuse it if they do not cover its values."""
    try:
        return with_hierarchies(table, kept)
    except BadData as error:
        raise BadData(
            f"this is not the original of this release, or it is read in another way: {error}", path=path
        ) from error


def _roles_in(release: Release[Any]) -> Roles:
    """The roles that a release names, for a run on data in memory, whose recipe has none."""
    published = schema_of(release.data)
    if isinstance(published, Linked):
        published = Table((*published.known(), *published.secrets.sensitive))
    if not isinstance(published, Table):
        return Roles()
    named = {role: tuple(column.name for column in published.with_role(role)) for role in Role}
    return Roles(
        quasi=named[Role.QUASI],
        sensitive=named[Role.SENSITIVE],
        insensitive=named[Role.INSENSITIVE],
        entity=next(iter(named[Role.ENTITY]), None),
        items=published.items
        if isinstance(published, ClusteredTable)
        else next(iter(named[Role.ITEMS]), None),
        others="drop",
    )
