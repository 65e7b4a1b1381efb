"""Linkage: find the row, the basket or the secret of somebody about whom something is known."""

from dataclasses import replace
from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.arrays import Floats, Mask, Rows
from shoal.attacks._class_view import ClassView, class_view
from shoal.attacks._known_baskets import linked_baskets
from shoal.attacks._known_items_of_rows import chances
from shoal.attacks._known_records import record_view
from shoal.attacks.attack import Attack, Attacked, Target, mean
from shoal.data._sparse_rows import SparseRows
from shoal.data.baskets import Baskets
from shoal.data.clustered_table import ClusteredTable
from shoal.data.clusters import Clusters
from shoal.data.groups import Groups
from shoal.data.linked import Linked
from shoal.data.related import Related
from shoal.data.table import Table
from shoal.risks.learned_secrets import shares_of_people

DRAWS = 5
"""So often a part of the columns is drawn."""


class Linkage(Attack):
    """Pick one of the published rows that fit what is known; right with the chance of one in their number.

    Of a table all quasi-identifiers are known, or a random half of them, or all with one of them wrong; where it has
    items, all quasi-identifiers and as many items as the promise is about, none, or one more; where it has records, all
    of theirs are known too, or none. Of baskets as
    many items as the promise is about, one more, or two more. Of groups all public items are known, and the secret is
    linked; of linked tables all public columns are, and rows are found for certain where nobody else is like them.
    The success is that of the first; people who were left out of the release are never found.
    """

    name: ClassVar[str] = "linkage"
    accepts: ClassVar[tuple[type, ...]] = (Table, Baskets, Groups, Clusters, Linked)

    known: int | None = Field(
        default=None,
        ge=1,
        description="items of a basket that are known; by default as many as the promise is about",
    )

    def run(self, target: Target) -> Attacked | None:
        """Link people to what is published about them."""
        if isinstance(target.original, Baskets):
            return linked_baskets(self, target, self.known)
        published, original = target.release.data, target.original
        if isinstance(published, Linked):
            return self._linked(published, original)
        assert isinstance(published, Table)
        people = original.take(self.drawn(original.rows))
        names = [column.name for column in published.quasi if column.name in original.names]
        if not people.rows or not names:
            return None
        whole = class_view(published, people, names)
        candidates = whole.candidates
        exact = _chance(candidates, candidates > 0)
        partial = np.mean(
            [self._partial(published, people, names, candidates > 0, draw) for draw in range(DRAWS)]
        )
        noisy = self._noisy(published, people, names, whole.fits, whole.sizes)
        rows = max(int(whole.sizes.sum()), 1)
        success, baseline = mean(exact), 1 / rows
        if isinstance(published, Related) and isinstance(people, Related):
            return self._with_records(published, people, whole)
        shown = isinstance(published, ClusteredTable) or published.items_column is not None
        if shown and people.items_column is not None:
            return self._with_items(target, people, whole)
        words = (
            f"Who knows {', '.join(names)} of a person picks the right row with a chance of {success:.1%} on average "
            f"and {exact.max(initial=0):.1%} at most, of {people.rows:,} people tried."
        )
        parts = {
            "all columns": success,
            "half of the columns": float(partial),
            "one column wrong": mean(noisy),
            "highest": float(exact.max(initial=0)),
        }
        return Attacked(self.name, success, baseline, baseline, people.rows, words, parts)

    def _with_records(self, published: Related, people: Related, view: ClassView) -> Attacked:
        """The chance of somebody who knows all quasi-identifiers of each person, and those of all of her records."""
        candidates = record_view(published, people, view).candidates
        found = _chance(candidates, candidates > 0)
        alone = _chance(view.candidates, view.candidates > 0)
        success, baseline = mean(found), 1 / max(int(view.sizes.sum()), 1)
        words = (
            "Who knows all quasi-identifiers of a person and of all of her records picks the right one with a chance "
            f"of {success:.1%} on average and {found.max(initial=0):.1%} at most, of {people.rows:,} people tried."
        )
        parts = {"without records": mean(alone), "highest": float(found.max(initial=0))}
        return Attacked(self.name, success, baseline, baseline, people.rows, words, parts)

    def _with_items(self, target: Target, people: Table, view: ClassView) -> Attacked:
        """The chance of somebody who knows all quasi-identifiers and some items of each person."""
        published = target.release.data
        assert isinstance(published, Table)
        promised = [promise["m"] for promise in target.release.promises if "m" in promise]
        known = self.known or max(promised, default=1)
        hidden = {
            item
            for promise in target.release.promises
            for role in ("sensitive_items", "insensitive_items", "sensitive")
            for item in promise.get(role, ())
        }
        figures = {
            count: chances(published, people, view, count, hidden, self.seed)
            for count in (0, known, known + 1)
        }
        found = figures[known]
        success, baseline = mean(found), 1 / max(int(view.sizes.sum()), 1)
        items = "1 item" if known == 1 else f"{known} items"
        words = (
            f"Who knows all quasi-identifiers and {items} of a person picks the right row with a chance of "
            f"{success:.1%} on average and {found.max(initial=0):.1%} at most, of {people.rows:,} people tried."
        )
        parts = {"all columns": mean(figures[0]), "one item more": mean(figures[known + 1])}
        return Attacked(
            self.name,
            success,
            baseline,
            baseline,
            people.rows,
            words,
            parts | {"highest": float(found.max(initial=0))},
        )

    def _linked(self, data: Linked, original: Table) -> Attacked | None:
        """The chance to pick the secret of a person among those of the groups of the rows that are like her."""
        people = original.take(self.drawn(original.rows))
        if not people.rows or not data.secrets.sensitive:
            return None
        secret = data.secrets.sensitive[0]
        shares, alike = shares_of_people(people, data, secret)
        overall = np.bincount(secret.codes, minlength=1) / max(data.rows, 1)
        baseline = float((overall**2).sum())
        success = mean(shares)
        words = (
            f"Who knows the public columns of a person links her to her {secret.name} with a chance of {success:.1%} "
            f"on average and {shares.max(initial=0):.1%} at most, of {people.rows:,} people tried; her row itself is "
            f"found with a chance of {mean(alike):.1%}."
        )
        parts = {"highest": float(shares.max(initial=0)), "row found": mean(alike)}
        return Attacked(self.name, success, baseline, baseline, people.rows, words, parts)

    def _partial(self, published: Table, people: Table, names: list[str], there: Mask, draw: int) -> float:
        """The mean chance of somebody who knows half of the columns."""
        rng = np.random.default_rng([self.seed, draw])
        some = [names[place] for place in rng.permutation(len(names))[: max(len(names) // 2, 1)]]
        return mean(_chance(class_view(published, people, some).candidates, there))

    def _noisy(
        self, published: Table, people: Table, names: list[str], truth: SparseRows, sizes: Rows
    ) -> Floats:
        """The chance of somebody who is wrong about one cell of each person, and takes it for that of another."""
        rng = np.random.default_rng(self.seed)
        wrong, other = rng.integers(len(names), size=people.rows), rng.permutation(people.rows)
        columns = []
        for column in people.columns:
            if column.name in names:
                swapped = wrong == names.index(column.name)
                codes = np.where(swapped, column.codes[other], column.codes)
                column = replace(column, codes=codes)
            columns.append(column)
        fits = class_view(published, Table(tuple(columns)), names).fits
        both, found, own = (one.weighed(sizes) for one in (fits.among(truth), fits, truth))
        return np.asarray(both / np.maximum(found * own, 1))


def _chance(candidates: Floats, there: Mask) -> Floats:
    """One in the number of rows that fit; none for people who are not there."""
    return np.where(there, 1 / np.maximum(candidates, 1), 0.0)
