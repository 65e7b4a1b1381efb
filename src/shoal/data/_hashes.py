"""Hashes that are the same on every machine, so that workers agree on where a row belongs.

The hashes of libraries change between versions, and not all workers of a cluster need to have the same version.
"""

from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import AnyArray, Indptr, Items, mixed

if TYPE_CHECKING:
    import polars


def list_hashes(indptr: Indptr, items: Items) -> AnyArray:
    """The hash of each ragged row; rows with the same items have the same hash."""
    sums = np.zeros(len(items) + 1, dtype=np.uint64)
    np.cumsum(mixed(items), out=sums[1:])
    return mixed(sums[indptr[1:]] - sums[indptr[:-1]])


def text_hashes(texts: "polars.Series") -> AnyArray:
    """The hash of each text; a missing text has that of the empty one.

    >>> import polars as pl
    >>> first, second, third = text_hashes(pl.Series(["ab", "ba", "ab"])).tolist()
    >>> first == third, first == second
    (True, False)
    """
    import polars as pl

    from shoal.data._frames import filled, is_coded, of_each

    whole = filled(texts)
    if is_coded(whole):
        return of_each(whole, _of_letters)
    distinct = whole.unique()
    if 2 * len(distinct) > len(whole):
        return _of_letters(whole)
    places = whole.cast(pl.Enum(distinct)).to_physical().to_numpy()
    return np.asarray(_of_letters(distinct)[places])


def _of_letters(texts: "polars.Series") -> AnyArray:
    """The hash of each text, computed from its bytes."""
    lengths = texts.str.len_bytes().to_numpy().astype(np.int64)
    letters = np.frombuffer("".join(texts.to_list()).encode(), dtype=np.uint8).astype(np.uint64)
    begins = np.cumsum(lengths) - lengths
    place = (np.arange(len(letters)) - np.repeat(begins, lengths)).astype(np.uint64)
    sums = np.zeros(len(letters) + 1, dtype=np.uint64)
    np.cumsum(mixed(letters + np.uint64(256) * place), out=sums[1:])
    return mixed(sums[begins + lengths] - sums[begins])
