"""Baskets in parts, however they are cut, give what they give in memory."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.basket_cases import baskets_of, small_baskets
from tests.basket_losses import drawn, losses, refuse_greater
from tests.basket_parts import laid_out, read_back, text_of, text_of_parts
from tests.parts import MemoryEngine, parted_baskets

from shoal import registry
from shoal.data._ties import part_key
from shoal.data.baskets import Baskets
from shoal.data.dataset import Dataset
from shoal.data.release import Release
from shoal.datasets.shopping import Shopping
from shoal.engines.local import Local
from shoal.errors import Infeasible, WrongUse
from shoal.io.releases.set_lines import read_clusters, read_groups
from shoal.methods.cahd.method import Cahd
from shoal.methods.coherence.method import Coherence
from shoal.methods.disassociation.method import Disassociation
from shoal.methods.method import Method

SMALL = st.sampled_from([2_000, 6_000, 1 << 30])
"""Memory of a worker: for a few baskets, for some, for all."""


def both(
    method: Method, baskets: Baskets, seed: int, memory: int = 1 << 30
) -> tuple[Release, Release[Dataset]] | None:
    """The release of memory and that of parts; None if there is none, which is told in the same words.

    Ties of a single part are drawn from its own key, with the baskets in canonical order, whatever order they came in.
    """
    refused = None
    try:
        here, _ = method.anonymize(baskets.take(baskets.canonical_order()), seed=part_key(seed, 0))
    except Infeasible as error:
        refused = error
    if refused is not None:
        with pytest.raises(Infeasible) as other:
            method.anonymize(parted_baskets(baskets, seed), MemoryEngine(memory))
        assert (str(other.value), other.value.best) == (str(refused), refused.best)
        return None
    there, trace = method.anonymize(parted_baskets(baskets, seed), MemoryEngine(memory), seed)
    assert not len(trace.rows)
    assert (there.method, there.parameters, there.promises) == (here.method, here.parameters, here.promises)
    return here, there


@settings(max_examples=80)
@given(
    small_baskets(),
    st.integers(2, 4),
    st.integers(1, 4),
    st.sampled_from([0.3, 0.5, 0.8, 1.0]),
    st.integers(0, 99),
)
def test_coherence_is_that_of_memory(
    tmp_path_factory: pytest.TempPathFactory, baskets: Baskets, k: int, p: int, h: float, seed: int
) -> None:
    found = both(Coherence(h=h, k=k, p=p), baskets, seed)
    if found is not None:
        here, there = found
        assert text_of_parts(there.data) == text_of(here.data, tmp_path_factory.mktemp("here") / "data")
        assert isinstance(here.data, Baskets)
        assert there.data.schema.vocabulary == here.data.vocabulary
        assert there.data.schema.sensitive.tolist() == here.data.sensitive.tolist()
        assert there.data.rows == len(here.data)


@pytest.mark.parametrize("pick", ["1/il", "mm", "all", "optimal"])
def test_coherence_picks_the_same(tmp_path: Path, pick: Any) -> None:
    baskets = with_secrets(Shopping(rows=400, items=40, density=0.1).make(seed=1), 3)
    found = both(Coherence(h=0.5, k=5, p=3, pick=pick), baskets, 5)
    assert found is not None
    assert text_of_parts(found[1].data) == text_of(found[0].data, tmp_path / "data")


def test_coherence_of_many_sets_goes_slice_by_slice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from shoal.methods.coherence import _distributed as parted

    monkeypatch.setattr(parted, "CANDIDATES", 50)
    monkeypatch.setattr(parted, "ENTRIES", 20)
    baskets = with_secrets(Shopping(rows=600, items=30, density=0.15).make(seed=2), 3)
    found = both(Coherence(h=0.4, k=10, p=4), baskets, 7)
    assert found is not None
    assert text_of_parts(found[1].data) == text_of(found[0].data, tmp_path / "data")


@pytest.mark.parametrize("layout", ["lines", "lines:,", "spmf", "long:invoice,item", "column:things"])
def test_baskets_go_out_in_the_layout_they_came_in(tmp_path: Path, layout: str) -> None:
    found = both(
        Coherence(h=1, k=4, p=2), laid_out(Shopping(rows=300, items=20, density=0.1).make(seed=3), layout), 1
    )
    assert found is not None
    assert text_of_parts(found[1].data) == text_of(found[0].data, tmp_path / "data")


def test_a_matrix_is_not_written_in_parts() -> None:
    baskets = laid_out(Shopping(rows=50, items=5, density=0.3).make(seed=4), "matrix")
    with pytest.raises(WrongUse, match="convert it to lines"):
        Coherence(h=1, k=2, p=1).anonymize(parted_baskets(baskets), MemoryEngine())


@settings(max_examples=80)
@given(
    small_baskets(most_rows=40),
    st.integers(2, 3),
    st.sampled_from(["gray", "lexicographic"]),
    st.integers(0, 99),
    SMALL,
)
def test_blocks_are_those_of_memory(
    tmp_path_factory: pytest.TempPathFactory, baskets: Baskets, p: int, order: Any, seed: int, memory: int
) -> None:
    assume(len(baskets.sensitive))
    found = both(Cahd(p=p, form="blocks", order=order), baskets, seed, memory)
    if found is not None:
        here, there = found
        assert text_of_parts(there.data) == text_of(here.data, tmp_path_factory.mktemp("here") / "data")


@settings(max_examples=80)
@given(
    small_baskets(most_rows=40),
    st.integers(2, 3),
    st.sampled_from(["near", "pivots"]),
    st.integers(0, 99),
    SMALL,
)
def test_groups_in_parts_keep_the_degree(
    tmp_path_factory: pytest.TempPathFactory, baskets: Baskets, p: int, form: Any, seed: int, memory: int
) -> None:
    assume(len(baskets.sensitive))
    method = Cahd(p=p, form=form)
    found = both(method, baskets, seed, memory)
    if found is None:
        return
    here, there = found
    path = tmp_path_factory.mktemp("there") / "data"
    groups = read_back(there.data, read_groups, path)
    assert method.models()[0].verify(groups).holds
    assert (len(groups), len(groups.basket_indptr) - 1) == (there.data.rows, len(baskets))
    assert there.data.schema.vocabulary == groups.vocabulary
    if memory == 1 << 30:
        assert text_of_parts(there.data) == text_of(here.data, path)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [({"order": "rcm", "form": "blocks"}, "gray or lexicographic"), ({"improve": True}, "`improve`")],
)
def test_what_cannot_be_cut_of_cahd_is_refused(parameters: dict[str, Any], words: str) -> None:
    baskets = with_secrets(Shopping(rows=60, items=9, density=0.2).make(seed=4), 1)
    with pytest.raises(WrongUse, match=words):
        Cahd(p=2, **parameters).anonymize(parted_baskets(baskets), MemoryEngine())


@pytest.mark.parametrize("name", ["km-generalization", "basket-rule-hiding", "permutation-mondrian"])
def test_methods_that_cannot_be_cut_say_why(name: str) -> None:
    method = registry.load("method", name)
    assert method.engines == ("local",)
    with pytest.raises(WrongUse, match=f"{name} cannot be cut into parts: {method.not_distributable}"):
        method(**method.example).anonymize(parted_baskets(Shopping(rows=9).make(seed=1)), MemoryEngine())


@settings(max_examples=80)
@given(
    small_baskets(most_rows=40),
    st.integers(2, 3),
    st.sampled_from([1.0, 0.6]),
    st.integers(0, 99),
    SMALL,
)
def test_clusters_in_parts_keep_the_promise(
    tmp_path_factory: pytest.TempPathFactory,
    baskets: Baskets,
    k: int,
    safe: float,
    seed: int,
    memory: int,
) -> None:
    method = Disassociation(k=k, m=2, max_cluster_size=6, safe=safe)
    found = both(method, baskets, seed, memory)
    if found is None:
        return
    here, there = found
    path = tmp_path_factory.mktemp("there") / "data"
    clusters = read_back(there.data, read_clusters, path)
    assert all(judge(promise, clusters) for promise in there.promises)
    assert int((clusters.parents < 0).sum()) == there.data.rows
    assert int(clusters.sizes.sum()) == there.data.baskets == len(baskets)
    assert clusters.vocabulary == there.data.schema.vocabulary
    if memory == 1 << 30:
        assert text_of_parts(there.data) == text_of(here.data, path)


def judge(promise: Any, data: object) -> bool:
    model = registry.load("model", promise["model"])
    return bool(
        model(**{name: value for name, value in promise.items() if name != "model"}).verify(data).holds
    )


def with_secrets(baskets: Baskets, count: int) -> Baskets:
    """The same baskets; some of the rarer items are sensitive."""
    secrets = np.argsort(baskets.supports, kind="stable")[len(baskets.vocabulary) // 2 :][:count]
    return Baskets(
        baskets.indptr,
        baskets.items,
        baskets.vocabulary,
        np.sort(secrets).astype(np.int32),
        np.empty(0, dtype=np.int32),
    )


def test_clusters_of_like_baskets_in_parts_lose_fewer_items_than_the_papers_form(tmp_path: Path) -> None:
    """In memory fewer still: there, baskets with a rare item come together from everywhere."""
    lost: list[tuple[float, float, float]] = []
    for seed in range(2):
        baskets = drawn(9_000, 150, seed)
        paper, _ = Disassociation(k=5, swaps=0).anonymize(baskets)
        here, _ = Disassociation(k=5).anonymize(baskets)
        there, _ = Disassociation(k=5).anonymize(parted_baskets(baskets, seed), MemoryEngine(1_200_000))
        parts = read_back(there.data, read_clusters, tmp_path / "data")
        method = Disassociation(k=5, swaps=0)
        lost.append(tuple(losses(method, baskets, one)["tlost"] for one in (here.data, parts, paper.data)))  # type: ignore[arg-type]
    memory, parted, horpart = np.sum(lost, axis=0)
    assert memory < parted < horpart


@pytest.mark.parametrize(
    ("method", "read"),
    [
        (Cahd(p=5), read_groups),
        (Cahd(p=5, form="pivots"), read_groups),
        (Disassociation(k=5), read_clusters),
        (Disassociation(k=5, swaps=0), read_clusters),
    ],
    ids=["near", "pivots", "disassociation", "horpart"],
)
def test_parts_that_differ_from_memory_lose_hardly_more(tmp_path: Path, method: Any, read: Any) -> None:
    """Where equality is not promised, the loss is within a tenth of that in memory."""
    pairs = []
    for seed in range(4):
        baskets = drawn(9_000, 150, seed)
        here, _ = method.anonymize(baskets)
        there, trace = method.anonymize(parted_baskets(baskets, seed), MemoryEngine(1_200_000))
        assert trace.notes["parts"] > 3
        published = read_back(there.data, read, tmp_path / "data")
        pairs.append((losses(method, baskets, here.data), losses(method, baskets, published)))
    refuse_greater(pairs)


def test_a_part_of_empty_baskets_is_divided_too():
    """That nobody holds an item is refused of all baskets together, and not of those in one part."""
    release, _ = Disassociation(k=2).divided(baskets_of([[]] * 6, vocabulary=("a",)), Local(threads=1), 1)
    assert release.data.sizes.sum() == 6
