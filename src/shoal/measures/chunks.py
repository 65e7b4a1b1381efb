"""What disassociation hides, and what it gives away all the same."""

from typing import ClassVar

import numpy as np

from shoal.data.clusters import Clusters
from shoal.measures._comparison import Comparison
from shoal.measures.measure import BasketMeasure, Score
from shoal.risks._certain_links import certain_links


class Chunks(BasketMeasure):
    """How much of the original is only named in term chunks, and which links across chunks are certain.

    - **term_chunk_share**: The share of the original's items, over all baskets, that stand in no chunk with their
      count: they are only named in term chunks, or left out.
    - **certain_links**: Pairs of an item that every basket of a cluster holds, and an item of another chunk or of the
      terms of that cluster: whoever holds the second holds the first for certain.
    - **certain_clusters**: The clusters with such pairs.
    - **forced_links**: Pairs of items of different chunks of a cluster that are so frequent that some basket must hold
      both.
    - **largest_linked_share**: The largest share of a cluster that holds one of its items, where there is another chunk
      or a term to link it with: how sure an adversary can be of a link.
    """

    name: ClassVar[str] = "chunks"
    not_distributable: ClassVar[str | None] = "links are counted over all clusters at once"
    accepts: ClassVar[tuple[type, ...]] = (Clusters,)
    scores_named: ClassVar[tuple[str, ...]] = (
        "term_chunk_share",
        "certain_links",
        "certain_clusters",
        "forced_links",
        "largest_linked_share",
    )

    def compare(self, both: Comparison) -> tuple[Score, ...]:
        """Count items in chunks, and links."""
        original, clusters = self.baskets(both)
        self.refuse_other_count(original, int(clusters.sizes.sum()))
        links = certain_links(clusters)
        counted = (
            float(1 - len(clusters.items) / np.maximum(len(original.items), 1))
            if len(original.items)
            else 0.0
        )
        return (
            Score(
                "term_chunk_share",
                counted,
                "Share of all items in baskets that are published without a count.",
            ),
            Score("certain_links", links.links, "Pairs of items of a cluster that are linked for certain."),
            Score("certain_clusters", links.clusters, "Clusters with links that are certain."),
            Score(
                "forced_links", links.forced, "Pairs of items of different chunks that some basket must hold."
            ),
            Score(
                "largest_linked_share", links.largest_share, "The surest link across the chunks of a cluster."
            ),
        )
