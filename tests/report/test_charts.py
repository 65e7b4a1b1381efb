"""Charts as text."""

import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest

from shoal.report.svg_charts import LABELS, Bar, Mark, TwoBars, bars, histogram, matrix, two_bars, two_columns

EVIL = '</text></svg><script>alert("1")</script>&'
WORDS = {"key": "k", "title": EVIL, "description": EVIL}
NAMES = ("before", "after")


def draw_bars(label: str, count: int = 3) -> str:
    return bars([Bar(label, place / count, label, label) for place in range(count)], **WORDS)


def draw_two_bars(label: str, count: int = 3) -> str:
    return two_bars(
        [TwoBars(label, 0.1 * place, 0.2, label, label) for place in range(count)], NAMES, **WORDS
    )


def draw_two_columns(label: str, count: int = 3) -> str:
    entries = [TwoBars(label, 0.1 * place, 0.2, label, label) for place in range(count)]
    return two_columns(entries, NAMES, edges=count - 1, **WORDS)


def draw_histogram(label: str, count: int = 3) -> str:
    entries = [Bar(label, 1000 * place, label, label) for place in range(count)]
    return histogram(entries, mark=Mark(1, label), **WORDS)


CHARTS = [draw_bars, draw_two_bars, draw_two_columns, draw_histogram]
Draw = Callable[..., str]


@pytest.mark.parametrize("draw", CHARTS)
@pytest.mark.parametrize("count", [0, 1, 40])
def test_a_chart_is_a_described_picture(draw: Draw, count: int) -> None:
    svg = ElementTree.fromstring(draw("a", count))
    assert svg.get("role") == "img"
    assert svg[0].tag == "title"
    assert svg[0].get("id") == svg.get("aria-labelledby")
    assert svg[1].tag == "desc"
    assert svg[1].get("id") == svg.get("aria-describedby")
    assert svg[0].text == svg[1].text == EVIL


@pytest.mark.parametrize("draw", CHARTS)
def test_texts_of_the_data_stay_texts(draw: Draw) -> None:
    text = draw(EVIL)
    assert "<script" not in text
    svg = ElementTree.fromstring(text)
    assert not list(svg.iter("script"))
    assert EVIL in [element.text for element in svg.iter("text")]


@pytest.mark.parametrize("draw", CHARTS)
def test_bars_stay_inside(draw: Draw) -> None:
    svg = ElementTree.fromstring(draw("a", 24))
    for box in svg.iter("rect"):
        if "%" in (box.get("x") or ""):
            left, width = float(box.attrib["x"][:-1]), float(box.attrib["width"][:-1])
            assert 0 <= left <= left + width <= 100.01
            assert float(box.attrib["y"]) >= 0
            assert float(box.attrib["y"]) + float(box.attrib["height"]) <= float(svg.attrib["height"])


def test_lying_bars_are_as_long_as_their_value() -> None:
    svg = ElementTree.fromstring(bars([Bar("a", 0.25, "25 %"), Bar("b", 0, "0 %")], **WORDS))
    drawn = [box.get("width") for box in svg.iter("rect") if box.get("class") == "before"]
    assert drawn == ["25%"]
    assert [text.text for text in svg.iter("text")] == ["a", "25 %", "b", "0 %"]


def test_upright_bars_are_as_high_as_their_value() -> None:
    svg = ElementTree.fromstring(histogram([Bar("a", 40, ""), Bar("b", 20, "")], **WORDS))
    first, second = (float(box.attrib["height"]) for box in svg.iter("rect"))
    assert first == pytest.approx(2 * second)


@pytest.mark.parametrize("draw", [draw_two_bars, draw_two_columns])
def test_before_and_after_differ_by_pattern_too(draw: Draw) -> None:
    svg = ElementTree.fromstring(draw("a"))
    patterns = [f"url(#{pattern.attrib['id']})" for pattern in svg.iter("pattern")]
    after = [box for box in svg.iter("rect") if box.get("class") == "after"]
    before = [box for box in svg.iter("rect") if box.get("class") == "before"]
    assert after
    assert all(box.get("fill") in patterns for box in after)
    assert all(box.get("fill") is None for box in before)
    assert {"before", "after"} <= {text.text for text in svg.iter("text")}


def test_labels_below_an_axis_are_few() -> None:
    text = draw_histogram("1234", 24)
    below = re.findall(r'<text class="tick"[^>]*text-anchor="middle"', text)
    assert 2 <= len(below) <= LABELS + 1


def test_a_mark_stands_where_it_belongs() -> None:
    entries = [Bar(str(place), 1, "") for place in range(10)]
    svg = ElementTree.fromstring(histogram(entries, mark=Mark(3, "here"), **WORDS))
    line = next(element for element in svg.iter("line") if element.get("class") == "mark")
    assert line.get("x1") == line.get("x2") == "30%"
    assert "here" in [text.text for text in svg.iter("text")]


def test_charts_carry_no_colors_of_their_own() -> None:
    for draw in CHARTS:
        assert not re.search(r"#[0-9a-f]{3,6}\b|rgb\(|style=", draw("a"))


def test_every_highest_cell_of_a_matrix_has_a_shade() -> None:
    for highest in range(1, 700):
        assert "shade-5" in matrix([[highest, 1]], key="m", title="t", description="d")
