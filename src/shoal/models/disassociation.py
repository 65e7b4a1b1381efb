"""What published clusters of chunks must keep, so that k baskets are candidates for who knows m items."""

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from shoal.arrays import Mask, Rows, flagged, grouped, summed, taken
from shoal.data._plain_text import counted
from shoal.data._promise_words import UNNAMED, percent
from shoal.data.baskets import ragged_ranks
from shoal.data.clustered_table import ClusteredTable
from shoal.data.clusters import Clusters
from shoal.data.release import Published
from shoal.data.verdict import SHOWN, Offender, Verdict, early
from shoal.models._release_checks import disordered_chunks, early_clusters
from shoal.models.km_anonymity import rarest
from shoal.models.model import Evidence, LineModel, Part

BELOW = "an item of the shared chunk stands in a chunk below it"

Found = tuple[list[Offender], int]
"""The worst places, and how many there are."""


class Disassociated(LineModel):
    """For any m items of a basket, some original that fits what is published has k baskets with all of them.

    Proved from what is published alone, by conditions that suffice:

    - no cluster has fewer than k baskets;
    - every combination of 1 up to m items in a record chunk stands in at least k of its sub-records, and so in a shared
      chunk whose items stand in no chunk below it;
    - in any other shared chunk each sub-record stands at least k times, and every part of the joint cluster has room
      for k of each beside all that differ from it;
    - a cluster that names no terms has enough sub-records that none of its baskets need be empty:
      ``sum |C| >= |P| + k (max(1, min(m, v)) - 1)`` for v record chunks. Only a cluster on its own that holds nothing
      at all is left out: it says that its baskets are empty;
    - no item stands in two chunks of a cluster, and no chunk has more sub-records than its cluster has baskets;
    - everything ascends, so that no order tells anything: items, sub-records, chunks, terms, parts and clusters;
    - sensitive items stand in term chunks alone, so that nothing published goes with them, and some of those that are
      named is published.

    Of a table whose items are in clusters, all of it is kept inside each class: every cluster is of one class, and the
    clusters of a class have as many baskets as it has rows. So who knows all quasi-identifiers too is no better off.
    """

    name: ClassVar[str] = "disassociation"
    accepts: ClassVar[tuple[type, ...]] = (Clusters, ClusteredTable)
    paper: ClassVar[str] = (
        "Terrovitis, Liagouris, Mamoulis, Skiadopoulos: Privacy preservation by disassociation. PVLDB 5(10), 2012"
    )

    k: int = Field(ge=2, description="how many baskets are candidates at least")
    m: int = Field(ge=1, description="how many items of a basket an adversary knows")
    safe: float = Field(
        default=1,
        gt=0,
        le=1,
        description="the largest share of a cluster that may hold an item which can be linked with another chunk; 1 is "
        "no limit",
    )
    sensitive: tuple[str, ...] = Field(
        default=(),
        description="the items that stand in term chunks alone, so that nothing published goes with them",
    )

    def sentence(self, of: str, known: str) -> str:
        """The promise for readers who know no model by its name."""
        secrets = len(self.sensitive)
        first, who = ("", "basket") if known == UNNAMED else (f"{known} and ", "person")
        named = f" No {who} can be linked to the {secrets} sensitive items." if secrets else ""
        safe = (
            f" No item that can be linked with others is in more than {percent(self.safe)} of its cluster."
            if self.safe < 1
            else ""
        )
        return (
            f"Someone who knows {first}up to {self.m} items of a person cannot rule out that {self.k} {who}s hold all "
            f"of them.{safe}{named}"
        )

    def examine(self, published: Published, part: Part | None = None) -> Evidence:
        """Test every condition on every cluster and chunk."""
        if isinstance(published, ClusteredTable):
            return self.examine(published.clusters, Part("the items")).joined(_torn_classes(published))
        assert isinstance(published, Clusters)
        places = _Places(published, "" if part is None else f" of {part.name}")
        overlapping = _overlapping(published)
        rare, count, least = self._rare_combinations(published, places, overlapping)
        found = [
            (rare, count),
            self._rare_sub_records(published, places, overlapping),
            self._small_clusters(published, places),
            self._empty_baskets(published, places),
            _large_chunks(published, places),
            _repeated_items(published, places),
            _disorder(published, places, lines=part is None),
        ]
        if self.safe < 1:
            found.append(self._links(published, places))
        if self.sensitive:
            found.append(self._secrets(published, places))
        sizes = published.sizes[published.sizes > 0]
        smallest = [int(sizes.min()), *(() if least is None else (least,))] if len(sizes) else []
        offenders = [(-float(turn), one) for turn, (some, _) in enumerate(found) for one in some]
        return Evidence(
            tuple(offenders[:SHOWN]),
            sum(number for _, number in found),
            lowest={"size": min(smallest)} if smallest else {},
            names=self.published_secrets(published),
        )

    def conclude(self, evidence: Evidence) -> Verdict:
        """One broken condition is enough."""
        promise = (
            f"for any {counted(self.m, 'items')} of a basket there may be {self.k} baskets with all of them"
        )
        if self.safe < 1:
            promise += f", and no item is held by more than {self.safe:g} of a cluster it can be linked in"
        if self.sensitive:
            promise += f", and the sensitive items ({len(self.sensitive)}) stand in term chunks alone"
        absent = self.unpublished(evidence)
        return self.concluded(evidence, promise, evidence.lowest.get("size"), self.k, absent)

    def _rare_combinations(
        self, clusters: Clusters, places: "_Places", overlapping: Mask
    ) -> tuple[list[Offender], int, int | None]:
        chunk = np.repeat(np.arange(len(overlapping)), np.diff(clusters.record_indptr))
        kept = ~overlapping[chunk]
        lengths = np.diff(clusters.item_indptr)
        indptr = np.concatenate(([0], np.cumsum(lengths[kept])))
        found = rarest(chunk[kept], indptr, clusters.items[np.repeat(kept, lengths)], self.k, self.m)
        return (
            [
                Offender(
                    f"{places.chunk(one.group)}: {places.items(one.items)}",
                    f"{counted(one.support, 'sub-records')} where {self.k} are promised",
                )
                for one in found.worst
            ],
            found.count,
            found.least,
        )

    def _rare_sub_records(self, clusters: Clusters, places: "_Places", overlapping: Mask) -> Found:
        chunk = np.repeat(np.arange(len(overlapping)), np.diff(clusters.record_indptr))
        record = np.flatnonzero(overlapping[chunk])
        if not len(record):
            return [], 0
        indptr, entries = taken(clusters.item_indptr, record)
        ranks = ragged_ranks(indptr, clusters.items[entries])
        first, _, counts = grouped(chunk[record] * len(record) + ranks)
        few = np.flatnonzero(counts < self.k)
        offenders = []
        for place in few[:SHOWN]:
            one = record[first[place]]
            items = clusters.items[clusters.item_indptr[one] : clusters.item_indptr[one + 1]]
            why = f"the sub-record stands {counts[place]} times where {self.k} are promised, because {BELOW}"
            offenders.append(Offender(f"{places.chunk(int(chunk[one]))}: {places.items(items)}", why))
        group = chunk[record[first]]
        least = np.full(len(overlapping), 2**62)
        np.minimum.at(least, group, counts)
        room = self.k + np.diff(clusters.record_indptr) - least
        smallest = _smallest_part(clusters)[clusters.owners]
        tight, number = _listed(
            np.flatnonzero(overlapping & (smallest < room)),
            lambda one: Offender(
                places.chunk(one),
                f"a part of {counted(int(smallest[one]), 'baskets')} where {room[one]} are needed, because {BELOW}",
            ),
        )
        return offenders + tight, len(few) + number

    def _small_clusters(self, clusters: Clusters, places: "_Places") -> Found:
        simple = np.bincount(clusters.parents + 1, minlength=len(clusters) + 1)[1:] == 0
        return _listed(
            np.flatnonzero(simple & (clusters.sizes < self.k)),
            lambda one: Offender(
                places.cluster(one),
                f"{counted(int(clusters.sizes[one]), 'baskets')} where {self.k} are promised",
            ),
        )

    def _empty_baskets(self, clusters: Clusters, places: "_Places") -> Found:
        """Clusters without terms whose sub-records are too few.

        A cluster on its own that holds nothing at all says that its baskets are empty: there is nothing to know.
        """
        chunks = np.diff(clusters.chunk_indptr)
        records = np.bincount(
            clusters.owners, weights=np.diff(clusters.record_indptr), minlength=len(clusters)
        ).astype(np.int64)
        enough = clusters.sizes + self.k * (np.clip(chunks, 1, self.m) - 1)
        bare = (np.diff(clusters.term_indptr) == 0) & (clusters.sizes > 0)
        nothing = (chunks == 0) & (clusters.parents < 0)
        return _listed(
            np.flatnonzero(bare & ~nothing & (records < enough)),
            lambda one: Offender(
                places.cluster(one),
                f"{counted(int(records[one]), 'sub-records')} where {enough[one]} are needed, because it names no "
                "terms",
            ),
        )

    def _secrets(self, clusters: Clusters, places: "_Places") -> Found:
        """Sensitive items in record chunks and in shared ones."""
        secret = np.isin(
            np.array(clusters.vocabulary, dtype=np.str_), np.array(self.sensitive, dtype=np.str_)
        )
        chunk, item, support = clusters.chunk_items()
        return _listed(
            np.flatnonzero(secret[item]),
            lambda one: Offender(
                f"{places.chunk(int(chunk[one]))}: {places.items([int(item[one])])}",
                f"the item is sensitive, and stands in {counted(int(support[one]), 'sub-records')}",
            ),
        )

    def _links(self, clusters: Clusters, places: "_Places") -> Found:
        """Items of record chunks that too large a share of their cluster holds, where there is something to link."""
        share = Fraction(str(self.safe))
        chunk, item, support = clusters.chunk_items()
        owner = clusters.owners[chunk]
        joined = (clusters.parents >= 0) | (clusters.sizes == 0)
        others = (
            np.bincount(owner, minlength=len(clusters))[owner]
            - np.bincount(chunk, minlength=len(clusters.record_indptr))[chunk]
            + np.diff(clusters.term_indptr)[owner]
        )
        linked = (others > 0) | joined[owner]
        size = clusters.spans[1][owner]
        too_many = linked & (support * share.denominator > share.numerator * size)
        return _listed(
            np.flatnonzero(too_many),
            lambda one: Offender(
                f"{places.chunk(int(chunk[one]))}: {places.items([int(item[one])])}",
                f"{support[one]} of {counted(int(size[one]), 'baskets')} where a share of {self.safe:g} is promised",
            ),
        )


class _Places:
    """How to name clusters and chunks: by the line of the file, and their number in it."""

    def __init__(self, clusters: Clusters, inside: str) -> None:
        self.clusters, self.inside = clusters, inside
        self.line = np.cumsum(clusters.parents < 0)

    def cluster(self, cluster: int) -> str:
        above = int(self.clusters.parents[cluster])
        if above < 0:
            return f"cluster {self.line[cluster]}{self.inside}"
        number = int((self.clusters.parents[: cluster + 1] == above).sum())
        return f"part {number} of {self.cluster(above)}"

    def ahead(self, cluster: int) -> int:
        """The cluster ahead of another one, on the line or among the parts of the same joint cluster."""
        above = self.clusters.parents[cluster]
        return int(np.flatnonzero(self.clusters.parents[:cluster] == above)[-1])

    def chunk(self, chunk: int) -> str:
        cluster = int(np.searchsorted(self.clusters.chunk_indptr, chunk, side="right")) - 1
        kind = "chunk" if self.clusters.sizes[cluster] > 0 else "shared chunk"
        return f"{kind} {chunk - int(self.clusters.chunk_indptr[cluster]) + 1} of {self.cluster(cluster)}"

    def items(self, items: Any) -> str:
        return "{" + ", ".join(self.clusters.vocabulary[item] for item in items) + "}"


def _listed(places: Rows, offender: Any) -> Found:
    return [offender(int(place)) for place in places[:SHOWN]], len(places)


def _torn_classes(published: ClusteredTable) -> Evidence:
    """Classes whose clusters have more or fewer baskets than there are rows."""
    classes, sizes = published.classes, published.line_sizes
    baskets = summed(classes.number[published.holders], sizes, len(classes))
    torn = np.flatnonzero(baskets != classes.sizes)
    found = [
        Offender(
            published.words(int(classes.first[place])),
            f"{counted(int(classes.sizes[place]), 'rows')}, and its clusters have "
            f"{counted(int(baskets[place]), 'baskets')}",
        )
        for place in torn[:SHOWN].tolist()
    ]
    return Evidence(tuple((1.0, one) for one in found), len(torn))


def _overlapping(clusters: Clusters) -> Mask:
    """Which chunks are shared ones that hold an item of a chunk below."""
    chunk, item, _ = clusters.chunk_items()
    above, _ = clusters.shared_above(clusters.owners[chunk], item)
    return flagged(above, len(clusters.record_indptr) - 1)


def _smallest_part(clusters: Clusters) -> Rows:
    """The size of the smallest simple cluster of each."""
    smallest = np.where(clusters.sizes > 0, clusters.sizes, 2**62)
    depths = clusters.depths
    for depth in range(int(depths.max(initial=0)), 0, -1):
        level = np.flatnonzero(depths == depth)
        np.minimum.at(smallest, clusters.parents[level], smallest[level])
    return smallest


def _large_chunks(clusters: Clusters, places: _Places) -> Found:
    """Chunks with more sub-records than their cluster has baskets."""
    records = np.diff(clusters.record_indptr)
    baskets = clusters.spans[1][clusters.owners]
    return _listed(
        np.flatnonzero(records > baskets),
        lambda one: Offender(
            places.chunk(one),
            f"{counted(int(records[one]), 'sub-records')}, and the cluster has "
            f"{counted(int(baskets[one]), 'baskets')}",
        ),
    )


def _repeated_items(clusters: Clusters, places: _Places) -> Found:
    """Items in two chunks of one cluster, or in a chunk and in the terms of the same cluster or of a part of it."""
    chunk, item, _ = clusters.chunk_items()
    width = max(len(clusters.vocabulary), 1)
    keys = clusters.owners[chunk] * width + item
    order = np.argsort(keys, kind="stable")
    again = order[1:][keys[order[1:]] == keys[order[:-1]]]
    holder = np.repeat(np.arange(len(clusters)), np.diff(clusters.term_indptr))
    terms = np.sort(holder * width + clusters.terms)
    named = np.searchsorted(terms, keys, side="right") > np.searchsorted(terms, keys)
    shared, term = clusters.shared_above(holder, clusters.terms)
    pairs = [
        (int(chunk[one]), int(item[one])) for one in np.concatenate((again, np.flatnonzero(named)))[:SHOWN]
    ]
    pairs += [
        (int(one), int(clusters.terms[two])) for one, two in zip(shared[:SHOWN], term[:SHOWN], strict=True)
    ]
    offenders = [
        Offender(f"{places.chunk(one)}: {places.items([two])}", "the item stands in another chunk too")
        for one, two in pairs
    ]
    return offenders, len(again) + int(named.sum()) + len(shared)


def _disorder(clusters: Clusters, places: _Places, *, lines: bool) -> Found:
    """What does not ascend: any other order may tell which of different chunks belong together.

    The order of the trees is looked at only where all lines are there, in their order.
    """
    mixed, late = disordered_chunks(clusters)
    found = [
        _listed(mixed, lambda one: Offender(places.chunk(one), "the sub-records are not in ascending order")),
        _listed(
            clusters.unsorted,
            lambda one: Offender(
                places.cluster(one), "the items of a sub-record or the terms are not in ascending order"
            ),
        ),
        _listed(late, lambda one: Offender(places.chunk(one), early("chunk", places.chunk(one - 1)))),
        _listed(
            early_clusters(clusters, lines=lines),
            lambda one: Offender(places.cluster(one), early("cluster", places.cluster(places.ahead(one)))),
        ),
    ]
    return [one for some, _ in found for one in some], sum(number for _, number in found)
