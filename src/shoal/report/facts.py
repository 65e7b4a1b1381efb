"""A run as plain data: everything that the page says, and nothing that it does not."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal import __version__
from shoal.addresses import without_passwords
from shoal.attacks._together import within_limits
from shoal.data.baskets import Baskets
from shoal.data.clusters import Clusters
from shoal.data.dataset import Dataset, schema_of
from shoal.data.groups import Groups
from shoal.data.linked import Linked
from shoal.data.related import Related
from shoal.data.release import Published, Release, form_name
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.measures._chosen import comparison_of
from shoal.measures._comparison import Comparison
from shoal.models._judged import judged_linked
from shoal.parameters import without_nones
from shoal.report.attacks import Tried, attacks_of
from shoal.report.card import Card
from shoal.report.class_charts import Sensitive, Sizes, class_statistics, sensitives_of, sizes_of
from shoal.report.cost import Loss, cost_of, loss_of
from shoal.report.generalization_charts import Generalized, generalized_of
from shoal.report.marginals import Marginal
from shoal.report.notes import explanation_of, notes_of, summary_of
from shoal.report.officer import Assessment, assessment_of
from shoal.report.pictures import Picture, pictures_of
from shoal.report.residual_risk import risk_of
from shoal.report.wording import allowed, number, shown

if TYPE_CHECKING:
    from shoal.data.verdict import Verdict
    from shoal.outcome import Run
    from shoal.report.item_counts import ItemFacts
    from shoal.report.lattice_picture import Lattice
    from shoal.report.rules import Rules
    from shoal.report.solutions import Solutions

COLUMNS = 100
"""Columns that tables on the page list; the rest are only counted."""

MARGINALS = 6
"""Columns whose distribution is shown before and after: those that lost most."""

RECIPE = 20_000
"""Characters of the recipe that are shown."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict as texts for the page."""

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
    """A score as texts for the page."""

    name: str
    value: str
    meaning: str
    better: str


@dataclass(frozen=True, slots=True)
class Facts:
    """All that the page says about a run."""

    source: str | None  # the name of the file that was read, or None
    form: str  # ``table``, ``baskets``, ``groups``, ``clusters`` or ``linked``
    method: str
    parameters: tuple[tuple[str, str], ...]
    """`method`, `parameters`: how the release was made."""
    holds: bool
    verdicts: tuple[Judged, ...]
    """`holds`, `verdicts`: whether every promise is kept, and each promise."""
    counts: tuple[tuple[str, int], ...]  # what is published: names of counts and the counts
    roles: Mapping[str, tuple[str, ...]]  # role to the names of the published columns that play it
    dropped: tuple[str, ...]  # names of identifying columns, which are not published
    loss: Loss | None  # the loss of the columns of a table, as shares
    columns: tuple[Generalized, ...]
    column_count: int
    """`columns`, `column_count`: the quasi-identifiers, and how many there are in all."""
    sizes: Sizes | None  # the classes or groups, where the form has any
    sensitive: tuple[Sensitive, ...]  # what is left to learn about sensitive columns
    marginals: tuple[Marginal, ...]  # a few columns before and after
    scores: tuple[Scored, ...]
    seconds: tuple[tuple[str, float], ...]
    """`scores`, `seconds`: all scores, and the time of each step."""
    recipe: str  # how to repeat it, as TOML
    version: str  # of the tool
    cost: Card | None = None
    risk: Card | None = None
    """`cost`, `risk`: what it cost and what is left of the risk, for the first screen."""
    pictures: tuple[Picture, ...] = ()  # what the method shows of its work
    warnings: tuple[str, ...] = ()  # what the owner should know before publishing
    items: "ItemFacts | None" = None  # the items of baskets, before and after
    solutions: "Solutions | None" = None
    lattice: "Lattice | None" = None
    """`solutions`, `lattice`: what a search over the levels of hierarchies found, and a picture of the levels where
    they are few."""
    rules: "Rules | None" = None  # the rules that are hidden
    hierarchies: tuple[tuple[str, str], ...] = ()  # columns, and where their hierarchies come from
    preparation: tuple[str, ...] = ()  # what was done to columns before the method, in sentences
    summary: tuple[str, ...] = ()
    notes: tuple[tuple[str, str], ...] = ()
    explanation: str = ""
    """`summary`, `notes`, `explanation`: what the method chose, in sentences, and what else it noted of its work."""
    attacks: tuple[Tried, ...] = ()  # what attacks find in the raw data and in the release
    limits: tuple[str, ...] = ()  # the residual risks that a limit was set for, in sentences
    officer: Assessment | None = None  # what a data protection officer asks


def facts_of(run: "Run") -> Facts:
    """Gather what the page says about a run: aggregates, values of domains and published cells, never a row."""
    release, notes = run.release, run.trace.notes
    loss = loss_of(run.scores)
    both = run.both or comparison_of(run.original, release)
    found = _of_table(both, dict(loss.parts) if loss else {})
    columns, sizes, sensitive = found.columns, found.sizes, found.sensitive
    by_loss = sorted(columns, key=lambda column: -(column.loss if column.loss is not None else column.coarse))
    recipe, attacks = recipe_text(run.recipe), attacks_of(run)
    return Facts(
        source=_source(run.recipe),
        form=form_name(schema_of(release.data)),
        method=release.method,
        parameters=tuple(
            (name, shown(str(value), 200))
            for name, value in release.parameters.items()
            if value not in (None, {}, [], ())
        ),
        holds=run.holds,
        verdicts=tuple(_judged(verdict) for verdict in run.verdicts),
        counts=_counts(run),
        roles=found.roles,
        dropped=found.dropped,
        loss=loss,
        columns=columns[:COLUMNS],
        column_count=len(columns),
        sizes=sizes,
        sensitive=sensitive,
        marginals=tuple(column.marginal for column in by_loss[:MARGINALS]),
        scores=tuple(
            Scored(shown(one.name), number(one.value), shown(one.meaning, 400), one.better)
            for one in run.scores
        ),
        seconds=_seconds(run),
        recipe=recipe,
        version=__version__,
        cost=cost_of(run.scores),
        risk=risk_of(release, run.verdicts, run.scores, sizes, sensitive),
        pictures=pictures_of(notes),
        warnings=tuple(shown(warning, 600) for warning in run.warnings[:COLUMNS]),
        items=_items(run),
        solutions=_solutions(run),
        lattice=_lattice(run),
        rules=_rules(run),
        hierarchies=_hierarchies(run.hierarchies),
        preparation=tuple(step.sentence() for step in run.preparation),
        summary=summary_of(notes),
        notes=notes_of(notes),
        explanation=explanation_of(notes),
        attacks=attacks,
        limits=within_limits(run.risks),
        officer=assessment_of(run, columns, attacks, recipe, __version__),
    )


@dataclass(frozen=True, slots=True)
class _OfTable:
    """What is reported about columns and classes; other forms have only sizes."""

    columns: tuple[Generalized, ...] = ()
    sizes: Sizes | None = None
    sensitive: tuple[Sensitive, ...] = ()
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()


def _of_table(both: Comparison, losses: Mapping[str, float]) -> _OfTable:
    original, data = both.original, schema_of(both.release.data)
    if isinstance(data, Linked):
        return _of_linked(original, data, both.release)
    if not (isinstance(original, Table) and isinstance(data, Table)):
        return _OfTable(sizes=_group_sizes(data))
    known = set(original.names)
    pairs = [both.column(column.name) for column in data.quasi if column.name in known]
    if isinstance(original, Related) and isinstance(data, Related):
        records = Comparison(original.records, replace(both.release, data=data.records))
        pairs += [records.column(column.name) for column in data.records.quasi]
    sizes, sensitive = _classes(both, data) if data.quasi else (None, ())
    roles = {role: tuple(one.name for one in data.every_column if one.role is role) for role in Role}
    return _OfTable(
        columns=tuple(generalized_of(pair, losses.get(pair.name)) for pair in pairs),
        sizes=sizes,
        sensitive=sensitive,
        roles={role.value: names for role, names in (roles | {Role.QUASI: data.known}).items() if names},
        dropped=tuple(column.name for column in original.with_role(Role.IDENTIFYING)),
    )


def _of_linked(original: Any, data: Linked, release: Release) -> _OfTable:
    """What is reported about linked tables: their columns are exact, and their groups are classes of secrets."""
    found = judged_linked(data)
    roles = {"quasi": found.quasi, "sensitive": found.sensitive, "insensitive": found.insensitive}
    statistics = class_statistics(data.secrets)
    return _OfTable(
        sizes=sizes_of(data.sizes, "group", "rows", None),
        sensitive=sensitives_of(release, data.secrets, statistics, COLUMNS),
        roles={role: names for role, names in roles.items() if names},
        dropped=tuple(column.name for column in original.with_role(Role.IDENTIFYING)),
    )


def _classes(both: Comparison, data: Table) -> tuple[Sizes | None, tuple[Sensitive, ...]]:
    """The sizes of classes and what classes give away; for rows in parts, the sizes alone."""
    wanted = [promise["k"] for promise in both.release.promises if isinstance(promise.get("k"), int)]
    promised = max(wanted, default=None)
    if both.distributed:
        rows = None if data.entity is not None else np.repeat(*both.class_sizes)
        return None if rows is None else sizes_of(rows, "class", "rows", promised), ()
    if isinstance(data, Related):
        data = data.class_table
        statistics, noun = class_statistics(data), "persons"
    else:
        statistics = class_statistics(data, both.classes)
        noun = "rows" if data.entity is None else "persons"
    return (
        sizes_of(statistics.persons, "class", noun, promised),
        sensitives_of(both.release, data, statistics, COLUMNS),
    )


def _solutions(run: "Run") -> "Solutions | None":
    """What a search found. Few runs have one, so its module is loaded only for those."""
    if "solutions" not in run.trace.notes:
        return None
    from shoal.report.solutions import solutions_of

    return solutions_of(run.release, run.trace.notes)


def _lattice(run: "Run") -> "Lattice | None":
    if "solutions" not in run.trace.notes:
        return None
    from shoal.report.lattice_picture import lattice_of

    return lattice_of(schema_of(run.original), run.release.details, run.trace.notes)


def _rules(run: "Run") -> "Rules | None":
    if isinstance(run.original, Table) and not any(key.startswith("rules.") for key in run.trace.notes):
        return None
    from shoal.report.rules import rules_of

    return rules_of(run.original, run.release, run.trace.notes)


def _items(run: "Run") -> "ItemFacts | None":
    if not isinstance(run.original, Baskets):
        return None
    from shoal.report.item_counts import items_of

    divergences = next((score.parts for score in run.scores if score.name == "kl"), {})
    return items_of(run.original, run.release.data, divergences)


def _hierarchies(sources: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Columns and where their hierarchies come from: a builder, or a file without its folder."""
    return tuple((column, shown(PurePath(source).name or source)) for column, source in sources.items())[
        :COLUMNS
    ]


def _source(recipe: Mapping[str, Any]) -> str | None:
    """The name of the file that was read, without its folder; None for databases, pipes and frames."""
    path = str(recipe.get("source", {}).get("path", "-"))
    return None if path == "-" or "://" in path else shown(PurePath(path).name or path)


def _group_sizes(data: Published) -> Sizes | None:
    if isinstance(data, Groups | Clusters) and len(data.sizes):
        joint = isinstance(data, Clusters) and bool((data.sizes == 0).any())
        unit = "group" if isinstance(data, Groups) else "simple cluster" if joint else "cluster"
        return sizes_of(data.sizes, unit, "baskets", None)
    return None


def _counts(run: "Run") -> tuple[tuple[str, int], ...]:
    """What is published, in numbers."""
    release = run.release
    original: Any = run.original
    data: Any = release.data
    form = schema_of(data)
    read = len(original) if isinstance(original, Baskets) else original.rows
    rows = [("rows read", read + run.left_out)]
    if run.left_out:
        rows.append(("rows with missing values left out", run.left_out))
    if isinstance(form, Linked):
        return (*rows, ("rows published", form.rows), ("groups published", len(form)))
    if isinstance(form, Table):
        kept = max(data.rows + release.suppressed - read, 0)
        suppressed = "rows suppressed" if not kept else "rows suppressed, published as *"
        return (
            *rows,
            ("rows published", data.rows),
            (suppressed, release.suppressed),
            ("columns published", len(form.columns)),
        )
    if isinstance(data, Dataset):
        what = f"{type(form).__name__.lower()} published"
        inside = [("baskets in them", data.baskets)] if data.baskets else []
        return (
            ("baskets read", read),
            (what, data.rows),
            *inside,
            ("baskets suppressed", release.suppressed),
        )
    published: tuple[tuple[str, int], ...]
    match data:
        case Baskets():
            published = (("baskets published", len(data)), ("items published", len(data.vocabulary)))
        case Groups():
            published = (("groups published", len(data)), ("baskets in them", len(data.basket_indptr) - 1))
        case Clusters():
            made_of = [("of these, joint", data.joint), ("simple clusters in all", data.simple)]
            published = (
                ("clusters published", data.count),
                *(made_of if data.joint else []),
                ("baskets in them", int(data.sizes.sum())),
            )
    return (("baskets read", read), *published, ("baskets suppressed", release.suppressed))


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


def _seconds(run: "Run") -> tuple[tuple[str, float], ...]:
    """The time of each step, and of the stages inside the method."""
    stages = [(f"{run.release.method}: {name}", float(time)) for name, time in run.trace.timings.items()]
    return (*((name, float(time)) for name, time in run.seconds.items()), *stages)


def recipe_text(recipe: Mapping[str, Any]) -> str:
    """A recipe as TOML, without passwords."""
    import tomli_w

    text = allowed(
        tomli_w.dumps(without_nones(without_passwords(json.loads(json.dumps(recipe, default=str)))))
    )
    return text if len(text) <= RECIPE else text[:RECIPE] + "\n# … cut here; run.json holds all of it\n"
