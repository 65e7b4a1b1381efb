"""Baskets published in clusters of chunks (disassociation)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from shoal.arrays import Codes, Counts, Indptr, Items, Mask, Rows, freeze, frozen, indptr_of, owners
from shoal.data._plain_text import counted


@dataclass(frozen=True, slots=True)
class Cluster:
    """One published cluster."""

    size: int  # the number of its baskets
    chunks: tuple[tuple[tuple[str, ...], ...], ...]
    """Sub-records by chunk; those of a joint cluster are shared by its parts."""
    terms: tuple[str, ...] = ()  # items of which only the presence is published
    parts: "tuple[Cluster, ...]" = ()  # the clusters that a joint cluster consists of; none for a simple one


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """A forest of clusters. A simple cluster is a leaf; a joint cluster has parts and only shared chunks."""

    parents: Codes
    """The joint cluster that a cluster is a part of; -1 for the root of a tree. Parts follow their joint cluster."""
    sizes: Counts
    """The number of baskets of a simple cluster; 0 for a joint one, whose size is that of its parts."""
    chunk_indptr: Indptr
    """The chunks of cluster c are ``chunk_indptr[c]:chunk_indptr[c + 1]``: record chunks of a simple cluster, shared
    chunks of a joint one."""
    record_indptr: Indptr
    """Sub-records of chunk i are ``record_indptr[i]:record_indptr[i + 1]``. Empty sub-records are not listed."""
    item_indptr: Indptr
    items: Items
    """`item_indptr`, `items`: sub-record r is ``items[item_indptr[r]:item_indptr[r + 1]]``."""
    term_indptr: Indptr
    terms: Items
    """`term_indptr`, `terms`: the term chunk of each cluster: a set without counts, empty for a joint cluster."""
    vocabulary: tuple[str, ...]  # the text of each item, in ascending order
    unsorted: Rows = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """Clusters in which the items of a sub-record, or the terms, did not ascend when they were read. Here they do."""
    canonical: bool = field(default=False, init=False, repr=False)
    """Whether the clusters are already in canonical order, so that they are not sorted again."""
    _chunk_items: tuple[Rows, Items, Counts] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        places = ("chunk_indptr", "record_indptr", "item_indptr", "term_indptr")
        freeze(self, np.int64, "sizes", *places, "unsorted")
        freeze(self, np.int32, "parents", "items", "terms")

    def __len__(self) -> int:
        return len(self.parents)

    def __iter__(self) -> Iterator[Cluster]:
        """The clusters that are published on lines of their own, with the texts of their items (see `count`)."""
        inside = np.flatnonzero(self.parents >= 0)
        order = inside[np.argsort(self.parents[inside], kind="stable")]
        begin = np.searchsorted(self.parents[order], np.arange(len(self) + 1))
        for root in np.flatnonzero(self.parents < 0):
            yield self._cluster(int(root), order, begin)

    def _cluster(self, place: int, order: Rows, begin: Rows) -> Cluster:
        """One cluster; its parts are ``order[begin[place]:begin[place + 1]]``."""
        text = self.vocabulary.__getitem__

        def chunk(number: int) -> tuple[tuple[str, ...], ...]:
            records = range(self.record_indptr[number], self.record_indptr[number + 1])
            return tuple(
                tuple(map(text, self.items[self.item_indptr[one] : self.item_indptr[one + 1]]))
                for one in records
            )

        parts = tuple(self._cluster(int(one), order, begin) for one in order[begin[place] : begin[place + 1]])
        terms = self.terms[self.term_indptr[place] : self.term_indptr[place + 1]]
        return Cluster(
            int(self.sizes[place]) + sum(part.size for part in parts),
            tuple(map(chunk, range(self.chunk_indptr[place], self.chunk_indptr[place + 1]))),
            tuple(map(text, terms)),
            parts,
        )

    def __repr__(self) -> str:
        items = counted(len(self.vocabulary), "items")
        return f"<Clusters: {counted(self.count, 'clusters')}{self.made_of()}, {items}>"

    @property
    def count(self) -> int:
        """The number of clusters that are published on lines of their own: all that are not part of a joint one."""
        return int((self.parents < 0).sum())

    @property
    def joint(self) -> int:
        """How many of these clusters are joint."""
        return int(((self.parents < 0) & (self.sizes == 0)).sum())

    @property
    def simple(self) -> int:
        """The number of simple clusters, on their own or as parts."""
        return int((self.sizes > 0).sum())

    def made_of(self) -> str:
        """What the published clusters consist of, in words to follow their number."""
        joint = f", {self.joint:,} of them joint, made of {self.simple:,} simple ones" if self.joint else ""
        return f" of {int(self.sizes.sum()):,} baskets{joint}"

    @property
    def depths(self) -> Counts:
        """How many joint clusters contain each cluster."""
        depths = np.zeros(len(self), dtype=np.int64)
        above = self.parents.astype(np.int64)
        while (inside := above >= 0).any():
            depths += inside
            above[inside] = self.parents[above[inside]]
        return depths

    @property
    def spans(self) -> tuple[Rows, Counts]:
        """The first row and the number of rows of each cluster, if baskets are numbered tree by tree.

        The rows of a joint cluster are those of its parts.
        """
        return self.laid(self.sizes)

    @property
    def levels(self) -> list[Rows]:
        """The clusters of each depth, beginning with the roots."""
        depths = self.depths
        return [np.flatnonzero(depths == depth) for depth in range(int(depths.max(initial=-1)) + 1)]

    def laid(self, own: Counts, ahead: int = 0) -> tuple[Rows, Counts]:
        """Lay out clusters one after another: where each begins and how much room it takes, including its parts.

        `own`: the room that each needs for itself, around its parts. `ahead`: how much of it comes before the parts.
        """
        levels = self.levels
        counts = own.copy()
        for level in reversed(levels[1:]):
            np.add.at(counts, self.parents[level], counts[level])
        first = np.zeros(len(self), dtype=np.int64)
        for level in levels:
            order = level[np.argsort(self.parents[level], kind="stable")]
            before = np.cumsum(counts[order]) - counts[order]
            above = self.parents[order]
            start = np.concatenate(([True], above[1:] != above[:-1]))
            base = before[np.maximum.accumulate(np.where(start, np.arange(len(order)), 0))]
            first[order] = before - base + np.where(above >= 0, first[above] + ahead, 0)
        return first, counts

    @property
    def owners(self) -> Rows:
        """The cluster of each chunk."""
        return owners(self.chunk_indptr)

    def chunk_items(self, wanted: Mask | None = None) -> tuple[Rows, Items, Counts]:
        """The distinct items of each chunk: the chunk, the item, and how many of its sub-records hold it.

        `wanted`: a mask of the chunks to look at; all by default.
        """
        if self._chunk_items is None:
            width = max(len(self.vocabulary), 1)
            keys = owners(self.item_indptr[self.record_indptr]) * width + self.items
            keys, supports = np.unique(keys, return_counts=True)
            found = keys // width, (keys % width).astype(np.int32), supports
            object.__setattr__(self, "_chunk_items", tuple(map(frozen, found)))
        assert self._chunk_items is not None
        chunk, item, supports = self._chunk_items
        if wanted is None:
            return chunk, item, supports
        kept = np.flatnonzero(wanted[chunk])
        return chunk[kept], item[kept], supports[kept]

    def shared_above(self, clusters: Rows, items: Items) -> tuple[Rows, Rows]:
        """Find the shared chunks of enclosing joint clusters that hold given items of given clusters.

        Returns for each match the shared chunk, and the position of the cluster and item in the arguments.
        """
        width = max(len(self.vocabulary), 1)
        chunk, item, _ = self.chunk_items(self.sizes[self.owners] == 0)
        keys = self.owners[chunk] * width + item
        by_key = np.argsort(keys, kind="stable")
        keys, chunk = keys[by_key], chunk[by_key]
        place = np.arange(len(clusters))
        above = self.parents[clusters].astype(np.int64)
        chunks, places = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        while len(place := place[above >= 0]):
            above = above[above >= 0]
            wanted = above * width + items[place]
            found = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
            same = keys[found] == wanted if len(keys) else np.zeros(len(place), dtype=np.bool_)
            chunks.append(chunk[found[same]])
            places.append(place[same])
            above = self.parents[above].astype(np.int64)
        return np.concatenate(chunks), np.concatenate(places)


def together(parts: Sequence[Clusters]) -> Clusters:
    """Join several forests into one, tree after tree in the given order, with one vocabulary."""
    vocabulary = tuple(sorted({item for one in parts for item in one.vocabulary}))
    place = {item: code for code, item in enumerate(vocabulary)}
    names = [np.array([place[item] for item in one.vocabulary], dtype=np.int32) for one in parts]
    before = np.cumsum([0, *(len(one) for one in parts)])[:-1].tolist()

    def indptr(name: str) -> Indptr:
        return indptr_of(np.concatenate([np.diff(getattr(one, name)) for one in parts]))

    return Clusters(
        np.concatenate(
            [
                np.where(one.parents >= 0, one.parents + begin, -1)
                for one, begin in zip(parts, before, strict=True)
            ]
        ),
        np.concatenate([one.sizes for one in parts]),
        indptr("chunk_indptr"),
        indptr("record_indptr"),
        indptr("item_indptr"),
        np.concatenate([own[one.items] for one, own in zip(parts, names, strict=True)]),
        indptr("term_indptr"),
        np.concatenate([own[one.terms] for one, own in zip(parts, names, strict=True)]),
        vocabulary,
        np.concatenate([one.unsorted + begin for one, begin in zip(parts, before, strict=True)]),
    )
