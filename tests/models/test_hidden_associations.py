"""The promise against counting by hand."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import hide_rules as naive
from tests.tables import table

from shoal.errors import WrongUse
from shoal.io.baskets.load import read_baskets
from shoal.mining.association_rules import parse_rule, rule_text
from shoal.models.hidden_associations import HiddenAssociations

baskets_of = st.lists(st.frozensets(st.sampled_from("abcde"), max_size=5), min_size=1, max_size=10)
rule_of = st.sampled_from(["a => b", "a + b => c", "c => a + d", "e => b", "b + d => a + e"])


@given(
    baskets_of,
    st.lists(rule_of, min_size=1, max_size=3, unique=True),
    st.sampled_from(["0.1", "0.3", "0.5"]),
    st.sampled_from(["0.2", "0.5", "0.75", "1"]),
)
def test_given_rules(sets: naive.Sets, rules: list[str], support: str, confidence: str) -> None:
    model = HiddenAssociations(support=float(support), confidence=float(confidence), rules=tuple(rules))
    verdict = model.verify(read_baskets(sets))
    least = Fraction(support) * len(sets)
    wanted = [rule for rule in rules if naive.found(sets, parse_rule(rule), least, Fraction(confidence))]
    assert verdict.holds == (not wanted)
    assert verdict.offender_count == len(wanted)
    assert {offender.where for offender in verdict.offenders} == {
        rule_text(*parse_rule(rule)) for rule in wanted
    }


@given(baskets_of, st.sampled_from(["", "a", "ce"]), st.integers(1, 3), st.sampled_from(["0.2", "0.5", "1"]))
def test_all_rules(sets: naive.Sets, secret: str, antecedent: int, confidence: str) -> None:
    known = set().union(*sets)
    secret_items = [item for item in secret if item in known]
    baskets = read_baskets(sets, sensitive=secret_items)
    scope = "sensitive" if secret_items else "all"
    model = HiddenAssociations(support=0.3, confidence=float(confidence), antecedent=antecedent, scope=scope)
    verdict = model.verify(baskets)
    least = Fraction("0.3") * len(sets)
    rules = naive.all_rules(sets, antecedent, secret_items or sorted(known))
    wanted = [rule for rule in rules if naive.found(sets, rule, least, Fraction(confidence))]
    assert verdict.offender_count == len(wanted)
    assert {offender.where for offender in verdict.offenders} <= {rule_text(*rule) for rule in wanted}
    enough = [rule for rule in rules if naive.support(sets, rule[0] + rule[1]) >= max(least, 1)]
    shares = [Fraction(naive.support(sets, a + b), naive.support(sets, a)) for a, b in enough]
    assert verdict.value == (max(shares) if shares else None)


def test_thresholds_are_exact() -> None:
    """A fifth of five baskets is one basket, and one half is one half."""
    baskets = read_baskets([["a", "b"], ["a"], ["c"], ["c"], ["c"]])
    assert not HiddenAssociations(support=0.2, confidence=0.5, rules=("a => b",)).verify(baskets)
    assert HiddenAssociations(support=0.2, confidence=0.51, rules=("a => b",)).verify(baskets)
    assert HiddenAssociations(support=0.21, confidence=0.5, rules=("a => b",)).verify(baskets)


def test_a_rule_of_items_that_nobody_holds_is_hidden() -> None:
    baskets = read_baskets([["a", "b"]])
    assert HiddenAssociations(support=0.1, confidence=0.1, rules=("x => a", "a => x", "x => y")).verify(
        baskets
    )


def test_rules_of_other_items_are_no_secret() -> None:
    baskets = read_baskets([["a", "b"], ["a", "b"], ["c"]], sensitive=["c"])
    assert HiddenAssociations(support=0.1, confidence=0.1).verify(baskets)
    assert not HiddenAssociations(support=0.1, confidence=0.1, scope="all").verify(baskets)


def test_empty_baskets_keep_every_promise() -> None:
    baskets = read_baskets([["a", "b"]])
    nobody = baskets.take(np.empty(0, dtype=np.int64))
    assert HiddenAssociations(support=0.1, confidence=0.1).verify(nobody)
    assert HiddenAssociations(support=0.1, confidence=0.1).verify(replace(baskets, indptr=[0, 0], items=[]))


def test_rules_are_read_and_written() -> None:
    assert parse_rule("b + a =>  c d ") == (("a", "b"), ("c d",))
    assert parse_rule("c++ + a=b => x+y") == (("a=b", "c++"), ("x+y",))
    assert HiddenAssociations(support=1, confidence=1, rules=("b + a => c", "a + b => c")).rules == (
        "a + b => c",
    )
    for wrong in ("a", "a => ", "=> b", "a => b => c", "a + => b", "a=>b"):
        with pytest.raises(WrongUse, match="A rule is written"):
            parse_rule(wrong)
    with pytest.raises(WrongUse, match="on both sides"):
        parse_rule("a + b => b")
    with pytest.raises(WrongUse):
        HiddenAssociations(support=0.1, confidence=0, rules=("a => b",))


def test_other_forms_are_refused() -> None:
    with pytest.raises(WrongUse, match="judges baskets, not table"):
        HiddenAssociations(support=0.1, confidence=0.1).verify(table({"a": [1]}))
