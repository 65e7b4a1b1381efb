"""CAHD and its baseline: what is published, what is promised, and what is betrayed."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import cahd as naive
from tests.sets import baskets_of, sets_of

import shoal
from shoal.data._basket_orders import ORDERS, Distinct
from shoal.data.baskets import Baskets, ragged_ranks
from shoal.data.groups import Groups
from shoal.data.release import Release
from shoal.data.trace import Trace
from shoal.datasets.shopping import Shopping
from shoal.errors import BadData, Infeasible, WrongUse
from shoal.io.baskets.load import read_baskets
from shoal.io.releases.set_lines import canonical_groups
from shoal.kernels import _jit
from shoal.kernels._compiling import eagerly
from shoal.measures.pivot import Pivot
from shoal.methods.cahd._split_baskets import sheet_of
from shoal.methods.cahd.method import Cahd
from shoal.methods.method import Method
from shoal.methods.permutation_mondrian import PermutationMondrian
from shoal.outcome import judge
from shoal.risks._group_members import distinct_members

PEOPLE = {
    "Bob": {"wine", "meat", "viagra"},
    "David": {"wine", "meat"},
    "Claire": {"strawberries", "cream", "pregnancy test"},
    "Andrea": {"strawberries", "meat"},
    "Ellen": {"wine", "meat", "cream"},
}
SECRETS = ("pregnancy test", "viagra")


def published(method: Method, baskets: Baskets) -> tuple[Groups, Release, Trace]:
    release, trace = method.anonymize(baskets)
    assert isinstance(release.data, Groups)
    return release.data, release, trace


def check(method: Method, sets: Sequence[Collection[str]], secrets: Collection[str]) -> None:
    """Nothing is lost or made up, the degree holds, and the trace tells who is who."""
    groups, release, trace = published(method, baskets_of(sets, secrets))
    # A degree of secrets that nobody has would prove nothing.
    assert all(verdict.holds for verdict in judge(release)) == any(set(secrets) & set(one) for one in sets)
    read = sets_of(groups)
    public = [tuple(sorted(set(one) - set(secrets))) for one in sets]
    assert Counter(tuple(b) for baskets, _ in read for b in baskets) == Counter(public)
    held = Counter(item for one in sets for item in one if item in secrets)
    assert sum((Counter(summary) for _, summary in read), Counter()) == held
    place = 0
    for baskets, summary in read:
        rows = trace.rows[place : place + len(baskets)].tolist()
        assert [public[row] for row in rows] == [tuple(basket) for basket in baskets]
        assert Counter(i for row in rows for i in sets[row] if i in secrets) == summary
        place += len(baskets)
    again = canonical_groups(groups)
    assert sets_of(again) == read
    told, found = distinct_members(groups), distinct_members(replace(groups))
    for one in fields(Distinct):
        assert np.array_equal(getattr(told, one.name), getattr(found, one.name))


def all_methods(p: int) -> list[Method]:
    return [
        Cahd(p=p),
        Cahd(p=p, improve=True),
        *(Cahd(p=p, form="pivots", order=order) for order in ORDERS),  # type: ignore[arg-type]
        *(Cahd(p=p, form="blocks", order=order) for order in ORDERS),  # type: ignore[arg-type]
        Cahd(p=p, form="blocks", improve=True),
        Cahd(p=p, form="pivots", improve=True, alpha=1),
        PermutationMondrian(p=p),
    ]


def test_the_five_people_of_the_seed() -> None:
    """Bob, David and Ellen share one viagra, Andrea and Claire one pregnancy test."""
    baskets = baskets_of(list(PEOPLE.values()), SECRETS)
    groups, _, trace = published(Cahd(p=2, form="blocks", order="bipartite"), baskets)
    names = list(PEOPLE)
    first, second = (
        {names[row] for row in trace.rows[groups.group_indptr[g] : groups.group_indptr[g + 1]]}
        for g in (0, 1)
    )
    assert {frozenset(first), frozenset(second)} == {
        frozenset({"Bob", "David", "Ellen"}),
        frozenset({"Andrea", "Claire"}),
    }
    assert [summary for _, summary in sets_of(groups)] == [{"viagra": 1}, {"pregnancy test": 1}]


@pytest.mark.parametrize("method", all_methods(2), ids=str)
def test_the_five_people_are_safe_in_every_form(method: Method) -> None:
    check(method, list(PEOPLE.values()), SECRETS)


def test_the_printed_test_leaves_a_group_unprotected() -> None:
    """The paper's figure compares what remains before the group is taken away; then t and t stay by themselves."""
    sets = [{"a", "s"}, {"a"}, {"b", "t"}, {"b", "t"}]
    rows = [({ord(i) for i in one if i in "ab"}, {ord(i) for i in one if i in "st"}) for one in sets]
    printed = naive.form_groups(rows, 2, 6, printed=True)
    assert printed == [0, 0, -1, -1]
    assert naive.form_groups(rows, 2, 6) != printed
    method = Cahd(p=2, form="pivots", order="lexicographic")
    check(method, sets, "st")
    _, trace = method.anonymize(baskets_of(sets, "st"))
    assert trace.notes["groups_given_up"] == 1


@pytest.mark.parametrize("method", all_methods(2) + all_methods(3), ids=str)
def test_thousands_of_small_inputs(method: Method) -> None:
    random = np.random.default_rng(11)
    done = 0
    for _ in range(120):
        rows = int(random.integers(2, 30))
        dense = random.random((rows, 7)) < random.uniform(0.05, 0.6)
        dense[:, 5:] = random.random((rows, 2)) < random.uniform(0.0, 0.5, 2)
        sets = [{"abcdest"[item] for item in np.flatnonzero(line)} for line in dense]
        if max(dense[:, 5:].sum(axis=0)) * method.p > rows:  # type: ignore[attr-defined]
            with pytest.raises(Infeasible):
                method.anonymize(baskets_of(sets, "st"))
            continue
        check(method, sets, "st")
        done += 1
    assert done > 30


basket_lists = st.lists(st.frozensets(st.sampled_from("abcst")), min_size=4, max_size=20)


@given(basket_lists, st.randoms(use_true_random=False), st.sampled_from(all_methods(2)))
def test_the_order_of_the_input_leaves_no_mark(
    sets: list[frozenset[str]], random: object, method: Method
) -> None:
    """Also where people agree in all public items and differ in the sensitive ones, unless they may come apart."""
    if method.splits_ties:
        sets = list({one - set("st"): one for one in sets}.values())
    if max(sum(secret in one for one in sets) for secret in "st") * 2 > len(sets):
        return
    shuffled = list(sets)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = (published(method, baskets_of(lines, "st"))[0] for lines in (sets, shuffled))
    assert sets_of(one) == sets_of(other)


@pytest.mark.parametrize("form", ["near", "blocks", "pivots"])
def test_plain_python_does_what_kernels_do(form: str, tmp_path: Path) -> None:
    """The same bytes, whichever of them is at work where little is to be done."""
    drawn = Shopping(rows=200, items=12, density=0.25).make(seed=3)
    baskets = replace(drawn, sensitive=np.array([11], dtype=np.int32))
    for name, context in (("compiled", eagerly()), ("plain", nullcontext())):
        with pytest.MonkeyPatch.context() as patch, context:
            patch.setattr(_jit, "_is_ready", lambda kernel: False)
            run = shoal.anonymize(baskets, Cahd(p=4, form=form), seed=5)
            run.write(tmp_path / name)
    for file in ("release/data.jsonl", "release/release.json"):
        assert (tmp_path / "compiled" / file).read_bytes() == (tmp_path / "plain" / file).read_bytes()


@given(basket_lists, basket_lists)
def test_sensitive_items_touch_no_order(sets: list[frozenset[str]], secrets: list[frozenset[str]]) -> None:
    """The same public items with any other sensitive ones give the same distinct baskets, which is all orders see."""
    public = [one - set("st") for one in sets]
    other = [one | (two & set("st")) for one, two in zip(public, secrets * 5, strict=False)]
    one, two = (sheet_of(baskets_of(lines, "st")).distinct for lines in (public, other))
    assert one.items.tolist() == two.items.tolist()
    assert one.indptr.tolist() == two.indptr.tolist()
    assert one.of_row.tolist() == two.of_row.tolist()


def test_equal_baskets_stay_together_in_blocks() -> None:
    """Which of two equal baskets went where could only be told by their sensitive items."""
    sets = [{"a"}] * 5 + [{"a", "s"}] + [{"b"}] * 6 + [{"c"}] * 3
    groups, _, _ = published(Cahd(p=2, form="blocks"), baskets_of(sets, "s"))
    homes: dict[tuple[str, ...], set[int]] = {}
    for number, (baskets, _) in enumerate(sets_of(groups)):
        for basket in baskets:
            homes.setdefault(tuple(basket), set()).add(number)
    assert all(len(home) == 1 for home in homes.values())


def test_an_infeasible_degree_is_refused_by_name() -> None:
    sets = [{"a", "s"}] * 4 + [{"b", "t"}] * 2 + [{"c"}] * 6
    with pytest.raises(
        Infeasible, match=r"'s' is in 4 of 12 baskets: at most p = 3. The largest p is 3"
    ) as refusal:
        Cahd(p=4).anonymize(baskets_of(sets, "st"))
    assert refusal.value.best == 3
    with pytest.raises(Infeasible, match="'t' is in 2 of 12 baskets: at most p = 6"):
        PermutationMondrian(p=7).anonymize(baskets_of(sets, "st"))
    Cahd(p=3).anonymize(baskets_of(sets, "st"))


def test_a_secret_of_most_people_cannot_be_kept() -> None:
    with pytest.raises(Infeasible, match="No p from 2 on can be kept") as refusal:
        Cahd(p=2).anonymize(baskets_of([{"s"}, {"s"}, {"a"}], "s"))
    assert refusal.value.best == 1


def test_nothing_sensitive_is_wrong_use() -> None:
    with pytest.raises(WrongUse, match="`sensitive`"):
        Cahd(p=2).anonymize(baskets_of([{"a"}, {"b"}]))


def test_a_degree_of_one_is_wrong_use() -> None:
    with pytest.raises(WrongUse, match="p must be"):
        shoal.anonymize(baskets_of([{"a"}, {"b", "s"}], "s"), "cahd", p=1)


def test_a_secret_that_nobody_has() -> None:
    groups, release, _ = published(Cahd(p=2), baskets_of([{"a"}, {"b"}, {"a", "t"}], "st"))
    assert [summary for _, summary in sets_of(groups)] == [{"t": 1}]
    assert release.promises[0]["sensitive"] == ["t"]
    assert judge(release)[0].holds


@pytest.mark.parametrize("method", ["cahd", "permutation-mondrian"])
def test_runs_refuse_secrets_that_nobody_has(method: str) -> None:
    with pytest.raises(BadData, match="no basket holds a sensitive item"):
        shoal.anonymize(baskets_of([{"a"}, {"b"}, {"a"}], "s"), method, p=2)


def test_a_degree_above_the_rows_needs_no_secret_to_be_there() -> None:
    check(Cahd(p=50, form="pivots"), [{"a"}, {"b"}], "s")


def clustered(rows: int = 3000, seed: int = 3) -> Baskets:
    """Baskets of several tastes, with two items made sensitive."""
    baskets = Shopping(rows=rows, items=200, density=0.03, topics=12, correlation=0.8).make(seed)
    by_support = np.argsort(-baskets.supports, kind="stable")
    secret = np.sort(by_support[[30, 40]]).astype(np.int32)
    return Baskets(baskets.indptr, baskets.items, baskets.vocabulary, secret, baskets.insensitive)


def sensitive_rows(baskets: Baskets) -> np.ndarray:
    rows = np.repeat(np.arange(len(baskets)), baskets.lengths)
    return np.bincount(rows, np.isin(baskets.items, baskets.sensitive), len(baskets)) > 0


def chance_of_places(groups: Groups, sensitive: np.ndarray) -> float:
    """How often shuffled members lie as far from the middle of their groups, on average, as the sensitive ones do.

    Equal baskets of a group have no order that anybody could see: each is given the middle of their places.
    """
    group = np.repeat(np.arange(len(groups)), groups.sizes)
    content = ragged_ranks(groups.basket_indptr, groups.items)
    _, alike = np.unique(group * len(content) + content, return_inverse=True)
    place = np.arange(len(group)) - groups.group_indptr[group]
    middle = np.bincount(alike, place) / np.bincount(alike)
    relative = (middle[alike] + 0.5) / groups.sizes[group] - 0.5
    random = np.random.default_rng(1)
    seen = abs(relative[sensitive].mean())
    shuffled = []
    for _ in range(400):
        order = np.lexsort((random.random(len(group)), group))
        shuffled.append(abs(relative[sensitive[order]].mean()))
    return float(np.mean(np.array(shuffled) >= seen))


def independent(rows: int = 2000) -> Baskets:
    """Baskets whose sensitive item has nothing to do with the public ones, so that only a place could tell of it."""
    baskets = Shopping(rows=rows, items=60, density=0.06, topics=5).make(4)
    holders = np.random.default_rng(2).random(rows) < 0.05
    sets = [{*baskets.basket(row), *(["secret"] if holders[row] else [])} for row in range(rows)]
    return baskets_of(sets, ["secret"])


@pytest.mark.parametrize("form", ["near", "blocks", "pivots"])
def test_the_place_of_a_basket_tells_nothing(form: str) -> None:
    baskets = independent()
    groups, _, trace = published(Cahd(p=4, form=form), baskets)  # type: ignore[arg-type]
    sensitive = sensitive_rows(baskets)[trace.rows]
    assert chance_of_places(groups, sensitive) > 0.01
    group = np.repeat(np.arange(len(groups)), groups.sizes)
    first = np.lexsort((~sensitive, group))
    assert chance_of_places(groups, sensitive[first]) < 0.01, "sensitive baskets first must be noticed"


def test_the_place_of_a_group_tells_nothing() -> None:
    baskets = independent()
    groups, _, _ = published(Cahd(p=4, form="blocks"), baskets)
    held = np.diff(groups.sensitive_indptr) > 0
    random = np.random.default_rng(3)
    place = np.arange(len(held)) - len(held) / 2
    seen = abs(place[held].mean())
    shuffled = [abs(place[random.permutation(held)].mean()) for _ in range(400)]
    assert np.mean(np.array(shuffled) >= seen) > 0.01


def test_pivots_are_betrayed_and_other_forms_are_not() -> None:
    baskets = clustered()
    scores = {}
    for form in ("pivots", "blocks", "near"):
        release, _ = Cahd(p=10, form=form, order="rcm").anonymize(baskets)  # type: ignore[arg-type]
        scores[form] = {score.name: score.value for score in Pivot().scores(baskets, release)}
    # An upper bound, of a reader who is told which pair of clusters to look at.
    assert 1 <= scores["near"]["pivot_replay"] / scores["near"]["pivot_guess"] < 1.5
    assert scores["near"]["pivot_certain"] == 0
    assert scores["pivots"]["pivot_replay"] > 2 * scores["pivots"]["pivot_guess"]
    assert scores["blocks"]["pivot_replay"] < 1.2 * scores["blocks"]["pivot_guess"]
    assert scores["blocks"]["pivot_certain"] == 0
    assert scores["blocks"]["pivot_guess"] < 0.12


def test_improving_keeps_sizes_and_counts() -> None:
    baskets = clustered()
    plain, _, _ = published(Cahd(p=5, form="blocks"), baskets)
    better, release, trace = published(Cahd(p=5, form="blocks", improve=True), baskets)
    assert trace.notes["swaps"] > 0
    assert trace.notes["loss_gained"] > 0
    assert sorted(plain.sizes.tolist()) == sorted(better.sizes.tolist())
    assert Counter(plain.sensitive_counts.tolist()) == Counter(better.sensitive_counts.tolist())
    assert judge(release)[0].holds


def test_the_trace_brings_pictures() -> None:
    baskets = clustered()
    groups, _, trace = published(Cahd(p=4), baskets)
    before, after, degrees = trace.notes["pictures"]
    assert before["kind"] == after["kind"] == "matrix"
    entries = int((~np.isin(baskets.items, baskets.sensitive)).sum())
    assert sum(map(sum, before["cells"])) == sum(map(sum, after["cells"])) == entries
    assert sum(degrees["counts"]) == int((np.diff(groups.sensitive_indptr) > 0).sum())
    assert degrees["labels"][0] == "4"
    band = trace.notes["band"]
    assert band["after"]["profile"] < band["before"]["profile"]


@pytest.mark.parametrize(
    ("name", "secrets"),
    [
        ("bms-webview-1/bms-webview-1.dat.gz", ("10877", "18423")),
        ("bms-webview-2/bms-webview-2.dat.gz", ("55339", "55871")),
        ("online-retail/online-retail-baskets.dat.gz", ("22816", "22377")),
    ],
)
def test_public_data(public_data: Callable[[str], Path], name: str, secrets: tuple[str, ...]) -> None:
    baskets = read_baskets(public_data(name), sensitive=secrets)
    for method in (Cahd(p=4), Cahd(p=4, form="pivots", order="rcm"), Cahd(p=20, form="blocks"), Cahd(p=20)):
        groups, release, trace = published(method, baskets)
        assert judge(release)[0].holds
        assert sorted(trace.rows.tolist()) == list(range(len(baskets)))
        told = Counter()
        for item, count in zip(
            groups.sensitive_items.tolist(), groups.sensitive_counts.tolist(), strict=True
        ):
            told[groups.vocabulary[item]] += count
        assert told == {item: int(baskets.supports[baskets.code(item)]) for item in secrets}
        own = baskets.take(trace.rows).keep(~np.isin(np.arange(len(baskets.vocabulary)), baskets.sensitive))
        assert own.indptr.tolist() == groups.basket_indptr.tolist()
        names = np.array(groups.vocabulary)[groups.items]
        assert (names == np.array(own.vocabulary)[own.items]).all()
