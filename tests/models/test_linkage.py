"""(X,Y)-privacy and personalized privacy: who can be linked to what."""

from fractions import Fraction

import pytest
from hypothesis import given
from tests.models.promises import QUASI, SENSITIVE, tables
from tests.naive.models import keeps
from tests.tables import column, table, texts

from shoal.data.role import Role
from shoal.data.table import Table
from shoal.errors import BadData, Infeasible, UnknownName, WrongUse
from shoal.methods.mondrian.method import Mondrian
from shoal.models.personalized_privacy import PersonalizedPrivacy
from shoal.models.xy_privacy import XyPrivacy

ILLNESSES = {
    "flu": ("respiratory", "any"),
    "pneumonia": ("respiratory", "any"),
    "gastritis": ("digestive", "any"),
}


def patients() -> Table:
    """Jobs and illnesses as in section 3 of the paper of (X,Y)-privacy: two of three bankers have one illness."""
    cells = {
        "job": ["banker"] * 3 + ["clerk"] * 3,
        "zip": ["1", "1", "2", "1", "2", "2"],
        "s": ["flu", "flu", "hiv", "flu", "hiv", "cold"],
    }
    return table(cells, sensitive=["s"])


def test_what_cannot_be_kept_names_the_best() -> None:
    for model, best in ((XyPrivacy(column="s", k=4), 3), (XyPrivacy(column="s", h=0.4), 0.5)):
        with pytest.raises(Infeasible, match="xy-privacy cannot be kept") as refused:
            Mondrian(promises=(model,)).anonymize(patients())
        assert refused.value.best == best


def test_what_is_known_decides() -> None:
    """Who knows job and zip may find one value; who knows the job alone finds two."""
    data = patients()
    assert XyPrivacy(column="s", x=("job",), k=2).verify(data).holds
    assert not XyPrivacy(column="s", k=2).verify(data).holds
    verdict = XyPrivacy(column="s", x=("job",), k=2, h=0.6).verify(data)
    assert not verdict.holds
    assert verdict.value == Fraction(2, 3)
    assert verdict.offender_count == 1
    assert "most frequent in 2 of 3 rows" in verdict.offenders[0].why
    assert XyPrivacy(column="s", x=("job",), k=2, h=0.6667).verify(data).holds


def test_an_x_that_is_no_quasi_identifier_is_refused() -> None:
    with pytest.raises(UnknownName, match="quasi-identifier 'jobs'"):
        XyPrivacy(column="s", x=("jobs",), k=2).verify(patients())


@given(data=tables())
def test_some_of_the_quasi_identifiers(data: Table) -> None:
    for model in (
        XyPrivacy(column="illness", x=("x",), k=2),
        XyPrivacy(column="income", x=("y",), k=1, h=0.5),
    ):
        assert model.verify(data).holds == keeps(model.as_promise(), texts(data), QUASI, SENSITIVE)


def guarded(illnesses: list[str], guards: list[str]) -> Table:
    return Table(
        (
            column("x", ["a"] * len(illnesses)),
            column("illness", illnesses, Role.SENSITIVE),
            column("guard", guards, Role.SENSITIVE),
        )
    )


def promised(p: float) -> PersonalizedPrivacy:
    return PersonalizedPrivacy(column="illness", guard="guard", p=p, tree=ILLNESSES)


def test_a_guard_counts_all_below_it() -> None:
    """Andy guards against respiratory diseases, which two of three rows have; Bob only against gastritis."""
    data = guarded(["flu", "pneumonia", "gastritis"], ["respiratory", "", "gastritis"])
    verdict = promised(0.6).verify(data)
    assert not verdict.holds
    assert verdict.value == Fraction(2, 3)
    assert "2 of 3 rows have respiratory" in verdict.offenders[0].why
    assert promised(0.6667).verify(data).holds


def test_who_guards_nothing_is_promised_nothing() -> None:
    assert promised(0.1).verify(guarded(["flu", "flu"], ["", ""])).holds
    assert promised(0.1).verify(guarded(["flu", "flu"], ["digestive", ""])).holds


def test_guards_must_be_nodes_and_sensitive() -> None:
    with pytest.raises(UnknownName, match="node 'lungs'"):
        promised(0.5).verify(guarded(["flu"], ["lungs"]))
    open_guards = Table(
        (column("x", ["a"]), column("illness", ["flu"], Role.SENSITIVE), column("guard", ["flu"]))
    )
    with pytest.raises(WrongUse, match="give it the role sensitive"):
        promised(0.5).verify(open_guards)
    with pytest.raises(BadData, match="must name the tree"):
        PersonalizedPrivacy(column="illness", guard="guard", p=0.5).refuse_vague()


def test_a_method_keeps_them() -> None:
    rows = 60
    data = Table(
        (
            column("age", list(range(rows))),
            column("illness", [list(ILLNESSES)[place * 7 % 3] for place in range(rows)], Role.SENSITIVE),
            column(
                "guard", ["respiratory" if place % 20 == 3 else "" for place in range(rows)], Role.SENSITIVE
            ),
        )
    )
    models = (promised(0.7), XyPrivacy(column="illness", k=3, h=0.5))
    release, _ = Mondrian(k=3, promises=models).anonymize(data)
    assert all(model.verify(release.data).holds for model in models)
    assert len(set(release.data.column("age").domain.labels)) > 3


def test_a_class_of_stars_is_not_the_worst() -> None:
    cells = [("a", "*"), ("b", "flu")]
    starred = Table(
        (
            column("x", [x for x, _ in cells]),
            column("illness", [illness for _, illness in cells], Role.SENSITIVE),
            column("guard", ["", ""], Role.SENSITIVE),
        )
    )
    assert promised(0.5).verify(starred).value == 0
