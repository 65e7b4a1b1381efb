"""The members of published groups: who holds what, and who stands out."""

import numpy as np

from shoal.arrays import Counts, Floats, Mask, flagged, indptr_by, indptr_of, owners, taken
from shoal.data._basket_orders import (
    Distinct,
    distinct_baskets,
    numbered,
    public_baskets,
    sensitive_items,
    used_items,
)
from shoal.data.baskets import Baskets, ragged_ranks
from shoal.data.groups import Groups
from shoal.errors import BadData
from shoal.kernels._compiling import are_loaded, is_eager

MANY = 200_000
"""Items from which on it pays to compile a kernel for them."""


def distinct_members(groups: Groups) -> Distinct:
    """The distinct baskets of groups, of items that somebody holds. They are kept; who makes groups may know them."""
    if "distinct" not in groups.kept:
        # A copy that may be written to: kernels are compiled once more for arrays that may not.
        begins, held = groups.basket_indptr.copy(), used_items(groups.items, len(groups.vocabulary))
        groups.kept["distinct"] = distinct_baskets(begins, *held)
    found: Distinct = groups.kept["distinct"]
    return found


def shares_of(original: Baskets, groups: Groups) -> Floats:
    """For each published basket, who of those with its public items holds a sensitive item of its group, as a share."""
    return shares_and_members(original, groups)[0]


def shares_and_members(original: Baskets, groups: Groups) -> tuple[Floats, Distinct]:
    """The shares of `shares_of`, and the distinct baskets of the groups."""
    number = {item: code for code, item in enumerate(groups.vocabulary)}
    secret = flagged(original.sensitive, len(original.vocabulary))
    code = np.array([number.get(item, -1) for item in original.vocabulary], dtype=np.int32)
    if (code[original.supports > 0] < 0).any():
        raise BadData("the release lacks items of the original; give the original that it was made from.")
    ends, hidden = sensitive_items(original)
    width = len(groups.vocabulary)
    members = distinct_members(groups)
    before = public_baskets(original)
    held_by = np.where(secret, 0, original.supports)
    same = (
        (
            np.bincount(groups.items, minlength=width),
            np.bincount(code[held_by > 0], held_by[held_by > 0], width),
        ),
        (members.counts, before.counts),
        (members.indptr, before.indptr),
        (members.items, before.items),
    )
    if not all(np.array_equal(*both) for both in same):
        raise BadData(
            "the release holds other baskets than the original; give the one that it was made from."
        )

    # One line for each basket of public items and each set of sensitive ones that goes with it.
    telling = np.flatnonzero(np.diff(ends))
    of_set = numbered(ragged_ranks(np.append(ends[telling], ends[-1]), hidden))
    sets = int(of_set.max(initial=-1)) + 1
    pairs, example, times = np.unique(
        before.of_row[telling] * sets + of_set, return_index=True, return_counts=True
    )
    begin = indptr_by(pairs // max(sets, 1), len(before))
    # Nobody is right about a group without sensitive items.
    asked = np.flatnonzero(np.repeat(np.diff(groups.sensitive_indptr) > 0, groups.sizes))
    begin_of, lines = taken(begin, members.of_row[asked])
    owner = np.repeat(asked, np.diff(begin_of))
    held_begin, held = taken(ends, telling[example[lines]])
    secrets = owners(groups.sensitive_indptr) * width + groups.sensitive_items
    group = owners(groups.group_indptr)[owner]
    keys = np.repeat(group, np.diff(held_begin)) * width + code[hidden[held]]
    place = np.minimum(np.searchsorted(secrets, keys), max(len(secrets) - 1, 0))
    hits = indptr_of(secrets[place] == keys) if len(keys) else np.zeros(1, dtype=np.int64)
    right = hits[held_begin[1:]] > hits[held_begin[:-1]]
    sums = np.bincount(owner, right * times[lines], len(members.of_row))
    return sums / members.counts[members.of_row], members


def largest(groups: Groups) -> Mask:
    """The members of each group with most public items."""
    lengths = np.diff(groups.basket_indptr)
    most: Mask = lengths == np.repeat(np.maximum.reduceat(lengths, groups.group_indptr[:-1]), groups.sizes)
    return most


def central(groups: Groups) -> Mask:
    """The members of each group with most items in common with the others, each other member counted apart."""
    common, _ = common_items(groups)
    most: Mask = common == np.repeat(np.maximum.reduceat(common, groups.group_indptr[:-1]), groups.sizes)
    return most


def common_items(groups: Groups) -> tuple[Counts, Counts]:
    """How many items each member has in common with the others, each counted apart; and how many with none of them."""
    if is_eager() or (are_loaded() and len(groups.items) >= MANY):
        from shoal.kernels.postings import common_in_groups

        return common_in_groups(
            groups.group_indptr, groups.basket_indptr, groups.items, len(groups.vocabulary)
        )
    group = np.repeat(np.arange(len(groups)), groups.sizes)
    basket = np.repeat(np.arange(len(group)), np.diff(groups.basket_indptr))
    keys = group[basket] * max(len(groups.vocabulary), 1) + groups.items
    _, of, counts = np.unique(keys, return_inverse=True, return_counts=True)
    common = np.bincount(basket, counts[of] - 1, len(group)).astype(np.int64)
    return common, np.bincount(basket, counts[of] == 1, len(group)).astype(np.int64)
