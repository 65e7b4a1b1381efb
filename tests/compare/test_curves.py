"""What charts show: lines with their spread, exponents, frontiers, tables."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.comparison.curves import Point, beats, figure_of, fitted_exponent, table_of
from shoal.comparison.sweep_recipe import Chart, Published
from shoal.errors import UnknownName


def row(
    label: str = "m", seed: int = 1, status: str = "done", dataset: str = "d", rows: int = 10, **more: Any
) -> dict[str, Any]:
    scores = {name: more.pop(name) for name in ("lm", "seconds") if name in more}
    facts = {
        "sweep": more.pop("sweep", "s"),
        "dataset": dataset,
        "source": "public",
        "rows": rows,
        "method": "m",
    }
    return {**facts, "label": label, **more, "seed": seed, "timed": False, "status": status, **scores}


def figure(rows: list[dict[str, Any]], published: list[Published] | None = None, **chart: Any) -> Any:
    given = {"sweep": "s", "x": "k", "y": "lm", **chart}
    return figure_of(Chart(**given).pictures()[0], rows, published or [], {"lm": "lower"})


def test_a_line_is_the_mean_over_seeds_with_its_spread() -> None:
    drawn = figure([row(k=k, seed=seed, lm=k * seed) for k in (5, 2) for seed in (1, 2, 6)])
    (line,) = drawn.series
    assert line.points == (Point(2, 6.0, 2.0, 12.0, 3), Point(5, 15.0, 5.0, 30.0, 3))
    assert line.label == "m"
    assert "Lines are means over seeds" in drawn.remarks[0]


def test_lines_are_told_apart_by_what_varies() -> None:
    rows = [row(k=k, choose=choose, dataset=data, lm=1.0) for k in (2, 3) for choose in "ab" for data in "de"]
    assert [line.label for line in figure(rows).series] == [
        "d, choose a",
        "e, choose a",
        "d, choose b",
        "e, choose b",
    ]
    assert [line.label for line in figure(rows, by=("choose",)).series] == ["choose a", "choose b"]
    assert [line.label for line in figure(rows, where={"dataset": "d"}).series] == ["choose a", "choose b"]
    panels = figure(rows, panels="dataset", titles={"choose": "by"})
    assert [line.label for line in panels.series] == ["by a", "by b"]
    assert panels.panels == ("d", "e")


def test_what_the_label_tells_is_not_told_twice() -> None:
    rows = [row(label, k=k, choose=label[0], lm=1.0) for k in (2, 3) for label in ("alpha", "beta")]
    assert [line.label for line in figure(rows).series] == ["alpha", "beta"]


def test_what_was_refused_is_counted_and_not_drawn() -> None:
    rows = [row(k=2, lm=0.5), row(k=3, status="refused"), row(k=4, status="failed")]
    drawn = figure(rows)
    assert [point.x for point in drawn.series[0].points] == [2]
    assert drawn.remarks[0].startswith("Of 3 runs, 1 could not keep the promise on this data, 1 failed;")


def test_unknown_columns_are_named() -> None:
    with pytest.raises(UnknownName, match=r"no column 'lmm'. Did you mean 'lm'"):
        figure([row(k=2, lm=1.0)], y="lmm")
    with pytest.raises(UnknownName, match="no column 'kk'"):
        figure([row(k=2, lm=1.0)], x="kk")


@pytest.mark.parametrize(
    ("places", "log", "wanted"),
    [
        ([2, 100], None, (True, False)),
        ([2, 10], None, (False, False)),
        ([0, 100], None, (False, False)),
        ([0, 100], "xy", (False, True)),
        ([2, 10], "xy", (True, True)),
        ([2, 100], "", (False, False)),
        (["a", "b"], "x", (False, False)),
    ],
)
def test_axes_are_logarithmic_where_that_can_be(
    places: list[Any], log: Any, wanted: tuple[bool, bool]
) -> None:
    drawn = figure([row(k=k, lm=1.0) for k in places], log=log)
    assert (drawn.log_x, drawn.log_y) == wanted
    assert drawn.nominal == isinstance(places[0], str)


@given(
    exponent=st.floats(-3, 3),
    factor=st.floats(0.01, 100),
    places=st.lists(st.integers(1, 10**6), min_size=2, max_size=8, unique=True),
)
def test_the_exponent_of_a_power_is_found(exponent: float, factor: float, places: list[int]) -> None:
    found = fitted_exponent([(x, factor * x**exponent) for x in places])
    assert found == pytest.approx(exponent, abs=1e-6)


def test_time_has_an_exponent_and_says_that_it_is_rough() -> None:
    rows = [row(rows=n, k=2, seconds=n / 1000) for n in (10, 100, 1000)]
    drawn = figure_of(Chart(sweep="s", kind="time").pictures()[0], rows)
    assert drawn.series[0].exponent == pytest.approx(1)
    assert (drawn.log_x, drawn.log_y) == (True, True)
    assert any("rough" in remark for remark in drawn.remarks)
    assert table_of(drawn)[1][-1] == ["exponent", "1.00"]
    assert fitted_exponent([(3, 1.0)]) is None


PLACES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=12)


@given(places=PLACES, high_x=st.booleans(), high_y=st.booleans())
def test_a_frontier_holds_what_nothing_beats(
    places: list[tuple[int, int]], high_x: bool, high_y: bool
) -> None:
    rows = [row(f"m{n % 3}", k=x, number=n, lm=float(y)) for n, (x, y) in enumerate(places)]
    ends = {"prefer_x": "high" if high_x else "low", "prefer_y": "high" if high_y else "low"}
    drawn = figure(rows, kind="frontier", **ends)
    assert sum(len(line.points) for line in drawn.series) == len(places)
    sign_x, sign_y = (1 if high_x else -1), (1 if high_y else -1)
    for line in drawn.series:
        for point in line.points:
            better = [
                (x, y)
                for x, y in places
                if (x, y) != (point.x, point.mean)
                and (x - point.x) * sign_x >= 0
                and (y - point.mean) * sign_y >= 0
            ]
            assert point.best == (not better)


def test_no_point_beats_itself() -> None:
    point = Point(1, 2.0, 2.0, 2.0, 1)
    assert not beats(point, point, True, False)


def test_a_score_knows_which_end_is_better() -> None:
    rows = [row(k=2, lm=1.0, number=1), row(k=2, lm=2.0, number=2)]
    chart = Chart(sweep="s", kind="frontier", x="k", y="lm").pictures()[0]
    for better, wanted in (("lower", [1.0]), ("higher", [2.0])):
        (line,) = figure_of(chart, rows, (), {"lm": better}).series
        assert [point.mean for point in line.points if point.best] == wanted


def test_published_values_stand_beside_ours() -> None:
    beside = Published(chart="s", label="elsewhere", at=[2, 9], values=[0.5, 0.7])
    drawn = figure([row(k=2, lm=0.4)], [beside])
    assert [(line.label, line.published) for line in drawn.series] == [("m", False), ("elsewhere", True)]
    assert table_of(drawn) == (["k", "m", "elsewhere"], [["2", "0.4", "0.5"], ["9", "", "0.7"]])


def test_places_that_read_the_same_are_one_row() -> None:
    beside = Published(chart="c", label="elsewhere", at=[0.2], values=[0.5])
    drawn = figure([row(k=0.1 + 0.1 + 1e-9, lm=0.4)], [beside], name="c")
    assert table_of(drawn)[1] == [["0.2", "0.4", "0.5"]]


def test_tables_show_the_spread() -> None:
    drawn = figure([row(k=2, seed=seed, lm=value) for seed, value in ((1, 0.5), (2, 0.7))])
    assert table_of(drawn)[1] == [["2", "0.6 (0.5 … 0.7)"]]
    panels = figure([row(k=2, lm=1.0, dataset=data) for data in "de"], panels="dataset")
    assert table_of(panels) == (
        ["dataset", "k", "m"],
        [["d", "2", "1"], ["e", "2", "1"]],
    )


def test_published_values_stand_in_every_panel_and_panels_in_the_order_of_runs() -> None:
    beside = Published(chart="c", label="elsewhere", at=[2], values=[0.5])
    rows = [row(k=k, lm=0.1 * k, size=size) for size in (3, 10, 50) for k in (2, 4)]
    chart = {"name": "c", "y": ["lm", "rows"], "panels": "size", "by": ("label",)}
    drawn = figure(rows, [beside], **chart, titles={"size": "cells"})
    assert drawn.panels == ("cells 3", "cells 10", "cells 50")
    assert [(point.panel, point.mean) for point in drawn.series[-1].points] == [
        (panel, 0.5) for panel in drawn.panels
    ]
