"""Promises as stated, what is tried for them, and hierarchies that are built."""

import datetime
from typing import Any

import pytest
from tests.tables import column

from shoal.data._hierarchy_builders import build
from shoal.data.domain import Kind
from shoal.errors import WrongUse
from shoal.methods._candidates import Aim, Candidate
from shoal.recipe import make_method
from shoal.recommendation.candidate_list import candidates, harder, main_parameter
from shoal.recommendation.goal import Stated
from shoal.recommendation.problem import builder_for
from shoal.recommendation.scale import scale_for


@pytest.mark.parametrize(
    ("given", "baskets", "aim"),
    [
        ({"k": 10}, False, Aim.CLASSES),
        ({"t": 0.2}, False, Aim.CLASSES),
        ({"k": 10, "confidence": 0.5}, False, Aim.RULES),
        ({"risk": 0.5}, False, Aim.RULES),
        ({"h": 0.5, "k": 5, "p": 2}, True, Aim.COHERENCE),
        ({"p": 10}, True, Aim.DEGREE),
        ({"k": 5, "m": 2}, True, Aim.COMBINATIONS),
        ({"k": 5}, True, Aim.COMBINATIONS),
    ],
)
def test_every_aim_has_candidates_that_are_valid(given: dict, baskets: bool, aim: Aim) -> None:
    stated = Stated(**given)
    assert stated.aim(baskets) is aim
    found = candidates(aim, stated, seconds=5, suppression_limit=0.05)
    assert len(found) > 3
    made = [make_method(dict(one.method)) for one in found]
    assert len({repr(one) + str(two.trees) for one, two in zip(made, found, strict=True)}) == len(found)
    for name, value in given.items():
        if name not in ("risk", "confidence"):
            assert all(one.method.get(name, value) >= value for one in found)


@pytest.mark.parametrize(
    ("given", "baskets", "said"),
    [
        ({}, False, "Nothing is promised"),
        ({"k": 5, "m": 2}, False, "promise about baskets"),
        ({}, True, "Say what is promised"),
        ({"h": 0.5, "k": 5}, True, "Say what is promised"),
        ({"k": 5, "l": 3}, True, "`l` is a promise about tables"),
        ({"p": 1}, True, "at least 2"),
    ],
)
def test_a_promise_that_does_not_fit_is_wrong_use(given: dict, baskets: bool, said: str) -> None:
    with pytest.raises(WrongUse, match=said):
        Stated(**given).aim(baskets)


def test_no_candidate_leaves_out_more_rows_than_allowed() -> None:
    for limit, expected in ((0.0, {0}), (0.02, {0, 0.01, 0.02}), (0.05, {0, 0.01, 0.05})):
        found = candidates(Aim.CLASSES, Stated(k=5), seconds=5, suppression_limit=limit)
        shares = {one.method.get("suppression_limit", 0) for one in found}
        assert shares == expected


@pytest.mark.parametrize("given", [{}, {"confidence": 0.5}, {"risk": 0.5}], ids=str)
def test_classes_that_overlap_are_not_tried_where_presence_is_promised(given: dict) -> None:
    aim = Stated(k=5, **given).aim(baskets=False)

    def labels(**more: Any) -> set[str]:
        return {
            one.label
            for one in candidates(aim, Stated(k=5, **given, **more), seconds=5, suppression_limit=0.05)
        }

    left_out = labels() - labels(presence=0.5, population="all.csv")
    assert labels(k_map=10, population="all.csv") == labels() > left_out
    assert left_out == {
        label for label in labels() if any(word in label for word in ("relaxed", "local", "merge"))
    }
    assert left_out


def test_stronger_promises() -> None:
    base = Candidate("m", {"name": "mondrian", "k": 5, "t": 0.2})
    assert [one.method["k"] for one in harder(base, "k")] == [10, 25, 50]
    assert [one.method["t"] for one in harder(base, "t")] == [0.15, 0.1]
    assert harder(base, "l") == []
    for one in candidates(Aim.COMBINATIONS, Stated(k=10), seconds=5, suppression_limit=0.05):
        assert [make_method(dict(more.method)).k for more in harder(one, "k")] == [20, 50, 100]
    assert main_parameter(Aim.CLASSES, Stated(k=5, t=0.2)) == "k"
    assert main_parameter(Aim.CLASSES, Stated(t=0.2)) == "t"
    assert main_parameter(Aim.RULES, Stated(risk=0.2)) is None


def test_the_scale_knows_which_end_protects() -> None:
    more = scale_for(Aim.CLASSES, Stated(k=5), "loss")
    assert more.beats((10, 0.1), (5, 0.1))
    assert not more.beats((10, 0.2), (5, 0.1))
    less = scale_for(Aim.CLASSES, Stated(t=0.3), "queries")
    assert less.loss == "are"
    assert less.beats((0.1, 0.1), (0.2, 0.1))
    risk = scale_for(Aim.RULES, Stated(risk=0.5), "loss")
    assert risk.meets(0.5)
    assert not risk.meets(0.51)
    assert not risk.meets(None)
    assert risk.loss_of({"lm": 0.6, "starred_share": 0.2}, 3, 1) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("cells", "kind", "spec"),
    [
        (list(range(17, 91)), None, "intervals:5,10,20,40"),
        (list(range(1, 17)), None, "intervals:2,4,8"),
        ([0.5, 1.25, 2.0, 9.75, None], None, "intervals:1,2,4,8"),
        ([1, 2], None, "suppress"),
        ([7, 7, 7], None, "suppress"),
        (["male", "female", None], None, "suppress"),
        ([f"{place:05}" for place in range(20)], Kind.NOMINAL, "mask"),
        (["Rome", "Milan", "Paris", "Bonn", "Wien"], None, "balanced:3"),
        ([f"town{'x' * (place % 5)}{place}" for place in range(100)], None, "balanced:5"),
        ([datetime.date(2000, 1, day) for day in range(1, 20)], None, "dates"),
        (["{a|b}", "c", "d", "e"], None, "suppress"),
    ],
)
def test_a_hierarchy_to_begin_with(cells: list, kind: Kind | None, spec: str) -> None:
    made = column("c", cells, kind=kind)
    assert builder_for(made) == spec
    if "{a|b}" not in cells:
        assert build(spec, made.domain, "c").leaves


def test_h_k_and_p_follow_from_a_risk_of_baskets() -> None:
    tuned = Stated(risk=0.3).tuned()
    assert (tuned.h, tuned.k, tuned.p, tuned.aim(baskets=True)) == (0.3, 4, 2, Aim.COHERENCE)
    tuned = Stated(risk=0.25, p=3, k=9).tuned()
    assert (tuned.h, tuned.k, tuned.p) == (0.25, 9, 3)
    assert Stated(k=5, m=2).tuned() == Stated(k=5, m=2)
    with pytest.raises(WrongUse, match="needs k = 4"):
        Stated(risk=0.25, k=3).tuned()
    with pytest.raises(WrongUse, match="needs h"):
        Stated(risk=0.25, h=0.5).tuned()
