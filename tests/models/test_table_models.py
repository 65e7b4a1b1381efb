"""What every model of tables keeps, whatever its name: it agrees with its twin, and its class facts are true."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.contract.data import shopping
from tests.models.promises import (
    PARAMETERS,
    QUASI,
    SENSITIVE,
    class_numbers,
    populations,
    promises,
    tables,
    with_population,
)
from tests.naive.models import keeps
from tests.tables import column, texts

from shoal import registry
from shoal.arrays import Mask
from shoal.data.group_statistics import GroupStatistics, group_statistics
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.data.verdict import SHOWN
from shoal.errors import WrongUse
from shoal.models._matrices import MatrixModel
from shoal.models.k_km_anonymity import KKmAnonymity
from shoal.models.model import TableModel

NAMES = [
    name
    for name, kind in registry.load_all("model").items()
    if issubclass(kind, TableModel) and not issubclass(kind, MatrixModel | KKmAnonymity)
]
"""What is promised of classes; promises about a matrix or items are tried in test_matrices.py and
test_k_km_anonymity.py."""


def twin(model: TableModel, data: Table, population: Table) -> bool:
    return keeps(model.as_promise(), texts(data), QUASI, SENSITIVE, texts(population))


def statistics_of(data: Table, groups: Any, count: int) -> GroupStatistics:
    return group_statistics(data, groups, count, SENSITIVE)


def test_every_model_is_tried() -> None:
    wanting = "give each its parameters in tests/models/promises.py and a twin in tests/naive/models.py"
    assert set(NAMES) == set(PARAMETERS), wanting


@pytest.mark.parametrize("name", NAMES)
def test_facts(name: str) -> None:
    model_class = registry.load("model", name)
    assert model_class.name == name
    assert model_class.paper
    assert model_class.__doc__
    assert isinstance(model_class.monotone, bool)
    assert isinstance(model_class.absorbs, bool)
    for field, info in model_class.model_fields.items():
        assert info.description, field


@pytest.mark.parametrize("name", NAMES)
def test_promise_both_ways(name: str) -> None:
    for model in promises(name):
        assert type(model).from_promise(model.as_promise()).as_promise() == model.as_promise()
        assert model.as_promise()["model"] == name
        assert "population" not in model.as_promise()


@pytest.mark.parametrize("name", NAMES)
def test_says_nothing_about_baskets(name: str) -> None:
    with pytest.raises(WrongUse, match=r"judges table( or linked)?, not baskets"):
        promises(name)[0].verify(shopping())


@pytest.mark.parametrize("name", NAMES)
def test_is_frozen_and_strict(name: str) -> None:
    model = promises(name)[0]
    with pytest.raises(WrongUse):
        type(model)(**PARAMETERS[name][0], not_a_parameter=1)
    with pytest.raises(ValueError, match="frozen"):
        setattr(model, next(iter(PARAMETERS[name][0])), 0)


@pytest.mark.parametrize("name", NAMES)
def test_no_rows_break_nothing(name: str) -> None:
    empty = Table(
        tuple(
            column(name, [], Role.SENSITIVE if name in SENSITIVE else Role.QUASI)
            for name in (*QUASI, *SENSITIVE)
        )
    )
    for model in promises(name):
        verdict = with_population(model, empty).verify(empty)
        assert verdict.holds
        assert verdict.value is None


def judge_beside_the_twin(name: str, data: Table, population: Table) -> None:
    for model in promises(name):
        verdict = with_population(model, population).verify(data)
        assert verdict.holds == twin(model, data, population), model
        assert verdict.holds == (verdict.offender_count == 0)
        assert len(verdict.offenders) == min(verdict.offender_count, SHOWN)
        verdict.as_dict()


@given(data=tables(), population=populations())
@settings(max_examples=30)
def test_verify_agrees_with_its_twin(data: Table, population: Table) -> None:
    for name in NAMES:
        judge_beside_the_twin(name, data, population)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@given(data=tables(), population=populations())
@settings(max_examples=1_000)
def test_verify_agrees_with_its_twin_on_a_thousand_tables(name: str, data: Table, population: Table) -> None:
    judge_beside_the_twin(name, data, population)


@given(data=tables(), population=populations())
@settings(max_examples=30)
def test_holds_agrees_with_its_twin(data: Table, population: Table) -> None:
    """Group by group; a population is counted by raw values, which is exact where cells are raw."""
    groups = class_numbers(data)
    count = int(groups.max()) + 1
    every = statistics_of(data, groups, count)
    single = [statistics_of(data, np.where(groups == place, 0, -1), 1) for place in range(count)]
    for model in (one for name in NAMES for one in promises(name)):
        bound = with_population(model, population)
        holds = bound.holds(every)
        assert holds.dtype == bool
        assert bound.hold_together(every) == twin(model, data, population), model
        assert [bound.holds(alone)[0] for alone in single] == holds.tolist(), model


@pytest.mark.parametrize("name", NAMES)
@given(data=tables(most=10), population=populations(), random=st.randoms(use_true_random=False))
@settings(max_examples=15)
def test_refuses_what_one_record_breaks(name: str, data: Table, population: Table, random: Any) -> None:
    """Cells are changed one after the other until the twin says that the promise is broken: the model says so too."""
    for start in (data, in_one_class(data)):
        model = with_population(random.choice(promises(name)), population)
        for changed in mutations(start, random):
            kept = twin(model, changed, population)
            assert model.verify(changed).holds == kept
            if not kept:
                break


def in_one_class(data: Table) -> Table:
    """The table with the quasi-identifiers of its first row everywhere: most promises are kept, and one cell that is
    changed breaks them by a single class.
    """
    return Table(
        tuple(
            replace(column_, codes=np.full_like(column_.codes, column_.codes[0]))
            if column_.role is Role.QUASI
            else column_
            for column_ in data.columns
        )
    )


def mutations(data: Table, random: Any) -> Iterator[Table]:
    """The table, then the table with one more cell changed each time."""
    yield data
    for _ in range(30):
        place, row = random.randrange(len(data.columns)), random.randrange(data.rows)
        changed = data.columns[place]
        codes = changed.codes.copy()
        codes[row] = random.randrange(len(changed.domain))
        columns = list(data.columns)
        columns[place] = replace(changed, codes=codes)
        data = Table(tuple(columns))
        yield data


@given(data=tables(), random=st.randoms(use_true_random=False))
@settings(max_examples=20)
def test_order_of_rows_does_not_matter(data: Table, random: Any) -> None:
    rows = list(range(data.rows))
    random.shuffle(rows)
    for model in (one for name in NAMES for one in promises(name)):
        bound = with_population(model, data)
        one, other = bound.verify(data), bound.verify(data.take(np.array(rows)))
        told = [(verdict.holds, verdict.value, verdict.offender_count) for verdict in (one, other)]
        assert told[0] == told[1], model


@given(data=tables())
@settings(max_examples=20)
def test_a_star_tells_no_value(data: Table) -> None:
    """Rows without their sensitive cells count as if they were not there; a class of them alone keeps everything.

    Hidden rules are hidden by stars, which count as rows there: they have tests of their own.
    """
    secret = Table(
        tuple(
            column(one.name, ["*"] * data.rows, one.role) if one.role is Role.SENSITIVE else one
            for one in data.columns
        )
    )
    rows = [*texts(data), *texts(secret)]
    both = Table(
        tuple(column(one.name, [row[one.name] or None for row in rows], one.role) for one in data.columns)
    )
    for model in (one for name in NAMES if name != "hidden-rules" for one in promises(name)):
        if "column" in type(model).model_fields and getattr(model, "k", 1) == 1:
            assert model.verify(secret).holds, model
            assert model.verify(both).holds == model.verify(data).holds, model


RARE = {"m-invariance": 100}
"""Pairs that keep a promise, where random classes hardly do: no value may occur twice."""


@cache
def drawn_groups() -> tuple[tuple[Table, GroupStatistics, GroupStatistics, Mask], ...]:
    """Populations, what is counted of random pairs of disjoint groups and of their unions, and which pairs are whole.

    Groups are made of whole values of x, so that no two of them have a person of the population in common.
    """
    found = []
    randoms = [np.random.default_rng(seed) for seed in range(20)]
    for random, size in product(randoms, (2, 3, 5, 8, 20, 100)):
        rows, count = 100 * size, 2 * 100
        common = random.dirichlet(np.full(4, random.choice([0.3, 1.0, 10.0])))
        numbers = random.integers(0, 3 * count, rows)
        data = Table(
            (
                column("x", [f"{number:04}" for number in numbers.tolist()]),
                column("y", ["r"] * rows),
                column(
                    "illness",
                    random.choice(["flu", "cold", "gout", None], rows, p=common).tolist(),
                    Role.SENSITIVE,
                ),
                column("income", random.choice([1, 2, 30, None], rows, p=common).tolist(), Role.SENSITIVE),
            )
        )
        people = random.integers(0, 3 * count, int(rows * random.uniform(1, 3)))
        population = Table(
            (column("x", [f"{number:04}" for number in people.tolist()]), column("y", ["r"] * len(people)))
        )
        groups = random.integers(0, count, 3 * count)[numbers]
        sizes = np.bincount(groups, minlength=count).reshape(-1, 2)
        both = (sizes > 0).all(axis=1)
        apart = statistics_of(data, groups, count)
        found.append((population, apart, statistics_of(data, groups // 2, count // 2), both))
    return tuple(found)


@cache
def pairs(name: str) -> tuple[tuple[Mask, Mask, Mask], ...]:
    """Of random pairs of groups, whether the first ones, the second ones and their unions keep a promise."""
    found = []
    for population, apart, united, both in drawn_groups():
        for model in promises(name):
            bound = with_population(model, population)
            one, other = bound.holds(apart).reshape(-1, 2)[both].T
            found.append((one, other, bound.holds(united)[both]))
    return tuple(found)


@pytest.mark.parametrize("name", NAMES)
def test_monotone_is_true_or_has_a_counterexample(name: str) -> None:
    """Where it is claimed, no pair of classes that keep a promise has a union that breaks it."""
    tried = broken = 0
    for one, other, union in pairs(name):
        tried += int((one & other).sum())
        broken += int((~union[one & other]).sum())
    assert tried > RARE.get(name, 1000)
    assert (broken == 0) == registry.load("model", name).monotone


@pytest.mark.parametrize("name", NAMES)
def test_absorbs_is_true_or_has_a_counterexample(name: str) -> None:
    tried = broken = 0
    for one, other, union in pairs(name):
        tried += int((one != other).sum())
        broken += int((~union[one != other]).sum())
    assert tried > 1000
    assert (broken == 0) == registry.load("model", name).absorbs
