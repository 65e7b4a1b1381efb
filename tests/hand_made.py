"""Runs put together by hand, for the tests of the report."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from shoal.data.baskets import Baskets
from shoal.data.clusters import Clusters
from shoal.data.domain import nominal
from shoal.data.groups import Groups
from shoal.data.hierarchy import Hierarchy
from shoal.data.release import Published, Release
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.data.trace import Trace
from shoal.data.verdict import Verdict
from shoal.measures.measure import Score
from shoal.models.k_anonymity import KAnonymity
from shoal.outcome import Run

TREE = Hierarchy(
    (("Berlin", "Bonn", "Rome"), ("Germany", "Italy"), ("*",)), (np.array([0, 0, 1]), np.array([0, 0]))
)


def publish(original: Column, cells: Sequence[str]) -> Column:
    """A published column of cells."""
    labels = tuple(dict.fromkeys(cells))
    codes = np.array([labels.index(cell) for cell in cells], dtype=np.int32)
    return replace(original, domain=nominal(labels), codes=codes, hierarchy=None)


def run_of(original: Table, cells: dict[str, Sequence[str]], k: int = 3, **changes: object) -> Run:
    """A run whose release has the given cells in its quasi-identifiers, and everything else as in the original."""
    columns = [
        publish(one, cells[one.name]) if one.name in cells else one
        for one in original.columns
        if one.role is not Role.IDENTIFYING
    ]
    data = Table(tuple(columns))
    model = KAnonymity(k=k, entity=None if data.entity is None else data.entity.name)
    release = Release(data, "by hand", {"k": k, "weights": {}}, (model.as_promise(),))
    loss = {one.name: 0.25 * (place + 1) for place, one in enumerate(original.quasi)}
    scores = (
        Score("lm", sum(loss.values()), "Sum of the losses.", parts=loss),
        Score("lm_mean", sum(loss.values()) / max(len(loss), 1), "Mean of the losses."),
    )
    recipe = {"source": {"path": "data/people.csv"}, "method": {"name": "by hand", "k": k}, "seed": None}
    run = Run(
        original,
        release,
        Trace(np.arange(data.rows)),
        (model.verify(data),),
        scores,
        recipe,
        {"reading": 0.5},
    )
    return replace(run, **changes)


BASKETS = Baskets(
    np.array([0, 2, 3, 5]),
    np.array([0, 1, 1, 0, 2]),
    ("a", "b", "c"),
    np.array([2]),
    np.array([], dtype=np.int32),
)
GROUPS = Groups(
    np.array([0, 3]),
    np.array([0, 2, 3, 4]),
    np.array([0, 1, 1, 0]),
    np.array([0, 1]),
    np.array([2]),
    np.array([1]),
    ("a", "b", "c"),
)
CLUSTERS = Clusters(
    np.array([-1]),
    np.array([3]),
    np.array([0, 1]),
    np.array([0, 2]),
    np.array([0, 1, 2]),
    np.array([0, 0]),
    np.array([0, 1]),
    np.array([1]),
    ("a", "b", "c"),
)


def _run_of_baskets(data: Published) -> Run:
    release = Release(data, "by hand", {}, ({"model": "m"},))
    verdict = Verdict("m", "nobody is found", True, None, 3)
    return Run(BASKETS, release, Trace(np.arange(3)), (verdict,), ())


def baskets() -> Run:
    """Three baskets published as they are."""
    return _run_of_baskets(BASKETS)


def groups() -> Run:
    """Three baskets in one group."""
    return _run_of_baskets(GROUPS)


def clusters() -> Run:
    """Three baskets in one cluster."""
    return _run_of_baskets(CLUSTERS)


FORMS: list[Callable[[], Run]] = [baskets, groups, clusters]
"""A run of each form other than a table."""
