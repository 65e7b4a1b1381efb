"""What keeps sensitive items from being learned in a class: no share of them above h among who holds the same items."""

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations

import numpy as np

from shoal.arrays import Codes, Mask, Rows, flagged
from shoal.data.baskets import Baskets

Held = list[tuple[frozenset[int], frozenset[int]]]
"""Of each row of a class the public nodes, and the sensitive items."""


def coherent(
    sets: Baskets, nodes: Codes, known: Mask, order: Rows, starts: Rows, m: int, h: Fraction, out: int
) -> Codes:
    """The nodes, with what tells too much left out.

    A sensitive item that too many rows of a class hold is left out in that class. Then public nodes are, always the one
    that stands in the most combinations of up to m whose rows hold a sensitive item too often; that changes nothing
    about the other combinations.

    `nodes`: of each occurrence, `out` where it is left out. `known`: the items that an adversary may know.
    """
    found = nodes.copy()
    secret = flagged(sets.sensitive, len(sets.vocabulary))
    for begin, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        places = [np.arange(sets.indptr[row], sets.indptr[row + 1]) for row in order[begin:end].tolist()]
        held: Held = [
            (
                frozenset(found[own[known[sets.items[own]] & (found[own] != out)]].tolist()),
                frozenset(sets.items[own[secret[sets.items[own]]]].tolist()),
            )
            for own in places
        ]
        secrets, public = _telling(held, m, h)
        for own in places if secrets or public else ():
            items = sets.items[own]
            gone = np.isin(items, list(secrets)) & secret[items]
            gone |= np.isin(found[own], list(public)) & known[items]
            found[own[gone]] = out
    return found


def _telling(held: Held, m: int, h: Fraction) -> tuple[set[int], set[int]]:
    """The sensitive items and the public nodes to leave out in a class."""
    shares = Counter(item for _, secrets in held for item in secrets)
    secrets = {item for item, count in shares.items() if count > h * len(held)}
    supports: Counter[tuple[int, ...]] = Counter()
    learned: Counter[tuple[tuple[int, ...], int]] = Counter()
    for public, own in held:
        left = own - secrets
        for some in _combinations(public, m):
            supports[some] += 1
            learned.update((some, item) for item in left)
    broken = {some for (some, _), count in learned.items() if count > h * supports[some]}
    gone: set[int] = set()
    while broken:
        often = Counter(node for some in broken for node in some)
        worst = max(often, key=lambda node: (often[node], -supports[(node,)], -node))
        gone.add(worst)
        broken = {some for some in broken if worst not in some}
    return secrets, gone


def _combinations(public: Iterable[int], m: int) -> Iterable[tuple[int, ...]]:
    ordered = sorted(public)
    return (some for size in range(1, m + 1) for some in combinations(ordered, size))
