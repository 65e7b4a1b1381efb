"""Clusters of baskets that have many items in common, none of which is too small."""

import numpy as np

from shoal.arrays import Mask
from shoal.data._basket_orders import Distinct
from shoal.data._near_clusters import Search, near_clusters, orders_for_clusters
from shoal.data.baskets import Baskets
from shoal.methods.disassociation._horpart import Parts


def like_baskets(baskets: Baskets, ignored: Mask, k: int, limit: int, passes: int) -> Parts:
    """Divide baskets into clusters of four times k, but of at least two thirds of a limit, and below it if k allows.

    Each cluster is gathered around a basket. Then baskets trade places between clusters that are near each other, as
    long as that increases the number of pairs of baskets in a cluster that share an item, counted once for every such
    item.

    `baskets`: at least k baskets, in the order of their public items, so that the clusters do not depend on the order
    of the input, except for which of several equal baskets go where. `ignored`: the items, by code, that play no part.
    """
    rows = len(baskets)
    size = max(k, 2 * limit // 3, min(limit - 1, 4 * k))
    clusters = max(1, min(-(-rows // size), rows // k))
    shown = baskets.keep(~ignored)
    each = Distinct(
        shown.indptr, shown.items, len(shown.vocabulary), np.ones(rows, dtype=np.int64), np.arange(rows)
    )
    search = Search(tables=4, window=8, passes=passes, reach=2, most=32, even=False)
    orders = orders_for_clusters(each, search.tables)
    return Parts(*near_clusters(orders, each.indptr, each.items, each.width, clusters, search))
