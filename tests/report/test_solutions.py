"""What a search among levels has found."""

from dataclasses import replace
from typing import Any

import pytest
from tests.contract.data import people
from tests.tables import table

import shoal
from shoal.data.release import Release
from shoal.outcome import Run
from shoal.report.page import render
from shoal.report.solutions import SHOWN, solutions_of

FIRST = {"levels": {"age": 1, "sex": 0}, "height": 1, "lm": 0.5, "discernibility": 90, "suppressed_rows": 0}
SECOND = {"levels": {"age": 0, "sex": 1}, "height": 1, "lm": 0.25, "discernibility": 95, "suppressed_rows": 3}


def released(**details: Any) -> Release:
    return Release(table({"age": ["1"], "sex": ["f"]}), "by hand", {}, (), 0, details)


def test_all_solutions_stand_in_a_table_and_the_published_one_is_marked() -> None:
    found = solutions_of(released(levels=SECOND["levels"]), {"solutions": [FIRST, SECOND]})
    assert found is not None
    assert found.columns == ("age", "sex")
    assert found.measures == ("height", "lm", "discernibility", "suppressed_rows")
    assert [(one.levels, one.chosen) for one in found.found] == [(("1", "0"), False), (("0", "1"), True)]
    assert found.found[1].numbers == ("1", "0.25", "95", "3")


def test_sentences_tell_which_choice_serves_which_use() -> None:
    found = solutions_of(released(levels=SECOND["levels"]), {"solutions": [FIRST, SECOND]})
    assert found is not None
    said = " ".join(found.words)
    assert "single columns (cells keep most detail): solution 2 (published) by lm." in said
    assert "(classes are smallest): solution 1 by discernibility." in said
    assert "(most rows stay): solution 1 by suppressed_rows." in said


def test_equal_solutions_need_no_choice() -> None:
    found = solutions_of(released(), {"solutions": [FIRST, FIRST]})
    assert found is not None
    assert found.words == ()


@pytest.mark.parametrize(
    ("notes", "words"),
    [
        ({"proven": True, "objective": "lm", "value": 0.25, "bound": 0.25}, "The optimum is proven"),
        ({"proven": False, "objective": "lm", "value": 0.25, "bound": 0.2}, "none less than 0.2"),
        ({"least_height": 4, "vectors": 60, "evaluated": 13}, "from height 4 on"),
        (
            {"least_height": 4, "vectors": 60, "evaluated": 13},
            "Of 60 combinations of levels, 13 were evaluated",
        ),
    ],
)
def test_how_the_search_ended_is_told(notes: dict[str, Any], words: str) -> None:
    found = solutions_of(released(), {"solutions": [FIRST], **notes})
    assert found is not None
    assert words in found.words[0]


@pytest.mark.parametrize("rows", [None, 1200])
def test_a_table_in_parts_tells_the_levels_of_each(rows: int | None) -> None:
    levels = [{"age": 0, "sex": 0}, {"age": 2, "sex": 1}]
    parts = levels if rows is None else [{"levels": one, "rows": rows} for one in levels]
    solutions = [FIRST, {**SECOND, "parts": 2}]
    found = solutions_of(released(parts=parts), {"solutions": solutions, "local": {}})
    assert found is not None
    assert [one.chosen for one in found.found] == [False, True]
    expected = "–" if rows is None else "1,200"
    assert found.parts == ((expected, ("0", "0")), (expected, ("2", "1")))


def test_many_solutions_are_counted() -> None:
    found = solutions_of(released(), {"solutions": [FIRST] * (SHOWN + 9)})
    assert found is not None
    assert (len(found.found), found.total) == (SHOWN, SHOWN + 9)


def test_a_method_without_a_search_has_no_solutions(run: Run) -> None:
    assert solutions_of(run.release, {}) is None
    assert solutions_of(run.release, {"solutions": [3]}) is None
    assert 'id="solutions"' not in render(run)


@pytest.mark.parametrize("method", ["samarati", "lattice"])
def test_searching_methods_show_theirs(method: str) -> None:
    limit = {"samarati": {"max_suppressed": 10}, "lattice": {"suppression_limit": 0.1}}[method]
    run = shoal.anonymize(people(), method, k=3, **limit)
    page = render(run)
    assert 'id="solutions"' in page
    assert page.count('class="chosen"') == 1
    for name in ("lm", "granularity", "discernibility"):
        assert f">{name}</th>" in page
    silent = replace(run, trace=replace(run.trace, notes={}))
    assert 'id="solutions"' not in render(silent)
