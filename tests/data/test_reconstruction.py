"""Datasets that a disassociated release could have been made from."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.test_disassociation import baskets_of, some_sets
from tests.naive.disassociation import items_below, leaves_of
from tests.naive.published_sets import clusters_of

from shoal.data._reconstruct import draw_distinct, reconstruct
from shoal.data.clusters import Clusters
from shoal.errors import BadData
from shoal.io.releases.set_lines import read_clusters
from shoal.methods.disassociation.method import Disassociation


def fits(tree: dict[str, Any], baskets: list[set[str]]) -> bool:
    """Whether baskets, leaf by leaf, fit a tree: chunks are the projections, and terms occur."""
    leaves = leaves_of(tree)
    begin = 0
    for leaf in leaves:
        rows = baskets[begin : begin + leaf["size"]]
        begin += leaf["size"]
        for chunk in leaf["chunks"]:
            items = {item for record in chunk for item in record}
            held = Counter(tuple(sorted(row & items)) for row in rows if row & items)
            if held != Counter(map(tuple, chunk)):
                return False
        if any(not any(term in row for row in rows) for term in leaf["terms"]):
            return False
    return begin == len(baskets)


def shared_fit(tree: dict[str, Any], baskets: list[set[str]]) -> bool:
    """Whether shared chunks are the projections of those leaves that do not hold the items in chunks of their own."""
    begin = 0
    for part in tree.get("joint", []):
        size = sum(leaf["size"] for leaf in leaves_of(part))
        if not shared_fit(part, baskets[begin : begin + size]):
            return False
        begin += size
    for chunk in tree.get("shared", []):
        items = {item for record in chunk for item in record}
        held: Counter[tuple[str, ...]] = Counter()
        for row, barred in zip(baskets, _barred(tree), strict=True):
            if not barred & items and row & items:
                held[tuple(sorted(row & items))] += 1
        if held != Counter(map(tuple, chunk)):
            return False
    return True


def _barred(tree: dict[str, Any]) -> list[set[str]]:
    """For each basket of a joint cluster the items of chunks below that it may be in."""

    def own(cluster: dict[str, Any], above: set[str]) -> list[set[str]]:
        held = {
            item
            for chunk in cluster.get("chunks", cluster.get("shared"))
            for record in chunk
            for item in record
        }
        if "joint" not in cluster:
            return [above | held] * cluster["size"]
        return [items for part in cluster["joint"] for items in own(part, above | held)]

    return [items for part in tree["joint"] for items in own(part, set())]


def plain(clusters: Clusters, cluster: int) -> dict[str, Any]:
    texts = clusters.vocabulary
    chunks = [
        [
            tuple(
                texts[item]
                for item in clusters.items[clusters.item_indptr[record] : clusters.item_indptr[record + 1]]
            )
            for record in range(clusters.record_indptr[chunk], clusters.record_indptr[chunk + 1])
        ]
        for chunk in range(clusters.chunk_indptr[cluster], clusters.chunk_indptr[cluster + 1])
    ]
    parts = np.flatnonzero(clusters.parents == cluster)
    if len(parts):
        return {"joint": [plain(clusters, int(part)) for part in parts], "shared": chunks}
    terms = clusters.terms[clusters.term_indptr[cluster] : clusters.term_indptr[cluster + 1]]
    return {"size": int(clusters.sizes[cluster]), "chunks": chunks, "terms": [texts[item] for item in terms]}


@given(some_sets(4, 30, empty=False), st.integers(2, 4), st.booleans(), st.integers(0, 99))
@settings(max_examples=100)
def test_what_is_drawn_fits_what_is_published(sets: list[Any], k: int, refine: bool, seed: int) -> None:
    release, _ = Disassociation(k=k, m=2, max_cluster_size=k + 2, refine=refine).anonymize(baskets_of(sets))
    assert isinstance(release.data, Clusters)
    drawn = reconstruct(release.data, seed)
    rows = [set(drawn.basket(row)) for row in range(len(drawn))]
    assert len(rows) == len(sets)
    assert all(rows)
    first, counts = release.data.spans
    for tree in np.flatnonzero(release.data.parents < 0).tolist():
        nested = plain(release.data, tree)
        part = rows[first[tree] : first[tree] + counts[tree]]
        assert fits(nested, part)
        assert shared_fit(nested, part)


def test_no_basket_is_empty_where_sub_records_suffice() -> None:
    tree = {"size": 4, "chunks": [[["a"], ["a"]], [["b"], ["b"]]], "terms": []}
    for seed in range(50):
        assert reconstruct(clusters_of([tree]), seed).lengths.tolist() == [1, 1, 1, 1]


def test_shared_chunks_pass_over_parts_with_the_item() -> None:
    """Only the second part and the last two baskets have room for t."""
    first = {"size": 3, "chunks": [[["t"], ["t"]]], "terms": ["z"]}
    second = {"size": 2, "chunks": [[["u"]]], "terms": ["z"]}
    inner = {"joint": [{"size": 4, "chunks": [[["t"]]], "terms": ["q"]}, second], "shared": [[["v"]]]}
    tree = {"joint": [first, inner, {"size": 2, "chunks": [], "terms": ["y"]}], "shared": [[["t"]] * 3]}
    assert items_below(tree) == {"t", "u", "v"}
    places: Counter[int] = Counter()
    for seed in range(200):
        drawn = reconstruct(clusters_of([tree]), seed)
        held = [row for row in range(len(drawn)) if "t" in drawn.basket(row)]
        assert (len([row for row in held if row < 3]), len([row for row in held if 3 <= row < 7])) == (2, 1)
        places.update(row for row in held if row >= 7)
    assert sorted(places) == [7, 8, 9, 10]
    assert min(places.values()) > 100


def test_the_seed_decides() -> None:
    clusters = clusters_of([{"size": 40, "chunks": [[["a"]] * 20, [["b"]] * 20], "terms": ["c"]}])
    one, same, other = (reconstruct(clusters, seed) for seed in (1, 1, 2))
    assert [one.basket(row) for row in range(40)] == [same.basket(row) for row in range(40)]
    assert [one.basket(row) for row in range(40)] != [other.basket(row) for row in range(40)]


@given(st.lists(st.integers(1, 40), max_size=20), st.integers(0, 99), st.data())
def test_drawn_numbers_differ(totals: list[int], seed: int, data: st.DataObject) -> None:
    wanted = [data.draw(st.integers(0, total)) for total in totals]
    random = np.random.default_rng(seed)
    drawn = draw_distinct(np.array(totals, dtype=np.int64), np.array(wanted, dtype=np.int64), random).tolist()
    for total, count in zip(totals, wanted, strict=True):
        some, drawn = drawn[:count], drawn[count:]
        assert len(set(some)) == count
        assert all(0 <= number < total for number in some)
    assert not drawn


def test_a_chunk_larger_than_its_cluster_has_no_original(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text('{"size": 1, "chunks": [[["a"], ["b"]]], "terms": []}\n')
    with pytest.raises(BadData, match="more sub-records"):
        reconstruct(read_clusters(path), seed=1)
