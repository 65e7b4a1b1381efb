"""Several rows a person: promises about sensitive values speak about persons."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.promises import PARAMETERS, QUASI, SENSITIVE, class_numbers, promises, tables
from tests.naive.models import keeps
from tests.tables import column, table, texts

from shoal import registry
from shoal.data.group_statistics import group_statistics
from shoal.data.release import Release
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.errors import WrongUse
from shoal.models._sensitive import SensitiveModel
from shoal.models.alpha_k_anonymity import AlphaKAnonymity
from shoal.models.confidence_bounding import ConfidenceBounding
from shoal.models.distinct_diversity import DistinctDiversity
from shoal.models.model import TableModel

MODELS = [name for name in PARAMETERS if issubclass(registry.load("model", name), SensitiveModel)]
OF_PERSONS = [name for name in MODELS if "entity" in registry.load("model", name).model_fields]
OF_ROWS = [
    "t-closeness",
    "hidden-rules",
    "beta-likeness",
    "delta-disclosure",
    "ke-anonymity",
    "em-anonymity",
    "xy-privacy",
    "personalized-privacy",
    "m-invariance",
]


def everybody_has_both() -> Table:
    """Two persons, and each of them has both illnesses."""
    cells = {"x": list("aaaa"), "who": list("ppqq"), "s": ["flu", "hiv"] * 2}
    return table(cells, sensitive=["s"], entity="who")


@st.composite
def visits(draw: st.DrawFn) -> Table:
    """A table with several rows a person, who may have the same secrets in all of them."""
    data = draw(tables())
    who = draw(st.lists(st.sampled_from("pqrst"), min_size=data.rows, max_size=data.rows))
    if draw(st.booleans()):
        first = np.array([who.index(person) for person in who])
        taken = [one.take(first) if one.role is Role.SENSITIVE else one for one in data.columns]
        data = Table(tuple(taken))
    return Table((*data.columns, column("who", who, Role.ENTITY)))


def of_persons(model: TableModel) -> TableModel:
    return model.model_copy(update={"entity": "who"})


def refused(model: TableModel, data: Table) -> bool:
    """Whether somebody has several values, and the promise is about one."""
    try:
        model.bound(data)
    except WrongUse:
        return True
    return False


def test_every_model_of_sensitive_values_counts_persons_or_refuses_them() -> None:
    assert set(MODELS) == {*OF_PERSONS, *OF_ROWS}
    assert not set(OF_PERSONS) & set(OF_ROWS)


def test_two_rows_each_hide_nothing() -> None:
    data = everybody_has_both()
    verdict = AlphaKAnonymity(alpha=0.5, k=2, entity="who").verify(data)
    assert (verdict.holds, verdict.value) == (False, 1)
    assert verdict.offenders[0].why == "2 of 2 persons have flu where a share of 0.5 is promised"
    assert not ConfidenceBounding(bounds={"hiv": 0.5}, entity="who").verify(data).holds
    verdict = DistinctDiversity(l=2, entity="who").verify(data)
    assert (verdict.holds, verdict.value) == (False, 0)
    assert verdict.offenders[0].where == "x a: s"
    assert "somebody has several values" in verdict.offenders[0].why


def test_a_person_with_many_rows_counts_once() -> None:
    cells = {"x": ["a"] * 6, "who": list("pppqrs"), "s": ["hiv"] * 3 + ["flu", "cold", "gout"]}
    data = table(cells, sensitive=["s"], entity="who")
    assert AlphaKAnonymity(alpha=0.25, k=4, entity="who").verify(data).holds
    assert not AlphaKAnonymity(alpha=0.25, k=4).verify(data).holds


def test_stars_tell_of_nobody() -> None:
    cells = {"x": ["a"] * 4, "who": list("pqqr"), "s": ["hiv", "flu", "*", "*"]}
    data = table(cells, sensitive=["s"], entity="who")
    assert AlphaKAnonymity(alpha=0.5, k=3, entity="who").verify(data).value == 0.5
    assert DistinctDiversity(l=2, entity="who").verify(data).holds


def test_the_promise_names_the_persons() -> None:
    data = table({"x": list("aab"), "who": list("pqr"), "s": list("uvu")}, sensitive=["s"], entity="who")
    for name in OF_PERSONS:
        for model in promises(name)[0].model_copy(update={"column": "s"}).bound(data):
            assert model.as_promise()["entity"] == "who"


@pytest.mark.parametrize("name", OF_ROWS)
def test_what_cannot_speak_about_persons_is_refused(name: str) -> None:
    data = everybody_has_both()
    for model in promises(name):
        unbound = model.model_copy(update={"column": None})
        for published in (False, True):
            with pytest.raises(WrongUse, match=r"does not go with several rows a person \(who\).*`alpha`"):
                unbound.bound(data, published=published)
        with pytest.raises(WrongUse, match="does not go with several rows"):
            unbound.verify(data)


@pytest.mark.parametrize("name", ["distinct-diversity", "entropy-diversity", "recursive-diversity"])
def test_diversity_of_several_values_is_refused_at_the_door(name: str) -> None:
    model = promises(name)[0]
    with pytest.raises(WrongUse, match=r"2 persons \(who\) have several of s\. Promise `alpha`"):
        model.bound(everybody_has_both())
    assert len(model.bound(everybody_has_both(), published=True)) == 1


@pytest.mark.parametrize("name", OF_PERSONS)
@given(data=visits())
@settings(max_examples=40)
def test_verify_and_holds_agree_with_the_twin(name: str, data: Table) -> None:
    groups = class_numbers(data)
    statistics = group_statistics(data, groups, int(groups.max()) + 1, SENSITIVE)
    for model in map(of_persons, promises(name)):
        truth = keeps(model.as_promise(), texts(data), QUASI, SENSITIVE)
        assert model.verify(data).holds == truth, model
        assert bool(model.holds(statistics).all()) == truth, model


@pytest.mark.parametrize("name", OF_PERSONS)
@given(data=visits(), joined=st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_coarser_classes_stay_safe_where_it_says_so(name: str, data: Table, joined: int) -> None:
    """Where somebody stands in two classes, only promises that more persons can but help are sure of their union."""
    rows = np.random.default_rng(joined).integers(0, 2, data.rows)
    halves = group_statistics(data, rows, 2, SENSITIVE)
    whole = group_statistics(data, np.zeros(data.rows, dtype=np.int64), 1, SENSITIVE)
    for model in map(of_persons, promises(name)):
        if model.coarsens and not refused(model, data) and model.holds(halves).all():
            assert model.holds(whole)[0]


def test_a_union_may_break_a_share_of_persons() -> None:
    """Two classes with half of the persons ill each: together they are two of three."""
    cells = {"x": list("aabb"), "who": list("pqrq"), "s": ["hiv", "flu", "hiv", "flu"]}
    data = table(cells, sensitive=["s"], entity="who")
    model = AlphaKAnonymity(alpha=0.5, values=("hiv",), entity="who")
    assert model.verify(data).holds
    assert not model.verify(table({**cells, "x": list("aaaa")}, sensitive=["s"], entity="who")).holds
    assert not model.coarsens
    assert model.model_copy(update={"entity": None}).coarsens


def test_a_release_carries_what_was_counted() -> None:
    from shoal.outcome import judge

    (model,) = AlphaKAnonymity(alpha=0.5, k=2).bound(everybody_has_both())
    (verdict,) = judge(Release(everybody_has_both(), "mondrian", {}, (model.as_promise(),)))
    assert not verdict.holds
