"""Baskets with the same public items: neither secrets nor the order of the input decide who is grouped with whom."""

from collections.abc import Callable
from itertools import pairwise
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.contract.data import without_ties
from tests.sets import baskets_of

import shoal
from shoal import registry
from shoal.data._near_clusters import Pairs
from shoal.data.baskets import Baskets
from shoal.data.clusters import Clusters
from shoal.data.groups import Groups
from shoal.data.release import Release
from shoal.data.trace import Trace
from shoal.engines.stream import Stream
from shoal.io.baskets.load import write_baskets
from shoal.io.releases.folder import read_release
from shoal.methods.basket_rule_hiding.method import BasketRuleHiding
from shoal.methods.cahd import _formation
from shoal.methods.cahd.method import Cahd
from shoal.methods.disassociation.method import Disassociation
from shoal.methods.method import Method
from shoal.methods.permutation_mondrian import PermutationMondrian

SECRETS = ("flu", "hiv")
PUBLIC: list[set[str]] = [{"a"}] * 72 + [{"a", "b"}] * 20 + [{"b", "c"}] * 9 + [{"c"}] * 7 + [set()] * 12

FORMS: list[Method] = [
    Cahd(p=3, form="blocks"),
    Cahd(p=3, form="blocks", order="rcm"),
    PermutationMondrian(p=3),
    Disassociation(k=3, max_cluster_size=8),
    Disassociation(k=3, max_cluster_size=8, swaps=0),
    Disassociation(k=3, max_cluster_size=8, swaps=0, small="pool"),
    Disassociation(k=3, max_cluster_size=8, refine=False),
]
"""Methods whose groups may not depend on the secrets of their members. Others are left out: around a pivot, a basket is
grouped because it is sensitive, as in the paper; clusters of like baskets are joined because of their secrets."""


def held(generator: np.random.Generator) -> list[set[str]]:
    """The sensitive items of each basket: one basket in ten holds the first, one in eight the second."""
    return [
        {one for one, share in zip(SECRETS, (0.1, 0.12), strict=True) if generator.random() < share}
        for _ in PUBLIC
    ]


def exchanged(sets: list[set[str]], generator: np.random.Generator) -> list[set[str]]:
    """The same secrets, exchanged among baskets that are otherwise equal."""
    changed = list(sets)
    for kind in {frozenset(one) for one in PUBLIC}:
        rows = [row for row, one in enumerate(PUBLIC) if one == kind]
        for row, other in zip(rows, generator.permutation(rows).tolist(), strict=True):
            changed[row] = sets[other]
    return changed


def together(release: Release, trace: Trace) -> set[frozenset[int]]:
    """The rows of the input in each group or simple cluster."""
    data = release.data
    assert isinstance(data, Groups | Clusters)
    sizes = data.sizes[data.sizes > 0]
    ends = np.concatenate(([0], np.cumsum(sizes)))
    return {frozenset(trace.rows[begin:end].tolist()) for begin, end in pairwise(ends.tolist())}


@pytest.mark.parametrize("method", FORMS, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_secrets_do_not_decide_who_is_grouped(method: Method, seed: int) -> None:
    generator = np.random.default_rng(seed)
    secrets = held(generator)
    found = []
    for some in (secrets, exchanged(secrets, generator), exchanged(secrets, generator)):
        sets = [one | other for one, other in zip(PUBLIC, some, strict=True)]
        found.append(together(*method.anonymize(baskets_of(sets, SECRETS), seed=seed)))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("name", ["coherence", "km-generalization"])
def test_methods_without_groups_treat_equals_alike(name: str) -> None:
    """What is published of a basket's public items depends on these alone, not on who holds a secret."""
    kind = registry.load("method", name)
    generator = np.random.default_rng(1)
    sets = [one | other for one, other in zip(PUBLIC, held(generator), strict=True)]
    baskets = baskets_of(sets, SECRETS)
    method = kind(**kind.example)
    assert not method.splits_ties
    release, trace = method.anonymize(baskets, seed=1)
    assert isinstance(release.data, Baskets)
    told: dict[frozenset[str], set[frozenset[str]]] = {}
    for place, row in enumerate(trace.rows.tolist()):
        kept = frozenset(release.data.basket(place)) - set(SECRETS)
        told.setdefault(frozenset(PUBLIC[row]), set()).add(kept)
    assert all(len(one) == 1 for one in told.values())


@pytest.mark.parametrize("strategy", ["dsr", "dsl", "exact", "random"])
def test_secrets_do_not_decide_who_loses_an_item(strategy: str) -> None:
    """The baskets cost the same to change, and differ only in a sensitive item."""
    method = BasketRuleHiding(support=0.2, confidence=0.5, rules=("a => b",), strategy=strategy)
    generator = np.random.default_rng(2)
    markers = [f"marker{row:02}" for row in range(60)]
    found = []
    for _ in range(3):
        sets = [{"a", "b", marker} for marker in markers]
        release, trace = method.anonymize(baskets_of(sets, markers), seed=5)
        assert isinstance(release.data, Baskets)
        changed = [
            row for place, row in enumerate(trace.rows.tolist()) if len(release.data.basket(place)) < 3
        ]
        assert 0 < len(changed) < 60
        found.append(sorted(changed))
        markers = generator.permutation(markers).tolist()
    assert found[0] == found[1] == found[2]


def in_memory(baskets: Baskets, seed: int, folder: Path) -> Clusters:
    release, _ = Disassociation(k=3, max_cluster_size=8).anonymize(baskets, seed=seed)
    assert isinstance(release.data, Clusters)
    return release.data


def in_parts(baskets: Baskets, seed: int, folder: Path) -> Clusters:
    write_baskets(baskets, folder / "baskets.dat")
    run = shoal.anonymize(
        folder / "baskets.dat",
        Disassociation(k=3, max_cluster_size=8),
        baskets="lines",
        sensitive="hiv",
        seed=seed,
        engine=Stream(),
    )
    run.write(folder / str(seed))
    data = read_release(folder / str(seed)).data
    assert isinstance(data, Clusters)
    return data


@pytest.mark.parametrize("make", [in_memory, in_parts])
@pytest.mark.parametrize("first", [0, 30, 66])
def test_secrets_fall_anywhere(
    make: Callable[[Baskets, int, Path], Clusters], first: int, tmp_path: Path
) -> None:
    """Among equal baskets, as many clusters name the secret as if its holders had been drawn at random."""
    sets = [{"a", "hiv"} if first <= row < first + 6 else {"a"} for row in range(72)]
    counts, expected = [], []
    for seed in range(25):
        clusters = make(baskets_of(sets, ("hiv",)), seed, tmp_path)
        secret = clusters.vocabulary.index("hiv")
        owners = np.repeat(np.arange(len(clusters)), np.diff(clusters.term_indptr))
        counts.append(len(set(owners[clusters.terms == secret].tolist())))
        sizes = clusters.sizes[clusters.sizes > 0].tolist()
        expected.append(sum(1 - comb(72 - size, 6) / comb(72, 6) for size in sizes))
    assert min(expected) > 4
    # The mean of 25 draws is within 0.2 of the expected one in two cases out of three.
    assert abs(np.mean(counts) - np.mean(expected)) < 0.9
    assert len(set(counts)) > 1


@pytest.mark.parametrize("engine", [None, Stream()], ids=["local", "stream"])
def test_blocks_never_divide_equal_baskets(engine: Stream | None, tmp_path: Path) -> None:
    sets = [one | other for one, other in zip(PUBLIC, held(np.random.default_rng(3)), strict=True)]
    write_baskets(baskets_of(sets, SECRETS), tmp_path / "baskets.dat")
    run = shoal.anonymize(
        tmp_path / "baskets.dat",
        "cahd",
        p=3,
        form="blocks",
        baskets="lines",
        sensitive=SECRETS,
        engine=engine,
    )
    run.write(tmp_path / "out")
    groups = read_release(tmp_path / "out").data
    assert isinstance(groups, Groups)
    homes: dict[tuple[int, ...], set[int]] = {}
    owner = np.repeat(np.arange(len(groups)), groups.sizes).tolist()
    for group, (begin, end) in zip(owner, pairwise(groups.basket_indptr.tolist()), strict=True):
        homes.setdefault(tuple(groups.items[begin:end].tolist()), set()).add(group)
    assert len(groups) > 1
    assert all(len(home) == 1 for home in homes.values())


def test_pivots_take_any_of_equal_neighbors() -> None:
    """Who comes into the group of a sensitive basket is drawn among its equals, wherever they stand in the input."""
    sets = [{"a", "s"}, *({"a"} for _ in range(19))]
    chosen = set()
    for seed in range(40):
        release, trace = Cahd(p=2, form="pivots", alpha=1).anonymize(baskets_of(sets, ("s",)), seed=seed)
        (pair,) = (one for one in together(release, trace) if 0 in one)
        assert len(pair) == 2
        chosen |= pair - {0}
    # Forty draws of nineteen miss 2.2 of them on the average.
    assert len(chosen) > 11


@pytest.mark.parametrize("seed", range(4))
def test_secrets_do_not_decide_who_is_in_a_cluster_of_like_baskets(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Secrets decide which clusters form a group, but neither who is in a cluster nor which clusters are paired."""
    found: list[tuple[list[int], list[int], list[int]]] = []

    def watched(*arguments: Any) -> Pairs:
        pairs = clustered(*arguments)
        found.append((pairs.rows.tolist(), pairs.starts.tolist(), pairs.pair.tolist()))
        return pairs

    clustered = _formation.clustered
    monkeypatch.setattr(_formation, "clustered", watched)
    generator = np.random.default_rng(seed)
    secrets = held(generator)
    for some in (secrets, exchanged(secrets, generator), held(generator)):
        sets = [one | other for one, other in zip(PUBLIC, some, strict=True)]
        release, trace = Cahd(p=3).anonymize(baskets_of(sets, SECRETS), seed=seed)
        rows, starts, _ = found[-1]
        home = {row: group for group, rows in enumerate(together(release, trace)) for row in rows}
        assert all(len({home[row] for row in rows[a:b]}) == 1 for a, b in pairwise(starts))
    assert found[0] == found[1] == found[2]


def test_like_baskets_are_any_of_equal_ones() -> None:
    """Who comes into the group of a sensitive basket is drawn among its equals, wherever they stand in the input."""
    sets = [{"a", "s"}, *({"a"} for _ in range(19))]
    chosen = set()
    for seed in range(40):
        release, trace = Cahd(p=2).anonymize(baskets_of(sets, ("s",)), seed=seed)
        (group,) = (one for one in together(release, trace) if 0 in one)
        assert len(group) == 2
        chosen |= group - {0}
    # Forty draws of nineteen miss 2.2 of them on the average.
    assert len(chosen) > 11


def test_nothing_ties_in_data_without_ties() -> None:
    baskets = without_ties(baskets_of([{"a"}, {"a", "s"}, {"b"}], ("s",)))
    assert isinstance(baskets, Baskets)
    assert [baskets.basket(row) for row in range(len(baskets))] == [("a",), ("b",)]
