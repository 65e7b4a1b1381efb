"""Counting questions, against counting row by row."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.measures.test_distributions import ROWS, candidates
from tests.naive import distributions as naive
from tests.tables import column, table, texts

from shoal.data.hierarchy import Hierarchy
from shoal.data.release import Release
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.errors import BadData
from shoal.measures import _question_counts
from shoal.measures._comparison import Comparison
from shoal.measures._question_counts import Counter, true_answers
from shoal.measures.measure import flat
from shoal.measures.queries import Queries, draw, draw_sets
from shoal.methods.mondrian.method import Mondrian

NAMES = ("age", "height", "city", "ill")


def wanted_labels(original: Table, name: str, wanted: object) -> list[str]:
    labels = original.column(name).domain.labels
    if isinstance(wanted, tuple):
        return list(labels[slice(*wanted)])
    return [label for label, asked in zip(labels, wanted, strict=True) if asked]


@given(ROWS, st.integers(2, 4), st.booleans(), st.floats(0.1, 1))
def test_row_by_row(rows: list[tuple[int, int, str, str]], k: int, secret: bool, width: float) -> None:
    columns = {name: [row[place] for row in rows] for place, name in enumerate(NAMES)}
    original = table(columns, sensitive=["ill"] if secret else [])
    release, _ = Mondrian(k=k).anonymize(original)
    assert isinstance(release.data, Table)
    measure = Queries(questions=20, width=width, least=0)
    asked = measure.asked(original, release.data.names)
    raw, shown = texts(original), texts(release.data)
    errors = []
    for question in asked:
        plain = {name: wanted_labels(original, name, wanted) for name, wanted in question.items()}
        truth = naive.count(raw, plain, lambda _, text: [text])
        estimate = naive.count(shown, plain, lambda name, text: candidates(original, name, text))
        assert truth >= 1
        errors.append(abs(estimate - truth) / truth)
    scores = flat(measure.scores(original, release))
    assert scores["are"] == pytest.approx(sum(errors) / len(errors))
    assert scores["are_median"] == pytest.approx(float(np.median(errors)))


def test_the_original_answers_right() -> None:
    original = table({"age": [1, 2, 3, 3], "ill": ["a", "b", "a", "a"]}, sensitive=["ill"])
    assert flat(Queries().scores(original, Release(original, "by hand", {}, ()))) == {
        "are": 0,
        "are_median": 0,
    }


def test_a_small_truth_counts_as_the_least() -> None:
    original = table({"age": list(range(100))})
    release = Release(Table((column("age", ["*"] * 100),)), "by hand", {}, ())
    exact = Queries(width=0.01, least=0, columns=1, questions=5)
    assert flat(exact.scores(original, release))["are"] == pytest.approx(0)  # 100 rows spread over 100 values
    nobody = Release(Table((column("age", []),)), "by hand", {}, (), suppressed=100)
    assert flat(exact.scores(original, nobody))["are"] == 1
    bounded = Queries(width=0.01, least=0.1, columns=1, questions=5)
    assert flat(bounded.scores(original, nobody))["are"] == pytest.approx(0.1)


def test_the_same_seed_asks_the_same() -> None:
    original = table({"age": list(range(50)), "city": ["a", "b"] * 25})
    release, _ = Mondrian(k=5).anonymize(original)
    one, same, other = (flat(Queries(seed=seed).scores(original, release))["are"] for seed in (1, 1, 2))
    assert one == same != other


@given(st.permutations(range(24)))
def test_the_order_of_the_rows_does_not_matter(order: list[int]) -> None:
    rows = [(row % 7, "abc"[row % 3], "xy"[row % 5 % 2]) for row in range(24)]
    scores = []
    for chosen in (rows, [rows[place] for place in order]):
        ages, cities, ills = (list(part) for part in zip(*chosen, strict=True))
        original = table({"age": ages, "city": cities, "ill": ills}, sensitive=["ill"])
        scores.append(flat(Queries(questions=30).scores(original, Mondrian(k=4).anonymize(original)[0])))
    assert scores[0] == scores[1]


def test_starred_sensitive_cells_are_any_value() -> None:
    original = table({"age": [1, 1], "ill": ["flu", "cold"]}, sensitive=["ill"])
    published = Table((column("age", ["1", "1"]), column("ill", ["*", "cold"], Role.SENSITIVE)))
    both = Comparison(original, Release(published, "by hand", {}, ()))
    counter = Counter(
        {one.name: one for one in published.columns},
        {name: both.column(name).coverage for name in published.names},
    )
    assert counter.answers([{"ill": (0, 1), "age": (0, 1)}]) == [1.5]  # cold


@given(ROWS, st.sampled_from([1, 40, 400, 2**20]), st.sampled_from([3, 2**18]), st.floats(0.1, 1))
def test_crosstabs_answer_as_rows_do(
    rows: list[tuple[int, int, str, str]], lead: int, block: int, width: float
) -> None:
    columns = {name: [row[place] for row in rows] for place, name in enumerate(NAMES)}
    original = table(columns, sensitive=["ill"])
    generator = np.random.default_rng(0)
    asked = draw(original, 20, 2, width, generator) + draw_sets(original, 20, 2, width, generator)
    own = {one.name: one for one in original.columns}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_question_counts, "LEAD", lead)
        patch.setattr(_question_counts, "BLOCK", block)
        assert true_answers(own, asked) == Counter(own).answers(asked)


TREE = Hierarchy((("a", "b", "c"), ("ab", "c"), ("*",)), (np.array([0, 0, 1]), np.array([0, 0])))


@pytest.fixture
def workload(tmp_path: Path):
    def write(*questions: object) -> str:
        path = tmp_path / "work.jsonl"
        path.write_text("\n".join(q if isinstance(q, str) else json.dumps(q) for q in questions) + "\n")
        return str(path)

    return write


def test_a_workload_of_ones_own(workload) -> None:
    original = Table((column("age", [20, 30, 40, 50]), column("city", ["a", "b", "c", "c"], hierarchy=TREE)))
    published = Table(
        (column("age", ["[20,30]", "[20,30]", "40", "50"]), column("city", ["ab", "ab", "c", "c"]))
    )
    release = Release(published, "by hand", {}, ())
    asked = workload({"age": [20, 25]}, "", {"age": [None, 40], "city": "ab"}, {"city": ["a", "c"]})
    scores = flat(Queries(workload=asked, least=0).scores(original, release))
    # 1 of 1; 2 of 2; 3 of 3
    assert scores == {"are": 0, "are_median": 0}
    asked = workload({"age": 20, "city": "a"})
    assert flat(Queries(workload=asked, least=0).scores(original, release))["are"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "not JSON"),
        ("[]", "a question is an object"),
        ({"salary": 3}, "no such column"),
        ({"age": ["x", 3]}, "not a value, node or range"),
        ({"age": 99}, "not a value, node or range"),
    ],
)
def test_a_wrong_workload_names_its_line(workload, line: object, said: str) -> None:
    original = table({"age": [20, 30]})
    path = workload({"age": 20}, line)
    with pytest.raises(BadData, match=said) as caught:
        Queries(workload=path).scores(original, Release(original, "by hand", {}, ()))
    assert caught.value.line == 2


def test_a_missing_or_empty_workload_is_refused(workload, tmp_path: Path) -> None:
    original = table({"age": [20, 30]})
    for path, said in ((str(tmp_path / "none"), "cannot be read"), (workload(""), "no questions")):
        with pytest.raises(BadData, match=said):
            Queries(workload=path).scores(original, Release(original, "by hand", {}, ()))


def test_ranges_are_as_wide_as_asked() -> None:
    original = table({"age": list(range(100))})
    for question in draw(original, 50, 1, 0.2, np.random.default_rng(1)):
        begin, end = question["age"]
        assert 0 <= begin < end == begin + 20 <= 100
