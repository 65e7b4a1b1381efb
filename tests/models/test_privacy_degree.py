"""The privacy degree of published groups."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive.cahd import degree
from tests.sets import baskets_of, sets_of

from shoal.data.groups import Groups
from shoal.errors import UnknownName, WrongUse
from shoal.io.releases.set_lines import read_groups
from shoal.models.privacy_degree import PrivacyDegree

Line = tuple[list[list[str]], dict[str, int]]


def groups_of(lines: list[Line], *, as_given: bool = False) -> Groups:
    """Groups of texts, in canonical order or as they are given."""
    if not as_given:
        lines = [(sorted(map(sorted, group)), summary) for group, summary in lines]
        lines.sort(key=lambda line: (line[0], sorted(line[1].items())))
    texts = {item for baskets, summary in lines for item in [*summary, *(i for b in baskets for i in b)]}
    vocabulary = tuple(sorted(texts))
    code = {item: place for place, item in enumerate(vocabulary)}
    baskets = [sorted(basket) for group, _ in lines for basket in group]
    summaries = [sorted(summary.items()) for _, summary in lines]
    return Groups(
        np.cumsum([0, *(len(group) for group, _ in lines)]),
        np.cumsum([0, *map(len, baskets)]),
        np.array([code[item] for basket in baskets for item in basket], dtype=np.int32),
        np.cumsum([0, *map(len, summaries)]),
        np.array([code[item] for summary in summaries for item, _ in summary], dtype=np.int32),
        np.array([count for summary in summaries for _, count in summary], dtype=np.int64),
        vocabulary,
    )


def test_the_published_groups_of_the_seed() -> None:
    groups = groups_of(
        [
            ([["wine", "meat"], ["wine", "meat"], ["wine", "meat", "cream"]], {"viagra": 1}),
            ([["meat", "strawberries"], ["cream", "strawberries"]], {"pregnancy test": 1}),
        ]
    )
    verdict = PrivacyDegree(p=2).verify(groups)
    assert verdict.holds
    assert verdict.value == 2
    assert verdict.threshold == 2
    broken = PrivacyDegree(p=3).verify(groups)
    assert not broken
    assert broken.offender_count == 1
    assert broken.offenders[0].where == "group 2 (2 baskets, the first is {cream strawberries})"
    assert broken.offenders[0].why == "1 of 2 baskets hold 'pregnancy test', where at most 0 may"


def test_the_last_group_counts_too() -> None:
    groups = groups_of([([["a"]] * 4, {"s": 1}), ([["b"]] * 3, {"s": 2})])
    verdict = PrivacyDegree(p=2).verify(groups)
    assert not verdict.holds
    assert verdict.value == Fraction(3, 2)
    assert "group 2" in verdict.offenders[0].where


def test_a_basket_that_lists_the_secret_gives_it_away() -> None:
    groups = groups_of([([["a"], ["s"]], {}), ([["b"], ["b"]], {"s": 1})])
    verdict = PrivacyDegree(p=2).verify(groups)
    assert not verdict.holds
    assert verdict.value == 1
    assert verdict.offenders[0].where == "basket 2 of group 1 (2 baskets, the first is {a})"
    verdict = PrivacyDegree(p=2).verify(groups_of([([["b"], ["b"]], {"s": 1}), ([["c"], ["s"]], {})]))
    assert verdict.offenders[0].where == "basket 2 of group 2 (2 baskets, the first is {c})"
    assert "'s'" in verdict.offenders[0].why


def test_named_items_stand_in_no_basket() -> None:
    """Also where no group counts them, as if they had been put back."""
    back = groups_of([([["a"], ["a", "s"]], {}), ([["b"], ["b", "t"]], {})])
    verdict = PrivacyDegree(p=2, sensitive=("s", "t")).verify(back)
    assert not verdict.holds
    assert (verdict.value, verdict.offender_count) == (1, 2)
    assert verdict.offenders[0].why == "lists 's', which is sensitive"
    assert PrivacyDegree(p=2).verify(back).holds, "nothing in the file says that they are sensitive"


def test_counted_items_are_named() -> None:
    groups = groups_of([([["a"], ["b"]], {"s": 1}), ([["c"], ["d"]], {"t": 1})])
    assert PrivacyDegree(p=2, sensitive=("s", "t")).verify(groups).holds
    verdict = PrivacyDegree(p=2, sensitive=("s",)).verify(groups)
    assert not verdict.holds
    assert verdict.offenders[0].where.startswith("group 2")
    assert verdict.offenders[0].why == "counts 't', which is not named as sensitive"


def test_the_verdict_says_what_was_taken_as_sensitive() -> None:
    groups = groups_of([([["a"], ["b"]], {"s": 1}), ([["c"], ["d"]], {"t": 1})])
    assert (
        PrivacyDegree(p=2).verify(groups).remark
        == "taken as sensitive: the items that groups count (2: s, t)"
    )
    assert not PrivacyDegree(p=2, sensitive=("s", "t")).verify(groups).remark
    with pytest.raises(UnknownName, match="There is no item 'u'"):
        PrivacyDegree(p=2, sensitive=("u",)).ask(groups)


def test_nothing_sensitive_is_nothing_to_judge() -> None:
    verdict = PrivacyDegree(p=2).verify(groups_of([([["a"]], {})]))
    assert verdict.holds
    assert verdict.value is None


def test_an_order_that_tells_is_named() -> None:
    lines: list[Line] = [([["a"], ["b"], ["c"]], {"s": 1}), ([["a"], ["b"], ["d"]], {"s": 1})]
    assert PrivacyDegree(p=3).verify(groups_of(lines, as_given=True))
    first = [([["b"], ["a"], ["c"]], {"s": 1}), lines[1]]
    verdict = PrivacyDegree(p=3).verify(groups_of([first[1], first[0]], as_given=True))
    assert [(one.where, one.why) for one in verdict.offenders] == [
        ("group 2 (3 baskets, the first is {b})", "its baskets are not in ascending order")
    ]
    verdict = PrivacyDegree(p=3).verify(groups_of(lines[::-1], as_given=True))
    assert not verdict.holds
    assert verdict.value == 3
    assert [(one.where, one.why) for one in verdict.offenders] == [
        (
            "group 2 (3 baskets, the first is {a})",
            "in ascending order it would come before the group ahead of it, group 1 (3 baskets, the first is {a}): "
            "one of the two is out of place",
        )
    ]


def test_groups_of_the_same_baskets_ascend_by_their_secrets() -> None:
    lines: list[Line] = [([["a"]] * 4, {"s": 1}), ([["a"]] * 4, {"s": 2}), ([["a"]] * 4, {"t": 1})]
    assert PrivacyDegree(p=2).verify(groups_of(lines, as_given=True))
    for order in ([1, 0, 2], [0, 2, 1], [2, 1, 0]):
        shown = [lines[place] for place in order]
        assert not PrivacyDegree(p=2).verify(groups_of(shown, as_given=True))


def test_many_offenders_are_counted() -> None:
    verdict = PrivacyDegree(p=3).verify(groups_of([([["a"], ["b"]], {"s": 1})] * 25))
    assert len(verdict.offenders) == 10
    assert verdict.offender_count == 25


def test_a_degree_below_two_is_none() -> None:
    with pytest.raises(WrongUse):
        PrivacyDegree(p=1)


def test_says_nothing_about_baskets() -> None:
    with pytest.raises(WrongUse, match="judges groups, not baskets"):
        PrivacyDegree(p=2).verify(baskets_of([{"a"}]))


lines = st.lists(
    st.tuples(
        st.lists(st.lists(st.sampled_from("abc"), unique=True), min_size=1, max_size=6),
        st.dictionaries(st.sampled_from("st"), st.integers(1, 6), max_size=2),
    ),
    min_size=1,
    max_size=5,
)


@given(lines, st.integers(2, 4))
def test_verdicts_agree_with_the_definition(drawn: list[Line], p: int) -> None:
    groups = groups_of(drawn)
    verdict = PrivacyDegree(p=p).verify(groups)
    reached = degree([([frozenset(b) for b in baskets], summary) for baskets, summary in sets_of(groups)])
    assert verdict.value == reached
    assert verdict.holds == (reached is None or reached >= p)


@pytest.mark.parametrize(
    "line",
    [
        '{"baskets": [["a"], ["c", "b"], ["d"], ["e"]], "sensitive": {"s": 1, "t": 2}}',
        '{"baskets": [["a"], ["b", "c"], ["d"], ["e"]], "sensitive": {"t": 2, "s": 1}}',
    ],
)
def test_the_order_of_items_is_judged_too(line: str, tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    good = '{"baskets": [["a"], ["a", "b"]], "sensitive": {"s": 1}}\n'
    path.write_text(good + '{"baskets": [["a"], ["b", "c"], ["d"], ["e"]], "sensitive": {"s": 1, "t": 2}}\n')
    assert PrivacyDegree(p=2).verify(read_groups(path))
    path.write_text(good + line + "\n")
    verdict = PrivacyDegree(p=2).verify(read_groups(path))
    assert not verdict.holds
    assert [(one.where, one.why) for one in verdict.offenders] == [
        (
            "group 2 (4 baskets, the first is {a})",
            "the items of a basket, or the sensitive ones, are not in ascending order",
        )
    ]
