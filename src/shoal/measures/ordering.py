"""How close to the diagonal an order brings the matrix of baskets and items."""

from typing import ClassVar

import numpy as np

from shoal.data._basket_orders import ORDERS, orders_of, spread_of
from shoal.data.groups import Groups
from shoal.errors import WrongUse
from shoal.measures._comparison import Comparison
from shoal.measures.measure import Measure, Score
from shoal.risks._group_members import distinct_members


class Ordering(Measure):
    """The band of the published baskets, in the order that the method names among its parameters.

    The order is computed again from the published baskets: it depends on public items alone. Where a method names none,
    or goes by none (`near`), there are no such scores.

    bandwidth
        The largest distance, in rows, of two baskets that share an item.
    profile
        The sum over all baskets of the distance to the first one that shares an item.
    """

    name: ClassVar[str] = "ordering"
    not_distributable: ClassVar[str | None] = "baskets are ordered in memory"
    accepts: ClassVar[tuple[type, ...]] = (Groups,)
    scores_named: ClassVar[tuple[str, ...]] = ("bandwidth", "profile")

    def compare(self, both: Comparison) -> tuple[Score, ...]:
        """Order the published baskets, and measure."""
        from shoal.kernels.band import placed

        release = both.release
        groups, order = release.data, release.parameters.get("order")
        if not isinstance(groups, Groups):
            raise WrongUse(f"The measure {self.name} looks at published groups.")
        if order not in ORDERS or release.parameters.get("form") == "near":
            return ()
        distinct = distinct_members(groups)
        ordered = orders_of(order, distinct)[0]
        rows = np.repeat(ordered, distinct.counts[ordered])
        band, _ = spread_of(distinct, placed(rows, len(distinct)))
        return (
            Score(
                "bandwidth", band.bandwidth, "largest distance of two baskets that share an item, in order"
            ),
            Score("profile", band.profile, "distances to the first basket that shares an item, summed"),
        )
