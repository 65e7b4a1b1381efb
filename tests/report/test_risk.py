"""What is left of the risk, in words."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.basket_cases import baskets_of, sets_of, small_baskets
from tests.hand_made import BASKETS, CLUSTERS, GROUPS, run_of
from tests.naive import report as naive
from tests.tables import table

from shoal.data.baskets import Baskets
from shoal.data.groups import Groups
from shoal.data.release import Published, Release
from shoal.data.verdict import Verdict
from shoal.measures.measure import Score
from shoal.report import breach
from shoal.report.breach import surest_guess
from shoal.report.card import Card
from shoal.report.facts import facts_of
from shoal.report.residual_risk import ATTACKS, CONFIDENCES, risk_of


def risk(
    data: Published,
    promise: dict[str, object] | None = None,
    verdicts: Sequence[Verdict] = (),
    scores: Sequence[Score] = (),
) -> Card | None:
    promises = () if promise is None else (promise,)
    return risk_of(Release(data, "by hand", {}, promises), verdicts, scores, None, ())


def told(card: Card | None) -> dict[str, str]:
    assert card is not None
    return {line.name: f"{line.value} {line.remark}".strip().replace("\xa0", " ") for line in card.lines}


def test_classes_tell_how_likely_a_row_is_found() -> None:
    run = run_of(table({"x": list("aabbb"), "s": list("uvuuu")}, ["s"]), {"x": list("aabbb")}, k=2)
    card = facts_of(run).risk
    assert card is not None
    assert card.figure == "1 in 2"
    assert "40.0 % on average" in card.words.replace("\xa0", " ")
    assert told(card) == {
        "smallest class, in rows (k)": "2",
        "fewest values in a class (l)": "1",
        "… by their entropy": "1.00",
        "largest distance of a class from all rows (t)": "0.300",
    }


def test_several_sensitive_columns_are_told_apart() -> None:
    columns = {"x": ["a"] * 4} | {name: list("uvuv") for name in "pqrst"}
    card = facts_of(run_of(table(columns, list("pqrst")), {"x": ["a"] * 4}, k=2)).risk
    assert "fewest values of p in a class (l)" in told(card)
    assert told(card)["more sensitive columns"] == "2 below"


def test_the_confidence_of_hidden_rules_is_told() -> None:
    data = table({"x": ["a"] * 4, "s": ["u", "v", "*", "v"]}, ["s"])
    scores = tuple(Score(name, 0.5, "", parts={"s": 0.5}) for name, _ in CONFIDENCES)
    lines = told(facts_of(run_of(data, {"x": ["a"] * 4}, k=2, scores=scores)).risk)
    assert lines["surest guess of s as published"] == "50.0 %"
    assert len([name for name in lines if name.startswith("…")]) == 3


def test_groups_tell_their_degree_and_what_attacks_reach() -> None:
    scores = [Score(name, 0.1 * place, "") for place, (name, _) in enumerate(ATTACKS, 1)]
    card = risk(GROUPS, {"model": "privacy-degree", "p": 3}, scores=scores)
    assert card is not None
    assert card.figure == "1 in 3"
    lines = told(card)
    assert lines["degree reached, and promised"] == "3, 3"
    assert lines["guessing any member is right"] == "10.0 %"
    assert lines["replaying the method is right"] == "40.0 % above 1/3"


def test_groups_without_secrets_have_no_risk() -> None:
    none = np.empty(0, dtype=np.int64)
    groups = Groups(np.array([0, 1]), np.array([0, 1]), np.array([0]), np.array([0, 0]), none, none, ("a",))
    card = risk(groups)
    assert card is not None
    assert card.figure == "none"


def test_clusters_tell_their_certain_links() -> None:
    values = {"certain_links": 12, "certain_clusters": 1, "forced_links": 2, "largest_linked_share": 1.0}
    scores = [Score(name, value, "") for name, value in values.items()]
    card = risk(CLUSTERS, verdicts=[Verdict("disassociation", "", True, 5, 5)], scores=scores)
    assert card is not None
    assert card.figure == "12"
    assert told(card)["surest link across chunks"] == "100 %"
    assert told(card)["disassociation: reached"] == "5"


def test_cohorts_tell_their_size_and_the_surest_guess() -> None:
    baskets = baskets_of(["ax", "a", "ab", "bx", "ab", ""], sensitive=["x"])
    promise = {"model": "hkp-coherence", "h": 0.5, "k": 2, "p": 1}
    card = risk(baskets, promise, [Verdict("hkp-coherence", "", True, 3, 2)])
    assert card is not None
    assert card.figure == "3 baskets"
    assert told(card) == {
        "chance of finding the basket": "1 in 3",
        "surest guess of x": "33.3 % knowing nothing",
        "baskets without any item": "1",
    }


@pytest.mark.parametrize(
    ("promise", "value", "figure"),
    [
        ({"model": "km-anonymity", "k": 5, "m": 2}, 6, "6 baskets"),
        ({"model": "hidden-associations", "confidence": 0.5}, 0.25, "25.0 %"),
    ],
)
def test_other_promises_about_baskets(promise: dict[str, object], value: float, figure: str) -> None:
    card = risk(BASKETS, promise, [Verdict(str(promise["model"]), "", True, value, 5)])
    assert card is not None
    assert card.figure.replace("\xa0", " ") == figure


def test_a_promise_that_is_not_known_tells_nothing() -> None:
    assert risk(BASKETS, {"model": "m"}, [Verdict("m", "", True, 3, 3)]) is None
    assert risk(CLUSTERS) is None


@given(small_baskets(), st.integers(0, 2))
def test_the_surest_guess_is_that_of_all_guesses(baskets: Baskets, known: int) -> None:
    found = surest_guess(baskets, known)
    if not len(baskets.sensitive) or not len(baskets):
        assert found is None
        return
    names = [baskets.vocabulary[code] for code in baskets.public]
    secrets = {baskets.vocabulary[code] for code in baskets.sensitive}
    assert found is not None
    assert found.share == pytest.approx(naive.surest_guess(sets_of(baskets), set(names), secrets, known))
    assert found.secret in secrets
    held = [basket for basket in sets_of(baskets) if set(found.known) <= basket]
    assert found.share == pytest.approx(sum(found.secret in basket for basket in held) / len(held))


def test_too_many_pairs_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breach, "WORK", 3)
    found = surest_guess(baskets_of(["abx", "ab", "b"], sensitive=["x"]), 2)
    assert found is not None
    assert (found.most_known, found.known, found.share) == (1, ("a",), 0.5)
