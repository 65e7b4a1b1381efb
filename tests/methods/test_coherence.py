"""(h,k,p)-coherence: the worked examples of the seed and the paper, all combinations, picks, the least loss."""

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.basket_cases import ITEMS, baskets_of, sets_of, small_baskets
from tests.naive import coherence as naive

from shoal.data._random_roles import draw_roles
from shoal.data.baskets import Baskets
from shoal.errors import Infeasible
from shoal.methods.coherence import _optimal as optimal
from shoal.methods.coherence._explain import MoleTree, explanation
from shoal.methods.coherence._moles import Moles, find_moles
from shoal.methods.coherence._optimal import cliques
from shoal.methods.coherence._pick import GREEDY, Hits, greedy
from shoal.methods.coherence._thresholds import Promise, largest_below
from shoal.methods.coherence.method import Coherence
from shoal.outcome import judge

SEED = baskets_of(["026", "025", "12", "015", "012", "012345"], sensitive="34")
PAPER = baskets_of(
    [
        [*"acdfg", "Diabetes"],
        [*"abcf", "Hepatitis"],
        [*"bdfx", "Hepatitis"],
        [*"bcgyz", "HIV"],
        [*"acfg", "HIV"],
    ],
    sensitive=["Diabetes", "HIV", "Hepatitis"],
)

SEED_STEPS = """\
size-1 moles: 6
minimal moles: (1, 5), (2, 5), (0, 1, 2)
tree:
null : 0
  5 : 2
    1 : 1
    2 : 1
  2 : 1
    1 : 1
      0 : 1
score table:
item  MM  IL  node_links
0      1   5  [0]
1      2   4  [1, 1]
2      2   5  [2, 2]
5      2   3  [5]
to remove (max MM/IL): 5
-----
tree:
null : 0
  2 : 1
    1 : 1
      0 : 1
score table:
item  MM  IL  node_links
0      1   5  [0]
1      1   4  [1]
2      1   5  [2]
to remove (max MM/IL): 1
-----
tree:
null : 0
score table:
suppressed: 6, 5, 1"""

promises = st.fixed_dictionaries(
    {
        "h": st.sampled_from([0.2, 0.333, 0.5, 0.7, 1.0]),
        "k": st.integers(2, 5),
        "p": st.integers(1, 9),
    }
)


@st.composite
def dense_baskets(draw: st.DrawFn) -> Baskets:
    """Baskets that hold most of the items, so that moles are large; in sparse ones they are of one item or two."""
    count, rows = draw(st.integers(4, 6)), draw(st.integers(12, 24))
    random = Random(draw(st.integers(0, 2**32 - 1)))
    shares = {**dict.fromkeys(ITEMS[:count], 0.75), "s0": 0.2}
    sets = [{item for item, share in shares.items() if random.random() < share} for _ in range(rows)]
    return baskets_of(sets, ["s0"], vocabulary=sorted(shares))


def moles_of(sets: list[tuple[int, ...]]) -> Moles:
    sets = sorted(sets, key=lambda mole: (len(mole), mole))
    indptr = np.concatenate(([0], np.cumsum([len(mole) for mole in sets]))).astype(np.int64)
    items = np.array([item for mole in sets for item in mole], dtype=np.int32)
    return Moles(np.empty(0, dtype=np.int32), indptr, items, {1: 0})


@st.composite
def hitting_sets(draw: st.DrawFn) -> tuple[Moles, np.ndarray]:
    """Moles of which none holds another, and losses with many ties."""
    count = draw(st.integers(2, 8))
    sets = draw(
        st.lists(st.sets(st.integers(0, count - 1), min_size=2, max_size=4).map(frozenset), max_size=25)
    )
    antichain = naive.minimal(sets)
    losses = draw(st.lists(st.integers(1, 6), min_size=count, max_size=count))
    return moles_of([tuple(sorted(mole)) for mole in antichain]), np.array(losses, dtype=np.int64)


def test_the_worked_example_of_the_seed() -> None:
    release, trace = Coherence(h=0.5, k=3, p=3, explain=True).anonymize(SEED)
    assert trace.notes["suppressed"] == ["6", "5", "1"]
    assert trace.notes["explanation"] == SEED_STEPS
    assert isinstance(release.data, Baskets)
    assert sorted(map(sorted, sets_of(release.data))) == sorted(
        [["0", "2"], ["0", "2"], ["2"], ["0"], ["0", "2"], ["0", "2", "3", "4"]]
    )


def test_the_example_of_the_paper() -> None:
    _, trace = Coherence(h=0.8, k=2, p=2).anonymize(PAPER)
    assert trace.notes["suppressed"] == ["x", "y", "z", "d", "b"]
    assert trace.notes["moles"] == {1: 3, 2: 7}
    assert trace.notes["loss"] == 3 + 2 + 3


def test_steps_are_told_only_on_request() -> None:
    assert "explanation" not in Coherence(h=0.5, k=3, p=3).anonymize(SEED)[1].notes


def test_steps_of_many_moles_are_cut_short() -> None:
    moles = moles_of(list(combinations(range(250), 2)))
    text = explanation(moles, list(range(249)), "mm", [f"i{place}" for place in range(250)], [1] * 250)
    assert "nodes more" in text
    assert "… and 49 steps more" in text
    assert len(text.splitlines()) < 90_000


def test_nothing_about_the_search_is_published() -> None:
    release, _ = Coherence(h=0.5, k=3, p=3, explain=True, time_limit=3).anonymize(SEED)
    assert dict(release.parameters) == {"h": 0.5, "k": 3, "p": 3, "pick": "mm/il"}
    assert not release.details


@settings(max_examples=300)
@given(baskets=st.one_of(small_baskets(), dense_baskets()), promise=promises)
def test_all_combinations_agree(baskets: Baskets, promise: dict[str, Any]) -> None:
    """Picks, losses and releases against brute force; infeasible promises are refused."""
    sets, text = sets_of(baskets), baskets.vocabulary
    public = [text[item] for item in baskets.public]
    private = [text[item] for item in baskets.sensitive]
    exact = (Fraction(str(promise["h"])), promise["k"], promise["p"])
    found = naive.minimal(naive.moles(sets, public, private, *exact))
    if frozenset() in found:
        with pytest.raises(Infeasible):
            Coherence(**promise).anonymize(baskets)
        return
    singles = sorted(next(iter(mole)) for mole in found if len(mole) == 1)
    larger = {mole for mole in found if len(mole) > 1}
    supports = dict(zip(text, baskets.supports.tolist(), strict=True))
    for pick in (*GREEDY, "all", "optimal"):
        release, trace = Coherence(**promise, pick=pick).anonymize(baskets)
        assert isinstance(release.data, Baskets)
        gone = trace.notes["suppressed"]
        if pick in GREEDY:
            assert gone == singles + naive.greedy(larger, supports, pick)
        elif pick == "all":
            assert sorted(gone) == sorted(item for item in public if supports[item])
        else:
            assert trace.notes["loss"] == naive.least_loss(found, supports)
            assert (trace.notes["lower_bound"], trace.notes["gap"]) == (trace.notes["loss"], 0)
        assert sets_of(release.data) == [sets[row] - set(gone) for row in trace.rows]
        left = [item for item in public if item not in gone]
        assert not naive.moles(sets_of(release.data), left, private, *exact)
        assert all(verdict.holds for verdict in judge(release)) == any(sets_of(release.data))


@given(case=hitting_sets())
def test_the_tree_and_the_heap_pick_alike(case: tuple[Moles, np.ndarray]) -> None:
    moles, losses = case
    for pick in GREEDY:
        tree, steps = MoleTree(list(moles.sets()), losses.tolist()), []
        while tree.scores:
            check_tree(tree, [mole for mole in moles.sets() if not set(mole) & set(steps)])
            steps.append(tree.best(pick))
            tree.remove(steps[-1])
        assert not tree.root.children
        assert greedy(Hits(moles, len(losses)), losses, pick) == steps


def check_tree(tree: MoleTree, left: list[tuple[int, ...]]) -> None:
    """The tree is the tree of the moles that are left, and its table counts them."""
    counts = {item: sum(item in mole for mole in left) for mole in left for item in mole}
    assert {item: score.moles for item, score in tree.scores.items()} == counts
    nodes = [node for _, node in tree.walk()]
    assert tree.size == len(nodes)
    for item, score in tree.scores.items():
        linked = list(score.nodes.values())
        assert {id(node) for node in linked} == {id(node) for node in nodes if node.item == item}
        assert sum(node.moles for node in linked) == score.moles
    assert sum(child.moles for child in tree.root.children.values()) == len(left)


@given(case=hitting_sets())
def test_the_least_loss_is_the_least(case: tuple[Moles, np.ndarray]) -> None:
    """Also where the program is told of few moles at a time, and where it has no time at all."""
    moles, losses = case
    hits = Hits(moles, len(losses))
    sets = {frozenset(map(str, mole)) for mole in moles.sets()}
    least = naive.least_loss(sets, {str(item): int(loss) for item, loss in enumerate(losses)})
    picked = min(int(losses[greedy(hits, losses, pick)].sum()) for pick in GREEDY)
    for first, seconds in ((5_000, 30.0), (1, 30.0), (1, 0.0)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(optimal, "FIRST", first)
            patch.setattr(optimal, "MORE", first)
            found = optimal.least_loss(hits, losses, seconds)
        assert all(set(mole) & set(found.items) for mole in moles.sets())
        assert found.loss == int(losses[list(found.items)].sum())
        assert found.bound <= least <= found.loss <= picked
        if seconds:
            assert (found.loss, found.bound, found.gap) == (least, least, 0)


@given(
    pairs=st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda pair: pair[0] < pair[1]),
        unique=True,
        max_size=40,
    )
)
def test_cliques_cover_the_pairs(pairs: list[tuple[int, int]]) -> None:
    found = cliques(np.array(pairs, dtype=np.int64).reshape(-1, 2), np.arange(1, 11))
    covered = {pair for clique in found for pair in combinations(clique.tolist(), 2)}
    assert covered == set(pairs)


def test_a_private_item_above_h_is_refused_with_the_least_h() -> None:
    baskets = baskets_of([["a", "s"], ["a", "s"], ["a"], []], sensitive=["s"])
    with pytest.raises(
        Infeasible, match=r"2 of all 4 baskets hold the sensitive item 's'.*least h is 0\.5"
    ) as no:
        Coherence(h=0.4, k=2, p=1).anonymize(baskets)
    assert no.value.best == 0.5
    Coherence(h=0.5, k=2, p=1).anonymize(baskets)


def test_empty_baskets_count_for_the_empty_set() -> None:
    baskets = baskets_of([["a", "s"], [], [], []], sensitive=["s"])
    release, trace = Coherence(h=0.25, k=4, p=1).anonymize(baskets)
    assert trace.notes["suppressed"] == ["a"]
    assert len(release.data) == 4


def test_without_secrets_h_is_said_to_have_no_effect() -> None:
    sets = [["a"], ["a"], ["a", "s"]]
    for sensitive, told in ((["s"], 0), ([], 1)):
        _, trace = Coherence(h=0.4, k=2, p=1).anonymize(baskets_of(sets, sensitive=sensitive))
        assert len(trace.notes.get("warnings", ())) == told
    assert "h has no effect" in trace.notes["warnings"][0]


def test_thresholds_are_those_that_were_written() -> None:
    """A share of 0.7 of ten baskets is seven: no rounding of 0.7 makes it less."""
    rows = [["a", "s"]] * 7 + [["a"]] * 3
    for h, kept in ((0.7, True), (0.6999999999, False)):
        baskets = baskets_of([*rows, *[[]] * 10], sensitive=["s"])
        release, _ = Coherence(h=h, k=2, p=2).anonymize(baskets)
        assert ("a" in release.data.vocabulary) == kept


@given(top=st.integers(1, 400), bottom=st.integers(1, 400), largest=st.integers(1, 40))
def test_largest_below(top: int, bottom: int, largest: int) -> None:
    share = Fraction(min(top, bottom), max(top, bottom))
    expected = max(Fraction(int(share * size), size) for size in range(1, largest + 1))
    assert largest_below(share, largest) == expected


def test_long_fractions_stay_exact() -> None:
    """So many digits, times the counts, would not fit into 64 bits."""
    rows = [[*"abcdefgh"[row % 5 :], *"stuv"[row % 4 + 1 :]] for row in range(60)]
    baskets = baskets_of(rows, sensitive="tuv")
    found = {
        tuple(map(tuple, find_moles(baskets, Promise(Fraction(h), 2, 3), patience=patience).sets()))
        for h in ("0.76", "0.7698765432109876543")
        for patience in (0.0, 100.0)
    }
    assert len(found) == 1
    release, _ = Coherence(h=0.7698765432109876, k=2, p=3).anonymize(baskets)
    assert all(verdict.holds for verdict in judge(release))


def test_items_that_nobody_holds_are_not_published() -> None:
    baskets = baskets_of([["a"], ["a"]], vocabulary=["a", "b"])
    assert Coherence(h=1, k=2, p=2).anonymize(baskets)[0].data.vocabulary == ("a",)


def test_retail_as_published(public_data: Callable[[str], Path]) -> None:
    """The paper has 15.1 % for k 20, p 4 and a fifth of the items public; draws differ by about a point."""
    from shoal.io.baskets.conversion import without_rare_items
    from shoal.io.baskets.load import read_baskets

    baskets = without_rare_items(read_baskets(public_data("fimi/retail.dat.gz")), 0.001)
    assert (len(baskets), len(baskets.vocabulary)) == (88_162, 2_117)
    losses = []
    for seed in range(3):
        drawn = draw_roles(baskets, 0.2, seed)
        release, trace = Coherence(h=1, k=20, p=4).anonymize(drawn)
        losses.append(trace.notes["information_loss"])
        assert all(verdict.holds for verdict in judge(release))
        _, best = Coherence(h=1, k=20, p=4, pick="optimal", time_limit=0).anonymize(drawn)
        assert best.notes["loss"] <= trace.notes["loss"]
    assert np.mean(losses) == pytest.approx(0.151, abs=0.01)


def test_connect_with_secrets(public_data: Callable[[str], Path]) -> None:
    """The seed's cut of Connect, with an active bound on secrets: compiled and not, the same moles."""
    from shoal.io.baskets.load import read_baskets

    baskets = read_baskets(public_data("fimi/connect.dat.gz")).take(np.arange(3_000))
    drawn = draw_roles(baskets, 0.12, seed=4, private="rest", below=0.3)
    promise = Promise(Fraction("0.4"), 10, 4)
    one, other = (find_moles(drawn, promise, patience=patience) for patience in (0.0, 100.0))
    assert list(one.sets()) == list(other.sets())
    assert one.singles.tolist() == other.singles.tolist()
    release, _ = Coherence(h=0.4, k=10, p=4).anonymize(drawn)
    assert all(verdict.holds for verdict in judge(release))
