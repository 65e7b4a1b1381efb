"""Mondrian on rows in parts gives the release that it gives on rows in memory."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from tests.contract.data import people
from tests.parts import MemoryEngine, parted, published_rows, refusal
from tests.retried import RetriedEngine, RetriedParts
from tests.tables import column, table

from shoal.data._frames import text_frame
from shoal.data.hierarchy import Hierarchy
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.errors import Infeasible, UnknownName, WrongUse
from shoal.methods.mondrian import _distributed as mondrian_parts
from shoal.methods.mondrian import _distributed as top
from shoal.methods.mondrian._distributed import Tally
from shoal.methods.mondrian.method import Mondrian
from shoal.models.alpha_k_anonymity import AlphaKAnonymity
from shoal.models.reidentification_risk import ReidentificationRisk
from shoal.models.t_closeness import TCloseness

TREE = Hierarchy(
    (tuple("ABCDE"), ("vowel", "consonant"), ("*",)),
    (np.array([0, 1, 1, 1, 0], dtype=np.int32), np.array([0, 0], dtype=np.int32)),
)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """Parts of a few rows, so that small tables have a top."""
    monkeypatch.setattr(mondrian_parts, "SMALL_PART", 1)


def random_table(seed, rows=60):
    random = np.random.default_rng(seed)
    ages = [None if draw > 40 else int(draw) for draw in random.integers(18, 44, rows)]
    cities = ["ABCDE"[draw] for draw in random.integers(0, 5, rows)]
    zips = [f"{draw}" for draw in random.zipf(1.5, rows).clip(max=30)]
    illness = [None if draw == 0 else f"illness {draw}" for draw in random.integers(0, 5, rows)]
    shift = ["day" if draw else "night" for draw in random.integers(0, 2, rows)]
    return Table(
        (
            column("name", [f"person {row}" for row in range(rows)], Role.IDENTIFYING),
            column("age", ages),
            column("city", cities, hierarchy=TREE),
            column("zip", zips),
            column("illness", illness, Role.SENSITIVE),
            column("part", shift, Role.INSENSITIVE),
        )
    )


def both(method, data, seed=0, memory=1 << 30):
    local, _ = method.anonymize(data, seed=seed)
    release, trace = method.anonymize(parted(data, seed), MemoryEngine(memory), seed=seed)
    assert release.promises == local.promises
    assert release.parameters == local.parameters
    assert release.data.rows == data.rows
    assert release.data.schema.names == local.data.names
    assert len(trace.rows) == 0
    return text_frame(local.data), published_rows(release.data), trace


@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(2, 90),
    k=st.integers(2, 6),
    split=st.sampled_from(["widest", "loss", "random"]),
    publish=st.sampled_from(["nodes", "ranges", "sets"]),
    fewest=st.sampled_from([1, 2, 8, 1000]),
)
@example(seed=1, rows=90, k=2, split="widest", publish="nodes", fewest=1000)
def test_same_release_as_in_memory(seed, rows, k, split, publish, fewest):
    if rows < k:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mondrian_parts, "FEWEST_PARTS", fewest)
        local, released, _ = both(
            Mondrian(k=k, split=split, publish=publish, weights={"age": 2}), random_table(seed, rows), seed
        )
    assert_frame_equal(local, released)


@given(
    seed=st.integers(0, 2**32 - 1),
    split=st.sampled_from(["widest", "loss"]),
    fewest=st.sampled_from([2, 4, 32]),
    promise=st.sampled_from(
        [
            {"l": 2},
            {"l": 3, "c": 3},
            {"entropy_l": 2},
            {"t": 0.2},
            {"t": 0.4},
            {"beta": 1},
            {"beta": 3},
            {"maximal_risk": 0.3},
            {"k": 3, "promises": [AlphaKAnonymity(alpha=0.5), TCloseness(t=0.5, distance="equal")]},
            {"promises": [ReidentificationRisk(risk=0.2, over="average")]},
        ]
    ),
)
def test_same_release_under_other_promises(seed, split, fewest, promise):
    method, data = Mondrian(split=split, **promise), random_table(seed, 120)
    if (refused := refusal(lambda: method.anonymize(data))) is not None:
        assert refusal(lambda: method.anonymize(parted(data), MemoryEngine())) == refused
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mondrian_parts, "FEWEST_PARTS", fewest)
        local, released, _ = both(method, data, seed)
    assert_frame_equal(local, released)


def test_the_contract_data():
    local, released, trace = both(Mondrian(k=3), people())
    assert_frame_equal(local, released)
    assert trace.notes["parts"] > 8
    assert trace.notes["largest_part"] < 12


def test_rows_that_nobody_shares_are_cut_only_where_they_do_not_fit(monkeypatch):
    monkeypatch.setattr(MemoryEngine, "side_by_side", False)
    local, released, trace = both(Mondrian(k=3), people())
    assert_frame_equal(local, released)
    assert trace.notes["parts"] == 1
    local, released, trace = both(Mondrian(k=3), people(), memory=10_000)
    assert_frame_equal(local, released)
    assert trace.notes["parts"] > 1


def test_few_cells_at_a_time(monkeypatch):
    data = random_table(3, 80)
    expected = both(Mondrian(k=2, l=2, split="loss"), data)
    monkeypatch.setattr(top, "CELLS", 40)
    local, released, trace = both(Mondrian(k=2, l=2, split="loss"), data)
    assert_frame_equal(local, released)
    assert trace.notes["passes"] > expected[2].notes["passes"]
    assert trace.notes["parts"] == expected[2].notes["parts"]


def test_memory_bounds_the_parts():
    data = random_table(3, 90)
    row = mondrian_parts.ROW_BYTES + mondrian_parts.CELL_BYTES * len(data.columns)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mondrian_parts, "SMALL_PART", 1000)
        _, _, trace = both(Mondrian(k=2), data, memory=20 * row)
    assert trace.notes["largest_part"] <= 20


def test_a_class_that_is_too_large_for_a_worker_is_published_where_it_lies(monkeypatch):
    largest = []
    publish = mondrian_parts._published

    def watched(task, frame):
        largest.append(frame.height)
        return publish(task, frame)

    monkeypatch.setattr(mondrian_parts, "_published", watched)
    ages = [*[30] * 50, *[40] * 41, *range(18, 28), None, None]
    data = table(
        {"age": ages, "sex": ["F"] * 103, "illness": [f"{row % 7}" for row in range(103)]}, ["illness"]
    )
    for publish_as in ("ranges", "sets"):
        largest.clear()
        local, released, trace = both(Mondrian(k=2, publish=publish_as), data)
        assert_frame_equal(local, released)
        assert trace.notes["largest_part"] == 50
        assert max(largest) <= 25


def test_no_row_is_lost_or_doubled_where_attempts_see_rows_in_another_order():
    """Rows of a large class were once divided by their place, which the next attempt may see otherwise."""
    ages = [*[30] * 50, *[40] * 41, *range(18, 28), None, None]
    data = table(
        {"age": ages, "sex": ["F"] * 103, "illness": [f"{row % 7}" for row in range(103)]}, ["illness"]
    )
    local, _ = Mondrian(k=2).anonymize(data)
    there = parted(data)
    for seed in range(5):
        lossy = replace(there, parts=RetriedParts.of(there.parts.collect(), seed))
        release, _ = Mondrian(k=2).anonymize(lossy, RetriedEngine())
        assert_frame_equal(published_rows(release.data), text_frame(local.data))


def test_an_uncuttable_class_of_missing_values():
    data = table({"age": [None] * 20 + [3] * 20, "illness": ["a", "b"] * 20}, ["illness"])
    local, released, _ = both(Mondrian(k=15), data)
    assert_frame_equal(local, released)
    assert released["age"].null_count() == 20


def test_what_cannot_be_cut_is_refused():
    data = random_table(1)
    engine = MemoryEngine()
    with pytest.raises(WrongUse, match="Relaxed partitioning"):
        Mondrian(k=2, partitioning="relaxed").anonymize(parted(data), engine)
    owned = Table(
        tuple(replace(one, role=Role.ENTITY) if one.name == "name" else one for one in data.columns)
    )
    with pytest.raises(WrongUse, match=r"several rows \(name\)"):
        Mondrian(k=2).anonymize(parted(owned), engine)
    with pytest.raises(WrongUse, match="nothing to promise"):
        Mondrian().anonymize(parted(data), engine)
    with pytest.raises(UnknownName):
        Mondrian(k=2, weights={"height": 2}).anonymize(parted(data), engine)
    with pytest.raises(Infeasible, match="The largest k is 60"):
        Mondrian(k=61).anonymize(parted(data), engine)


@given(
    st.lists(st.lists(st.integers(0, 39), max_size=12), min_size=1, max_size=6),
)
def test_tally(lists):
    total = Tally.of(np.array(lists[0], dtype=np.int64), 40)
    for keys in lists[1:]:
        total = total.merged(Tally.of(np.array(keys, dtype=np.int64), 40))
    every = [key for keys in lists for key in keys]
    assert total.laid_out().tolist() == [every.count(cell) for cell in range(40)]


def test_texts_of_parts_are_texts():
    release, _ = Mondrian(k=3).anonymize(parted(people()), MemoryEngine())
    assert set(published_rows(release.data).dtypes) == {pl.String}
