"""Disassociation of baskets in parts.

The top of HORPART divides baskets by their most frequent items. For baskets in parts, the supports in all baskets take
that role: baskets are sorted by their items, most frequent first, and cut into ranges, so that baskets of a range share
their most frequent items. Each range goes to one worker, which does everything that is done in memory. A range with
fewer than k baskets is joined with its neighbor. With a single range the release is the same as in memory, except for
which of several equal baskets come together, which is random.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from shoal.arrays import Counts
from shoal.data._basket_frames import baskets_in, cells_of
from shoal.data._basket_orders import sort_keys
from shoal.data._range_partition import KEY, RANGE, ranges_of, rows_at_once
from shoal.data._set_keys import tree_keys
from shoal.data.baskets import Baskets
from shoal.data.clusters import Clusters
from shoal.data.dataset import NOTE, Dataset, Parts, noted, notes_of
from shoal.engines.distributed import Distributed

if TYPE_CHECKING:
    import polars

    Frame: TypeAlias = polars.DataFrame

Divide: TypeAlias = Callable[[int, Baskets], tuple[Clusters, dict[str, Any]]]

LINE = "line"


def cluster_parts(
    data: Dataset,
    supports: Counts,
    k: int,
    engine: Distributed,
    divide: Divide,
) -> tuple[Parts, int, list[dict[str, Any]]]:
    """Divide baskets in parts into clusters.

    `supports`: how many baskets hold each item. `k`: the fewest baskets of a part. `divide`: takes the number of a part
    and its baskets, and returns their clusters and notes as plain data. Returns the lines of trees in canonical order,
    how many there are, and the notes of each part.
    """
    import polars as pl

    schema = data.schema
    shown = np.ones(len(schema.vocabulary), dtype=np.bool_)
    shown[schema.sensitive] = False

    def keyed(frame: "Frame") -> "Frame":
        public = baskets_in(frame, schema).keep(shown)
        keys = sort_keys("lexicographic", public.indptr, public.items, supports[shown])
        return frame.with_columns(cells_of(KEY, *keys))

    def work(frame: "Frame") -> "Frame":
        baskets = baskets_in(frame, schema)
        # If work is repeated, the rows may come in another order.
        return _lines(baskets.take(baskets.canonical_order()), int(frame[RANGE][0]), divide)

    lists = {"items": pl.List(pl.Int32), KEY: pl.List(pl.Int32)}
    size = max(rows_at_once(engine.memory, data.rows, int(supports.sum())), k)
    ranges = ranges_of(data.parts.map(keyed, lists), data.rows, size, least=k)
    made = ranges.parts.group(RANGE, work, {KEY: pl.List(pl.Int32), LINE: pl.String, NOTE: pl.String}).keep()
    count, notes = notes_of(made)
    return made.sort([KEY]).map(lambda frame: frame.select(LINE), {LINE: pl.String}), count, notes


def _lines(baskets: Baskets, part: int, divide: Divide) -> "Frame":
    """The trees of one part's baskets as keys and lines, with the notes of the part next to the first."""
    import polars as pl

    from shoal.io.releases.set_lines import tree_lines

    clusters, said = divide(part, baskets)
    # Clusters number only the items of their own baskets, but keys are compared across parts.
    codes = np.flatnonzero(baskets.supports).astype(np.int32)
    everywhere = replace(clusters, items=codes[clusters.items], terms=codes[clusters.terms])
    lines = pl.Series(LINE, tree_lines(clusters), dtype=pl.String)
    return noted(pl.DataFrame([cells_of(KEY, *tree_keys(everywhere)), lines]), said)


def empty_clusters(baskets: Baskets) -> Clusters:
    """Clusters without any cluster; the vocabulary is that of the baskets."""
    none, begin = np.empty(0, dtype=np.int32), np.zeros(1, dtype=np.int64)
    sizes = np.empty(0, dtype=np.int64)
    return Clusters(none, sizes, begin, begin, begin, none, begin, none, baskets.vocabulary)
