"""The synthetic table of people keeps its documented truth."""

import datetime

import numpy as np
import pytest

from shoal.data._frames import text_frame
from shoal.data.domain import Kind
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.datasets.people import DISEASE_AGES, DISEASE_SHARES, DISEASES, EDUCATIONS, SEXES, WITH_GAPS, People
from shoal.errors import WrongUse
from shoal.registry import load


@pytest.fixture(scope="module")
def table() -> Table:
    return People(rows=40_000).make(seed=3)


def texts(table: Table, name: str) -> np.ndarray:
    column = table.column(name)
    return np.array(column.domain.labels, dtype=object)[column.codes]


def test_shape(table: Table) -> None:
    assert load("dataset", "people") is People
    assert table.rows == 40_000
    assert {column.role for column in table.columns} == {Role.INSENSITIVE}
    kinds = {column.name: column.domain.kind for column in table.columns}
    assert kinds["age"] == kinds["hours-per-week"] == kinds["education-num"] == Kind.NUMERIC
    assert kinds["date-of-birth"] == Kind.DATE
    assert kinds["zip"] == kinds["occupation"] == Kind.NOMINAL


def test_domains_hold_what_occurs_in_order(table: Table) -> None:
    for column in table.columns:
        domain = column.domain
        assert np.array_equal(np.unique(column.codes), np.arange(len(domain)))
        if domain.values is None:
            present = domain.labels[: domain.present]
            assert list(present) == sorted(present)
        else:
            assert (np.diff(domain.values[: domain.present]) > 0).all()


def test_a_seed_makes_the_same_people() -> None:
    first, again, other = (text_frame(People(rows=200).make(seed)) for seed in (1, 1, 2))
    assert first.equals(again)
    assert not first.equals(other)


def test_age_is_exact_on_new_year_2020(table: Table) -> None:
    today = datetime.date(2020, 1, 1)
    for born, age in zip(texts(table, "date-of-birth")[:3000], texts(table, "age")[:3000], strict=True):
        day = datetime.date.fromisoformat(born)
        assert today.year - day.year - ((today.month, today.day) < (day.month, day.day)) == int(age)


def test_education_has_a_number(table: Table) -> None:
    numbers = texts(table, "education-num").astype(int)
    assert (np.array(EDUCATIONS, dtype=object)[numbers - 1] == texts(table, "education")).all()
    assert numbers[texts(table, "age").astype(int) < 18].max() <= 8


def test_zips_have_five_digits(table: Table) -> None:
    zips = table.column("zip").domain.labels[:-1]
    assert len(zips) == 200
    assert all(len(code) == 5 and code.isdigit() for code in zips)
    counts = np.sort(np.bincount(table.column("zip").codes)[:-1])
    assert counts[-1] > 20 * counts[0]


def test_cells_are_missing_where_they_may_be(table: Table) -> None:
    for column in table.columns:
        if column.name in WITH_GAPS:
            share = float((column.codes == column.domain.missing).mean())
            assert share == pytest.approx(0.02, abs=0.005)
        else:
            assert column.domain.missing is None
    assert all(column.domain.missing is None for column in People(rows=500, missing=0).make(1).columns)
    assert People(rows=50, missing=1).make(1).column("zip").domain.labels == ("",)


def test_diseases_follow_age_and_sex(table: Table) -> None:
    bands = np.digitize(texts(table, "age").astype(int), DISEASE_AGES)
    sexes = texts(table, "sex")
    found = texts(table, "disease")
    for band in range(4):
        for place, sex in enumerate(SEXES):
            rows = (bands == band) & (sexes == sex)
            shares = DISEASE_SHARES[band, place] / DISEASE_SHARES[band, place].sum()
            for disease, share in zip(DISEASES, shares, strict=True):
                observed = float((found[rows] == disease).mean())
                assert observed == pytest.approx(share, abs=5 * np.sqrt(share / rows.sum()) + 1e-9)


@pytest.mark.parametrize("wrong", [{"rows": 0}, {"missing": 1.5}, {"zips": 0}, {"size": 3}])
def test_parameters_out_of_range(wrong: dict[str, float]) -> None:
    with pytest.raises(WrongUse):
        People(**wrong)
