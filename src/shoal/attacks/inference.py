"""Attribute inference: guess a secret of somebody whose quasi-identifiers are known."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from shoal.arrays import Floats, Rows
from shoal.attacks._class_view import ClassView, class_view, dressed, secrets
from shoal.attacks._known_baskets import guess_items
from shoal.attacks._known_records import record_view
from shoal.attacks._naive_bayes import cross_fitted, learned_from_release, right
from shoal.attacks.attack import Attack, Attacked, Target
from shoal.data._perturbed import chances, matrix_of, weights_of
from shoal.data.baskets import Baskets
from shoal.data.clusters import Clusters
from shoal.data.groups import Groups
from shoal.data.linked import Linked
from shoal.data.related import Related
from shoal.data.table import Column, Table


class Inference(Attack):
    """Guess the secret of people by the majority of the rows that fit them, and by a naive Bayes model of the release.

    The control is the better of both about people who are not in the release; where none are given, a naive Bayes model
    of other people in the original. What it knows, the release does not give away about anybody. Where a column was
    perturbed, its published matrix tells how likely each value is behind a published one. Of linked tables the
    majority of the group is named; what is learned from all groups together is the attack `definetti`. Of persons with
    records those fit who do so with all of their records; items of a table are left aside. Of baskets, groups and
    clusters a secret item is named by the known items; of clusters without secrets any other item.
    """

    name: ClassVar[str] = "inference"
    accepts: ClassVar[tuple[type, ...]] = (Table, Baskets, Groups, Clusters, Linked)

    def run(self, target: Target) -> Attacked | None:
        """Guess each sensitive column, and report the one about which most is learned."""
        if isinstance(target.original, Baskets):
            return guess_items(self, target)
        published, original = target.release.data, target.original
        assert isinstance(published, Table | Linked)
        chosen = self.drawn(original.rows)
        people = original.take(chosen)
        view = _view(published, people)
        control = None
        if target.control is not None and target.control.rows:
            outside = dressed(target.control, original)
            outside = outside.take(self.drawn(outside.rows))
            control = (outside, _view(published, outside))
        found = [
            self._column(secret, target, chosen, view, control)
            for secret in secrets(view.classes.table, original)
        ]
        return max(found, key=lambda one: one.residual, default=None)

    def _column(
        self,
        secret: Column,
        target: Target,
        chosen: Rows,
        view: ClassView,
        control: tuple[Table, ClassView] | None,
    ) -> Attacked:
        original, linked = target.original, isinstance(target.release.data, Linked)
        published, people = view.classes.table, original.take(chosen)
        meant = _meant_values(secret, matrix_of(target.release.promises, secret.name))
        if isinstance(original, Related):
            published = Table(tuple(one for one in published.columns if one.name in original.names))

        def ways(of: Table, seen: ClassView) -> dict[str, float]:
            found = {"majority of the class": right(by_majority(seen, secret), of, secret)}
            if meant is not None:
                found["the published matrix"] = right(by_majority(seen, secret, meant), of, secret)
            if not linked:
                found["naive Bayes"] = right(learned_from_release(published, of, secret), of, secret)
            return found

        parts = ways(people, view)
        counts = np.bincount(secret.codes, minlength=len(secret.domain))
        most = np.full(people.rows, int(counts.argmax()))
        baseline = right(most, people, secret)
        outside = baseline
        if control is not None:
            outside = max(outside, *ways(*control).values())
        if control is None or linked:
            truth = original.column(secret.name)
            guess = cross_fitted(original, truth, chosen, self.seed)
            outside = max(outside, float((guess == truth.codes[chosen]).mean()))
        success = max(parts.values())
        who = "people outside of the release" if control else "a model of other people"
        words = (
            f"{secret.name} is guessed right for {success:.1%} of {people.rows:,} people; the most frequent value "
            f"alone is right for {baseline:.1%}, and the control ({who}) for {outside:.1%}."
        )
        return Attacked(self.name, success, baseline, outside, people.rows, words, parts)


def _view(published: Table | Linked, people: Table) -> ClassView:
    """Whom people fit by all that may be known of them, also of their records."""
    view = class_view(published, people)
    if isinstance(published, Related) and isinstance(people, Related):
        return record_view(published, people, view)
    return view


def by_majority(view: ClassView, secret: Column, meant: Floats | None = None) -> Rows:
    """The most frequent secret of the rows that fit each of the people; of all rows where none fits.

    `meant`: how likely each value is behind each published one, where values were perturbed.
    """
    counts = view.counts(secret)
    overall: Floats = np.bincount(counts.columns, counts.values, counts.width).astype(np.float64)
    scores = view.fits.times(counts)
    empty = scores.sum(axis=1) == 0
    scores[empty] = overall
    if meant is not None:
        scores, overall = scores @ meant, overall @ meant
    # Ties go to the value that is more frequent in all.
    return np.asarray((scores + 1e-9 * overall / max(overall.sum(), 1)).argmax(axis=1))


def _meant_values(secret: Column, matrix: Mapping[str, Sequence[int]] | None) -> Floats | None:
    """How likely each value, by column, is behind each published one, by line; None where nothing was perturbed.

    How frequent values are is estimated from the release. Values that nobody has there are never guessed.
    """
    if matrix is None:
        return None
    published = np.bincount(secret.codes, minlength=len(secret.domain))
    before = np.maximum(weights_of(secret, matrix) @ published, 0.0)
    places = {value: place for place, value in enumerate(matrix)}
    used = [places[label] for label in secret.domain.labels if label in places]
    held = [code for code, label in enumerate(secret.domain.labels) if label in places]
    joint = before[used, None] * chances(matrix)[np.ix_(used, used)]
    meant = np.eye(len(secret.domain))
    meant[np.ix_(held, held)] = (joint / np.maximum(joint.sum(axis=0), 1e-300)).T
    return meant
