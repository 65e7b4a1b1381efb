"""Missing cells that match everything, and rows that tell nothing."""

from hypothesis import given
from hypothesis import strategies as st
from tests.naive.full_domain import matching
from tests.tables import table, texts

from shoal.data.published_syntax import telling_rows
from shoal.models.distinct_diversity import DistinctDiversity
from shoal.models.k_anonymity import KAnonymity
from shoal.models.reidentification_risk import ReidentificationRisk

cells = st.sampled_from(["a", "b", None])


@given(st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=20), st.integers(2, 6))
def test_matches_are_those_of_the_naive_twin(rows: list[tuple[str | None, ...]], k: int) -> None:
    one, two, three = zip(*rows, strict=True)
    data = table({"one": one, "two": two, "three": three})
    verdict = KAnonymity(k=k, missing_matches_all=True).verify(data)
    truth = matching([tuple(row.values()) for row in texts(data)])
    assert verdict.value == min(truth)
    assert verdict.holds == (min(truth) >= k)
    plain = KAnonymity(k=k).verify(data)
    assert plain.value is not None
    assert plain.value <= min(truth)


def test_the_promise_tells_of_wildcards_only_where_there_are_any() -> None:
    assert "missing_matches_all" not in KAnonymity(k=3).as_promise()
    promise = KAnonymity(k=3, missing_matches_all=True).as_promise()
    assert KAnonymity.from_promise(promise) == KAnonymity(k=3, missing_matches_all=True)


def test_rows_of_stars_are_in_no_class() -> None:
    data = table({"x": ["*", "a", "a"], "y": ["*", "b", "b"], "s": ["*", "flu", "cold"]}, sensitive=["s"])
    assert telling_rows(data).tolist() == [False, True, True]
    assert KAnonymity(k=2).verify(data)
    assert DistinctDiversity(l=2).verify(data)
    assert ReidentificationRisk(risk=0.5).verify(data)


def test_rows_that_tell_something_stay_in_their_class() -> None:
    for shown in (
        table({"x": ["*", "a", "a"], "s": ["flu", "flu", "cold"]}, sensitive=["s"]),
        table({"x": ["*", "a", "a"], "y": ["b", "b", "b"]}),
    ):
        assert telling_rows(shown).all()
        assert not KAnonymity(k=2).verify(shown)
    everything = table({"x": ["*"] * 3, "s": ["flu", "flu", "cold"]}, sensitive=["s"])
    assert KAnonymity(k=3).verify(everything)
    assert not KAnonymity(k=4).verify(everything)


def test_without_quasi_identifiers_all_rows_match() -> None:
    data = table({"s": ["flu", None, "cold"]}, sensitive=["s"])
    assert KAnonymity(k=3, missing_matches_all=True).verify(data).value == 3
