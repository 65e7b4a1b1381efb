"""Counts of groups, dense and sparse."""

from collections import Counter

import numpy as np
import pytest
from tests.tables import table

from shoal.data.group_statistics import group_statistics


@pytest.mark.parametrize("entity", ["who", None], ids=["persons", "rows"])
@pytest.mark.parametrize("count", [3, 500], ids=["few groups", "many groups"])
def test_counts_are_those_of_a_dictionary(count: int, entity: str | None) -> None:
    random = np.random.default_rng(1)
    values = random.choice(["u", "v", None], 60).tolist()
    who = random.choice(list("pqrst"), 60).tolist()
    data = table({"x": ["a"] * 60, "s": values, "who": who}, sensitive=["s"], entity=entity)
    groups = random.integers(-1, count, 60)
    statistics = group_statistics(data, groups, count, ("s",))
    histogram = statistics.sensitive["s"]
    assert histogram.domain is data.column("s").domain
    for group in range(count):
        inside = [row for row in range(60) if groups[row] == group]
        assert statistics.sizes[group] == len(inside)
        person = {row: str(row) if entity is None else who[row] for row in inside}
        assert statistics.persons[group] == histogram.sizes[group] == len(set(person.values()))
        entries = slice(histogram.indptr[group], histogram.indptr[group + 1])
        labels = [histogram.domain.labels[code] for code in histogram.values[entries]]
        assert dict(zip(labels, histogram.counts[entries].tolist(), strict=True)) == Counter(
            value for _, value in {(person[row], values[row] or "") for row in inside}
        )
    assert histogram.overall.sum() == 60


def test_the_whole_is_what_is_published() -> None:
    data = table({"x": list("aab"), "s": list("uvv")}, sensitive=["s"])
    left = np.array([True, True, False])
    histogram = group_statistics(data, np.array([0, 0, -1]), 1, ("s",), published=left).sensitive["s"]
    assert histogram.overall.tolist() == [1, 1]
    assert group_statistics(data, np.array([0, 0, -1]), 1, ("s",)).sensitive["s"].overall.tolist() == [1, 2]
