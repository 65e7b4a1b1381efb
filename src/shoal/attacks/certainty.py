"""Certainty and skew: classes in which everybody has the same secret, or nearly so."""

from typing import Any, ClassVar

import numpy as np

from shoal.arrays import Rows
from shoal.attacks._class_view import secrets
from shoal.attacks._known_baskets import (
    BasketsView,
    chosen_items,
    group_shares,
    promised_known,
    public_items,
)
from shoal.attacks.attack import Attack, Attacked, Target
from shoal.data._sparse_rows import SparseRows
from shoal.data.baskets import Baskets
from shoal.data.groups import Groups
from shoal.data.linked import Linked
from shoal.data.published_syntax import SUPPRESSED
from shoal.data.table import Column, Table
from shoal.models._equivalence_classes import PublishedClasses


class Certainty(Attack):
    """Count the people whose secret is certain to whoever finds their class, group or cohort.

    The control are the same classes after the secrets were dealt out anew by chance: who is certain then is right by
    luck. Skew is the mean distance of a class from the whole (half of the sum of all differences of shares).
    """

    name: ClassVar[str] = "certainty"
    accepts: ClassVar[tuple[type, ...]] = (Table, Baskets, Groups, Linked)

    def run(self, target: Target) -> Attacked | None:
        """Look at every class, group or cohort."""
        data = target.release.data
        if isinstance(data, Groups):
            return self._groups(data)
        if isinstance(data, Baskets):
            return self._baskets(data, target)
        assert isinstance(data, Table | Linked)
        data = data.class_table
        classes = PublishedClasses.of(data)
        drawn = target.release.details.get("perturbed", ())
        shown = [one for one in secrets(classes.table, target.original) if one.name not in drawn]
        found = [self._column(classes, column) for column in shown]
        return max(found, key=lambda one: (one.residual, one.success), default=None)

    def _column(self, classes: PublishedClasses, column: Column) -> Attacked:
        visible = np.array([label != SUPPRESSED for label in column.domain.labels])
        shares, skew = _shares(classes.number, column.codes, visible)
        rng = np.random.default_rng(self.seed)
        anew = column.codes[rng.permutation(len(column.codes))]
        dealt, _ = _shares(classes.number, anew, visible)
        sizes, rows = classes.sizes, max(int(classes.sizes.sum()), 1)
        success = float(sizes[shares == 1].sum() / rows)
        control = float(((dealt == 1)[classes.number] & (anew == column.codes)).sum() / rows)
        mean = float(np.average(shares, weights=sizes)) if len(sizes) else 0.0
        overall = np.bincount(column.codes[visible[column.codes]], minlength=1).max() / rows
        words = (
            f"{column.name} is certain for {success:.1%} of {rows:,} people; if secrets were dealt out by chance, one "
            f"would be certain and right for {control:.1%}. The most frequent value has {mean:.1%} of a mean class."
        )
        parts = {
            "mean of the most frequent value": mean,
            "highest below certainty": float(shares[shares < 1].max(initial=0.0)),
            "skew": float(np.average(skew, weights=sizes)) if len(sizes) else 0.0,
            "highest skew": float(skew.max(initial=0.0)),
        }
        return Attacked(self.name, success, float(overall == 1), control, rows, words, parts)

    def _groups(self, groups: Groups) -> Attacked | None:
        if not len(groups.sensitive_items):
            return None
        shares = group_shares(groups)
        highest = np.asarray(shares.max(axis=1).todense()).ravel()
        people = int(groups.sizes.sum())
        success = float(groups.sizes[highest >= 1].sum() / people)
        words = (
            f"A secret is certain for {success:.1%} of {people:,} people in groups; the surest group holds one with "
            f"{highest.max():.1%}."
        )
        return Attacked(self.name, success, 0.0, 0.0, people, words, {"highest share": float(highest.max())})

    def _baskets(self, data: Baskets, target: Target) -> Attacked | None:
        original = target.original
        if not len(original.sensitive):
            return None
        public = public_items(original)
        able = np.flatnonzero(public.lengths)
        if not len(able):
            return None
        rows = able[self.drawn(len(able))]
        view, known = BasketsView(data, original), promised_known(target.release)
        secret = _secret_incidence(data, original)
        cohorts = [view.cohort(order[:known]) for order in chosen_items(public, rows, self.seed)]
        shares = np.array(
            [0.0 if found is None or not len(found) else _highest(secret, found) for found in cohorts]
        )
        success, overall = float((shares >= 1).mean()), _highest(secret, np.arange(len(data)))
        words = (
            f"Who knows {known} items of a person is certain of a secret for {success:.1%} of {len(rows):,} people; "
            f"the surest cohort holds one with {shares.max(initial=0):.1%}."
        )
        parts = {"highest share": float(shares.max(initial=0)), "mean share": float(shares.mean())}
        return Attacked(self.name, success, float(overall >= 1), float(overall >= 1), len(rows), words, parts)


def _shares(number: Rows, codes: Any, visible: Any) -> tuple[Any, Any]:
    """The share of the most frequent value of each class, and the distance of each class from the whole.

    `visible`: which codes are values: a star is none, and nobody is certain of what it hides.
    """
    classes = int(number.max(initial=-1)) + 1
    counts = SparseRows.of(number, codes, 1.0, (classes, len(visible)))
    sizes, of_row = np.bincount(number, minlength=classes), counts.rows
    highest = np.zeros(classes)
    np.maximum.at(highest, of_row, np.where(visible[counts.columns], counts.values, 0.0))
    overall = np.bincount(codes, minlength=len(visible)) / max(len(number), 1)
    # The distance is the sum of all excesses: what a class does not hold is not in excess.
    excess = np.maximum(counts.values / sizes[of_row] - overall[counts.columns], 0)
    return highest / np.maximum(sizes, 1), np.bincount(of_row, excess, classes)


def _secret_incidence(data: Baskets, original: Baskets) -> Any:
    from scipy.sparse import csr_array

    secret = {original.vocabulary[item] for item in original.sensitive.tolist()}
    wanted = np.flatnonzero([text in secret for text in data.vocabulary])
    ones = np.ones(len(data.items))
    return csr_array((ones, data.items, data.indptr), shape=(len(data), len(data.vocabulary)))[:, wanted]


def _highest(secret: Any, rows: Rows) -> float:
    """The largest share of some baskets that holds one secret."""
    if not secret.shape[1] or not len(rows):
        return 0.0
    return float(np.asarray(secret[rows].sum(axis=0)).max() / len(rows))
