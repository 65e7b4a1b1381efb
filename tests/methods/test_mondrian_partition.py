"""Mondrian's partitioning: kernels, rounds of array operations and the naive twin give the same classes."""

import os
import subprocess
import sys
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive.mondrian import Mondrian

from shoal.methods.mondrian._choice import Space
from shoal.methods.mondrian._partition import Partition, partition, partition_compiled, partition_in_rounds

CHOICES = ("widest", "loss", "random")
MANY_ROWS = 500 if os.environ.get("NUMBA_DISABLE_JIT") == "1" else 20_000


@dataclass
class Case:
    codes: np.ndarray
    positions: list[np.ndarray]
    depths: list[np.ndarray]
    least: int = 2
    weights: list[float] | None = None
    relaxed: bool = False
    choose: str = "widest"
    seed: int = 0
    sensitive: list[int] = field(default_factory=list)

    def rules(self):
        return {"relaxed": self.relaxed, "choose": self.choose, "seed": self.seed}

    def naive(self, allowed=None):
        codes, lists = self.codes.tolist(), [[part.tolist() for part in self.positions]]
        lists.append([part.tolist() for part in self.depths])
        return Mondrian(
            codes, *lists, least=self.least, weights=self.weights, allowed=allowed, **self.rules()
        ).classes()

    def rounds(self, allowed=None):
        weights = None if self.weights is None else np.array(self.weights)
        space = Space.of(self.positions, self.depths, weights)
        return partition_in_rounds(self.codes, space, self.least, *self.rules().values(), allowed)

    def compiled(self, threads=2):
        weights = None if self.weights is None else np.array(self.weights)
        space = Space.of(self.positions, self.depths, weights)
        return partition_compiled(self.codes, space, self.least, *self.rules().values(), threads)


def classes(order, starts):
    return [part.tolist() for part in np.split(order, starts[1:-1])]


@st.composite
def tree_depths(draw, size, depth=0):
    """Depths of the boundaries between the leaves of a random hierarchy."""
    if size < 2:
        return []
    count = draw(st.integers(2, min(size, 4)))
    cuts = sorted(draw(st.permutations(range(1, size)))[: count - 1])
    edges = [0, *cuts, size]
    depths = []
    for first, last in pairwise(edges):
        depths += [*draw(tree_depths(last - first, depth + 1)), depth]
    return depths[:-1]


@st.composite
def dimensions(draw, rows):
    """Codes of one dimension, positions and depths; numbers or leaves, perhaps with a missing value."""
    size = draw(st.sampled_from([1, 2, 3, 5, 9, 16]))
    depths = draw(tree_depths(size)) if draw(st.booleans()) else [0] * (size - 1)
    if size > 1 and draw(st.booleans()):
        depths[-1] = -1
    steps = draw(st.lists(st.sampled_from([0.0, 0.3, 1.0, 1.0, 2.5]), min_size=size, max_size=size))
    values = draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=size))
    codes = draw(st.lists(st.sampled_from(values), min_size=rows, max_size=rows))
    return codes, np.cumsum(steps), np.array(depths, dtype=np.int32)


@st.composite
def cases(draw):
    rows = draw(st.integers(1, 50))
    parts = draw(st.lists(dimensions(rows), min_size=1, max_size=4))
    weight = st.sampled_from([0.0, 0.5, 1.0, 2.0])
    return Case(
        codes=np.array([part[0] for part in parts], dtype=np.int32).T,
        positions=[part[1] for part in parts],
        depths=[part[2] for part in parts],
        least=draw(st.sampled_from([1, 2, 2, 3, 5])),
        weights=draw(st.none() | st.lists(weight, min_size=len(parts), max_size=len(parts))),
        relaxed=draw(st.booleans()),
        choose=draw(st.sampled_from(CHOICES)),
        seed=draw(st.sampled_from([0, 1, -7, 1 << 63])),
        sensitive=draw(st.lists(st.integers(0, 2), min_size=rows, max_size=rows)),
    )


def numbers(*columns, **options):
    """A case of plain numbers: each value is its own code and position."""
    sizes = [max(column) + 1 for column in columns]
    positions = [np.arange(float(size)) for size in sizes]
    depths = [np.zeros(size - 1, dtype=np.int32) for size in sizes]
    return Case(np.array(columns, dtype=np.int32).T, positions, depths, **options)


def people(rows, sizes, seed=5, **options):
    """Skewed columns of given sizes, the second one with a hierarchy, the third one with missing values."""
    random = np.random.default_rng(seed)
    skewed = [(size * random.random(rows) ** 2).astype(np.int32) for size in sizes]
    case = Case(
        np.stack(skewed, axis=1),
        [np.sqrt(np.arange(float(size))) for size in sizes],
        [np.zeros(size - 1, dtype=np.int32) for size in sizes],
        **options,
    )
    boundaries = np.arange(1, sizes[1])
    case.depths[1] = 2 - (boundaries % 4 == 0) - (boundaries % 16 == 0).astype(np.int32)
    case.depths[2][-1] = -1
    return case


@given(cases())
def test_rounds_equal_the_naive_twin(case):
    assert classes(*case.rounds()) == case.naive()


@given(cases())
def test_kernels_equal_the_naive_twin(case):
    assert classes(*case.compiled()) == case.naive()


@given(cases())
def test_rounds_with_a_condition_equal_the_naive_twin(case):
    sensitive = np.array(case.sensitive)

    def diverse(rows):
        return len(set(sensitive[rows].tolist())) >= 2

    def allowed(order, begin, middle, end):
        assert begin[0] == 0
        assert end[-1] == len(order)
        assert begin[1:].tolist() == end[:-1].tolist()
        halves = np.split(order, np.stack([begin, middle], axis=1).reshape(-1)[1:])
        verdicts = [diverse(half) for half in halves]
        return np.array(verdicts[::2]) & np.array(verdicts[1::2])

    twin = case.naive(lambda left, right: diverse(left) and diverse(right))
    assert classes(*case.rounds(allowed)) == twin


@pytest.mark.parametrize(
    ("relaxed", "expected"), [(False, [[0, 1, 2, 3], [4, 5]]), (True, [[0, 1, 2], [3, 4, 5]])]
)
def test_first_cut_of_1_2_3_3_4_5(relaxed, expected):
    case = numbers([1, 2, 3, 3, 4, 5], least=2, relaxed=relaxed)
    assert classes(*case.rounds(lambda order, begin, middle, end: end - begin == 6)) == expected
    assert case.naive(lambda left, right: len(left) + len(right) == 6) == expected


@pytest.mark.parametrize(
    ("relaxed", "expected"), [(False, [[0, 1], [2, 3], [4, 5]]), (True, [[0, 1, 2], [3, 4, 5]])]
)
def test_all_cuts_of_1_2_3_3_4_5(relaxed, expected):
    case = numbers([1, 2, 3, 3, 4, 5], least=2, relaxed=relaxed)
    assert classes(*case.rounds()) == classes(*case.compiled()) == case.naive() == expected


@pytest.mark.parametrize("way", ["rounds", "compiled"])
def test_a_hierarchy_is_cut_between_the_children_of_its_lowest_node(way):
    # Nodes {0, 1, 2} and {3, 4}; the median of the rows lies inside the first.
    case = numbers([0, 1, 1, 1, 1, 1, 2, 3, 4, 4], least=3)
    case.depths[0] = np.array([1, 1, 0, 1], dtype=np.int32)
    assert classes(*getattr(case, way)()) == [[0, 1, 2, 3, 4, 5, 6], [7, 8, 9]]


def test_of_two_boundaries_as_near_that_with_the_larger_left_half_is_cut():
    # The boundaries before 1 and before 3 are preferred, each one row away from the median boundary before 2.
    case = numbers([0, 0, 0, 0, 1, 2, 3, 3, 3, 3], least=4)
    case.depths[0] = np.array([0, 1, 0], dtype=np.int32)
    expected = [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9]]
    assert classes(*case.rounds()) == classes(*case.compiled()) == case.naive() == expected


def test_of_two_cuts_with_the_same_loss_the_first_dimension_is_cut():
    # Both leave a loss of 3, though the second dimension is wider.
    case = numbers([0, 0, 1, 1], [0, 2, 1, 3], least=2, choose="loss")
    case.positions = [np.array([0.0, 2.0, 4.0]), np.array([0.0, 1.0, 3.0, 4.0])]
    case.depths[0] = np.zeros(2, dtype=np.int32)
    assert classes(*case.rounds()) == classes(*case.compiled()) == case.naive() == [[0, 1], [2, 3]]


@pytest.mark.parametrize("way", ["rounds", "compiled"])
@pytest.mark.parametrize("relaxed", [False, True])
def test_missing_values_are_parted_first(way, relaxed):
    case = numbers([0, 1, 2, 3, 4, 5, 9, 9], [0, 1, 2, 3, 4, 5, 6, 7], least=2, relaxed=relaxed)
    case.depths[0][-1] = -1
    assert [6, 7] in classes(*getattr(case, way)())


@pytest.mark.parametrize("relaxed", [False, True])
@pytest.mark.parametrize("choose", CHOICES)
@pytest.mark.parametrize("sizes", [(90, 64, 7, 2, 300), (90_000, 64, 70_000)])
def test_kernels_equal_rounds_on_many_rows(sizes, choose, relaxed):
    case = people(MANY_ROWS, sizes, least=10, relaxed=relaxed, choose=choose, seed=3)
    order, starts = case.rounds()
    for threads in (1, 3):
        again = case.compiled(threads)
        assert np.array_equal(order, again[0])
        assert np.array_equal(starts, again[1])
    assert np.diff(starts).min() >= 10
    assert len(starts) > MANY_ROWS / 30
    assert np.array_equal(np.sort(order), np.arange(MANY_ROWS))
    inner = np.setdiff1d(np.arange(1, MANY_ROWS), starts)
    assert np.all(order[inner] > order[inner - 1])


def test_more_than_64_dimensions():
    random = np.random.default_rng(1)
    rare = random.random((300, 70)) < np.linspace(0.001, 0.5, 70)[::-1]
    case = numbers(*rare.astype(np.int32).T, least=5)
    case.positions = [np.arange(2.0)] * 70
    case.depths = [np.zeros(1, dtype=np.int32)] * 70
    assert classes(*case.rounds()) == classes(*case.compiled()) == case.naive()


def test_a_condition_is_asked_a_few_times_a_level():
    case = people(2_000, (90, 64, 7, 2, 300), least=5)
    questions = []

    def allowed(order, begin, middle, end):
        questions.append(len(begin))
        return np.arange(len(begin)) % 5 < 4

    _, starts = case.rounds(allowed)
    assert len(starts) > 100
    assert len(questions) < 100 < sum(questions)


@pytest.mark.parametrize("choose", CHOICES)
def test_the_entry_gives_what_the_ways_give(choose, monkeypatch):
    case = people(MANY_ROWS, (90, 64, 7), least=10, choose=choose)
    case.codes.setflags(write=False)
    arguments = case.codes, case.positions, case.depths
    few = partition(*arguments, least=10, choose=choose)
    entry = sys.modules["shoal.methods.mondrian._partition"]
    monkeypatch.setattr(entry, "COMPILED_ROWS", 0)
    monkeypatch.setattr(entry, "partition_in_rounds", None)
    many = partition(np.asfortranarray(case.codes), *arguments[1:], least=10, choose=choose, threads=0)
    assert np.array_equal(few.order, many.order)
    assert np.array_equal(few.starts, many.starts)
    assert len(few) == len(few.starts) - 1


@pytest.mark.parametrize(
    ("rows", "least"), [(0, 0), (0, 3), (1, 1), (2, 3), (5, 3)], ids=lambda value: str(value)
)
def test_too_few_rows_are_one_class(rows, least):
    found = partition(
        np.arange(rows, dtype=np.int32).reshape(-1, 1),
        [np.arange(max(rows, 1), dtype=float)],
        [np.zeros(max(rows, 1) - 1, dtype=np.int32)],
        least=least,
    )
    assert isinstance(found, Partition)
    assert found.order.tolist() == list(range(rows))
    assert found.starts.tolist() == [0, rows]


def test_no_dimension_is_one_class():
    found = partition(np.zeros((4, 0), dtype=np.int32), [], [], least=1)
    assert found.starts.tolist() == [0, 4]


def test_random_choices_follow_the_seed():
    results = [people(300, (50, 64, 7), least=5, choose="random").rounds()[0]]
    for seed in (1, 2):
        case = people(300, (50, 64, 7), least=5, choose="random")
        case.seed = seed
        results.append(case.rounds()[0])
    assert not np.array_equal(results[0], results[1])
    assert not np.array_equal(results[1], results[2])


def test_small_tables_need_no_compiler():
    program = (
        "import sys, numpy as np\n"
        "from shoal.methods.mondrian._partition import partition\n"
        "codes = np.arange(9, dtype=np.int32).reshape(-1, 1)\n"
        "found = partition(codes, [np.arange(9.0)], [np.zeros(8, dtype=np.int32)], least=2)\n"
        "print(len(found), 'numba' in sys.modules)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    answer = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert answer.stdout == "4 False\n"
