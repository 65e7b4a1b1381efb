"""A run as plain data: everything that the page says, and nothing that it does not."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from shoal import __version__
from shoal.data.baskets import Baskets
from shoal.data.clusters import Clusters
from shoal.data.groups import Groups
from shoal.data.release import Published, Release
from shoal.data.role import Role
from shoal.data.statistics import GroupStatistics
from shoal.data.table import Table
from shoal.models.protection import protections
from shoal.models.t_closeness import TCloseness
from shoal.report.classes import Sensitive, Sizes, class_statistics, sensitive_of, sizes_of
from shoal.report.generalised import Generalised, generalised_of
from shoal.report.marginals import Marginal
from shoal.report.pictures import Picture, pictures_of
from shoal.report.wording import allowed, number, shown, without_password

if TYPE_CHECKING:
    from shoal.measures.measure import Score
    from shoal.models.verdict import Verdict
    from shoal.outcome import Run

COLUMNS = 100
"""Columns that tables of the page list; they count the rest."""

MARGINALS = 6
"""Columns whose distribution is shown before and after: those that lost most."""

RECIPE = 20_000
"""Letters of the recipe that are shown."""

LOSS = ("lm_mean", "gcp")
"""Scores between 0 (nothing is lost) and 1 (all is), the first of which stands on the first screen."""

LOSS_PARTS = ("lm", "ncp")
"""Scores whose parts are the loss of each column, as a share."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict, ready to be read."""

    model: str
    promise: str
    holds: bool
    value: str
    threshold: str
    offenders: tuple[tuple[str, str], ...]
    offender_count: int
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Scored:
    """A score, ready to be read."""

    name: str
    value: str
    meaning: str
    better: str


@dataclass(frozen=True, slots=True)
class Loss:
    """The loss of all columns together and of each, as shares; the columns that lost most come first."""

    share: float
    parts: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """All that the page says about a run.

    Parameters
    ----------
    source
        The name of the file that was read, or None.
    form
        ``table``, ``baskets``, ``groups`` or ``clusters``.
    method, parameters
        How the release was made.
    holds, verdicts
        Whether every promise is kept, and each promise.
    counts
        What is published: names of counts and the counts.
    roles
        Role to the names of the published columns that play it.
    dropped
        Names of identifying columns, which are not published.
    loss
        What it cost, where that is a share.
    columns, column_count
        The quasi-identifiers, and how many there are in all.
    sizes
        The classes or groups, where the form has any.
    sensitive
        What is left to learn about sensitive columns.
    marginals
        A few columns before and after.
    scores, seconds
        All scores, and the time of each step.
    recipe
        How to repeat it, as TOML.
    version
        Of the tool.
    pictures
        What the method shows of its work.
    warnings
        What the owner should hear before publishing.
    """

    source: str | None
    form: str
    method: str
    parameters: tuple[tuple[str, str], ...]
    holds: bool
    verdicts: tuple[Judged, ...]
    counts: tuple[tuple[str, int], ...]
    roles: Mapping[str, tuple[str, ...]]
    dropped: tuple[str, ...]
    loss: Loss | None
    columns: tuple[Generalised, ...]
    column_count: int
    sizes: Sizes | None
    sensitive: tuple[Sensitive, ...]
    marginals: tuple[Marginal, ...]
    scores: tuple[Scored, ...]
    seconds: tuple[tuple[str, float], ...]
    recipe: str
    version: str
    pictures: tuple[Picture, ...] = ()
    warnings: tuple[str, ...] = ()


def facts_of(run: "Run") -> Facts:
    """Gather what the page says about a run: aggregates, values of domains and published cells, never a row."""
    release = run.release
    loss = _loss(run.scores)
    parts = dict(loss.parts) if loss else {}
    original, data = run.original, release.data
    columns: tuple[Generalised, ...] = ()
    sensitive: tuple[Sensitive, ...] = ()
    roles: dict[str, tuple[str, ...]] = {}
    dropped: tuple[str, ...] = ()
    if isinstance(original, Table) and isinstance(data, Table):
        known = set(original.names)
        pairs = [(original.column(column.name), column) for column in data.quasi if column.name in known]
        columns = tuple(generalised_of(before, after, parts.get(before.name)) for before, after in pairs)
        statistics = class_statistics(data, original.rows, release)
        noun = "rows" if data.entity is None else "persons"
        sizes = sizes_of(statistics.persons, "class", noun, _promised_size(release)) if data.quasi else None
        sensitive = _sensitive(release, data, statistics) if data.quasi else ()
        roles = {
            role.value: tuple(column.name for column in data.with_role(role))
            for role in Role
            if data.with_role(role)
        }
        dropped = tuple(column.name for column in original.with_role(Role.IDENTIFYING))
    else:
        sizes = _group_sizes(data)
    by_loss = sorted(columns, key=lambda column: -(column.loss if column.loss is not None else column.coarse))
    return Facts(
        source=_source(run.recipe),
        form=type(data).__name__.lower(),
        method=release.method,
        parameters=tuple(
            (name, shown(str(value), 200))
            for name, value in release.parameters.items()
            if value not in (None, {}, [], ())
        ),
        holds=run.holds,
        verdicts=tuple(_judged(verdict) for verdict in run.verdicts),
        counts=_counts(run),
        roles=roles,
        dropped=dropped,
        loss=loss,
        columns=columns[:COLUMNS],
        column_count=len(columns),
        sizes=sizes,
        sensitive=sensitive,
        marginals=tuple(column.marginal for column in by_loss[:MARGINALS]),
        scores=tuple(_scored(score) for score in run.scores),
        seconds=_seconds(run),
        recipe=recipe_text(run.recipe),
        version=__version__,
        pictures=pictures_of(run.trace.notes),
        warnings=tuple(shown(warning, 600) for warning in run.warnings[:COLUMNS]),
    )


def _source(recipe: Mapping[str, Any]) -> str | None:
    """The name of the file that was read, without its folder; None for databases, pipes and frames."""
    path = str(recipe.get("source", {}).get("path", "-"))
    return None if path == "-" or "://" in path else shown(PurePath(path).name or path)


def _sensitive(release: Release, data: Table, statistics: GroupStatistics) -> tuple[Sensitive, ...]:
    """What is left to learn of each sensitive column, with the diversity and closeness that its classes reach."""
    promised = tuple(
        TCloseness.from_promise(dict(promise))
        for promise in release.promises
        if promise["model"] == TCloseness.name
    )
    shown_columns = data.sensitive[:COLUMNS]
    kept = Table(
        tuple(column for column in data.columns if column.role is not Role.SENSITIVE) + shown_columns
    )
    reached = {entry.column: entry for entry in protections(kept, promised)}
    found = []
    for column in shown_columns:
        entry = sensitive_of(column.name, statistics)
        if entry is not None:
            protection = reached[column.name]
            found.append(replace(entry, entropy_l=protection.entropy_l, t=protection.t))
    return tuple(found)


def _promised_size(release: Release) -> int | None:
    sizes = [promise["k"] for promise in release.promises if isinstance(promise.get("k"), int)]
    return max(sizes, default=None)


def _group_sizes(data: Published) -> Sizes | None:
    if isinstance(data, Groups | Clusters):
        unit = "group" if isinstance(data, Groups) else "cluster"
        return sizes_of(data.sizes, unit, "baskets", None)
    return None


def _counts(run: "Run") -> tuple[tuple[str, int], ...]:
    """What is published, in numbers."""
    original, release = run.original, run.release
    data = release.data
    read = original.rows if isinstance(original, Table) else len(original)
    if isinstance(data, Table):
        kept = max(data.rows + release.suppressed - read, 0)
        suppressed = "rows suppressed" if not kept else "rows suppressed, published as *"
        return (
            ("rows read", read + run.left_out),
            *([("rows with missing values left out", run.left_out)] if run.left_out else []),
            ("rows published", data.rows),
            (suppressed, release.suppressed),
            ("columns published", len(data.columns)),
        )
    published: tuple[tuple[str, int], ...]
    match data:
        case Baskets():
            published = (("baskets published", len(data)), ("items published", len(data.vocabulary)))
        case Groups():
            published = (("groups published", len(data)), ("baskets in them", len(data.basket_indptr) - 1))
        case Clusters():
            published = (("clusters published", len(data)), ("baskets in them", int(data.sizes.sum())))
    return (("baskets read", read), *published, ("baskets suppressed", release.suppressed))


def _loss(scores: "tuple[Score, ...]") -> Loss | None:
    by_name = {score.name: score for score in scores}
    with_parts = next((by_name[name] for name in LOSS_PARTS if name in by_name and by_name[name].parts), None)
    parts = {} if with_parts is None else dict(with_parts.parts)
    whole = next((by_name[name].value for name in LOSS if name in by_name), None)
    if whole is None:
        if not parts:
            return None
        whole = sum(parts.values()) / len(parts)
    return Loss(float(whole), tuple(sorted(parts.items(), key=lambda part: -part[1])))


def _judged(verdict: "Verdict") -> Judged:
    return Judged(
        model=verdict.model,
        promise=verdict.promise,
        holds=verdict.holds,
        value=number(verdict.value),
        threshold=number(verdict.threshold),
        offenders=tuple((shown(place.where, 400), shown(place.why, 400)) for place in verdict.offenders),
        offender_count=verdict.offender_count,
        remark=verdict.remark,
    )


def _scored(score: "Score") -> Scored:
    return Scored(shown(score.name), number(score.value), shown(score.meaning, 400), score.better)


def _seconds(run: "Run") -> tuple[tuple[str, float], ...]:
    """The time of each step, and of the stages inside the method."""
    stages = [(f"{run.release.method}: {name}", float(time)) for name, time in run.trace.timings.items()]
    return (*((name, float(time)) for name, time in run.seconds.items()), *stages)


def recipe_text(recipe: Mapping[str, Any]) -> str:
    """A recipe as TOML, without passwords."""
    import tomli_w

    text = tomli_w.dumps(_told(json.loads(json.dumps(recipe, default=str))))
    text = allowed(without_password(text))
    return text if len(text) <= RECIPE else text[:RECIPE] + "\n# … cut here; run.json holds all of it\n"


def _told(value: Any) -> Any:
    """TOML has no null: leave such entries out."""
    if isinstance(value, dict):
        return {key: _told(part) for key, part in value.items() if part is not None}
    if isinstance(value, list):
        return [_told(part) for part in value if part is not None]
    return value
