"""Readers of groups who are right clearly more often than the degree suggests are told, with what helps."""

from typing import Any

import pytest

from shoal.risks.group_readers import warned_of_readers

NEAR = {"form": "near"}


def said(
    p: int, largest: float, central: float = 0, replay: float = 0, form: Any = "near", groups: int = 10_000
) -> str:
    scores = {"pivot_largest": largest, "pivot_central": central, "pivot_replay": replay}
    promises = ({"model": "privacy-degree", "p": p, "sensitive": ["flu"]},)
    return " ".join(warned_of_readers(scores, groups, promises, {} if form is None else {"form": form}))


def test_the_largest_basket_is_told_from_twice_the_promised_chance_on() -> None:
    assert said(10, 0.2) == (
        "Whoever names the basket of a group that has most public items is right in 20.0% of the groups, where --p 10 "
        "suggests 10.0%: large baskets are likelier to hold a sensitive item, and groups of any form show "
        "which these are. Reckon with that chance, promise a larger p, or leave the largest baskets out: "
        "`shoal convert INPUT KEPT --most-items N`."
    )
    assert said(10, 0.199) == ""
    assert said(4, 0.263) == "", "a little more is usual"


@pytest.mark.parametrize(
    ("reader", "words"), [("central", "most in common with the others"), ("replay", "knows the method")]
)
def test_what_the_form_betrays_has_another_remedy(reader: str, words: str) -> None:
    for form, advice in (
        ("pivots", "Say --form blocks, or promise a larger"),
        ("blocks", "Promise a larger"),
    ):
        sentence = said(4, 0.26, **{reader: 0.5}, form=form)
        assert words in sentence
        assert "is right in 50.0% of the groups, where --p 4 suggests 25.0%. " + advice in sentence
    assert "--form" not in said(4, 0.26, **{reader: 0.5}, form=None), "another method has no form"
    assert said(4, 0.26, **{reader: 0.3}, form="pivots") == "", "no more than a twentieth above it"


def test_a_bound_is_no_reader() -> None:
    """Of clusters of like baskets the replay is told more than anybody can know."""
    assert said(4, 0.26, replay=0.5) == ""
    assert "most in common" in said(4, 0.26, central=0.4, replay=0.5)


def test_groups_betray_no_more_than_sizes_do() -> None:
    assert "most public items" in said(10, 0.3, central=0.25)
    assert "most in common" in said(10, 0.3, central=0.35)


def test_nothing_to_say() -> None:
    assert warned_of_readers({}, 9, ({"model": "privacy-degree", "p": 4},), NEAR) == ()
    assert warned_of_readers({"pivot_largest": 1.0}, 9, ({"model": "k-anonymity", "k": 4},), {}) == ()


def test_a_few_groups_are_right_by_chance() -> None:
    """Of 50 groups, a reader who guesses is right in up to 43.4 % within three deviations."""
    assert said(4, 0.26, central=0.43, groups=50) == said(4, 0.43, groups=50) == ""
    assert "right in 44.0%" in said(4, 0.26, central=0.44, groups=50)
    assert said(10, 0.22, groups=50) == ""
    assert "right in 23.0%" in said(10, 0.23, groups=50)
    assert said(4, 1, groups=1) == said(4, 1, groups=0) == ""
