"""How surely a sensitive item can be guessed by somebody who knows a few public items of a basket."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.arrays import Items
from shoal.data.baskets import Baskets

WORK = 30_000_000
"""Pairs of items that are counted at most, over all baskets and sensitive items; beyond it one known item must do."""


@dataclass(frozen=True, slots=True)
class Breach:
    """The surest guess of a sensitive item."""

    share: float  # the share of the baskets with the known items that hold it
    secret: str
    known: tuple[str, ...]
    """`secret`, `known`: the sensitive item, and the known ones."""
    most_known: int  # how many known items were tried at most


def surest_guess(baskets: Baskets, known: int) -> Breach | None:
    """The sensitive item that is most frequent among the baskets with the same known public items.

    Parameters
    ----------
    known
        The most items that the reader knows; at most two are tried, and one where pairs are too many.

    Returns
    -------
    None where nothing is sensitive, or there are no baskets.
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
    found = [_by_nothing(baskets, secrets)]
    if tried >= 1 and len(baskets.public):
        found.append(_by_one(baskets, public, secrets, tried))
    if tried >= 2 and len(baskets.public) > 1:
        found += _by_two(baskets, public.tocsr(), secrets, tried)
    best = max(found, key=lambda entry: (entry.share, -len(entry.known)))
    return Breach(best.share, best.secret, best.known, tried)


def _pairs(public: Any, secrets: Any) -> int:
    """How many pairs of public items stand in baskets, counted for all of them and for each sensitive item."""
    squares = np.diff(public.tocsr().indptr).astype(np.int64) ** 2
    holders = np.asarray(secrets.sum(axis=1)).ravel()
    return int((squares * (1 + holders)).sum())


def _by_nothing(baskets: Baskets, secrets: Any) -> Breach:
    held = np.asarray(secrets.sum(axis=0)).ravel() / len(baskets)
    place = int(held.argmax())
    return Breach(float(held[place]), _text(baskets, baskets.sensitive, place), (), 0)


def _by_one(baskets: Baskets, public: Any, secrets: Any, tried: int) -> Breach:
    together = (public.T @ secrets).tocoo()
    if not together.nnz:
        return Breach(0.0, _text(baskets, baskets.sensitive, 0), (), tried)
    shares = together.data / np.asarray(public.sum(axis=0)).ravel()[together.row]
    place = int(shares.argmax())
    secret = _text(baskets, baskets.sensitive, int(together.col[place]))
    return Breach(
        float(shares[place]), secret, (_text(baskets, baskets.public, int(together.row[place])),), tried
    )


def _by_two(baskets: Baskets, public: Any, secrets: Any, tried: int) -> list[Breach]:
    """The surest pair of each sensitive item."""
    from scipy.sparse import triu

    inverse = triu(public.T @ public, 1).tocsr()
    inverse.data = 1.0 / inverse.data
    found = []
    for place in range(secrets.shape[1]):
        holders = np.sort(secrets.indices[secrets.indptr[place] : secrets.indptr[place + 1]])
        held = public[holders]
        shares = triu(held.T @ held, 1).tocsr().multiply(inverse).tocoo()
        if shares.nnz:
            best = int(shares.data.argmax())
            pair = (int(shares.row[best]), int(shares.col[best]))
            known = tuple(_text(baskets, baskets.public, item) for item in pair)
            found.append(
                Breach(float(shares.data[best]), _text(baskets, baskets.sensitive, place), known, tried)
            )
    return found


def _text(baskets: Baskets, codes: Items, place: int) -> str:
    return baskets.vocabulary[int(codes[place])]
