"""Published data in parts is judged as the whole is."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.promises import PARAMETERS, populations, promises, tables, with_population
from tests.parts import MemoryParts
from tests.tables import column, table

from shoal.data._frames import text_frame
from shoal.data.dataset import Dataset
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.data.verdict import Offender
from shoal.engines.local import Local
from shoal.errors import WrongUse
from shoal.models import _distributed as in_parts
from shoal.models._distributed import judge_table
from shoal.models.delta_presence import DeltaPresence
from shoal.models.hidden_rules import HiddenRules
from shoal.models.k_anonymity import KAnonymity
from shoal.models.model import Evidence
from shoal.models.t_closeness import TCloseness


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(in_parts, "SMALL_PART", 1)


def verify_table(models, published, memory, shared=True):
    """All verdicts: also that nothing is published, and that the order is broken."""
    return judge_table(models, published, memory, side_by_side=shared)[0]


def parted_release(data, seed=0):
    frame = text_frame(data)
    random = np.random.default_rng(seed)
    shuffled = frame[random.permutation(frame.height)] if frame.height else frame
    return Dataset(data.take(np.empty(0, dtype=np.int64)), MemoryParts(shuffled, seed), data.rows)


def same(one, other):
    """The same verdict; of places that are equally bad it may show others."""
    assert (one.model, one.promise, one.holds, one.value, one.threshold) == (
        other.model,
        other.promise,
        other.holds,
        other.value,
        other.threshold,
    )
    assert (one.offender_count, one.remark) == (other.offender_count, other.remark)
    assert len(one.offenders) == len(other.offenders)
    if one.offender_count <= 10:
        assert sorted(place.where for place in one.offenders) == sorted(
            place.where for place in other.offenders
        )


def starred(data, random):
    """A table with some suppressed cells, and some rows that tell nothing."""
    columns = []
    hidden = random.random(data.rows) < 0.2
    for one in data.columns:
        cells = [one.domain.labels[code] for code in one.codes]
        stars = hidden | (random.random(data.rows) < 0.1)
        texts = ["*" if star else cell or None for cell, star in zip(cells, stars, strict=True)]
        columns.append(column(one.name, texts, one.role))
    return Table(tuple(columns))


@given(
    data=tables(),
    population=populations(),
    seed=st.integers(0, 1000),
    stars=st.booleans(),
    shared=st.booleans(),
    alone=st.sampled_from(sorted(PARAMETERS)),
)
@settings(max_examples=25)
def test_the_verdict_of_parts_is_that_of_the_whole(data, population, seed, stars, shared, alone):
    """Of all models at once, and of one that is judged alone; whether workers share the classes or not."""
    if stars:
        data = starred(data, np.random.default_rng(seed))
    for names in (PARAMETERS, [alone]):
        models = [with_population(model, population) for name in names for model in promises(name)]
        expected = Local().judge(data, models, asked=True)[0]
        found = verify_table(models, parted_release(data, seed), 1 << 30, shared)
        for one, other in zip(found, expected, strict=True):
            same(one, other)


@given(data=tables(), population=populations(), seed=st.integers(0, 1000))
def test_presence_from_below(data, population, seed):
    model = DeltaPresence(delta_max=1, delta_min=0.2, population=population)
    (verdict,) = verify_table([model], parted_release(data, seed), 1 << 30)
    same(verdict, model.verify(data))


@given(data=tables(), seed=st.integers(0, 1000))
@settings(max_examples=25)
def test_persons_are_counted(data, seed):
    random = np.random.default_rng(seed)
    person = column("person", [f"{draw}" for draw in random.integers(0, 4, data.rows)], Role.ENTITY)
    data = Table((*data.columns, person))
    models = [KAnonymity(k=2, entity="person")]
    for name in PARAMETERS:
        if name not in ("delta-presence", "k-anonymity"):
            models += [
                model.model_copy(update={"entity": "person"})
                for model in promises(name)
                if "entity" in type(model).model_fields
            ]
    for model, verdict in zip(models, verify_table(models, parted_release(data, seed), 1 << 30), strict=True):
        same(verdict, model.verify(data))
    with pytest.raises(WrongUse, match="does not go with several rows a person"):
        verify_table([HiddenRules(confidence=0.5)], parted_release(data, seed), 1 << 30)


@given(data=tables(), seed=st.integers(0, 1000))
def test_what_compares_classes_is_judged_in_one_place(data, seed):
    models = [
        KAnonymity(k=2),
        KAnonymity(k=3, missing_matches_all=True),
        HiddenRules(confidence=0.5, antecedent="any", size=1),
        HiddenRules(confidence=0.5, antecedent="any", fewer_than=2, column="illness"),
    ]
    expected = [model.verify(data) for model in models]
    for one, other in zip(verify_table(models, parted_release(data, seed), 1 << 30), expected, strict=True):
        same(one, other)
    if data.rows > 2:
        distinct = text_frame(data).unique().height
        if distinct > 1:
            with pytest.raises(WrongUse, match=f"{distinct} distinct rows do not fit"):
                verify_table(models, parted_release(data, seed), 1)


def test_a_class_is_never_divided(monkeypatch):
    """Hundreds of buckets for a few classes: every class is whole in one of them."""
    random = np.random.default_rng(4)
    data = table(
        {
            "x": random.integers(0, 9, 400).tolist(),
            "illness": random.integers(0, 40, 400).tolist(),
        },
        ["illness"],
    )
    seen = []
    examine = in_parts._examined

    def watched(frame, *arguments, **named):
        seen.append(set(frame["x"].to_list()))
        return examine(frame, *arguments, **named)

    monkeypatch.setattr(in_parts, "_examined", watched)
    model = TCloseness(t=0.2)
    (verdict,) = verify_table([model], parted_release(data), 2000)
    same(verdict, model.verify(data))
    assert len(seen) > 3
    assert sum(map(len, seen)) == len(set().union(*seen)) == 9


def test_nothing_published():
    data = table({"x": [], "illness": []}, ["illness"])
    for model in (KAnonymity(k=2), TCloseness(t=0.2), HiddenRules(confidence=0.5)):
        verdicts = verify_table([model], parted_release(data), 1 << 30)
        for one, other in zip(verdicts, Local().judge(data, [model], asked=True)[0], strict=True):
            same(one, other)
        assert [verdict.holds for verdict in verdicts] == [True, False]


def test_null_and_empty_texts_are_one_value():
    frame = pl.DataFrame({"x": [None, "", "a", "a"], "illness": ["", None, "b", "c"]})
    schema = table({"x": [None, "a"], "illness": [None, "b"]}, ["illness"])
    schema = replace(schema, columns=tuple(one.take(np.empty(0, dtype=np.int64)) for one in schema.columns))
    verdicts = verify_table(
        [KAnonymity(k=2), KAnonymity(k=3)], Dataset(schema, MemoryParts(frame, 3), 4), 1 << 30
    )
    assert [verdict.value for verdict in verdicts] == [2, 2]
    assert {place.where for place in verdicts[1].offenders} == {"x (missing)", "x a"}


def test_evidence_joins_in_any_order():
    parts = [
        Evidence(((1.0, Offender("a", "")),), 1, {"rows": 2}, {"size": 3}, {"t": 0.5}, frozenset({"this"})),
        Evidence(((2.0, Offender("b", "")),), 4, {"rows": 5}, {"size": 2}, {}, frozenset({"that"})),
        Evidence(sums={"classes": 1}),
    ]
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
        whole = Evidence.of(parts[place] for place in order)
        assert whole.places == (Offender("b", ""), Offender("a", ""))
        assert (whole.count, whole.sums, whole.lowest, whole.highest) == (
            5,
            {"rows": 7, "classes": 1},
            {"size": 2},
            {"t": 0.5},
        )
        assert whole.remarks == {"this", "that"}
