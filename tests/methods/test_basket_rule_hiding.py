"""Hiding of association rules against trying everything."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.naive import hide_rules as naive

from shoal.cli import main
from shoal.data.baskets import Baskets
from shoal.data.release import Release
from shoal.datasets.shopping import Shopping
from shoal.errors import UnknownName, WrongUse
from shoal.io.baskets.load import read_baskets
from shoal.measures.associations import Associations
from shoal.measures.measure import flat
from shoal.methods.basket_rule_hiding import _victims as victims
from shoal.methods.basket_rule_hiding._item_index import Border, Rule
from shoal.methods.basket_rule_hiding.method import BasketRuleHiding
from shoal.mining.association_rules import association_rules, parse_rule, rule_text
from shoal.mining.frequent_itemsets import frequent_itemsets, least_count
from shoal.outcome import judge

STRATEGIES = ("dsr", "dsl", "isl", "exact", "random")
baskets_of = st.lists(st.frozensets(st.sampled_from("abcde"), max_size=5), min_size=2, max_size=9)
rules_of = st.lists(
    st.sampled_from(["a => b", "a + b => c", "c => a + d", "e => b", "b => e"]),
    min_size=1,
    max_size=3,
    unique=True,
)


def plain(baskets: Baskets) -> naive.Sets:
    return [frozenset(baskets.basket(row)) for row in range(len(baskets))]


def hidden(baskets: Baskets, **parameters: Any) -> tuple[Baskets, dict[str, Any]]:
    """The release of a method, its promises checked, and the notes."""
    release, trace = BasketRuleHiding(**parameters).anonymize(baskets, seed=4)
    assert isinstance(release.data, Baskets)
    assert all(judge(release)) == bool(len(release.data.items))
    return release.data, dict(trace.notes)


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=30)
@given(sets=baskets_of, rules=rules_of, confidence=st.sampled_from(["0.3", "0.5", "0.8", "1"]))
def test_given_rules_are_hidden(strategy: str, sets: naive.Sets, rules: list[str], confidence: str) -> None:
    known = set().union(*sets)
    rules = [rule for rule in rules if known.issuperset({item for side in parse_rule(rule) for item in side})]
    assume(rules)
    released, notes = hidden(
        read_baskets(sets), support=0.2, confidence=float(confidence), rules=tuple(rules), strategy=strategy
    )
    after = plain(released)
    least = Fraction("0.2") * len(sets)
    for rule in rules:
        assert not naive.found(after, parse_rule(rule), least, Fraction(confidence))
    assert len(after) == len(sets)
    before_size, after_size = sum(map(len, sets)), sum(map(len, after))
    assert after_size == before_size - notes["removed"] + notes["added"]
    if strategy != "isl":
        assert notes["added"] == 0


@settings(max_examples=25)
@given(
    sets=st.lists(st.frozensets(st.sampled_from("abc"), max_size=3), min_size=2, max_size=5),
    rules=st.lists(
        st.sampled_from(["a => b", "b => a", "a + b => c", "c => a"]), min_size=1, max_size=2, unique=True
    ),
    confidence=st.sampled_from(["0.4", "0.6", "1"]),
)
def test_exact_takes_out_the_fewest(sets: naive.Sets, rules: list[str], confidence: str) -> None:
    known = set().union(*sets)
    rules = [rule for rule in rules if known.issuperset({item for side in parse_rule(rule) for item in side})]
    assume(rules)
    parameters: dict[str, Any] = {"support": 0.4, "confidence": float(confidence), "rules": tuple(rules)}
    _, notes = hidden(read_baskets(sets), strategy="exact", **parameters)
    least, share = Fraction("0.4") * len(sets), Fraction(confidence)
    fewest = naive.fewest_removals(sets, [parse_rule(rule) for rule in rules], least, share)
    assert notes["removed"] == fewest
    assert notes.get("least_removals", 0) == fewest
    for other in ("dsr", "dsl", "random"):
        assert hidden(read_baskets(sets), strategy=other, **parameters)[1]["removed"] >= fewest


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=15)
@given(sets=baskets_of, secret=st.sampled_from(["", "a", "bd"]))
def test_all_sensitive_rules_are_hidden(strategy: str, sets: naive.Sets, secret: str) -> None:
    known = set().union(*sets)
    secret_items = [item for item in secret if item in known]
    released, _ = hidden(
        read_baskets(sets, sensitive=secret_items),
        support=0.3,
        confidence=0.5,
        scope="sensitive" if secret_items else "all",
        strategy=strategy,
    )
    after = plain(released)
    for rule in naive.all_rules(sets, 2, secret_items or sorted(known)):
        assert not naive.found(after, rule, Fraction("0.3") * len(sets), Fraction("0.5"))


@given(
    st.integers(1, 40), st.integers(0, 40), st.integers(1, 20), st.sampled_from(["0.2", "0.5", "0.9", "1"])
)
def test_the_border_needs_the_least(both: int, more: int, least: int, share: str) -> None:
    left = both + more
    border = Border(least, Fraction(share))
    for removals, after in (
        (border.right_removals, lambda n: (both - n, left)),
        (border.left_removals, lambda n: (both - n, left - n)),
    ):
        n = removals(both, left)
        assert not border.reached(*after(n))
        assert n == 0 or border.reached(*after(n - 1))
    n = border.left_additions(both, left)
    assert Fraction(both, left + n) < border.share
    assert n == 0 or Fraction(both, left + n - 1) >= border.share


def test_nothing_to_hide_changes_nothing() -> None:
    baskets = read_baskets([["a", "b"], ["a"], ["b"], ["c"]])
    released, notes = hidden(baskets, support=0.5, confidence=0.9, rules=("a => b",))
    assert sorted(plain(released), key=sorted) == sorted(plain(baskets), key=sorted)
    assert notes["sensitive_rules"] == notes["removed"] == 0


def test_victims_spare_what_is_near_the_border() -> None:
    """Either x or y must go from one of the baskets; the pair of b and c is just frequent, so its basket is spared."""
    baskets = read_baskets([["a", "b", "c"], ["a", "b", "d"], ["b", "c"], ["d"], ["e"]])
    released, _ = hidden(baskets, support=0.4, confidence=0.9, rules=("a => b",))
    assert frozenset("abc") in plain(released)
    assert frozenset("ad") in plain(released)


def test_unknown_items_are_refused() -> None:
    with pytest.raises(UnknownName, match="There is no item 'x'"):
        BasketRuleHiding(support=0.1, confidence=0.5, rules=("x => a",)).anonymize(read_baskets([["a"]]))


def test_something_must_be_hidden() -> None:
    with pytest.raises(WrongUse, match="Nothing to hide"):
        BasketRuleHiding(support=0.1, confidence=0.5).anonymize(read_baskets([["a"]]))


def test_exact_says_when_it_is_out_of_reach() -> None:
    baskets = read_baskets([[f"{place:02}" for place in range(14)]] * 4)
    with pytest.raises(WrongUse, match="out of reach"):
        BasketRuleHiding(support=0.5, confidence=0.5, scope="all", strategy="exact").anonymize(baskets)


def test_scores() -> None:
    original = read_baskets([["a", "b"], ["a", "b"], ["a", "b", "c"], ["c", "d"], ["c", "d"]])
    published = read_baskets([["a"], ["a"], ["a", "b", "c"], ["c", "d"], ["c", "d"]])
    promise = {"model": "hidden-associations", "support": 0.2, "confidence": 0.5, "rules": ["a => b"]}
    scores = flat(Associations().scores(original, Release(published, "by hand", {}, (promise,))))
    least, share = Fraction(1), Fraction(1, 2)
    sets, after = plain(original), plain(published)
    rules = [rule for rule in naive.all_rules(sets, 2, "abcd") if naive.found(sets, rule, least, share)]
    rules_after = [
        rule for rule in naive.all_rules(after, 2, "abcd") if naive.found(after, rule, least, share)
    ]
    lost = [rule for rule in rules if rule not in rules_after and rule != (("a",), ("b",))]
    ghosts = [rule for rule in rules_after if rule not in rules]
    assert (scores["original_rules"], scores["sensitive_rules"]) == (len(rules), 1)
    assert scores["hiding_failure"] == 0
    assert scores["lost_rules_count"] == len(lost) == round(scores["lost_rules"] * (len(rules) - 1))
    assert scores["ghost_rules_count"] == len(ghosts)
    assert scores["ghost_rules"] == pytest.approx(len(ghosts) / len(rules_after))
    assert scores["dissimilarity"] == pytest.approx(2 / 11)
    unchanged = flat(Associations().scores(original, Release(original, "by hand", {}, (promise,))))
    assert unchanged["hiding_failure"] == 1
    assert not Associations().scores(original, Release(original, "by hand", {}, ()))
    assert Associations(support=0.2, confidence=0.5).scores(original, Release(original, "by hand", {}, ()))


def sensitive_rules(baskets: Baskets, support: float, confidence: float, count: int) -> tuple[str, ...]:
    """Some rules that hold, spread over all of them."""
    found = frequent_itemsets(baskets, least_count(len(baskets), support), 3)
    texts = sorted(association_rules(found, confidence, consequent=1).texts(baskets.vocabulary))
    places = np.linspace(0, len(texts) - 1, count).astype(int)
    return tuple(rule_text(*texts[place]) for place in places)


def test_fewer_rules_are_lost_than_by_chance(public_data: Callable[[str], Path]) -> None:
    baskets = read_baskets(public_data("bms-webview-1/bms-webview-1.dat.gz"))
    rules = sensitive_rules(baskets, 0.002, 0.3, 5)
    lost = {}
    for strategy in ("dsr", "random"):
        method = BasketRuleHiding(support=0.002, confidence=0.3, rules=rules, strategy=strategy)
        release, _ = method.anonymize(baskets, seed=1)
        scores = flat(Associations().scores(baskets, release))
        assert (scores["hiding_failure"], scores["sensitive_rules"]) == (0, 5)
        lost[strategy] = scores["lost_rules_count"]
    assert lost["dsr"] < lost["random"]


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    baskets = Shopping(rows=500, items=20, density=0.2).make(3)
    lines = "\n".join(" ".join(baskets.basket(row)) for row in range(len(baskets)))
    (tmp_path / "baskets.dat").write_text(lines + "\n")
    command = [
        "anonymize",
        "basket-rule-hiding",
        str(tmp_path / "baskets.dat"),
        "--baskets",
        "lines",
        "--support",
        "0.05",
    ]
    out = ["-o", str(tmp_path / "out"), "--force"]
    assert main([*command, "--confidence", "0.5", "--rules", "3 => 1,2 + 3 => 1", *out]) == 0
    assert main(["verify", str(tmp_path / "out")]) == 0
    assert main([*command, "--confidence", "0", *out]) == 2
    assert main([*command, "--confidence", "0.5", "--rules", "1 -> 2", *out]) == 2
    assert main([*command, "--confidence", "0.5", "--rules", "nothing => 2", *out]) == 2
    assert "There is no item" in capsys.readouterr().err


SETS = st.lists(st.frozensets(st.integers(0, 5), min_size=2, max_size=3), min_size=1, max_size=8)


@given(SETS, st.lists(st.frozensets(st.integers(0, 5), min_size=2, max_size=4), max_size=4))
def test_sets_that_hold_a_whole_rule_are_not_protected(
    sets: list[frozenset[int]], rules: list[frozenset[int]]
) -> None:
    """Short sets repeat their last item; rules longer than any set are held by none."""
    table = np.array([(*sorted(one), max(one))[:3] for one in sets], dtype=np.int64)
    given_rules = [Rule(tuple(sorted(rule)[1:]), tuple(sorted(rule)[:1])) for rule in rules]
    expected = [any(rule <= one for rule in rules) for one in sets]
    assert victims.hold_a_rule(table, given_rules, 6).tolist() == expected
