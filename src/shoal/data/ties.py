"""A secret random order for rows that tie.

Where a method has to part rows whose public values are equal, the choice must tell nothing: neither their sensitive nor
their insensitive values may decide it, nor the order of the input. So rows come into a random order first, drawn with a
key that is not published, and are sorted by their public values after that, stably.
"""

import secrets

import numpy as np

from shoal.arrays import Rows

_TIES = 0x7165


def tie_key(seed: int | None) -> int:
    """The key that the order of ties is drawn with: the seed, or a new secret where none is given.

    A release never names it. Whoever gives a seed has to keep it secret.
    """
    return secrets.randbits(62) if seed is None else seed


def tie_order(rows: int, seed: int | None) -> Rows:
    """All rows in a random order that depends on their number and the key alone.

    >>> sorted(tie_order(4, seed=1).tolist())
    [0, 1, 2, 3]
    """
    return np.random.default_rng([_TIES, tie_key(seed)]).permutation(rows)
