"""What disassociation hides, and what it gives away."""

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from tests.methods.test_disassociation import baskets_of, some_sets
from tests.naive.disassociation import leaves_of
from tests.naive.published_sets import clusters_of

from shoal.data.clusters import Clusters
from shoal.data.release import Release
from shoal.errors import BadData
from shoal.measures.chunks import Chunks
from shoal.methods.disassociation.method import Disassociation
from shoal.risks._certain_links import certain_links

TREES = [
    {
        "size": 4,
        "chunks": [[["a"], ["a"], ["a", "b"], ["a", "b"]], [["c"], ["c"], ["c"]]],
        "terms": ["d", "e"],
    },
    {"size": 3, "chunks": [[["a"]] * 3], "terms": []},
    {"size": 3, "chunks": [[["a"]] * 2, [["c"]] * 2], "terms": []},
]
BASKETS = [("a", "c", "d"), ("a", "c", "e"), ("a", "b", "c"), ("a", "b", "d")]
BASKETS += [("a",)] * 3 + [("a",), ("a", "c"), ("c",)]


def test_by_hand() -> None:
    """A is in all four baskets of the first cluster: c, d and e are linked with it; b and c must meet."""
    release = Release(clusters_of(TREES), "disassociation", {}, ())
    scores = {score.name: score.value for score in Chunks().scores(baskets_of(BASKETS), release)}
    assert scores == {
        "term_chunk_share": pytest.approx(3 / 19),
        "certain_links": 3,
        "certain_clusters": 1,
        "forced_links": 2,
        "largest_linked_share": 1.0,
    }


def test_another_original_is_refused() -> None:
    with pytest.raises(BadData, match="10 baskets, but the original has 9"):
        Chunks().scores(baskets_of(BASKETS[1:]), Release(clusters_of(TREES), "disassociation", {}, ()))


@given(some_sets(4, 25))
def test_links_like_counting_pairs(sets: list[Any]) -> None:
    release, _ = Disassociation(k=2, m=2, max_cluster_size=6).anonymize(baskets_of(sets))
    data = release.data
    assert isinstance(data, Clusters)
    certain = forced = 0
    for cluster in _plain(data):
        supports = [
            {item: sum(item in record for record in chunk) for record in chunk for item in record}
            for chunk in cluster["chunks"]
        ]
        size = cluster["size"]
        for place, one in enumerate(supports):
            others = [
                *cluster["terms"],
                *(item for far, other in enumerate(supports) if far != place for item in other),
            ]
            certain += sum(support == size for support in one.values()) * len(others)
            for other in supports[place + 1 :]:
                forced += sum(
                    max(pair) < size and sum(pair) > size for pair in product(one.values(), other.values())
                )
    links = certain_links(data)
    assert (links.links, links.forced) == (certain, forced)


def _plain(data: Clusters) -> list[dict[str, Any]]:
    found = []
    for cluster in range(len(data)):
        chunks = [
            [
                data.items[data.item_indptr[record] : data.item_indptr[record + 1]].tolist()
                for record in range(data.record_indptr[chunk], data.record_indptr[chunk + 1])
            ]
            for chunk in range(data.chunk_indptr[cluster], data.chunk_indptr[cluster + 1])
        ]
        terms = data.terms[data.term_indptr[cluster] : data.term_indptr[cluster + 1]].tolist()
        if data.sizes[cluster]:
            found.append({"size": int(data.sizes[cluster]), "chunks": chunks, "terms": terms})
    assert all(leaves_of(one) == [one] for one in found)
    return found
