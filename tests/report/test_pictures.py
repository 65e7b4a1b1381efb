"""Pictures that a method brings."""

import re
from dataclasses import replace
from xml.etree import ElementTree

from shoal.outcome import Run
from shoal.report.page import render
from shoal.report.pictures import Histogram, Matrix, pictures_of
from shoal.report.svg_charts import MATRIX, SCALE, SHADES, matrix

EVIL = '</text></svg><script>alert("1")</script>&'
NOTES = {
    "pictures": [
        {
            "kind": "matrix",
            "title": EVIL,
            "caption": "c",
            "rows": 9,
            "columns": 3,
            "cells": [[0, 1, 9], [9, 9, 0]],
        },
        {
            "kind": "histogram",
            "title": "h",
            "caption": EVIL,
            "unit": "group",
            "labels": [4, 5],
            "counts": [2, 0],
        },
        {"kind": "hologram", "title": "not drawn"},
    ]
}


def test_known_kinds_are_found() -> None:
    first, second = pictures_of(NOTES)
    assert isinstance(first, Matrix)
    assert first.cells == ((0, 1, 9), (9, 9, 0))
    assert isinstance(second, Histogram)
    assert second.labels == ("4", "5")
    assert pictures_of({}) == ()


def test_cells_are_shaded_by_what_they_hold() -> None:
    svg = ElementTree.fromstring(matrix([[0, 1, 9], [9, 9, 0]], key="k", title=EVIL, description=EVIL))
    assert svg[0].text == svg[1].text == EVIL
    assert svg.get("height") == str(MATRIX + SCALE)
    drawn = {path.attrib["class"]: path.attrib["d"] for path in svg.iter("path")}
    assert drawn[f"shade-{SHADES}"] == "M2 0h1v1h-1zM0 1h2v1h-2z"
    assert drawn["shade-2"] == "M1 0h1v1h-1z"
    assert sum(bool(path) for path in drawn.values()) == 2


def test_shades_are_explained() -> None:
    svg = ElementTree.fromstring(matrix([[0, 1200]], key="k", title="t", description="d"))
    swatches = [box for box in svg.iter("rect") if "swatch" in box.get("class", "")]
    assert len(swatches) == SHADES + 1
    assert [text.text for text in svg.iter("text")] == ["a cell holds: none", "up to 1,200"]


def test_a_table_stands_beside_a_matrix(run: Run) -> None:
    page = render(replace(run, trace=replace(run.trace, notes=NOTES)))
    table = page[page.index('id="picture-0-table"') :]
    table = table[: table.index("</table>")]
    assert re.findall(r'<td class="right">([^<]*)</td>', table) == ["0", "1", "9", "9", "9", "0"]
    assert re.findall(r"rows ([0-9–]+)", table) == ["1–4", "5–9"]


def test_a_matrix_without_entries_is_blank() -> None:
    svg = ElementTree.fromstring(matrix([[0, 0]], key="k", title="", description=""))
    assert not any(path.get("d") for path in svg.iter("path"))


def test_the_page_shows_them(run: Run) -> None:
    page = render(replace(run, trace=replace(run.trace, notes=NOTES)))
    assert 'id="pictures"' in page
    assert 'href="#pictures"' in page
    assert "<script" not in page
    assert 'id="pictures"' not in render(run)
