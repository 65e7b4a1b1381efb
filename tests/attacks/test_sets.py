"""Attacks on baskets, groups and clusters, in both directions."""

import numpy as np
import pytest
from tests.sets import baskets_of

import shoal
from shoal.attacks._known_clusters import ClustersView
from shoal.attacks._raw_form import in_form_of
from shoal.attacks._together import attack_all
from shoal.attacks.attack import Target
from shoal.data.baskets import Baskets
from shoal.data.clusters import Clusters
from shoal.data.groups import Groups
from shoal.data.release import Release

SECRETS = ("hiv", "debt")


def shopping(rows: int = 400, seed: int = 1) -> Baskets:
    rng = np.random.default_rng(seed)
    chances = 0.5 / np.arange(1, 25)
    sets = []
    for _ in range(rows):
        items = [f"i{item:02}" for item in np.flatnonzero(rng.random(24) < chances)] or ["i00"]
        if rng.random() < 0.06:
            items.append(SECRETS[int(rng.random() < 0.5)])
        sets.append(items)
    return baskets_of(sets, SECRETS)


BASKETS = shopping()


def raw(baskets: Baskets, **promise: object) -> Release:
    return Release(baskets, "none", {}, (promise,) if promise else ())


@pytest.mark.parametrize(("k", "m"), [(3, 2), (5, 2), (8, 1)])
def test_clusters_keep_linkage_below_one_in_k(k: int, m: int) -> None:
    run = shoal.anonymize(BASKETS, "disassociation", k=k, m=m)
    tried = attack_all(Target(run.release, BASKETS), ["linkage", "order"], strict=False)
    found = tried["linkage"]
    assert 0 < found.success <= 1 / k
    assert found.parts["highest"] <= 1 / k + 1e-12
    assert f"{m + 2} known items" in found.parts
    assert "order" not in tried or tried["order"].residual == 0, "canonical order tells nothing"


@pytest.mark.parametrize(("h", "k", "p"), [(0.5, 4, 2), (0.8, 10, 1)])
def test_coherent_baskets_keep_cohorts_and_secrets(h: float, k: int, p: int) -> None:
    run = shoal.anonymize(BASKETS, "coherence", h=h, k=k, p=p)
    found = attack_all(Target(run.release, BASKETS), ["linkage", "certainty"])
    assert found["linkage"].parts["highest"] <= 1 / k + 1e-12
    assert found["certainty"].parts["highest share"] <= h
    assert found["certainty"].success == 0.0


@pytest.mark.parametrize("p", [4, 8])
def test_groups_keep_linkage_below_one_in_p(p: int) -> None:
    run = shoal.anonymize(BASKETS, "cahd", p=p)
    found = attack_all(Target(run.release, BASKETS))
    assert found["linkage"].parts["highest"] <= 1 / p + 1e-12
    assert found["certainty"].parts["highest share"] <= 1 / p
    assert found["order"].residual < 0.1
    assert {"inference", "definetti", "replay"} <= set(found)


def test_raw_baskets_are_found() -> None:
    found = attack_all(Target(raw(BASKETS), BASKETS))
    assert found["linkage"].parts["highest"] == 1.0
    assert found["order"].success == 1.0


def test_a_secret_of_all_who_hold_an_item_is_certain() -> None:
    baskets = baskets_of([["a", "hiv"], ["b"], ["b", "hiv"], ["c"]], ["hiv"])
    found = attack_all(Target(raw(baskets), baskets), ["certainty"])["certainty"]
    assert found.success == 0.25
    assert found.residual == 0.25


def test_linkage_of_baskets_equals_counting() -> None:
    """Everybody knows everything: the chance is one in the number of baskets that hold all of one's items."""
    from shoal.attacks.linkage import Linkage

    found = Linkage(known=30).run(Target(raw(BASKETS), BASKETS))
    sets = [frozenset(BASKETS.basket(row)) - set(SECRETS) for row in range(len(BASKETS))]
    expected = [1 / sum(one <= other for other in sets) for one in sets if one]
    assert found is not None
    assert found.success == pytest.approx(float(np.mean(expected)))


def test_raw_baskets_in_groups_equal_counting() -> None:
    """Who knows all public items believes in a secret as far as baskets with the same ones hold it."""
    groups = in_form_of(BASKETS, shoal.anonymize(BASKETS, "cahd", p=4).release.data)
    found = attack_all(Target(Release(groups, "none", {}, ()), BASKETS), ["linkage", "certainty"])
    sets = [frozenset(BASKETS.basket(row)) for row in range(len(BASKETS))]
    alike = [[other for other in sets if other - set(SECRETS) == one - set(SECRETS)] for one in sets]
    shares = [
        max((sum(secret in other for other in same) / len(same) for secret in held & set(SECRETS)), default=0)
        for held, same in zip(sets, alike, strict=True)
    ]
    holders = [row for row, held in enumerate(sets) if held & set(SECRETS)]
    assert found["linkage"].success == pytest.approx(np.mean([shares[row] for row in holders]))
    assert found["linkage"].parts["basket found"] == pytest.approx(
        np.mean([1 / len(alike[row]) for row in holders])
    )
    assert found["certainty"].success == pytest.approx(np.mean([share == 1 for share in shares]))
    assert in_form_of(BASKETS, BASKETS) is BASKETS


def test_a_group_of_one_secret_is_certain() -> None:
    groups = Groups(
        group_indptr=np.array([0, 2, 4]),
        basket_indptr=np.array([0, 1, 2, 3, 4]),
        items=np.array([0, 1, 2, 3]),
        sensitive_indptr=np.array([0, 1, 1]),
        sensitive_items=np.array([4]),
        sensitive_counts=np.array([2]),
        vocabulary=("a", "b", "c", "d", "hiv"),
    )
    original = baskets_of([["a", "hiv"], ["b", "hiv"], ["c"], ["d"]], ["hiv"])
    found = attack_all(Target(Release(groups, "none", {}, ()), original))
    assert found["certainty"].success == 0.5
    assert found["linkage"].success == 1.0
    assert found["inference"].success == 1.0


def test_definetti_learns_what_groups_tell_together() -> None:
    """Whoever holds the secret also buys tea, and each group has one such person among four."""
    sets, groups = [], []
    for group in range(60):
        sets.append(["tea", f"x{group % 7}", "hiv"])
        sets += [["milk", f"x{(group + other) % 7}"] for other in (1, 2, 3)]
        groups.append(4)
    original = baskets_of(sets, ["hiv"])
    public = original.keep(np.array([text != "hiv" for text in original.vocabulary]))
    code = {text: place for place, text in enumerate(original.vocabulary)}
    moved = np.array([code[text] for text in public.vocabulary])
    published = Groups(
        group_indptr=np.cumsum([0, *groups]),
        basket_indptr=public.indptr,
        items=moved[public.items],
        sensitive_indptr=np.arange(61),
        sensitive_items=np.full(60, code["hiv"]),
        sensitive_counts=np.ones(60, dtype=int),
        vocabulary=original.vocabulary,
    )
    found = attack_all(Target(Release(published, "none", {}, ()), original), ["definetti"])["definetti"]
    assert found.baseline == pytest.approx(0.25)
    assert found.success == 1.0


def clusters_of(size: int, chunk: list[list[str]], terms: list[str]) -> Clusters:
    vocabulary = tuple(sorted({item for record in chunk for item in record} | set(terms)))
    code = {text: place for place, text in enumerate(vocabulary)}
    return Clusters(
        parents=np.array([-1]),
        sizes=np.array([size]),
        chunk_indptr=np.array([0, 1]),
        record_indptr=np.array([0, len(chunk)]),
        item_indptr=np.cumsum([0, *map(len, chunk)]),
        items=np.array([code[item] for record in chunk for item in sorted(record)]),
        term_indptr=np.array([0, len(terms)]),
        terms=np.array([code[item] for item in sorted(terms)]),
        vocabulary=vocabulary,
    )


def test_an_item_of_all_baskets_covers_the_others() -> None:
    original = baskets_of([["milk", "tea"], ["milk", "hiv"], ["milk"]])
    covered = clusters_of(3, [["milk"]] * 3, ["hiv", "tea"])
    found = attack_all(Target(Release(covered, "none", {}, ()), original), ["cover"])["cover"]
    assert (found.success, found.parts["links"]) == (1.0, 2.0)
    parted = clusters_of(3, [["milk"]] * 2, ["hiv", "tea"])
    assert attack_all(Target(Release(parted, "none", {}, ()), original), ["cover"])["cover"].success == 0.0


def test_candidates_of_a_cluster() -> None:
    """Two of five hold milk, one of them with tea; eggs are among the terms and may be anybody's."""
    ask = ClustersView(clusters_of(5, [["milk", "tea"], ["milk"], ["tea"]], ["egg"])).candidates
    assert [ask(items) for items in (["milk"], ["milk", "tea"], ["egg"], ["egg", "milk"], ["beer"], [])] == [
        2,
        1,
        5,
        2,
        5,
        5,
    ]
