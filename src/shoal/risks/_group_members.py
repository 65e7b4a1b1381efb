"""The members of published groups: who holds what, and who stands out."""

import numpy as np

from shoal.arrays import Counts, Floats, Mask, Rows, flagged, indptr_of, owners, taken
from shoal.data._basket_orders import Distinct, distinct_baskets, numbered, used_items
from shoal.data.baskets import Baskets, ragged_ranks
from shoal.data.groups import Groups
from shoal.errors import BadData
from shoal.kernels._compiling import are_loaded, is_eager


def distinct_members(groups: Groups, of_row: Rows | None = None) -> Distinct:
    """The distinct baskets of groups, of items that somebody holds.

    `of_row`: the number of each published basket among them, where it is known.
    """
    items, used = used_items(groups.items, len(groups.vocabulary))
    return distinct_baskets(groups.basket_indptr, items, used, of_row)


def shares_of(original: Baskets, groups: Groups) -> Floats:
    """For each published basket, who of those with its public items holds a sensitive item of its group, as a share."""
    return shares_and_kinds(original, groups)[0]


def shares_and_kinds(original: Baskets, groups: Groups) -> tuple[Floats, Rows]:
    """The shares of `shares_of`, and the number of each published basket among the distinct ones, in their order."""
    number = {item: code for code, item in enumerate(groups.vocabulary)}
    secret = flagged(original.sensitive, len(original.vocabulary))
    code = np.array([number.get(item, -1) for item in original.vocabulary], dtype=np.int64)
    if (code[original.items] < 0).any():
        raise BadData("the release lacks items of the original; give the original that it was made from.")
    hidden = secret[original.items]
    ends = indptr_of(hidden)[original.indptr]
    public_indptr = original.indptr - ends
    published = len(groups.basket_indptr) - 1
    both = np.concatenate((groups.basket_indptr, groups.basket_indptr[-1] + public_indptr[1:]))
    ranks = ragged_ranks(both, np.concatenate((groups.items.astype(np.int64), code[original.items[~hidden]])))
    of = numbered(ranks)
    contents = int(of.max(initial=-1)) + 1
    members, rows = of[:published], of[published:]
    counts = np.bincount(rows, minlength=contents)
    if (np.bincount(members, minlength=contents) != counts).any():
        raise BadData(
            "the release holds other baskets than the original; give the one that it was made from."
        )

    # One line for each basket of public items and each set of sensitive ones that goes with it.
    of_set = numbered(ragged_ranks(ends, original.items[hidden]))
    sets = int(of_set.max(initial=-1)) + 1
    pairs, example, times = np.unique(rows * sets + of_set, return_index=True, return_counts=True)
    begin = np.searchsorted(pairs, np.arange(contents + 1) * sets)
    begin_of, lines = taken(begin, members)
    owner = np.repeat(np.arange(published), np.diff(begin_of))
    held_begin, held = taken(ends, example[lines])
    group = np.repeat(np.arange(len(groups)), groups.sizes)
    width = len(groups.vocabulary)
    secrets = owners(groups.sensitive_indptr) * width + groups.sensitive_items
    keys = np.repeat(group[owner], np.diff(held_begin)) * width + code[original.items[hidden][held]]
    place = np.minimum(np.searchsorted(secrets, keys), max(len(secrets) - 1, 0))
    hits = indptr_of(secrets[place] == keys) if len(keys) else np.zeros(1, dtype=np.int64)
    right = hits[held_begin[1:]] > hits[held_begin[:-1]]
    return np.bincount(owner, right * times[lines], published) / counts[members], members


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
    if are_loaded() or is_eager():
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
