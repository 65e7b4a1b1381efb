"""Rules are hidden in parts by the same stars as in memory."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from tests.contract.data import people
from tests.parts import MemoryEngine, parted, published_rows, refusal
from tests.tables import column, table

from shoal.data._frames import text_frame
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.errors import Infeasible, UnknownName, WrongUse
from shoal.methods.mondrian import _distributed as mondrian_parts
from shoal.methods.table_rule_hiding import _distributed as hiding_parts
from shoal.methods.table_rule_hiding.method import TableRuleHiding
from shoal.models import _distributed as in_parts
from shoal.models._distributed import verify_table

ROWS_OF_A_PART = st.just(1) | st.sampled_from([8, 20])
"""A part holds one class in half of all cases, which is the sharpest one; a few, or a third of all rows."""


def cut_into(monkeypatch, rows):
    for module in (mondrian_parts, hiding_parts, in_parts):
        monkeypatch.setattr(module, "SMALL_PART", rows)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    cut_into(monkeypatch, 1)


def random_table(seed, rows=60, columns=("illness",), insensitive=False):
    random = np.random.default_rng(seed)
    ages = [None if draw > 40 else int(draw) for draw in random.integers(18, 44, rows)]
    return Table(
        (
            column("name", [f"person {row}" for row in range(rows)], Role.IDENTIFYING),
            column("age", ages),
            column("city", ["ABCDE"[draw] for draw in random.integers(0, 5, rows)]),
            *(
                column(
                    name,
                    [None if draw > 20 else int(draw) for draw in random.zipf(1.7, rows)],
                    Role.SENSITIVE,
                )
                for name in columns
            ),
            *(
                [
                    column(
                        "shift",
                        ["day" if draw else "night" for draw in random.integers(0, 2, rows)],
                        Role.INSENSITIVE,
                    )
                ]
                if insensitive
                else []
            ),
        )
    )


WHOLE = in_parts.SMALL_PART
"""All rows of these tests are one part for the judge: how rows are judged in parts is looked at elsewhere."""


def both(method, data, seed=0, rows_of_a_part=1):
    local, trace = method.anonymize(data, seed=seed)
    with pytest.MonkeyPatch.context() as monkeypatch:
        cut_into(monkeypatch, rows_of_a_part)
        release, parted_trace = method.anonymize(parted(data, seed), MemoryEngine(), seed=seed)
    assert release.promises == local.promises
    assert release.parameters == local.parameters
    for name, facts in trace.notes.items():
        if name.startswith("rules."):
            assert parted_trace.notes[name]["stars"] == facts["stars"]
    models = tuple(type(model).from_promise(dict(model.as_promise())) for model in method.models())
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(in_parts, "SMALL_PART", WHOLE)
        assert all(verdict.holds for verdict in verify_table(models, release.data, 1 << 30))
    return text_frame(local.data), published_rows(release.data)


@given(
    seed=st.integers(0, 2**32 - 1),
    confidence=st.sampled_from([0.3, 0.5, 0.8]),
    strategy=st.sampled_from(["star", "decoy"]),
    fewer_than=st.sampled_from([None, 2]),
    part=ROWS_OF_A_PART,
)
def test_same_release_where_rows_of_a_value_are_alike(seed, confidence, strategy, fewer_than, part):
    method = TableRuleHiding(k=3, confidence=confidence, strategy=strategy, fewer_than=fewer_than)
    data = random_table(seed)
    if (refused := refusal(lambda: method.anonymize(data))) is not None:
        assert refusal(lambda: method.anonymize(parted(data), MemoryEngine())) == refused
        return
    assert_frame_equal(*both(method, data, seed, part))


@given(seed=st.integers(0, 2**32 - 1), inner=st.sampled_from(["mondrian", "none"]), part=ROWS_OF_A_PART)
def test_same_stars_where_rows_differ(seed, inner, part):
    parameters = {"k": 2} if inner == "mondrian" else {}
    method = TableRuleHiding(confidence=0.5, anonymize_with=inner, **parameters)
    data = random_table(seed, columns=("illness", "income"), insensitive=True)
    local, released = both(method, data, seed, part)
    for name in ("illness", "income"):
        cells = ["age", "city", name]
        assert Counter(local.select(cells).iter_rows()) == Counter(released.select(cells).iter_rows())


def test_the_same_seed_gives_the_same_stars_whatever_the_cut():
    data = people()
    method = TableRuleHiding(k=3, confidence=0.5)
    frames = [
        published_rows(method.anonymize(parted(data, cut), MemoryEngine(), seed=7)[0].data)
        for cut in range(4)
    ]
    for frame in frames[1:]:
        assert_frame_equal(frame, frames[0])


def test_a_column_without_stars_keeps_its_kind():
    release, _ = TableRuleHiding(k=2, confidence=1).anonymize(parted(random_table(3)), MemoryEngine())
    assert release.data.schema.column("illness").domain.kind == "numeric"
    release, _ = TableRuleHiding(k=2, confidence=0.3).anonymize(parted(random_table(3)), MemoryEngine())
    assert release.data.schema.column("illness").domain.kind == "nominal"


def test_a_class_that_does_not_fit_into_a_worker_is_refused():
    data = random_table(5, rows=80)
    engine = MemoryEngine(10 * (hiding_parts.ROW_BYTES + hiding_parts.CELL_BYTES * 3))
    with pytest.raises(WrongUse, match=r"has up to \d+ rows, and a worker has room for 10"):
        TableRuleHiding(k=40, confidence=0.5).anonymize(parted(data), engine)
    for strategy in ("star", "decoy"):
        method = TableRuleHiding(k=2, confidence=0.5, strategy=strategy)
        local, _ = method.anonymize(data, seed=1)
        release, _ = method.anonymize(parted(data), MemoryEngine(3 * engine.memory), seed=1)
        assert_frame_equal(published_rows(release.data), text_frame(local.data))


def test_what_the_owner_may_know_is_told_of_parts_too():
    for strategy in ("star", "decoy"):
        for seed in range(5):
            data = random_table(seed, columns=("illness", "income"))
            method = TableRuleHiding(k=3, confidence=0.5, strategy=strategy)
            _, here = method.anonymize(data, seed=1)
            _, there = method.anonymize(parted(data), MemoryEngine(), seed=1)
            for name in ("rules.illness", "rules.income", "summary"):
                assert there.notes[name] == here.notes[name]


def test_what_cannot_be_cut_is_refused():
    data, engine = random_table(1), MemoryEngine()
    for parameters in ({"strategy": "merge"}, {"antecedent": "any", "size": 1}):
        with pytest.raises(WrongUse, match="Rules that join classes"):
            TableRuleHiding(k=2, confidence=0.5, **parameters).anonymize(parted(data), engine)
    with pytest.raises(UnknownName):
        TableRuleHiding(k=2, confidence=0.5, values=("plague",)).anonymize(parted(data), engine)
    with pytest.raises(Infeasible, match="does not keep k-anonymity"):
        TableRuleHiding(k=5, confidence=0.5, anonymize_with="none").anonymize(parted(data), engine)
    with pytest.raises(Infeasible, match="breaks beta-likeness"):
        TableRuleHiding(k=4, beta=4, confidence=0.4).anonymize(parted(data), engine)
    owned = Table(
        tuple(replace(one, role=Role.ENTITY) if one.name == "name" else one for one in data.columns)
    )
    for inner in ("mondrian", "none"):
        with pytest.raises(WrongUse, match="several rows"):
            TableRuleHiding(k=2, confidence=0.5, anonymize_with=inner).anonymize(parted(owned), engine)


def test_a_table_of_stars_is_left_to_the_judge_of_the_release():
    """All rows are one class, and all secrets are starred: the promises are kept by publishing nothing."""
    cells = {"q": [f"{row}" for row in range(4)], "s": ["flu", "flu", "hiv", "hiv"]}
    data = table(cells, sensitive=["s"])
    release, _ = TableRuleHiding(k=4, confidence=0.1, alpha=0.9).anonymize(parted(data), MemoryEngine())
    assert set(release.data.parts.collect()["s"].to_list()) == {"*"}
