"""The order of what is published: in any but the canonical one, places may tell of the input."""

import numpy as np

from shoal.arrays import Mask, Rows
from shoal.data.baskets import Baskets, descents, ragged_ranks
from shoal.data.clusters import Clusters
from shoal.data.release import Published
from shoal.data.set_keys import as_rows, cluster_keys
from shoal.models.verdict import SHOWN, Offender, Verdict

ORDER = "canonical-order"
"""What the verdict on the order of a release is called."""

LONG = 60
"""Letters of a basket that are shown."""


def broken_order(published: Published) -> Verdict | None:
    """The verdict on published baskets that do not stand in canonical order; None where they do.

    No model of baskets says anything about their order, because they judge any file of baskets. A release promises it:
    baskets in the order of the input can be matched, line by line, with whatever else is known in that order.
    Models of groups and clusters judge the order themselves.
    """
    if not isinstance(published, Baskets):
        return None
    early = descents(published.indptr, published.items)
    count = len(early) + len(published.unsorted)
    if not count:
        return None
    offenders = [
        Offender(_basket(published, row), "its items do not ascend, or one stands twice")
        for row in published.unsorted[:SHOWN].tolist()
    ]
    offenders += [
        Offender(_basket(published, row), "in ascending order it would come before the basket ahead of it")
        for row in early[: SHOWN - len(offenders)].tolist()
    ]
    return Verdict(
        ORDER,
        "baskets and the items in them stand in ascending order, so that their places tell nothing of the input",
        False,
        None,
        0,
        tuple(offenders),
        count,
    )


def disordered_chunks(clusters: Clusters) -> tuple[Rows, Rows]:
    """Chunks whose sub-records do not ascend, and chunks that belong before the one ahead of them."""
    ranks = ragged_ranks(clusters.item_indptr, clusters.items)
    falls = np.flatnonzero(ranks[1:] < ranks[:-1]) + 1
    chunk = np.searchsorted(clusters.record_indptr, falls, side="right") - 1
    mixed = np.unique(chunk[falls > clusters.record_indptr[chunk]])
    early = descents(clusters.record_indptr, ranks)
    owners = clusters.owners
    return mixed, early[owners[early] == owners[early - 1]]


def early_clusters(clusters: Clusters, *, lines: bool) -> Rows:
    """Clusters that belong before the one ahead of them: among the parts of a joint cluster, and among the lines.

    Parameters
    ----------
    lines
        Whether all lines are there, in their order; otherwise only the parts of joint clusters are looked at.
    """
    parents = clusters.parents
    order = np.argsort(parents, kind="stable")
    # The lines come first, for nothing is above them.
    order = order if lines else order[parents[order] >= 0]
    if len(order) < 2:
        return order[:0]
    keys = cluster_keys(clusters)
    early = descents(*as_rows([keys[cluster] for cluster in order.tolist()]))
    siblings: Mask = parents[order[early]] == parents[order[early - 1]]
    return np.sort(order[early[siblings]])


def _basket(baskets: Baskets, row: int) -> str:
    """A basket in words: its number in the file and its items."""
    items = ", ".join(baskets.basket(row)[:LONG])
    return f"basket {row + 1} {{{items if len(items) <= LONG else items[: LONG - 1] + '…'}}}"
