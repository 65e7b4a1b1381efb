"""Pictures: whole, readable, distinguished without colors; and the page around them."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.comparison import vega_charts as charts
from shoal.comparison.comparison_page import markdown, render
from shoal.comparison.curves import figure_of
from shoal.comparison.runner import compare
from shoal.comparison.sweep_recipe import Chart, Published


def rows() -> list[dict[str, Any]]:
    return [
        {
            "sweep": "s", "dataset": data, "source": "public", "rows": 10 * k, "method": "m", "label": label, "k": k,
            "seed": seed, "timed": True, "status": "done", "lm": k * seed / 10 + len(label), "seconds": k / 100,
        }
        for data in ("adult", "people")
        for label in ("first", "second & <third>")
        for k in (2, 10, 100)
        for seed in (1, 2)
    ]  # fmt: skip


CHARTS = [
    {"x": "k", "y": "lm"},
    {"x": "k", "y": "lm", "panels": "dataset"},
    {"x": "dataset", "y": "lm"},
    {"kind": "time"},
    {"kind": "frontier", "x": "k", "y": "lm", "panels": "dataset"},
    {"x": "k", "y": "lm", "log": "xy", "title": "A very long title " * 12},
]


@pytest.mark.parametrize("fields", CHARTS, ids=lambda fields: "-".join(map(str, fields.values()))[:30])
def test_a_picture_is_whole(fields: dict[str, Any]) -> None:
    beside = [Published(chart="s", label="elsewhere", at=[2], values=[1.0])] if fields.get("x") == "k" else []
    figure = figure_of(Chart(sweep="s", **fields).pictures()[0], rows(), beside)
    svg = charts.draw(figure)
    root = ET.fromstring(svg)
    words = {"".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")}
    for line in figure.series:
        assert charts.legend_text(line, figure) in words
    assert {figure.x_title, figure.y_title} <= words
    assert len(words) > 8
    for text, x, y in placed(root):
        width, height = (float(root.get(side, "0")) for side in ("width", "height"))
        assert 0 <= x <= width, text
        assert 0 <= y <= height, text
    assert charts.picture(svg).startswith(b"\x89PNG")


def placed(element: ET.Element, x: float = 0, y: float = 0) -> list[tuple[str, float, float]]:
    """Where each text of a picture is anchored."""
    moved = re.findall(r"translate\(([-\d.]+),([-\d.]+)\)", element.get("transform", ""))
    x, y = x + sum(float(left) for left, _ in moved), y + sum(float(top) for _, top in moved)
    own = [("".join(element.itertext()), x, y)] if element.tag.endswith("text") else []
    return own + [place for child in element for place in placed(child, x, y)]


def test_lines_differ_in_shape_dash_and_color() -> None:
    many = [{**row, "label": f"method {n}"} for n in range(8) for row in rows()]
    figure = figure_of(Chart(sweep="s", x="k", y="lm", by=("label",)).pictures()[0], many)
    layers = charts.specification(figure)["layer"]
    channels = {
        name: channel["scale"]["range"]
        for layer in layers
        for name, channel in layer["encoding"].items()
        if "range" in channel.get("scale", {})
    }
    assert set(channels) == {"color", "shape", "strokeDash"}
    for values in channels.values():
        assert len({str(value) for value in values}) == 8


@given(low=st.floats(1e-6, 1e6), factor=st.floats(1, 1e6))
def test_round_values_hold_all_between_them(low: float, factor: float) -> None:
    ticks, (bottom, top) = charts.round_values(low, low * factor)
    assert bottom <= low
    assert low * factor <= top
    assert low <= bottom * 2.51
    assert bottom < top
    assert 1 <= len(ticks) <= 13
    assert all(bottom <= tick <= top for tick in ticks)


def test_no_charts_does_without_the_library(
    monkeypatch: pytest.MonkeyPatch, recipe: Callable[..., Path], tmp_path: Path
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "vl_convert", None)
    found = compare(recipe(SMALL), tmp_path / "out", charts=False)
    assert not any(picture.svg for picture in found.pictures)
    assert "<td" in (tmp_path / "out" / "report.html").read_text()


SMALL = """
[[sweep]]
name = "s"
datasets = ["people"]
methods = [{ name = "mondrian", label = "<b>bold</b>" }]
grid = { k = [2, 5, 1000] }
[[chart]]
name = "cost"
sweep = "s"
x = "k"
y = ["lm", "c_avg"]
"""


def test_the_page_holds_pictures_tables_and_no_scripts(recipe: Callable[..., Path], tmp_path: Path) -> None:
    path = recipe(SMALL)
    found = compare(path, tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text()
    assert page == render(found, path)
    assert page.count("<svg") == 2
    assert "<script" not in page
    assert not re.search(r'(src|href)="(?!#)', page)
    assert "<b>bold</b>" not in page
    assert "k = 1000 cannot be kept" in page or "1000" in page
    assert "Refused and failed" in page
    for color in (charts.INK, charts.GROUND):
        assert f'fill="{color}"' not in page
    identifiers = re.findall(r' id="([^"]+)"', page)
    assert len(identifiers) == len(set(identifiers))

    text = markdown(found, path, "small")
    assert text.startswith("# A test\n")
    assert "(small/cost-lm.svg)" in text
    assert "3 runs (1 refused, 2 done)" in text
    assert "`lm`: " in text
