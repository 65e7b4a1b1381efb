"""How surely a sensitive item can be guessed by somebody who knows a few public items of a basket."""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from shoal.data.baskets import Baskets

WORK = 30_000_000
"""Most pairs of items that are counted, over all baskets and sensitive items; with more, one known item is tried."""


@dataclass(frozen=True, slots=True)
class Breach:
    """The surest guess of a sensitive item."""

    share: float  # the share of the baskets with the known items that hold it
    secret: str
    known: tuple[str, ...]
    """`secret`, `known`: the sensitive item, and the known ones."""
    most_known: int  # how many known items were tried at most


Guess: TypeAlias = tuple[float, int, tuple[int, ...]]
"""A guess: its share, the position of the sensitive item, and the positions of the known ones among the public."""


def surest_guess(baskets: Baskets, known: int) -> Breach | None:
    """The sensitive item that is most frequent among the baskets with the same known public items.

    `known`: the most items that the reader knows; at most two are tried, and one where pairs are too many. None where
    nothing is sensitive, or there are no baskets.
    """
    from scipy.sparse import csr_array

    if not len(baskets) or not len(baskets.sensitive):
        return None
    ones = np.ones(len(baskets.items), dtype=np.float64)
    whole = csr_array(
        (ones, baskets.items, baskets.indptr), shape=(len(baskets), len(baskets.vocabulary))
    ).tocsc()
    public, secrets = whole[:, baskets.public], whole[:, baskets.sensitive]
    tried = min(known, 2 if _pairs(public, secrets) <= WORK else 1)
    held = np.asarray(secrets.sum(axis=0)).ravel() / len(baskets)
    found: list[Guess] = [(float(held.max()), int(held.argmax()), ())]
    if tried >= 1 and len(baskets.public):
        found += _by_one(public, secrets)
    if tried >= 2 and len(baskets.public) > 1:
        found += _by_two(public.tocsr(), secrets)
    share, secret, given = max(found, key=lambda guess: (guess[0], -len(guess[2])))
    texts = tuple(baskets.vocabulary[baskets.public[item]] for item in given)
    return Breach(share, baskets.vocabulary[baskets.sensitive[secret]], texts, tried)


def _pairs(public: Any, secrets: Any) -> int:
    """How many pairs of public items stand in baskets, counted for all of them and for each sensitive item."""
    squares = np.diff(public.tocsr().indptr).astype(np.int64) ** 2
    holders = np.asarray(secrets.sum(axis=1)).ravel()
    return int((squares * (1 + holders)).sum())


def _by_one(public: Any, secrets: Any) -> list[Guess]:
    """The surest guess from one known item."""
    together = (public.T @ secrets).tocoo()
    if not together.nnz:
        return []
    shares = together.data / np.asarray(public.sum(axis=0)).ravel()[together.row]
    best = int(shares.argmax())
    return [(float(shares[best]), int(together.col[best]), (int(together.row[best]),))]


def _by_two(public: Any, secrets: Any) -> list[Guess]:
    """For each sensitive item, the surest guess from two known items."""
    from scipy.sparse import triu

    inverse = triu(public.T @ public, 1).tocsr()
    inverse.data = 1.0 / inverse.data
    found: list[Guess] = []
    for place in range(secrets.shape[1]):
        holders = np.sort(secrets.indices[secrets.indptr[place] : secrets.indptr[place + 1]])
        held = public[holders]
        shares = triu(held.T @ held, 1).tocsr().multiply(inverse).tocoo()
        if shares.nnz:
            best = int(shares.data.argmax())
            found.append((float(shares.data[best]), place, (int(shares.row[best]), int(shares.col[best]))))
    return found
