"""Shoal's order of the same name, found without the graph."""

from typing import Any

import numpy as np

from benchmarks.peers.sides import _bms1

DISTRIBUTIONS = ("shoal", "numpy", "numba")


def load() -> Any:
    """The baskets."""
    from shoal.io.baskets.load import read_baskets

    return read_baskets(_bms1.FILE)


def work(loaded: Any) -> Any:
    """The order of the baskets."""
    from shoal.data._basket_orders import distinct_baskets, orders_of

    distinct = distinct_baskets(loaded.indptr, loaded.items, len(loaded.vocabulary))
    (order,) = orders_of("rcm", distinct)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return np.argsort(place[distinct.of_row], kind="stable")


def found(loaded: Any, result: Any) -> dict[str, Any]:
    """How far the baskets of an item lie apart."""
    place = np.empty(len(loaded), dtype=np.int64)
    place[result] = np.arange(len(place))
    at = np.repeat(place, np.diff(loaded.indptr))
    by_item = np.lexsort((at, loaded.items))
    ends = np.cumsum(np.bincount(loaded.items, minlength=len(loaded.vocabulary)))
    sorted_places = at[by_item]
    spans = sorted_places[ends - 1] - sorted_places[np.concatenate(([0], ends[:-1]))]
    return {"mean span of an item": float(spans.mean()), "bandwidth": int(spans.max())}
