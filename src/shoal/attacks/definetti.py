"""DeFinetti: learn from all groups together which member of each holds its secret (Kifer 2009).

A group tells how often each secret occurs in it, and not whose it is. But groups tell together how secrets go with
public values, and that tells whose they are: a naive Bayes model and the dealing of secrets inside of the groups are
refined in turn (expectation maximization), starting with all members alike.
"""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from shoal.arrays import Floats, Rows
from shoal.attacks.attack import Attack, Attacked, Target
from shoal.data.baskets import Baskets
from shoal.data.groups import Groups
from shoal.risks._group_members import largest, shares_of

ROUNDS = 20


class DeFinetti(Attack):
    """Name one member of each group as the holder of a secret, after learning from all groups.

    The baseline names any member; the control names the one with most public items, which no grouping hides.
    """

    name: ClassVar[str] = "definetti"
    accepts: ClassVar[tuple[type, ...]] = (Groups,)

    def run(self, target: Target) -> Attacked | None:
        """Attack every group that has a secret."""
        groups, original = target.release.data, target.original
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
        return np.asarray(held @ logs) + _logs(lengths, belief)[lengths]

    of = np.repeat(np.arange(len(groups)), groups.sizes)
    return np.asarray(1 - dealt(likelihood, of, counts)[:, -1])


def column_likelihood(columns: Sequence[Any]) -> Callable[[Floats], Floats]:
    """The naive Bayes likelihood of rows of a table, whose columns are given as codes."""

    def likelihood(belief: Floats) -> Floats:
        return np.asarray(sum(_logs(codes, belief)[codes] for codes in columns))

    return likelihood


def _logs(codes: Any, belief: Floats) -> Floats:
    """The logarithm of the chance of each value of a column under each secret."""
    from scipy.sparse import csr_array

    values = int(codes.max(initial=0)) + 1
    there = csr_array((np.ones(len(codes)), (codes, np.arange(len(codes)))), shape=(values, len(codes)))
    counted = np.asarray(there @ belief) + 1 / values
    return np.asarray(np.log(counted) - np.log(counted.sum(axis=0)))


def dealt(
    likelihood: Callable[[Floats], Floats], group: Rows, counts: Floats, rounds: int = ROUNDS
) -> Floats:
    """How likely each member has each secret.

    Parameters
    ----------
    likelihood
        From beliefs to the logarithm of the likelihood of each member under each secret.
    group
        Of each member.
    counts
        How often each group has each secret; the sum of a group is its size.
    """
    shares = counts / counts.sum(axis=1, keepdims=True)
    belief: Floats = shares[group]
    for _ in range(rounds):
        logs = likelihood(belief)
        with np.errstate(divide="ignore"):
            scores = logs + np.log(shares)[group]
        scores -= scores.max(axis=1, keepdims=True)
        belief = np.exp(scores)
        belief /= belief.sum(axis=1, keepdims=True)
        belief = _balanced(belief, group, counts)
    return belief


def _balanced(belief: Floats, group: Rows, counts: Floats) -> Floats:
    """Beliefs that were brought to the counts of each group, and then to one person each."""
    from scipy.sparse import csr_array

    members = csr_array(
        (np.ones(len(group)), (group, np.arange(len(group)))), shape=(len(counts), len(group))
    )
    sums = np.asarray(members @ belief)
    belief = belief * (counts / np.maximum(sums, 1e-12))[group]
    return np.asarray(belief / np.maximum(belief.sum(axis=1, keepdims=True), 1e-12))
