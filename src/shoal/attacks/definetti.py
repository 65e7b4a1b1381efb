"""DeFinetti: learn from all groups together which member of each holds its secret (Kifer 2009).

A group tells how often each secret occurs in it, and not whose it is. But groups tell together how secrets go with
public values, and that tells whose they are: a naive Bayes model and the dealing of secrets inside of the groups are
refined in turn (expectation maximization), starting with all members alike.
"""

from typing import ClassVar

import numpy as np

from shoal.arrays import Floats
from shoal.attacks._naive_bayes import cross_fitted
from shoal.attacks.attack import Attack, Attacked, Target
from shoal.data.baskets import Baskets
from shoal.data.groups import Groups
from shoal.data.linked import Linked
from shoal.data.table import Table
from shoal.risks._group_members import largest, shares_of
from shoal.risks.learned_secrets import dealt, learned, value_logs


class DeFinetti(Attack):
    """Name one member of each group as the holder of a secret, after learning from all groups.

    The baseline names any member; the control names the one with most public items, which no grouping hides. Of linked
    tables the secret of each person is named; the baseline draws one of her group, and the control is a naive Bayes
    model of other people.
    """

    name: ClassVar[str] = "definetti"
    accepts: ClassVar[tuple[type, ...]] = (Groups, Linked)

    def run(self, target: Target) -> Attacked | None:
        """Attack every group that has a secret."""
        groups, original = target.release.data, target.original
        if isinstance(groups, Linked):
            return self._linked(groups, original)
        assert isinstance(groups, Groups)
        assert isinstance(original, Baskets)
        asked = np.flatnonzero(np.diff(groups.sensitive_indptr))
        if not len(asked):
            return None
        beliefs = group_members(groups)
        shares = shares_of(original, groups)
        found = named_shares(groups, shares, beliefs)[asked]
        guess = named_shares(groups, shares, np.zeros(len(shares)))[asked]
        plain = named_shares(groups, shares, largest(groups).astype(np.float64))[asked]
        success = float(found.mean())
        words = (
            f"Who learns from all groups names a holder of a secret in {success:.1%} of {len(asked):,} groups; any "
            f"member is one in {guess.mean():.1%}, and the member with most items in {plain.mean():.1%}."
        )
        return Attacked(self.name, success, float(guess.mean()), float(plain.mean()), len(asked), words)

    def _linked(self, data: Linked, original: Table) -> Attacked | None:
        """Name the secret of everybody whose row is published."""
        found = learned(original, data)
        if found is None:
            return None
        chosen = self.drawn(original.rows)
        truth = original.column(found.column)
        control = float((cross_fitted(original, truth, chosen, self.seed) == truth.codes[chosen]).mean())
        words = (
            f"Who learns from all groups names {found.column} of {found.success:.1%} of {found.people:,} people; one "
            f"of the group's values, drawn by chance, is right for {found.guess:.1%}, and a model of other people for "
            f"{control:.1%}."
        )
        parts = {"highest promised share": float(found.highest)}
        return Attacked(self.name, found.success, found.guess, control, found.people, words, parts)


def named_shares(groups: Groups, shares: Floats, belief: Floats) -> Floats:
    """For each group the mean share of those of its members in whom belief is highest."""
    begin = groups.group_indptr[:-1]
    highest = np.repeat(np.maximum.reduceat(belief, begin), groups.sizes)
    named = belief >= highest - 1e-12
    return np.asarray(
        np.add.reduceat(np.where(named, shares, 0.0), begin) / np.add.reduceat(named.astype(float), begin)
    )


def group_members(groups: Groups) -> Floats:
    """How likely each published basket holds a secret of its group."""
    from scipy.sparse import csr_array

    secrets = np.unique(groups.sensitive_items)
    counts = np.zeros((len(groups), len(secrets) + 1))
    group = np.repeat(np.arange(len(groups)), np.diff(groups.sensitive_indptr))
    counts[group, np.searchsorted(secrets, groups.sensitive_items)] = groups.sensitive_counts
    counts[:, -1] = np.maximum(groups.sizes - counts.sum(axis=1), 1e-9)
    baskets = len(groups.basket_indptr) - 1
    held = csr_array(
        (np.ones(len(groups.items)), groups.items, groups.basket_indptr),
        shape=(baskets, len(groups.vocabulary)),
    )
    lengths = np.minimum(np.diff(groups.basket_indptr), 20)

    def likelihood(belief: Floats) -> Floats:
        counted = held.T @ belief + 1 / len(groups.vocabulary)
        logs = np.log(counted) - np.log(counted.sum(axis=0))
        return np.asarray(held @ logs) + value_logs(lengths, belief)[lengths]

    of = np.repeat(np.arange(len(groups)), groups.sizes)
    return np.asarray(1 - dealt(likelihood, of, counts)[:, -1])
