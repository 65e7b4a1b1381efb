"""Bits lost, against counting row by row."""

from math import log2

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.tables import column, texts

from shoal.data._hierarchy_builders import build
from shoal.data.hierarchy import Hierarchy
from shoal.data.release import Release
from shoal.data.table import Column, Table
from shoal.errors import BadData
from shoal.measures.entropy import Entropy
from shoal.methods.mondrian.method import Mondrian

TREE = Hierarchy(
    (("a", "b", "c", "d"), ("left", "right"), ("*",)),
    (np.array([0, 0, 1, 1], dtype=np.int32), np.array([0, 0], dtype=np.int32)),
)


def bits(original: Table, cells: dict[str, list[str]], suppressed: int = 0) -> float:
    release = Release(
        Table(tuple(column(name, texts_) for name, texts_ in cells.items())), "by hand", {}, (), suppressed
    )
    (score,) = Entropy().scores(original, release)
    return score.value


def test_by_hand() -> None:
    """Two of four rows are a, one b, one c: `left` may be three rows, `*` any of the four."""
    original = Table((column("x", ["a", "a", "b", "c"], hierarchy=TREE),))
    assert bits(original, {"x": ["a", "a", "b", "c"]}) == pytest.approx(0)
    lost = (2 * log2(3 / 2) + log2(3 / 1) + 0) / 4
    assert bits(original, {"x": ["left", "left", "left", "right"]}) == pytest.approx(lost)
    everything = (2 * log2(4 / 2) + 2 * log2(4)) / 4
    assert bits(original, {"x": ["*"] * 4}) == pytest.approx(everything)
    assert bits(original, {"x": []}, suppressed=4) == pytest.approx(everything)


def test_ranges_and_sets() -> None:
    original = Table((column("age", [20, 25, 30, 40]), column("city", ["A", "B", "B", None])))
    published = {"age": ["[20,30]"] * 3 + ["40"], "city": ["{A|B}"] * 3 + [""]}
    age = 3 * log2(3) / 4
    city = (log2(3) + 2 * log2(3 / 2)) / 4
    assert bits(original, published) == pytest.approx(age + city)


def test_nonsense_is_refused() -> None:
    original = Table((column("age", [20, 25]),))
    with pytest.raises(BadData, match="cannot read 'old'"):
        bits(original, {"age": ["old", "25"]})


@given(st.lists(st.one_of(st.none(), st.integers(0, 30)), min_size=4, max_size=30), st.booleans())
def test_row_by_row(ages: list[int | None], tree: bool) -> None:
    assume(any(age is not None for age in ages))
    made = column("age", ages)
    if tree:
        made = Column(
            made.name,
            made.role,
            made.domain,
            made.codes,
            build("intervals:5,10", made.domain, "age").covering(made.domain, "age"),
        )
    original = Table((made,))
    release, trace = Mondrian(k=2).anonymize(original)
    (score,) = Entropy().scores(original, release)
    assert isinstance(release.data, Table)
    published, raw = texts(release.data), texts(original)
    total = 0.0
    for place, row in enumerate(trace.rows.tolist()):
        value, text = raw[row]["age"], published[place]["age"]
        total += log2(sum(_fits(one["age"], text) for one in raw) / sum(one["age"] == value for one in raw))
    assert score.value == pytest.approx(total / len(raw))


def _fits(value: str, text: str) -> bool:
    """Whether a value may stand behind a text."""
    if text == "*" or value == text:
        return True
    if not value or text[:1] != "[":
        return False
    low, high = (int(end) for end in text[1:-1].split(","))
    return low <= int(value) < high or (int(value) == high and text[-1] == "]")
