"""Cover: items of different chunks of a cluster that belong together for certain."""

from typing import ClassVar

from shoal.attacks.attack import Attack, Attacked, Target
from shoal.data.clusters import Clusters
from shoal.risks._certain_links import certain_links


class Cover(Attack):
    """Count the clusters in which an item is held by every basket: whoever holds anything else there holds it too.

    Chunks part items so that nobody can tell who holds both; an item of all baskets undoes that.
    """

    name: ClassVar[str] = "cover"
    accepts: ClassVar[tuple[type, ...]] = (Clusters,)

    def run(self, target: Target) -> Attacked | None:
        """Look at every simple cluster."""
        clusters = target.release.data
        assert isinstance(clusters, Clusters)
        if not clusters.simple:
            return None
        found = certain_links(clusters)
        success = found.clusters / clusters.simple
        words = (
            f"{found.links:,} pairs of items are linked for certain, in {success:.1%} of {clusters.simple:,} clusters; "
            f"the surest link has {found.largest_share:.1%}."
        )
        parts = {
            "links": float(found.links),
            "forced pairs": float(found.forced),
            "surest link": found.largest_share,
        }
        return Attacked(self.name, success, 0.0, 0.0, clusters.simple, words, parts)
