"""How coarse the items of published baskets are."""

from typing import ClassVar

import numpy as np

from shoal.data.baskets import Baskets
from shoal.data.dataset import schema_of
from shoal.measures._comparison import Comparison
from shoal.measures.measure import Measure, Score


class GeneralizedItems(Measure):
    """The normalized certainty penalty of baskets whose items are published as nodes of a hierarchy.

    - **item_ncp**: (Terrovitis, Mamoulis, Kalnis 2008): 0 for an item that is published as it is, and for a node the
      share of all leaves that lie under it; the mean over all published occurrences. Two items of a basket that become
      the same node are one occurrence.
    - **generalized_occurrences**: The share of published occurrences that are nodes.

    A release says itself which of its items are nodes, and of how many leaves; others have no such scores.
    """

    name: ClassVar[str] = "generalized-items"
    not_distributable: ClassVar[str | None] = None
    accepts: ClassVar[tuple[type, ...]] = (Baskets,)
    scores_named: ClassVar[tuple[str, ...]] = ("item_ncp", "generalized_occurrences")

    def compare(self, both: Comparison) -> tuple[Score, ...]:
        """Weigh each node by its occurrences."""
        release = both.release
        nodes, leaves = release.details.get("nodes"), release.details.get("leaves")
        if nodes is None or not leaves or not isinstance(schema_of(release.data), Baskets):
            return ()
        held = both.items.after
        total = sum(held.values())
        if not total:
            return ()
        sizes = np.array([nodes.get(text, 0) for text in held], dtype=np.int64)
        supports = np.array(list(held.values()), dtype=np.int64)
        penalty = int((sizes * supports).sum()) / leaves / total
        share = int(supports[sizes > 0].sum()) / total
        return (
            Score("item_ncp", penalty, "Mean share of the leaves that a published item stands for."),
            Score("generalized_occurrences", share, "Share of published occurrences that are nodes."),
        )
