"""(k,e)-anonymity and (ε,m)-anonymity: sensitive numbers that lie too close together."""

from fractions import Fraction

import pytest
from tests.tables import table

from shoal.data.table import Table
from shoal.errors import Infeasible, WrongUse
from shoal.methods.mondrian.method import Mondrian
from shoal.models.em_anonymity import EmAnonymity
from shoal.models.ke_anonymity import KeAnonymity


def salaries(*classes: list[float | str | None]) -> Table:
    cells = [(str(place), number) for place, numbers in enumerate(classes) for number in numbers]
    return table({"x": [x for x, _ in cells], "s": [number for _, number in cells]}, sensitive=["s"])


def test_k_numbers_spread_over_e() -> None:
    """Three salaries over 2,000: what a class of the ICDE paper's figures asks for."""
    data = salaries([30_000, 31_000, 32_000], [40_000, 45_000, 50_000, 50_000])
    assert KeAnonymity(column="s", k=3, e=2000).verify(data).holds
    assert KeAnonymity(column="s", k=3, e=2000).verify(data).value == 3
    verdict = KeAnonymity(column="s", k=3, e=2000.5).verify(data)
    assert not verdict.holds
    assert verdict.offender_count == 1
    assert "spread over 2000 where 3 over 2000.5" in verdict.offenders[0].why
    assert KeAnonymity(column="s", k=4, e=0).verify(data).offender_count == 2


def test_spellings_of_a_number_are_one_and_a_missing_one_is_none() -> None:
    data = salaries(["1", "1.0", "01", "", "3"])
    assert KeAnonymity(column="s", k=2, e=2).verify(data).holds
    assert not KeAnonymity(column="s", k=3, e=2).verify(data).holds


def test_differences_are_exact() -> None:
    """By floating point numbers 0.3 - 0.1 is less than 0.2."""
    assert 0.3 - 0.1 < 0.2
    assert KeAnonymity(column="s", k=2, e=0.2).verify(salaries(["0.1", "0.3"])).holds
    assert not EmAnonymity(column="s", epsilon=0.2, m=2).verify(salaries(["0.1", "0.3"])).holds


def test_days_are_a_day_apart() -> None:
    data = salaries(["2024-02-28", "2024-03-01"])
    assert KeAnonymity(column="s", k=2, e=2).verify(data).holds
    assert not KeAnonymity(column="s", k=2, e=2.5).verify(data).holds


def test_a_number_with_too_many_neighbors() -> None:
    """Two of four salaries lie within 100 of 30,000: the proximity breach of the SIGMOD paper."""
    data = salaries([30_000, 30_100, 40_000, 50_000])
    verdict = EmAnonymity(column="s", epsilon=100, m=3).verify(data)
    assert not verdict.holds
    assert verdict.value == Fraction(1, 2)
    assert verdict.offenders[0].why == "2 of 4 rows lie near 30000 where one in 3 is promised"
    assert EmAnonymity(column="s", epsilon=100, m=2).verify(data).holds
    assert EmAnonymity(column="s", epsilon=99, m=4).verify(data).holds


def test_nearness_by_a_share_of_the_number() -> None:
    data = salaries([-100, -90, 100, 1000])
    assert not EmAnonymity(column="s", epsilon=0.1, m=4, nearness="relative").verify(data).holds
    assert EmAnonymity(column="s", epsilon=0.09, m=4, nearness="relative").verify(data).holds


def test_two_safe_classes_may_have_an_unsafe_union() -> None:
    """0 and 2 are not near each other, and both are near 1."""
    model = EmAnonymity(column="s", epsilon=1, m=2)
    assert model.verify(salaries([0, 2], [1, 10])).holds
    assert not model.verify(salaries([0, 2, 1, 10])).holds


def test_texts_are_refused() -> None:
    with pytest.raises(WrongUse, match="numbers or dates, and s holds other texts"):
        KeAnonymity(column="s", k=2, e=1).verify(salaries(["flu", "cold"]))


def test_a_method_keeps_them_or_says_what_could_be() -> None:
    ages, incomes = list(range(40)), [(place * 37) % 40 * 100 for place in range(40)]
    data = table({"age": ages, "income": incomes}, sensitive=["income"])
    models = (KeAnonymity(column="income", k=4, e=1500), EmAnonymity(column="income", epsilon=200, m=3))
    release, _ = Mondrian(k=2, promises=models).anonymize(data)
    assert all(model.verify(release.data).holds for model in models)
    assert len(set(release.data.column("age").domain.labels)) > 1
    with pytest.raises(Infeasible, match="largest k is 40"):
        Mondrian(promises=(KeAnonymity(column="income", k=41, e=1),)).anonymize(data)
    with pytest.raises(Infeasible, match="spread over 3900"):
        Mondrian(promises=(KeAnonymity(column="income", k=2, e=4000),)).anonymize(data)


def test_mondrian_refuses_in_parts_what_a_union_may_break() -> None:
    with pytest.raises(WrongUse, match="em-anonymity may hold for two classes but not for their union"):
        Mondrian(promises=(EmAnonymity(column="s", epsilon=1, m=2),)).refuse_distributed()
