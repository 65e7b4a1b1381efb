"""Intersection: what two releases about the same person tell together (Ganta, Kasiviswanathan and Smith 2008)."""

from typing import ClassVar

import numpy as np

from shoal.arrays import Rows
from shoal.attacks._class_view import class_view, dressed, secrets
from shoal.attacks._known_baskets import asked_people, item_beliefs, outside_guess
from shoal.attacks._naive_bayes import cross_fitted, right
from shoal.attacks.attack import Attack, Attacked, Target
from shoal.attacks.inference import by_majority
from shoal.data.baskets import Baskets
from shoal.data.clusters import Clusters
from shoal.data.groups import Groups
from shoal.data.linked import Linked
from shoal.data.table import Column, Table


class Intersection(Attack):
    """Guess the secret that is most likely by the rows, groups or clusters that fit somebody in both releases.

    A value that one of them rules out is ruled out. Who guesses better by the first release alone does so. The control
    is the same about people outside of the first release, or a naive Bayes model of other people where none are given.
    """

    name: ClassVar[str] = "intersection"
    accepts: ClassVar[tuple[type, ...]] = (Table, Baskets, Groups, Clusters, Linked)

    def run(self, target: Target) -> Attacked | None:
        """Guess each sensitive column that both releases publish, or an item; None without another release."""
        published, original = target.release.data, target.original
        if isinstance(original, Baskets):
            return self._items(target, original)
        assert isinstance(published, Table | Linked)
        other = None if target.other is None else target.other.data
        if not isinstance(other, type(published)) or not original.rows:
            return None
        chosen = self.drawn(original.rows)
        found = [
            self._column(secret, published, target, other, chosen)
            for secret in secrets(published.class_table, original)
            if secret.name in other.class_table.names
        ]
        return max(found, key=lambda one: one.residual, default=None)

    def _items(self, target: Target, original: Baskets) -> Attacked | None:
        """Name a secret, or another item, by both releases."""
        rows = asked_people(self, target.release, original)
        if target.other is None or isinstance(target.other.data, Table) or not len(rows):
            return None
        first = item_beliefs(target.release, original, original, rows, self.seed)
        both = first.beside(item_beliefs(target.other, original, original, rows, self.seed))
        alone = float(first.right().mean())
        success = max(alone, float(both.right().mean()))
        control, who = outside_guess(self, target, rows, first.most_frequent())
        words = (
            f"With the other release beside it, an item is named right for {success:.1%} of {len(rows):,} people "
            f"({alone:.1%} by this release alone; the control, {who}, {control:.1%})."
        )
        parts = {"this release alone": alone}
        return Attacked(self.name, success, first.most_frequent(), control, len(rows), words, parts)

    def _column(
        self, secret: Column, published: Table | Linked, target: Target, other: Table | Linked, chosen: Rows
    ) -> Attacked:
        original = target.original
        people = original.take(chosen)
        guess, certain = _both(published, other, people, secret)
        alone = _alone(published, people, secret)
        success = max(alone, right(guess, people, secret))
        most = np.bincount(secret.codes, minlength=len(secret.domain)).argmax()
        baseline = right(np.full(len(chosen), int(most)), people, secret)
        control = baseline
        if target.control is not None and target.control.rows:
            outside = dressed(target.control, original)
            outside = outside.take(self.drawn(outside.rows))
            both = right(_both(published, other, outside, secret)[0], outside, secret)
            control = max(control, both, _alone(published, outside, secret))
        if target.control is None or isinstance(published, Linked):
            truth = original.column(secret.name)
            guessed = cross_fitted(original, truth, chosen, self.seed)
            control = max(control, float((guessed == truth.codes[chosen]).mean()))
        words = (
            f"With the other release beside it, {secret.name} is guessed right for {success:.1%} of {len(chosen):,} "
            f"people ({alone:.1%} by this release alone; control {control:.1%}), and one value is left for "
            f"{certain:.1%}."
        )
        parts = {"this release alone": alone, "one value left": certain}
        return Attacked(self.name, success, baseline, control, len(chosen), words, parts)


def _alone(published: Table | Linked, people: Table, secret: Column) -> float:
    """The share of people whose secret is the majority of the rows that fit them in one release."""
    view = class_view(published, people)
    return right(by_majority(view, view.classes.table.column(secret.name)), people, secret)


def _both(
    published: Table | Linked, other: Table | Linked, people: Table, secret: Column
) -> tuple[Rows, float]:
    """The guess for each of the people, and for which share one value is left."""
    second = other.class_table.column(secret.name)
    codes = {label: code for code, label in enumerate(second.domain.labels)}
    moved = np.array([codes.get(label, len(codes)) for label in secret.domain.labels])
    here, there = class_view(published, people), class_view(other, people)
    one = here.fits.times(here.counts(here.classes.table.column(secret.name)))
    two = there.fits.times(there.counts(there.classes.table.column(secret.name)))
    two = np.hstack([two, np.zeros((len(two), 1))])[:, moved]
    overall = np.bincount(secret.codes, minlength=len(secret.domain)).astype(np.float64)
    one[one.sum(axis=1) == 0] = overall
    two[two.sum(axis=1) == 0] = 1.0
    scores = one * two / np.maximum(overall, 1)
    left = (scores > 0).sum(axis=1)
    scores = np.where(left[:, None] > 0, scores, one)
    return np.asarray((scores + 1e-12 * overall).argmax(axis=1)), float((left == 1).mean())
