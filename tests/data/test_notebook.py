"""What notebooks show."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
from tests.hand_made import FORMS, run_of
from tests.markup import Markup
from tests.tables import table

from shoal.data._notebook import COLUMNS, ROWS
from shoal.data.verdict import Offender, Verdict
from shoal.outcome import Run

EVIL = '<script>alert("1")</script>\x1b\u202e'


def piece_of(html: str) -> Markup:
    """What a notebook is given has no attributes but for looks and headings."""
    piece = Markup(html)
    assert {name for _, given, _ in piece.elements for name in given} <= {"style", "scope"}
    return piece


def people(name: str = "x", rows: int = 3) -> Run:
    data = table({name: ["a"] * rows, "s": [EVIL] * rows}, ["s"])
    return run_of(data, {name: ["a"] * rows}, k=2)


def test_a_run_shows_promise_cost_and_release() -> None:
    said = " ".join(piece_of(people()._repr_html_()).texts)
    assert "All promises are kept" in said
    assert "✓ kept k-anonymity: every class has at least 2 rows" in said
    assert "of the detail is lost" in said
    assert "Release by by hand" in said
    assert "\ufffd%" not in said


def test_a_run_that_nobody_judged_says_so() -> None:
    said = " ".join(piece_of(replace(people(), verdicts=())._repr_html_()).texts)
    assert "Not judged yet" in said
    assert "broken" not in said


def test_a_broken_run_says_so() -> None:
    run = people()
    verdict = replace(run.verdicts[0], holds=False)
    said = " ".join(
        piece_of(replace(run, verdicts=(verdict,), warnings=("Look.",), left_out=7)._repr_html_()).texts
    )
    assert "do not publish" in said
    assert "✗ broken" in said
    assert "before you publish Look." in said
    assert "7 rows with missing values" in said


def test_texts_of_the_data_stay_texts() -> None:
    run = people(EVIL)
    verdict = Verdict(EVIL, EVIL, False, None, 1, (Offender(EVIL, EVIL),), 1, EVIL)
    release = replace(run.release, method=EVIL, promises=({"model": EVIL, EVIL: EVIL},))
    for html in (replace(run, release=release, warnings=(EVIL,))._repr_html_(), verdict._repr_html_()):
        assert "script" not in piece_of(html).tags
        assert not {"\x1b", "\u202e"} & set(html)


def test_few_rows_and_columns_are_shown() -> None:
    columns = {f"c{place:02}": ["a" * 5000] * 1000 for place in range(COLUMNS + 3)}
    html = run_of(table(columns), {}, k=2).release._repr_html_()
    piece = piece_of(html)
    said = " ".join(piece.texts)
    assert f"the first {ROWS} of 1,000 rows; and 3 more columns" in said
    assert f"c{COLUMNS:02}" not in said
    assert len(html) < 20_000


@pytest.mark.parametrize("make", FORMS, ids=lambda make: make.__name__)
def test_every_form_is_shown(make: Callable[[], Run]) -> None:
    said = " ".join(piece_of(make()._repr_html_()).texts)
    assert "3 baskets" in said
    assert "nobody is found" in said


def test_a_verdict_shows_numbers_and_places() -> None:
    places = (Offender("age 3", "too many"),)
    verdict = Verdict(
        "m", "no more than a third", False, Fraction(1, 2), Fraction(1, 3), places, 7, "a remark"
    )
    said = " ".join(piece_of(verdict._repr_html_()).texts)
    assert said.startswith("✗ broken: no more than a third")
    for text in ("reached 0.5", "0.333333", "a remark", "age 3 too many", "and 6 more places"):
        assert text in said
