"""Disassociation: against its naive twin, on public data, and the guarantee itself on tiny data."""

import json
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import disassociation as naive
from tests.naive.published_sets import canonical_clusters

import shoal
from shoal.data._ties import tie_order
from shoal.data.baskets import Baskets
from shoal.data.clusters import Clusters
from shoal.errors import WrongUse
from shoal.io.baskets.load import read_baskets
from shoal.io.releases.set_lines import write_clusters
from shoal.kernels import _jit
from shoal.kernels._compiling import eagerly
from shoal.methods.disassociation.method import Disassociation
from shoal.models.disassociation import Disassociated
from shoal.outcome import judge
from shoal.risks._certain_links import certain_links

ITEMS = "abcdefg"


def baskets_of(sets: list[tuple[str, ...]], sensitive: str = "") -> Baskets:
    vocabulary = sorted({item for one in sets for item in one})
    code = {item: place for place, item in enumerate(vocabulary)}
    return Baskets(
        np.concatenate(([0], np.cumsum([len(one) for one in sets]))),
        np.array([code[item] for one in sets for item in sorted(one)], dtype=np.int32),
        tuple(vocabulary),
        np.array([code[item] for item in vocabulary if item in sensitive], dtype=np.int32),
        np.empty(0, dtype=np.int32),
    )


def lines(clusters: Clusters, path: Path) -> list[str]:
    write_clusters(clusters, path)
    return path.read_text().splitlines()


def published(clusters: Clusters, path: Path) -> list[dict[str, Any]]:
    """Clusters as nested lists, sub-records as tuples."""

    def plain(cluster: dict[str, Any]) -> dict[str, Any]:
        name = "shared" if "joint" in cluster else "chunks"
        cluster[name] = [[tuple(record) for record in chunk] for chunk in cluster[name]]
        for part in cluster.get("joint", []):
            plain(part)
        return cluster

    return [plain(json.loads(line)) for line in lines(clusters, path)]


def some_sets(least: int, most: int, longest: int = 7, empty: bool = True) -> st.SearchStrategy[Any]:
    one = st.sets(st.sampled_from(ITEMS[:longest]), min_size=0 if empty else 1).map(
        lambda s: tuple(sorted(s))
    )
    return st.lists(one, min_size=least, max_size=most)


def occurrences(clusters: Clusters, baskets: Baskets) -> None:
    """No basket and no item is lost, and what is counted is counted right."""
    assert clusters.sizes.sum() == len(baskets)
    assert set(clusters.vocabulary) == {baskets.vocabulary[item] for item in np.unique(baskets.items)}
    held = Counter(clusters.vocabulary[item] for item in clusters.items)
    named = Counter(clusters.vocabulary[item] for item in clusters.terms)
    for item, support in zip(baskets.vocabulary, baskets.supports.tolist(), strict=True):
        assert held[item] + named[item] <= support
        assert (held[item] == support) or named[item]


@given(some_sets(8, 60), st.integers(2, 4), st.integers(1, 3), st.sampled_from([1.0, 0.5]))
@settings(max_examples=30)
def test_plain_python_does_what_kernels_do(
    tmp_path_factory: pytest.TempPathFactory, sets: list[Any], k: int, m: int, safe: float
) -> None:
    """The same bytes, whichever of them is at work."""
    method, found = Disassociation(k=k, m=m, safe=safe), []
    for context in (eagerly(), nullcontext()):
        with pytest.MonkeyPatch.context() as patch, context:
            patch.setattr(_jit, "_is_ready", lambda kernel: False)
            release, _ = method.anonymize(baskets_of(sets, "a"))
        found.append(lines(release.data, tmp_path_factory.mktemp("clusters") / "clusters.jsonl"))
    assert found[0] == found[1]


@given(
    some_sets(3, 24),
    st.integers(2, 4),
    st.integers(1, 3),
    st.integers(0, 8),
    st.booleans(),
    st.sampled_from(["", "a", "cg"]),
)
@settings(max_examples=150)
def test_like_the_naive_twin(
    tmp_path_factory: pytest.TempPathFactory,
    sets: list[tuple[str, ...]],
    k: int,
    m: int,
    more: int,
    refine: bool,
    sensitive: str,
) -> None:
    sets = sets * (1 if len(sets) >= k else k)
    method = Disassociation(k=k, m=m, max_cluster_size=k + more, refine=refine, safe=1, swaps=0)
    baskets = baskets_of(sets, sensitive)
    release, _ = method.anonymize(baskets, seed=more)
    assert isinstance(release.data, Clusters)
    path = tmp_path_factory.mktemp("twin") / "data.jsonl"
    sets = [sets[row] for row in tie_order(len(sets), more)]
    expected = naive.disassociate(sets, k, m, k + more, frozenset(sensitive), refine)
    assert lines(release.data, path) == canonical_clusters(expected)
    occurrences(release.data, baskets)
    assert all(naive.keeps(tree, k, m) for tree in published(release.data, path))


@pytest.mark.parametrize("seed", range(60))
def test_like_the_naive_twin_in_deep_trees(tmp_path: Path, seed: int) -> None:
    """Frequent and rare items mixed, so that joint clusters are joined again, over items of chunks below."""
    random = Random(seed)
    items = "abcdefghijkl"[: random.randint(5, 12)]
    shares = [random.choice([0.05, 0.15, 0.3, 0.6]) for _ in items]
    sets = [
        tuple(item for item, share in zip(items, shares, strict=True) if random.random() < share)
        for _ in range(random.randint(20, 70))
    ]
    k, m = random.randint(2, 6), random.randint(1, 4)
    size = k + random.randint(0, 6)
    method = Disassociation(k=k, m=m, max_cluster_size=size, safe=1, swaps=0)
    release, _ = method.anonymize(baskets_of(sets, "a"), seed=seed)
    assert isinstance(release.data, Clusters)
    sets = [sets[row] for row in tie_order(len(sets), seed)]
    expected = naive.disassociate(sets, k, m, size, frozenset("a"), True)
    assert lines(release.data, tmp_path / "data.jsonl") == canonical_clusters(expected)
    assert Disassociated(k=k, m=m).verify(release.data)


@given(
    some_sets(5, 40),
    st.integers(2, 5),
    st.integers(1, 3),
    st.sampled_from(["merge", "pool"]),
    st.sampled_from([0.5, 0.75, 0.9, 1.0]),
    st.booleans(),
    st.sampled_from([0, 1, 4]),
)
@settings(max_examples=200)
def test_every_option_keeps_the_promise(
    tmp_path_factory: pytest.TempPathFactory,
    sets: list[tuple[str, ...]],
    k: int,
    m: int,
    small: Any,
    safe: float,
    refine: bool,
    swaps: int,
) -> None:
    method = Disassociation(
        k=k, m=m, max_cluster_size=k + 2, small=small, safe=safe, refine=refine, swaps=swaps
    )
    release, trace = method.anonymize(baskets_of(sets, "b"))
    assert isinstance(release.data, Clusters)
    assert method.models()[0].verify(release.data)
    trees = published(release.data, tmp_path_factory.mktemp("options") / "data.jsonl")
    assert all(naive.keeps(tree, k, m) for tree in trees)
    assert release.data.sizes[release.data.sizes > 0].min() >= k
    assert sorted(trace.rows.tolist()) == list(range(len(sets)))
    if safe < 1:
        assert trace.notes["certain_links"]["links"] == 0
        assert trace.notes["certain_links"]["largest_share"] <= safe
    else:
        assert trace.notes["suppressed_occurrences"] == 0
        occurrences(release.data, baskets_of(sets))


@given(some_sets(4, 7, 5, empty=False), st.booleans())
@settings(max_examples=60)
def test_some_original_has_k_candidates(
    tmp_path_factory: pytest.TempPathFactory, sets: list[tuple[str, ...]], refine: bool
) -> None:
    """The guarantee itself, over all originals that fit what is published."""
    release, _ = Disassociation(k=2, m=2, max_cluster_size=3, refine=refine, safe=1).anonymize(
        baskets_of(sets)
    )
    assert isinstance(release.data, Clusters)
    for tree in published(release.data, tmp_path_factory.mktemp("originals") / "data.jsonl"):
        assert naive.guarantees(tree, 2, 2, limit=5_000) is not False


@given(some_sets(4, 20))
def test_rows_are_those_of_the_clusters(sets: list[tuple[str, ...]]) -> None:
    release, trace = Disassociation(k=2, max_cluster_size=4, refine=False, safe=1).anonymize(baskets_of(sets))
    data = release.data
    assert isinstance(data, Clusters)
    for cluster, (start, count) in enumerate(zip(*data.spans, strict=True)):
        chunks = data.record_indptr[data.chunk_indptr[cluster : cluster + 2]]
        begin, end = data.item_indptr[chunks]
        codes = [
            *data.items[begin:end],
            *data.terms[data.term_indptr[cluster] : data.term_indptr[cluster + 1]],
        ]
        held = {item for row in trace.rows[start : start + count] for item in sets[row]}
        assert {data.vocabulary[code] for code in codes} == held


def test_refining_joins_clusters_that_hide_the_same_items() -> None:
    """The two clusters of the dissertation's figure 6; ikea and ruby stand in the term chunks of both."""
    first = [
        ("flu", "ikea", "itunes", "madonna", "ruby"),
        ("audi a4", "flu", "ikea", "madonna", "ruby", "sony tv"),
        ("audi a4", "itunes", "madonna", "sony tv", "viagra"),
        ("flu", "itunes"),
        ("audi a4", "flu", "itunes", "madonna", "sony tv"),
    ]
    second = [
        ("digital camera", "ikea", "madonna", "ruby"),
        ("ikea", "iphone sdk", "madonna", "panic disorder", "ruby"),
        ("digital camera", "iphone sdk", "madonna", "playboy"),
        ("digital camera", "iphone sdk"),
        ("digital camera", "iphone sdk", "madonna"),
    ]
    baskets = baskets_of(first + second)
    baskets = baskets.take(baskets.canonical_order())
    release = _refined(baskets, [first, second], k=3, m=2)
    [joint] = np.flatnonzero(release.sizes == 0)
    shared = release.record_indptr[release.chunk_indptr[joint] : release.chunk_indptr[joint + 1] + 1]
    records = [
        tuple(release.vocabulary[item] for item in release.items[begin:end])
        for begin, end in zip(
            release.item_indptr[shared[0] : shared[-1]], release.item_indptr[shared[0] + 1 :], strict=False
        )
    ]
    assert records == [("ikea", "ruby")] * 4
    terms = {release.vocabulary[item] for item in release.terms}
    assert terms == {"viagra", "panic disorder", "playboy"}
    assert Disassociated(k=3, m=2).verify(release)
    assert not Disassociated(k=5, m=2).verify(release)


def _refined(baskets: Baskets, clusters: list[list[tuple[str, ...]]], k: int, m: int) -> Clusters:
    """Vertical partitioning and refining of given clusters."""
    from shoal.engines.local import Local
    from shoal.methods.disassociation._horpart import Parts
    from shoal.methods.disassociation._publish import publish
    from shoal.methods.disassociation._refine import refine
    from shoal.methods.disassociation._verpart import verpart

    rows = [baskets.basket(row) for row in range(len(baskets))]
    order = [rows.index(tuple(sorted(basket))) for cluster in clusters for basket in cluster]
    starts = np.cumsum([0, *(len(cluster) for cluster in clusters)])
    parts = Parts(np.array(order), starts)
    nobody = np.zeros(len(baskets.vocabulary), dtype=np.bool_)
    chunks = verpart(baskets, nobody, parts, k, m, Fraction(1), Local(threads=1))
    return publish(baskets, parts, refine(baskets, nobody, parts, chunks, k, m, Fraction(1)))[0]


def test_sensitive_items_are_named_only() -> None:
    sets = [("a", "b", "z")] * 6 + [("a", "z")] * 6
    release, _ = Disassociation(k=2, max_cluster_size=4).anonymize(baskets_of(sets, "z"))
    assert isinstance(release.data, Clusters)
    secret = release.data.vocabulary.index("z")
    assert secret not in release.data.items
    assert secret in release.data.terms
    assert release.promises[0]["sensitive"] == ["z"]
    assert all(verdict.holds for verdict in judge(release))
    careless, _ = Disassociation(k=2, max_cluster_size=4).anonymize(baskets_of(sets))
    assert not judge(replace(careless, promises=release.promises))[0].holds


def test_certain_links_are_counted() -> None:
    """All four baskets of the one cluster hold a: whoever holds the rare b or c holds a too."""
    sets = [("a", "b"), ("a", "c"), ("a",), ("a",)]
    release, trace = Disassociation(k=2, max_cluster_size=5, swaps=0, safe=1).anonymize(baskets_of(sets))
    assert trace.notes["certain_links"] == {"clusters": 1, "links": 2, "forced": 0, "largest_share": 1.0}
    safe, trace = Disassociation(k=2, max_cluster_size=5, swaps=0, safe=0.75).anonymize(baskets_of(sets))
    assert trace.notes["suppressed_occurrences"] == 1
    assert isinstance(safe.data, Clusters)
    assert certain_links(safe.data).links == 0
    assert isinstance(release.data, Clusters)
    assert not Disassociated(k=2, m=2, safe=0.75).verify(release.data)


def test_no_link_is_certain_unless_asked_for() -> None:
    """The paper's form, which leaves them, is safe=1."""
    random = np.random.default_rng(4)
    sets = [tuple(np.array(list("abcdefgh"))[random.random(8) < 0.4]) for _ in range(200)]
    release, trace = Disassociation(k=3).anonymize(baskets_of(sets))
    assert trace.notes["certain_links"]["links"] == 0
    assert (release.parameters["safe"], release.promises[0]["safe"]) == (0.9, 0.9)
    assert "no item is held by more than 0.9" in judge(release)[0].promise
    paper, trace = Disassociation(k=3, safe=1).anonymize(baskets_of(sets))
    assert trace.notes["certain_links"]["links"] > 0
    assert "held by more than" not in judge(paper)[0].promise


def test_a_cluster_size_below_k_is_wrong_use() -> None:
    with pytest.raises(WrongUse, match="at least k"):
        shoal.anonymize(baskets_of([("a",)] * 9), "disassociation", k=5, max_cluster_size=4)


@pytest.mark.parametrize(("k", "m", "size"), [(2, 3, 6), (5, 2, 11), (20, 1, 40), (20, 2, 30)])
@pytest.mark.parametrize(
    "name", ["bms-webview-1/bms-webview-1.dat.gz", "bms-webview-2/bms-webview-2.dat.gz", "fimi/retail.dat.gz"]
)
def test_public_data(public_data: Callable[[str], Path], name: str, k: int, m: int, size: int) -> None:
    baskets = _public(public_data(name))
    method = Disassociation(k=k, m=m, max_cluster_size=size, safe=1)
    release, trace = method.anonymize(baskets)
    assert isinstance(release.data, Clusters)
    assert method.models()[0].verify(release.data)
    assert release.data.sizes[release.data.sizes > 0].min() >= k
    assert trace.notes["hidden_share"] < trace.notes["unrefined_hidden_share"]
    occurrences(release.data, baskets)


_READ: dict[Path, Baskets] = {}


def _public(path: Path) -> Baskets:
    if path not in _READ:
        _READ[path] = read_baskets(path)
    return _READ[path]
