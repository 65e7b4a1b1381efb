"""Releases that were built wrongly on purpose: the attack made for each finds it, and leaves its repair alone."""

from dataclasses import replace
from itertools import pairwise, permutations
from statistics import mean

import numpy as np
import pytest
from tests.attacks.releases import as_release, people_table
from tests.attacks.test_sets import BASKETS, clusters_of, raw, shopping
from tests.sets import baskets_of
from tests.tables import column

import shoal
from shoal.attacks._repeated_method import learned_success
from shoal.attacks._together import attack_all
from shoal.attacks.attack import Attacked, Target
from shoal.data.clusters import Clusters
from shoal.data.domain import nominal
from shoal.data.groups import Groups
from shoal.data.release import Release
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.sources import with_hierarchies

PEOPLE = people_table()


def one(name: str, release: Release, original: object, **more: object) -> Attacked:
    return attack_all(Target(release, original, **more), [name])[name]  # type: ignore[arg-type]


def starred(table: Table, rows: np.ndarray) -> Table:
    """The same table with stars on the illness of some rows."""
    illness = table.column("illness")
    labels = (*illness.domain.labels, "*")
    codes = np.where(rows, len(labels) - 1, illness.codes)
    changed: Column = replace(illness, domain=nominal(labels), codes=codes)
    return Table(tuple(changed if each.name == "illness" else each for each in table.columns))


def test_stars_on_one_value_only() -> None:
    run = shoal.anonymize(PEOPLE, "mondrian", k=30)
    illness = run.release.data.column("illness")
    gout = illness.codes == illness.domain.labels.index("gout")
    found = one("stars", as_release(starred(run.release.data, gout)), PEOPLE)
    assert found.success == 1.0
    assert found.residual == 1.0
    by_chance = np.random.default_rng(1).random(len(gout)) < gout.mean()
    found = one("stars", as_release(starred(run.release.data, by_chance)), PEOPLE)
    assert found.success < 0.6
    assert found.residual < 0.2


def test_stars_hide_rules_badly_and_with_decoys_well() -> None:
    """A star of least cost hides the value that its class shows most; among decoys it has a share of at most c."""
    bad = shoal.anonymize(PEOPLE, "table-rule-hiding", k=10, confidence=0.4, strategy="star")
    good = shoal.anonymize(PEOPLE, "table-rule-hiding", k=10, confidence=0.4, strategy="decoy")
    assert one("stars", bad.release, PEOPLE).parts["most shown in the class"] > 0.7
    assert one("stars", good.release, PEOPLE).parts["most shown, where the class shows any"] <= 0.4
    assert one("replay", bad.release, PEOPLE).residual > one("replay", good.release, PEOPLE).residual == 0.0


def test_ties_by_secret_value() -> None:
    """Equal people are divided by what they have, and each half is homogeneous."""
    ages = [20, *[30] * 38, 40]
    ill = ["flu"] * 20 + ["gout"] * 20
    original = Table((column("age", ages), column("illness", ill, Role.SENSITIVE)))
    cells = [["[20,30]", "[30,40]"][row // 20] for row in range(40)]
    wrong = Table((column("age", cells), column("illness", ill, Role.SENSITIVE)))
    assert one("certainty", as_release(wrong), original).success == 1.0
    right = shoal.anonymize(original, "mondrian", k=20, partitioning="relaxed", seed=1)
    assert one("certainty", right.release, original).success == 0.0


def grouped(sets: list[list[str]], sizes: list[int], secret: str = "hiv") -> tuple[Groups, list[int]]:
    """Baskets as they stand in groups, with counts of a secret that they do not show."""
    original = baskets_of(sets, [secret])
    code = {text: place for place, text in enumerate(original.vocabulary)}
    public = [[code[item] for item in sorted(basket) if item != secret] for basket in sets]
    ends = np.cumsum([0, *sizes])
    counts = [sum(secret in basket for basket in sets[a:b]) for a, b in pairwise(ends)]
    groups = Groups(
        group_indptr=ends,
        basket_indptr=np.cumsum([0, *map(len, public)]),
        items=np.array([item for basket in public for item in basket]),
        sensitive_indptr=np.arange(len(sizes) + 1),
        sensitive_items=np.full(len(sizes), code[secret]),
        sensitive_counts=np.array(counts),
        vocabulary=original.vocabulary,
    )
    return groups, counts


def sensitive_first(groups: int, *, first: bool) -> tuple[list[list[str]], list[list[str]]]:
    """Baskets, and the same in groups of four with one holder each, who stands first or in the order of the items."""
    rng = np.random.default_rng(4)
    names = [f"x{number:03}" for number in rng.permutation(groups * 4)]
    sets = [[name] + (["hiv"] if place % 4 == 0 else []) for place, name in enumerate(names)]
    blocks = [sets[place : place + 4] for place in range(0, len(sets), 4)]
    if not first:
        blocks = [sorted(block) for block in blocks]
    return sets, [basket for block in blocks for basket in block]


def test_sensitive_members_first() -> None:
    sets, ordered = sensitive_first(50, first=True)
    found = one("order", as_release(grouped(ordered, [4] * 50)[0]), baskets_of(sets, ["hiv"]))
    assert found.success == 1.0
    assert found.residual == 1.0
    sets, ordered = sensitive_first(50, first=False)
    rng = np.random.default_rng(1)
    found = one(
        "order",
        as_release(grouped(ordered, [4] * 50)[0]),
        baskets_of([sets[row] for row in rng.permutation(len(sets))], ["hiv"]),
    )
    assert found.residual < 0.1


def test_kept_order_of_groups() -> None:
    sets = [BASKETS.basket(row) for row in range(len(BASKETS))]
    plain = [[item for item in basket if item != "debt"] for basket in map(list, sets)]
    groups, _ = grouped(plain, [4] * (len(plain) // 4))
    found = one("order", as_release(groups), baskets_of(plain, ["hiv"]))
    assert found.success == 1.0
    assert found.residual > 0.9


def chunked(first: list[list[str]], second: list[list[str]]) -> Clusters:
    """One cluster of two chunks, whose sub-records stand as they are given."""
    vocabulary = tuple(sorted({item for record in [*first, *second] for item in record}))
    code = {text: place for place, text in enumerate(vocabulary)}
    records = [*first, *second]
    return Clusters(
        parents=np.array([-1]),
        sizes=np.array([len(first)]),
        chunk_indptr=np.array([0, 2]),
        record_indptr=np.array([0, len(first), len(records)]),
        item_indptr=np.cumsum([0, *map(len, records)]),
        items=np.array([code[item] for record in records for item in sorted(record)]),
        term_indptr=np.array([0, 0]),
        terms=np.empty(0, dtype=np.int64),
        vocabulary=vocabulary,
    )


def test_kept_order_of_chunks() -> None:
    """Sub-records in the order of the baskets can be put together again."""
    numbers = np.random.default_rng(2).permutation(40)  # else canonical order would put them together too
    first, second = [[f"a{row}"] for row in range(40)], [[f"b{row}"] for row in numbers]
    original = baskets_of([[*one, *two] for one, two in zip(first, second, strict=True)])
    found = one("order", as_release(chunked(first, second)), original)  # type: ignore[arg-type]
    assert found.success == 1.0
    assert found.residual > 0.8
    shuffled = [second[row] for row in np.random.default_rng(1).permutation(40)]
    found = one("order", as_release(chunked(first, shuffled)), original)  # type: ignore[arg-type]
    assert found.residual < 0.1


def test_chunks_that_were_not_parted() -> None:
    """Who knows one item reads the others in the same sub-record; in chunks of one item each nothing is read."""
    records = [[f"a{row}", f"b{row}", f"c{row}"] for row in range(30)]
    original = baskets_of(records)
    wrong = chunked(records, [["z"]])
    found = one("inference", as_release(wrong), original, control=baskets_of([["a1", "q", "r"]] * 4))  # type: ignore[arg-type]
    assert found.success == 1.0
    assert found.residual == 1.0
    right = chunked([[record[0]] for record in records], [[record[1]] for record in records])
    assert one("inference", as_release(right), original).success < 0.1  # type: ignore[arg-type]


@pytest.mark.parametrize(("method", "options"), [("cahd", {"p": 4}), ("disassociation", {"k": 4, "m": 2})])
def test_membership_in_sets(method: str, options: dict[str, object]) -> None:
    """Raw baskets tell who is in, and groups too, because they publish public items as they are; clusters do not."""
    outside = shopping(400, seed=2)
    found = one("membership", raw(BASKETS), BASKETS, control=outside)
    run = shoal.anonymize(BASKETS, method, **options)
    made = one("membership", run.release, BASKETS, control=outside)
    assert found.control == made.control == 0.5
    assert found.residual > 0.05
    assert (made.residual > 0.05) if method == "cahd" else (made.residual < found.residual)


def test_two_releases_of_groups() -> None:
    """Each release has a secret of every group of two; together they leave one."""
    sets = [["a", "hiv"], ["b", "debt"], ["c", "hiv"], ["d", "debt"]]
    original = baskets_of(sets, ["hiv", "debt"])

    def release(pairs: list[tuple[int, int]], held: list[dict[str, int]]) -> Release:
        code = {text: place for place, text in enumerate(original.vocabulary)}
        members = [code["abcd"[row]] for pair in pairs for row in pair]
        counts = [sorted((code[name], count) for name, count in each.items()) for each in held]
        return as_release(
            Groups(
                group_indptr=np.arange(0, 2 * len(pairs) + 1, 2),
                basket_indptr=np.arange(len(members) + 1),
                items=np.array(members),
                sensitive_indptr=np.cumsum([0, *map(len, counts)]),
                sensitive_items=np.array([item for each in counts for item, _ in each]),
                sensitive_counts=np.array([count for each in counts for _, count in each]),
                vocabulary=original.vocabulary,
            )
        )

    first = release([(0, 1), (2, 3)], [{"hiv": 1, "debt": 1}] * 2)
    second = release([(0, 2), (1, 3)], [{"hiv": 2}, {"debt": 2}])
    found = one("intersection", first, original, other=second)
    assert found.success == 1.0
    assert found.parts["this release alone"] == 0.5
    assert one("intersection", first, original, other=first).success == 0.5


def test_a_term_in_all_records() -> None:
    original = baskets_of([["milk", "tea"], ["milk", "hiv"], ["milk"]])
    assert one("cover", as_release(clusters_of(3, [["milk"]] * 3, ["hiv", "tea"])), original).success == 1.0  # type: ignore[arg-type]


@pytest.mark.parametrize("k", [3, 6])
def test_no_term_stands_in_all_records_of_a_correct_release(k: int) -> None:
    run = shoal.anonymize(BASKETS, "disassociation", k=k, m=2)
    found = one("cover", run.release, BASKETS)
    assert found.success <= 1
    assert found.parts["surest link"] <= 1


def test_hidden_rules_of_baskets() -> None:
    """All baskets with beer and without wine lost it: that is read; where most never had it, little is."""
    lost = [["beer", "wine"]] * 6 + [["beer", "milk"]] * 2 + [["tea"]] * 12
    made = shoal.anonymize(
        baskets_of(lost), "basket-rule-hiding", support=0.1, confidence=0.5, rules=["beer => wine"]
    )
    found = one("replay", made.release, baskets_of(lost))
    assert found.success > 0.3
    assert found.people >= 3


def six_people(method: str, **options: object) -> tuple[Release, Table]:
    """Two neighbors with the same illness, whom only four others with four illnesses can hide (Wong et al.)."""
    ill = ["hiv", "hiv", "flu", "cold", "gout", "acne"]
    houses = ["1", "1", "2", "2", "2", "2"]
    original = Table((column("house", houses), column("illness", ill, Role.SENSITIVE)))
    original = with_hierarchies(original, {"house": "suppress"})
    return shoal.anonymize(original, method, k=2, l=2, **options).release, original


@pytest.mark.parametrize("method", ["mondrian", "lattice", "samarati"])
def test_minimality_of_a_class_that_only_secrets_keep_together(method: str) -> None:
    """Had the two of the first house had different illnesses, the houses would have been published."""
    release, original = six_people(method)
    assert len(set(release.data.column("house").codes.tolist())) == 1
    found = one("replay", release, original)
    assert found.control == pytest.approx((2 / 6 * 2 + 1 / 6 * 4) / 6)
    assert found.success == pytest.approx((1 * 2 + 1 / 4 * 4) / 6, abs=0.03)
    assert found.parts["largest growth of a belief"] == pytest.approx(3, abs=0.01)


def test_minimality_tells_little_of_many_classes() -> None:
    """Belief grows by a small constant factor at most (Cormode et al. 2010): measured, less than e."""
    run = shoal.anonymize(PEOPLE, "mondrian", k=5, l=3)
    found = one("replay", run.release, PEOPLE)
    assert found.residual < 0.05
    assert found.parts["largest growth of a belief"] < np.e
    assert found.parts["largest growth of a belief"] <= found.parts["bound of that growth"] * 1.2


@pytest.mark.parametrize("ill", ["ffcccg", "ffccgg", "fffccg", "ffccga", "fccccg"])
def test_a_belief_grows_by_one_in_the_chance_to_stop_at_most(ill: str) -> None:
    """Counted over all worlds: two people live in one house, and a house with one illness cannot be published."""
    houses = "112222"
    original = Table((column("house", list(houses)), column("illness", list(ill), Role.SENSITIVE)))
    original = with_hierarchies(original, {"house": "suppress"})
    class_of_all = replace(
        original.column("house"), domain=nominal(("*",)), codes=np.zeros(6, dtype=np.int32), hierarchy=None
    )
    promises = (
        {"model": "k-anonymity", "k": 2},
        {"model": "distinct-diversity", "column": "illness", "l": 2},
    )
    release = Release(Table((class_of_all, original.columns[1])), "mondrian", {}, promises)
    worlds = list(permutations(ill))
    stopped = [world for world in worlds if min(len(set(world[:2])), len(set(world[2:]))) < 2]
    beliefs = {
        (person, value): mean(world[person] == value for world in stopped)
        for person in range(6)
        for value in set(ill)
    }
    growth = {key: belief / (ill.count(key[1]) / 6) for key, belief in beliefs.items()}
    bounds = {key: min(len(worlds) / len(stopped), 6 / ill.count(key[1])) for key in growth}
    assert all(growth[key] <= bounds[key] + 1e-12 for key in growth)
    found = one("replay", release, original)
    assert found.success == pytest.approx(mean(beliefs[person, ill[person]] for person in range(6)), abs=0.03)
    assert found.parts["largest growth of a belief"] == pytest.approx(max(growth.values()), abs=0.2)
    near = [bounds[key] for key in growth if growth[key] > max(growth.values()) - 0.3]
    assert any(found.parts["bound of that growth"] == pytest.approx(bound, rel=0.15) for bound in near)


def test_nothing_was_refused_for_the_sake_of_secrets() -> None:
    with pytest.raises(shoal.WrongUse, match="nothing to work on"):
        one("replay", shoal.anonymize(PEOPLE, "mondrian", k=5).release, PEOPLE)


def test_a_reader_who_runs_the_method_herself() -> None:
    baskets = shopping(800, seed=5)
    run = shoal.anonymize(baskets, "cahd", p=4, form="pivots", order="rcm", seed=1)
    found = one("replay", run.release, baskets)
    assert 0 < found.parts["learned"] <= 1
    assert found.success >= found.parts["learned"]
    assert learned_success(replace(run.release, method="none"), baskets, 1) is None
