"""Membership: tell the people of a release from others of the same population."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np

from shoal.arrays import Floats, Rows
from shoal.attacks._class_view import class_view, dressed
from shoal.attacks._known_baskets import BasketsView, public_items
from shoal.attacks._known_clusters import ClustersView
from shoal.attacks.attack import Attack, Attacked, Target
from shoal.data._sparse_rows import SparseRows
from shoal.data.baskets import Baskets
from shoal.data.clusters import Clusters
from shoal.data.groups import Groups
from shoal.data.linked import Linked
from shoal.data.table import Table

FEWEST = 4
"""People outside of the release without whom nothing is tried."""


class Membership(Attack):
    """Say that somebody is in the release where rows that fit her are more frequent than people like her outside.

    One half of the control people tells how frequent they are, the other half and as many people of the release are
    tried. The success is the mean share of right answers on both sides, so that a coin has one half. Linked tables
    publish all public cells as they are.
    """

    name: ClassVar[str] = "membership"
    accepts: ClassVar[tuple[type, ...]] = (Table, Baskets, Groups, Clusters, Linked)

    def run(self, target: Target) -> Attacked | None:
        """Try people of both sides; None without people outside of the release."""
        published, original, control = target.release.data, target.original, target.control
        if isinstance(original, Baskets):
            return self._sets(published, original, control)
        if isinstance(published, Linked):
            published = Table(published.known())
        assert isinstance(published, Table)
        if control is None or control.rows < FEWEST or not original.rows:
            return None
        outside = dressed(control, original)
        order = np.random.default_rng(self.seed).permutation(outside.rows)
        half = outside.rows // 2
        around = class_view(published, outside.take(np.sort(order[:half])))
        asked = outside.take(np.sort(order[half:])[: self.people])
        inside = original.take(self.drawn(original.rows))
        rows = max(int(around.sizes.sum()), 1)
        excess = around.sizes / rows - around.fits.held / half
        found = _says_in(class_view(published, inside).fits, excess).mean()
        spared = 1 - _says_in(class_view(published, asked).fits, excess).mean()
        return self._answered(float(found), float(spared), inside.rows + asked.rows)

    def _answered(self, found: float, spared: float, tried: int) -> Attacked:
        success = (found + spared) / 2
        words = (
            f"It is said rightly whether somebody is in the release in {success:.1%} of all cases, if half of all are "
            f"in it: for {found:.1%} of those who are, and {spared:.1%} of those who are not, of {tried:,} people "
            "tried; a coin has 50%."
        )
        return Attacked(self.name, success, 0.5, 0.5, tried, words, {"found": found, "spared": spared})

    def _sets(self, published: Any, original: Baskets, control: Baskets | None) -> Attacked | None:
        """By all public items of somebody: which share of the published baskets may be hers, and of those outside."""
        if control is None or len(control) < FEWEST or not len(original):
            return None
        order = np.random.default_rng(self.seed).permutation(len(control))
        half = len(control) // 2
        around = public_items(control.take(np.sort(order[:half])))
        ask, outside = holding(published, original, around)

        def says_in(people: Baskets, rows: Rows) -> float:
            public = public_items(people)
            sets = (public.basket(row) for row in rows.tolist())
            return float(np.mean([ask(items) > outside(items) for items in sets]))

        asked, inside = np.sort(order[half:])[: self.people], self.drawn(len(original))
        found, spared = says_in(original, inside), 1 - says_in(control, asked)
        return self._answered(found, spared, len(inside) + len(asked))


Share: TypeAlias = Callable[[Sequence[str]], float]
"""From all items of somebody to the share of some baskets that may be hers."""


def holding(
    published: Baskets | Groups | Clusters, original: Baskets, around: Baskets
) -> tuple[Share, Share]:
    """The share of the published baskets that may be somebody's, and of baskets outside if they were published so.

    Groups publish whole sets of public items, so that nobody else's basket fits; of baskets and clusters those are
    counted that hold at least her items, as far as they are published.
    """
    if isinstance(published, Clusters):
        clusters, total = ClustersView(published), max(int(published.sizes.sum()), 1)
        seen = np.isin(around.vocabulary, published.vocabulary)
        return (lambda items: clusters.candidates(items) / total), _share(
            around.keep(seen), around, exact=False
        )
    exact = isinstance(published, Groups)
    if isinstance(published, Groups):
        published = Baskets(published.basket_indptr, published.items, published.vocabulary)
    outside = BasketsView(published, original).recoded(around)
    return _share(published, original, exact=exact), _share(outside, original, exact=exact)


def _share(baskets: Baskets, original: Baskets, *, exact: bool) -> Share:
    view, lengths, total = BasketsView(baskets, original), baskets.lengths, max(len(baskets), 1)

    def share(items: Sequence[str]) -> float:
        cohort = view.cohort(items)
        if exact:
            known = lengths == len(items)
            return float(np.mean(known) if cohort is None else known[cohort].sum() / total)
        return 1.0 if cohort is None else len(cohort) / total

    return share


def _says_in(fits: SparseRows, excess: Floats) -> Floats:
    """1 for people whose classes together hold more rows of the release than people like them outside, else 0."""
    return (fits.weighed(excess) > 0).astype(np.float64)
