"""Which cells rule hiding stars: as few as can be, or as many as leave no trace."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests import adult
from tests.naive.rule_hiding import composition, least_stars, least_stars_of_classes
from tests.rule_hiding import QUASI, classes_of, published, small_tables
from tests.tables import column, table, texts

import shoal
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.errors import Infeasible
from shoal.io.reading import Reading
from shoal.measures import hidden_rules as measures
from shoal.measures._chosen import measure
from shoal.measures.measure import flat
from shoal.methods.mondrian.method import Mondrian
from shoal.methods.table_rule_hiding import _star_cover as cover
from shoal.methods.table_rule_hiding.method import TableRuleHiding
from shoal.models.k_anonymity import KAnonymity


@given(
    data=small_tables(),
    c=st.sampled_from([0.3, 0.5, 0.6, 0.7, 1]),
    fewer_than=st.sampled_from([None, 1, 2, 3]),
    size=st.sampled_from([None, 1, 2]),
    named=st.sampled_from([(), ("u",)]),
)
@settings(max_examples=60)
def test_stars_are_as_few_as_can_be(
    data: Table, c: float, fewer_than: int | None, size: int | None, named: tuple[str, ...]
) -> None:
    assume(set(named) <= set(data.column("s").domain.labels))
    antecedent = {} if size is None else {"antecedent": "any", "size": size}
    rows, _, trace = published(
        data, confidence=c, fewer_than=fewer_than, values=named, anonymize_with="none", **antecedent
    )
    stars = sum(row["s"] == "*" for row in rows)
    assert stars == least_stars(texts(data), QUASI, "s", c, fewer_than, size, named)
    assert trace.notes["rules.s"]["least_stars"] == trace.notes["rules.s"]["stars"] == stars


@given(data=small_tables(), c=st.sampled_from([0.3, 0.5, 0.7]), fewer_than=st.sampled_from([None, 2]))
@settings(max_examples=30)
def test_beyond_reach_stars_are_more_but_never_too_few(data: Table, c: float, fewer_than: int | None) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cover, "LARGEST", 0)
        rows, _, trace = published(
            data, confidence=c, fewer_than=fewer_than, antecedent="any", size=1, anonymize_with="none"
        )
    least = least_stars(texts(data), QUASI, "s", c, fewer_than, 1)
    assert trace.notes["rules.s"]["least_stars"] <= least <= sum(row["s"] == "*" for row in rows)


def test_rules_that_share_cells_are_solved_together() -> None:
    """One star in each of the two shared classes hides four rules; rule by rule it would take four."""
    data = table({"x": list("aaaabbbb"), "y": list("pqrsprqs"), "s": list("uuvwuuvw")}, sensitive=["s"])
    rows, _, trace = published(
        data, confidence=0.4, antecedent="any", size=1, values=("u",), anonymize_with="none"
    )
    assert sum(row["s"] == "*" for row in rows) == least_stars(texts(data), QUASI, "s", 0.4, None, 1, ("u",))
    assert trace.notes["rules.s"]["rules"] > trace.notes["rules.s"]["stars"]


@pytest.mark.parametrize(
    ("cells", "c", "k", "shown"),
    [
        ("uuuuuuuuvv", 0.5, 2, "uuvv"),
        ("uuuuuuuuvv", 0.5, 5, ""),
        ("uuuv", 0.75, 2, "uuuv"),
        ("uuu", 0.9, 2, ""),
    ],
)
def test_rows_of_stars_alone_hide_nothing(cells: str, c: float, k: int, shown: str) -> None:
    """Where every quasi-identifier is *, a starred row is a suppressed one and does not count any more."""
    data = table({"x": ["*"] * len(cells), "s": list(cells)}, sensitive=["s"])
    rows, release, _ = published(data, k=k, confidence=c, anonymize_with="none")
    assert "".join(row["s"] for row in rows if row["s"] != "*") == shown
    promised: dict[str, Any] = {"promises": (KAnonymity(k=k, missing_matches_all=True),)}
    assert published(data, **promised, confidence=c, anonymize_with="none")[0] == rows
    scores = flat(measure(data, release, (measures.HiddenRules(),)))
    assert scores["starred_cells"] == len(cells) - len(shown)
    assert scores["confidence_published"] <= c


@given(
    data=small_tables(4, 30),
    c=st.sampled_from([0.3, 0.4, 0.5, 0.6, 0.75]),
    fewer=st.sampled_from([None, 2]),
)
def test_no_value_has_more_than_its_share_among_decoys(data: Table, c: float, fewer: int | None) -> None:
    try:
        rows, _, _ = published(data, confidence=c, strategy="decoy", fewer_than=fewer, anonymize_with="none")
    except Infeasible as refusal:
        if refusal.best is None or refusal.best <= c:
            raise
        return
    share = Fraction(str(c))
    before, after = (classes_of(one, QUASI, "s") for one in (texts(data), rows))
    for cells, counts in before.items():
        stars = after[cells]["*"]
        size, top = counts.total(), max(counts.values())
        assert bool(stars) == (Fraction(top, size) > share)
        if not stars:
            continue
        hides = composition(counts, after[cells])
        if stars < size:
            assert max(hides.values()) <= share * stars
            assert Fraction(top, size) <= share * (2 - share)
        elif fewer is None and len(counts) * share >= 1 and Fraction(top, size) <= share:
            pytest.fail("the whole class is starred though no value has too large a share")


def test_decoys_refuse_what_a_blind_guess_beats() -> None:
    data = table({"x": list("aaabbb"), "s": list("uuuuvv")}, sensitive=["s"])
    with pytest.raises(Infeasible, match=r"least confidence is 0\.5") as refusal:
        TableRuleHiding(confidence=0.4, strategy="decoy", anonymize_with="none").anonymize(data)
    assert refusal.value.best == 0.5
    published(data, confidence=0.5, strategy="decoy", anonymize_with="none")


def test_stars_are_drawn_among_the_rows_of_a_class() -> None:
    """Any of the rows may be starred: a fixed choice would tell of the other columns of the starred one."""
    data = Table(
        (
            column("x", ["a"] * 4),
            column("s", ["u"] * 4, Role.SENSITIVE),
            column("o", list("1234"), Role.INSENSITIVE),
        )
    )
    starred = set()
    for seed in range(40):
        rows, _, _ = published(data, seed=seed, confidence=0.75, anonymize_with="none")
        starred |= {row["o"] for row in rows if row["s"] == "*"}
    assert starred == set("1234")
    drawn = {str(published(data, seed=None, confidence=0.75, anonymize_with="none")[0]) for _ in range(30)}
    assert len(drawn) > 1


@pytest.mark.parametrize("c", [0.5, 0.3])
def test_adult(c: float, public_data: Any) -> None:
    """No published rule above c, only sensitive cells changed, and as few stars as the twin needs."""
    run = shoal.anonymize(
        public_data("adult/adult.data.gz"),
        "table-rule-hiding",
        k=10,
        confidence=c,
        quasi=["age", "education-num", "sex"],
        sensitive=["occupation"],
        others="drop",
        reading=Reading(names=tuple(adult.NAMES.split(","))),
        seed=1,
    )
    assert run.holds
    plain, trace = Mondrian(k=10).anonymize(run.original)
    assert isinstance(plain.data, Table)
    assert isinstance(run.release.data, Table)
    before = dict(zip(trace.rows.tolist(), texts(plain.data), strict=True))
    rows = texts(run.release.data)
    for row, place in zip(rows, run.trace.rows.tolist(), strict=True):
        old = before[place]
        assert {**row, "occupation": old["occupation"]} == old
        assert row["occupation"] in (old["occupation"], "*")
    quasi = ("age", "education-num", "sex")
    classes = classes_of(texts(plain.data), quasi, "occupation")
    share = Fraction(str(c))
    expected = sum(
        max(count - int(share * counts.total()), 0)
        for counts in classes.values()
        for count in counts.values()
    )
    assert run.score("starred_cells") == expected > 0
    assert KAnonymity(k=10).verify(run.release.data).holds
    some = [row for row in texts(plain.data) if row["education-num"] == "9" and row["sex"] == "Male"]
    if some:
        here = {tuple(row[name] for name in quasi) for row in some}
        stars = sum(row["occupation"] == "*" for row in rows if tuple(row[name] for name in quasi) in here)
        assert stars == least_stars_of_classes(some, quasi, "occupation", c)


def test_decoys_of_values_that_tie_are_drawn() -> None:
    """Were the first value of a tie starred, no star could hide one behind those that are shown."""
    data = table({"x": ["a"] * 5, "s": list("uuuvw")}, sensitive=["s"])
    shown = {
        "".join(
            row["s"]
            for row in published(data, seed, confidence=0.5, strategy="decoy", anonymize_with="none")[0]
        )
        for seed in range(20)
    }
    assert shown == {"**uuv", "**uuw"}
