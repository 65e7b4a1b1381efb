"""A secret random order for rows that tie.

Where a method has to separate rows whose public values are equal, the choice must disclose nothing: neither their
sensitive nor their insensitive values may decide it, nor the order of the input. So rows are first put into a random
order, drawn with a key that is not published, and then sorted stably by their public values.

Rows in parts have no fixed order: a worker that repeats its work may get them in another one. They are sorted by all
their values before the draw. Since the draw makes every order equally likely, this discloses nothing either, as long as
the key is secret.
"""

import secrets

import numpy as np

from shoal.arrays import Rows
from shoal.data.baskets import Baskets, ragged_ranks

_TIES = 0x7165


def tie_key(seed: int | None) -> int:
    """The key with which the order of ties is drawn: the seed, or a new secret if none is given.

    A release never contains it. Whoever gives a seed has to keep it secret.
    """
    return secrets.randbits(62) if seed is None else seed


def tie_order(rows: int, seed: int | None) -> Rows:
    """All rows in a random order that depends only on their number and the key.

    >>> sorted(tie_order(4, seed=1).tolist())
    [0, 1, 2, 3]
    """
    return np.random.default_rng([_TIES, tie_key(seed)]).permutation(rows)


def part_key(seed: int, part: int) -> int:
    """The key of one of several parts, so that ties of different parts are drawn independently."""
    return int(np.random.SeedSequence([_TIES, seed, part]).generate_state(1, np.uint64)[0])


def public_order(baskets: Baskets, seed: int | None) -> Rows:
    """The baskets in ascending order of their lists of items that are not sensitive; ties are in random order."""
    shown = np.ones(len(baskets.vocabulary), dtype=np.bool_)
    shown[baskets.sensitive] = False
    public = baskets.keep(shown)
    ties = tie_order(len(baskets), seed)
    return ties[np.argsort(ragged_ranks(public.indptr, public.items)[ties], kind="stable")]
