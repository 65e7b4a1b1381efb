"""Minimality: what a reader learns from cuts that a method would have made, had sensitive values allowed them.

The reader knows everybody's quasi-identifiers and the method (Wong, Fu, Wang and Pei 2007). A class that could be cut
as far as sizes tell was left whole, so that the cut must break a promise about secrets. Secrets are dealt out inside
of the classes by chance; of these worlds only those count in which the method would have stopped where it did.
By Bayes' rule a belief grows by one in the chance that the method stops there at most, whatever the promise: the
worlds that count with somebody's secret are at most all worlds with it. What a method decides without a look at
secrets, or by all members of a class alike, tells nothing (Cormode, Srivastava, Li and Li 2010).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from shoal import registry
from shoal.arrays import Codes, Counts, Mask, Rows, flagged
from shoal.attacks._class_view import ClassView, class_view, some_classes
from shoal.attacks.attack import Attacked
from shoal.data.group_statistics import group_statistics
from shoal.data.release import Release
from shoal.data.table import Column, Table
from shoal.models._promises import promised
from shoal.models._sensitive import SensitiveModel
from shoal.models.hidden_rules import HiddenRules
from shoal.models.model import TableModel, kept_by

WORK = 3_000_000
"""Rows that are dealt out in all: so many worlds are tried as that allows."""

WORLDS = (40, 1_000)
"""But at least and at most so many."""

FEWEST = 10
"""Worlds without which nothing is concluded of a class."""


@dataclass(frozen=True, slots=True, eq=False)
class Refused:
    """Finer ways to publish some classes, all of them refused."""

    rows: Rows  # of the original: the people of these classes
    classes: Rows  # the class of each of them, numbered from 0 on
    ways: tuple[Rows, ...]  # for each way the finer group of each row, and -1 where its class has no such way
    together: bool
    """Whether a way is allowed only if it is allowed in all classes, as where levels are those of whole columns."""


def minimality(name: str, release: Release, original: Table, drawn: int, seed: int) -> tuple[Attacked, ...]:
    """What is learned about each sensitive column that a promise is about."""
    published = release.data
    assert isinstance(published, Table)
    models = [model for model in promised(release.promises) if isinstance(model, TableModel)]
    secret = [one for one in models if isinstance(one, SensitiveModel) and not isinstance(one, HiddenRules)]
    if not secret or original.entity is not None or not original.rows:
        return ()
    public = [
        one
        for one in models
        if not isinstance(one, SensitiveModel) and "population" not in type(one).model_fields
    ]
    refused = _refused(release, original, public, drawn, seed)
    if refused is None:
        return ()
    found = []
    for column in original.sensitive:
        judged = [one for one in secret if one.columns() == (column.name,)]
        if judged:
            found.append(_learned(name, original, column, judged, refused, seed))
    return tuple(found)


def _refused(
    release: Release, original: Table, public: Sequence[TableModel], drawn: int, seed: int
) -> Refused | None:
    method = release.parameters.get("anonymize_with", release.method)
    kind = registry.load("method", method) if method in registry.METHODS else None
    tight, levels = (getattr(kind, name, False) for name in ("smallest_cells", "along_hierarchies"))
    if not tight and not levels:
        return None
    published = release.data
    assert isinstance(published, Table)
    view = class_view(some_classes(published, drawn, seed) if tight else published, original)
    home, chosen = view.homes()
    chosen &= view.classes.sizes > 1
    if not chosen.any():
        return None
    rows = np.flatnonzero((home >= 0) & chosen[np.maximum(home, 0)])
    rows = rows[np.argsort(home[rows], kind="stable")]
    classes = np.unique(home[rows], return_inverse=True)[1]
    people = original.take(rows)
    columns = people.select(column.name for column in view.classes.table.quasi)
    together = not tight
    if together:
        ways = [_lower_level(view, column, classes) for column in columns]
    else:
        ways = [_halves(column, classes) for column in columns]
    usable = tuple(
        kept
        for way in ways
        if way is not None and (kept := _possible(people, way, classes, public, together)) is not None
    )
    return Refused(rows, classes, usable, together) if usable else None


def _possible(
    people: Table, way: Rows, classes: Rows, public: Sequence[TableModel], together: bool
) -> Rows | None:
    """A way where the promises that do not look at secrets allow it; None where they do nowhere."""
    inside = np.flatnonzero(way >= 0)
    if not len(inside):
        return None
    statistics = group_statistics(people, way, int(way.max()) + 1)
    kept = kept_by(public, statistics) | (statistics.sizes == 0)
    if together:
        return way if kept.all() else None
    bad = flagged(classes[inside][~kept[way[inside]]], int(classes.max()) + 1)
    left = np.where(bad[classes], -1, way)
    return left if (left >= 0).any() else None


def _halves(column: Column, classes: Rows) -> Rows | None:
    """Both sides of the evenest cut of a column in each class, along a hierarchy below its lowest node."""
    tree = column.hierarchy
    if tree is None:
        places = np.arange(len(column.domain)) if column.domain.values is None else column.domain.values
        place = np.argsort(np.argsort(places, kind="stable"), kind="stable")
        depths = np.zeros(max(len(place) - 1, 0), dtype=np.int32)
    else:
        order = tree.depth_first()
        place = np.argsort(order)[tree.leaf_of(column.domain)]
        depths = tree.boundary_depths(order)
    here = place[column.codes]
    starts = np.flatnonzero(np.concatenate(([True], classes[1:] != classes[:-1])))
    ends = np.append(starts[1:], len(classes))
    way = np.full(len(classes), -1, dtype=np.int64)
    for number, (begin, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        cut = _even_cut(here[begin:end], depths)
        if cut is not None:
            way[begin:end] = 2 * number + (here[begin:end] > cut)
    return way if (way >= 0).any() else None


def _even_cut(places: Rows, depths: Codes) -> int | None:
    """The last place on the left side of the evenest cut among those that are highest in the hierarchy."""
    values, counts = np.unique(places, return_counts=True)
    if len(values) < 2:
        return None
    depth = np.array([depths[low:high].min() for low, high in pairwise(values.tolist())])
    left = np.cumsum(counts)[:-1]
    evenness = np.minimum(left, len(places) - left)
    return int(values[np.where(depth == depth.min(), evenness, -1).argmax()])


def _lower_level(view: ClassView, column: Column, classes: Rows) -> Rows | None:
    """The groups that come of a column one level lower; None where it is published raw, or on several levels."""
    tree = column.hierarchy
    published = view.classes.table.column(column.name)
    if tree is None:
        return None
    shown = {published.domain.labels[code] for code in np.unique(published.codes).tolist()}
    level = next((one for one in range(tree.height + 1) if shown <= set(tree.labels[one])), None)
    if not level:
        return None
    nodes = tree.nodes_at(level - 1)[tree.leaf_of(column.domain)][column.codes].astype(np.int64)
    keys = classes * np.int64(len(tree.labels[level - 1])) + nodes
    return np.asarray(np.unique(keys, return_inverse=True)[1], dtype=np.int64)


def _learned(
    name: str, original: Table, column: Column, models: Sequence[TableModel], refused: Refused, seed: int
) -> Attacked:
    """Deal secrets out inside of the classes, and count the worlds in which no refused way is allowed."""
    rows, classes = refused.rows, refused.classes
    people = original.take(rows)
    secret = people.column(column.name)
    count, values = int(classes.max()) + 1, len(secret.domain)
    overall = {column.name: np.bincount(column.codes, minlength=values).astype(np.int64)}
    kinds = np.unique(np.stack([classes, *refused.ways]), axis=1, return_inverse=True)[1].ravel()
    sums = np.zeros((int(kinds.max()) + 1, values))
    worlds = np.zeros(count)
    rng = np.random.default_rng(seed)
    asked = np.zeros(count, dtype=np.bool_)
    for way in refused.ways:
        asked[classes[way >= 0]] = True
    tried = int(np.clip(WORK // max(len(rows) * len(refused.ways), 1), *WORLDS))
    for _ in range(tried):
        dealt = secret.codes[np.lexsort((rng.random(len(rows)), classes))]
        table = _with(people, secret, dealt)
        stopped = ~_allowed(table, models, refused, count, column.name, overall) & asked
        counted = stopped[classes]
        np.add.at(sums, (kinds[counted], dealt[counted]), 1)
        worlds += stopped
    concluded = (worlds >= FEWEST)[classes]
    sizes = np.bincount(kinds)
    prior = np.zeros((count, values))
    np.add.at(prior, (classes, secret.codes), 1)
    prior /= prior.sum(axis=1, keepdims=True)
    after = sums[kinds] / np.maximum(worlds[classes] * sizes[kinds], 1)[:, None]
    after = np.where(concluded[:, None], after, prior[classes])
    growth = np.divide(after, prior[classes], out=np.ones_like(after), where=prior[classes] > 0)
    most = np.minimum(tried / np.maximum(worlds[classes], 1)[:, None], 1 / np.maximum(prior[classes], 1e-12))
    most = np.where(concluded[:, None], most, 1.0)
    here = np.arange(len(rows))
    success, control = float(after[here, secret.codes].mean()), float(prior[classes, secret.codes].mean())
    words = (
        f"Who knows the method and everybody's quasi-identifiers believes in the true {column.name} of {len(rows):,} "
        f"people with {success:.1%} on average; the class alone gives {control:.1%}. Belief in a value grows by a "
        f"factor of {growth.max():.2f} at most."
    )
    parts = {
        "people of whom something is concluded": float(concluded.mean()),
        "largest growth of a belief": float(growth.max()),
        "bound of that growth": float(most.ravel()[growth.argmax()]),
        "mean growth of the belief in the truth": success / control if control else 1.0,
    }
    return Attacked(name, success, control, control, len(rows), words, parts)


def _with(people: Table, secret: Column, codes: Codes) -> Table:
    changed = replace(secret, codes=codes)
    return Table(tuple(changed if one.name == secret.name else one for one in people.columns))


def _allowed(
    table: Table,
    models: Sequence[TableModel],
    refused: Refused,
    count: int,
    name: str,
    overall: dict[str, Counts],
) -> Mask:
    """For each class whether one of the ways that were refused keeps the promises about secrets."""
    allowed = np.zeros(count, dtype=np.bool_)
    for way in refused.ways:
        statistics = group_statistics(table, way, int(way.max()) + 1, (name,), overall=overall)
        broken = ~kept_by(models, statistics) & (statistics.sizes > 0)
        inside = way >= 0
        if refused.together:
            allowed |= not broken.any()
            continue
        bad = flagged(refused.classes[inside][broken[way[inside]]], count)
        allowed |= flagged(refused.classes[inside], count) & ~bad
    return allowed
