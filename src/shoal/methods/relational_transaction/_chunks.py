"""The items of each class in clusters of chunks: disassociation, class by class."""

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Rows
from shoal.data._ties import part_key
from shoal.data.baskets import Baskets
from shoal.data.clusters import Clusters, together
from shoal.engines.local import Local
from shoal.methods.disassociation.method import Disassociation


@dataclass(frozen=True, slots=True, eq=False)
class Chunked:
    """The clusters of all classes, and the class of each line."""

    clusters: Clusters
    classes: Rows
    loss: float
    """The share of all occurrences of public items that are named at most: that of a term is not counted anywhere."""


def chunked(
    sets: Baskets, order: Rows, ranks: Rows, method: Disassociation, seed: int, engine: Local
) -> Chunked:
    """Disassociate the items of each class.

    `order`, `ranks`: rows of the sets, and the rank of the class of each among all.
    """
    by_class = np.argsort(ranks, kind="stable")
    starts = np.searchsorted(ranks[by_class], np.arange(int(ranks.max()) + 2))

    def work(place: int) -> Clusters:
        rows = order[by_class[starts[place] : starts[place + 1]]]
        return method.divided(sets.take(rows), Local(threads=1), part_key(seed, place))[0].data

    parts = engine.map(work, range(len(starts) - 1))
    clusters = together(parts)
    public = np.ones(len(sets.vocabulary), dtype=np.bool_)
    public[sets.sensitive] = False
    held = int(public[sets.items].sum())
    return Chunked(
        clusters,
        np.repeat(np.arange(len(parts)), [one.count for one in parts]),
        1 - len(clusters.items) / held if held else 0.0,
    )
