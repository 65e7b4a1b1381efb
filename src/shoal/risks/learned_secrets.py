"""What whoever reads all groups together learns of whose secret is whose (deFinetti; Kifer 2009).

A group tells how often each secret occurs in it, and not whose it is. But groups tell together how secrets go with
public values, and that tells whose they are: a naive Bayes model and the dealing of secrets inside of the groups are
refined in turn (expectation maximization), starting with all members alike.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.arrays import Floats, Rows, owners, ranges
from shoal.data._equal_rows import mixed_codes
from shoal.data.linked import Linked
from shoal.data.table import Column, Table

ROUNDS = 20

GROUPS = 20_000
"""Groups that are learned from at most: more teach nothing new."""

ROOM = 10_000_000
"""Beliefs that are kept at most, of rows times secrets: fewer groups are learned from where secrets are many."""


@dataclass(frozen=True, slots=True)
class Learned:
    """What was learned of linked tables."""

    column: str  # the sensitive column
    success: float  # the share of people whose secret was named
    guess: float  # the same for whoever draws a secret of the group by chance
    highest: float  # the largest share of a secret in a group
    people: int  # how many people were tried


def learned(original: Table, data: Linked) -> Learned | None:
    """Deal the secrets of groups to their rows, and see for how many people that is right; None without a secret."""
    if not data.secrets.sensitive:
        return None
    secret = data.secrets.sensitive[0]
    inside = np.arange(len(data))
    most = max(min(GROUPS, ROOM // max(len(secret.domain), 1) * len(data) // max(data.rows, 1)), 1)
    if len(data) > most:
        inside = np.sort(np.random.default_rng(0).choice(len(data), most, replace=False))
    rows = np.flatnonzero(np.isin(data.groups, inside))
    group = np.searchsorted(inside, data.groups[rows])
    columns = [column.codes[rows] for column in data.known()]
    shares = data.shares(secret, inside)
    counts = shares * data.sizes[inside][:, None]
    belief = dealt(column_likelihood(columns), group, counts)
    people, row_keys = alike_rows(original, data, rows)
    truth = aligned(original.column(secret.name), secret)
    found = np.flatnonzero(np.isin(people, row_keys) & (truth >= 0))
    kinds, row_kind = np.unique(row_keys, return_inverse=True)
    asked = np.searchsorted(kinds, people[found])
    named = _mean(belief, row_kind, len(kinds))[asked]
    drawn = _mean(shares[group], row_kind, len(kinds))[asked]
    success = float((named.argmax(axis=1) == truth[found]).mean()) if len(found) else 0.0
    guess = float(drawn[np.arange(len(found)), truth[found]].mean()) if len(found) else 0.0
    return Learned(secret.name, success, guess, data.highest_share(secret), len(found))


def shares_of_people(people: Table, data: Linked, secret: Column) -> tuple[Floats, Floats]:
    """For each person the share of her secret in the groups of the rows that are like her, and one in those rows."""
    truth = aligned(people.column(secret.name), secret)
    who, rows = alike_pairs(people, data)
    counts = np.bincount(who, minlength=people.rows)
    shares = np.bincount(
        who, weights=data.share(secret, data.groups[rows], truth[who]), minlength=people.rows
    )
    there = counts > 0
    return (
        np.where(there, shares / np.maximum(counts, 1), 0.0),
        np.where(there, 1 / np.maximum(counts, 1), 0.0),
    )


def alike_pairs(people: Table, data: Linked) -> tuple[Rows, Rows]:
    """All pairs of a person and a published row that are alike in all public cells."""
    keys, row_keys = alike_rows(people, data, np.arange(data.rows))
    by_key = np.argsort(row_keys, kind="stable")
    begin, end = (np.searchsorted(row_keys[by_key], keys, side) for side in ("left", "right"))
    indptr, entries = ranges(begin, end - begin)
    return owners(indptr), by_key[entries]


def dealing_warning(original: Table, data: Linked) -> tuple[str, ...]:
    """Warn the owner of linked tables of what is learned from all groups together."""
    found = learned(original, data)
    if found is None:
        return ()
    return (
        f"Groups tell each secret with a share of at most {found.highest:.1%}, but whoever learns from all of them "
        f"together (deFinetti) names {found.column} of {found.success:.1%} of {found.people:,} people. Public cells "
        "are published as they are, so everybody sees who is in the table. Promise a larger l, or generalize "
        "(mondrian).",
    )


def alike_rows(original: Table, data: Linked, rows: Rows) -> tuple[Rows, Rows]:
    """Numbers by which the people of the original and some published rows are alike in all public cells."""
    known = [column for column in data.known() if column.name in original.names]
    both = []
    for column in known:
        mine = original.column(column.name)
        codes = {label: code for code, label in enumerate(mine.domain.labels)}
        theirs = np.array([codes.get(label, len(codes)) for label in column.domain.labels], dtype=np.int64)
        both.append(
            (np.concatenate((mine.codes, theirs[column.codes[rows]])).astype(np.int32), len(codes) + 1)
        )
    keys = mixed_codes(both, original.rows + len(rows))
    return keys[: original.rows], keys[original.rows :]


def aligned(people: Column, published: Column) -> Rows:
    """The code in a published column of the cell of each of the people; -1 where nobody has it there."""
    codes = {label: code for code, label in enumerate(published.domain.labels)}
    return np.array([codes.get(label, -1) for label in people.domain.labels], dtype=np.int64)[people.codes]


def _mean(values: Floats, kinds: Rows, count: int) -> Floats:
    """The mean of the lines of each kind."""
    from scipy.sparse import csr_array

    members = csr_array((np.ones(len(kinds)), (kinds, np.arange(len(kinds)))), shape=(count, len(kinds)))
    return np.asarray(members @ values) / np.bincount(kinds, minlength=count)[:, None]


def column_likelihood(columns: Sequence[Any]) -> Callable[[Floats], Floats]:
    """The naive Bayes likelihood of rows of a table, whose columns are given as codes."""

    def likelihood(belief: Floats) -> Floats:
        return np.asarray(sum(value_logs(codes, belief)[codes] for codes in columns))

    return likelihood


def value_logs(codes: Any, belief: Floats) -> Floats:
    """The logarithm of the chance of each value of a column under each secret."""
    from scipy.sparse import csr_array

    values = int(codes.max(initial=0)) + 1
    there = csr_array((np.ones(len(codes)), (codes, np.arange(len(codes)))), shape=(values, len(codes)))
    counted = np.asarray(there @ belief) + 1 / values
    return np.asarray(np.log(counted) - np.log(counted.sum(axis=0)))


def dealt(likelihood: Callable[[Floats], Floats], group: Rows, counts: Floats) -> Floats:
    """How likely each member has each secret.

    `likelihood`: from beliefs to the logarithm of the likelihood of each member under each secret. `group`: of each
    member. `counts`: how often each group has each secret; the sum of a group is its size.
    """
    shares = counts / counts.sum(axis=1, keepdims=True)
    belief: Floats = shares[group]
    for _ in range(ROUNDS):
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
