"""The format of a comparison: what it takes, what it refuses, and its quick form."""

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

from shoal.comparison.sweep_recipe import Chart, Comparison
from shoal.errors import BadData, WrongUse

SWEEP = """
[[sweep]]
name = "k"
datasets = ["people"]
methods = ["mondrian"]
grid = { k = [2, 3, 5, 10, 20], rows = [1000, 2000, 5000, 100000] }
seeds = [1, 2, 3]
timed = true
"""

CHART = """
[[chart]]
sweep = "k"
x = "k"
y = ["lm", "c_avg"]
title = "Cost"
"""


def test_the_example_is_a_recipe(tmp_path: Path) -> None:
    path = tmp_path / "example.toml"
    path.write_bytes(files("shoal.comparison").joinpath("templates", "example.toml").read_bytes())
    comparison = Comparison.read(path)
    assert comparison.sweep[0].grid["k"][0] == 2
    assert [one.name for one in comparison.chart[0].pictures()] == ["k-k-lm", "k-k-c_avg"]


def test_quick_makes_everything_smaller(recipe: Callable[..., Path]) -> None:
    text = SWEEP + CHART + "[quick]\nrows = 400\nseeds = 2\nvalues = 3\n"
    quick = Comparison.read(recipe(text)).made_quick()
    assert quick.datasets["people"].rows == 60
    sweep = quick.sweep[0]
    assert sweep.grid == {"k": [2, 5, 20], "rows": [25, 100, 400]}
    assert (sweep.seeds, sweep.repeats, sweep.timed) == ((1, 2), 1, True)
    assert quick.chart == Comparison.read(recipe(text)).chart


def test_quick_takes_other_values_and_leaves_sweeps_out(recipe: Callable[..., Path]) -> None:
    other = SWEEP.replace('"k"', '"other"', 1)
    text = (
        SWEEP
        + other
        + CHART
        + CHART.replace('sweep = "k"', 'name = "gone"\nsweep = ["k", "other"]')
        + """
[[published]]
chart = "gone"
label = "elsewhere"
at = [2]
values = [0.5]
[quick]
skip = ["other"]
grid = { k = [4] }
sweeps = { k = { seeds = [9], timed = false } }
datasets = { people = { shape = { zips = 3 } } }
"""
    )
    quick = Comparison.read(recipe(text)).made_quick()
    assert [sweep.name for sweep in quick.sweep] == ["k"]
    assert quick.sweep[0].grid["k"] == [4]
    assert (quick.sweep[0].seeds, quick.sweep[0].timed) == ((9,), False)
    assert quick.datasets["people"].shape == {"zips": 3}
    assert [chart.name for chart in quick.chart] == [""]
    assert not quick.published


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SWEEP + CHART.replace('sweep = "k"', 'sweep = "kk"'), "There is no sweep 'kk'. Did you mean 'k'"),
        (SWEEP.replace('"people"', '"peeple"'), "There is no dataset 'peeple'. Did you mean 'people'"),
        (SWEEP + SWEEP, "Two sweeps are called 'k'"),
        (SWEEP + CHART + CHART, "Two charts are called 'k-k-lm'"),
        (SWEEP.replace("seeds", "seed"), "sweep k: seed is not a parameter here (did you mean seeds?)."),
        (SWEEP.replace("[1, 2, 3]", "[]"), "recipe.toml: sweep k: seeds must have at least one entry."),
        (
            SWEEP.replace("[1, 2, 3]", '[1, "a"]'),
            "sweep k: entry 2 of seeds must be a valid integer, not 'a'.",
        ),
        (SWEEP.replace("[2, 3, 5, 10, 20]", "[]"), "sweep k: grid.k must have at least one entry."),
        (SWEEP + "draw = {}\n", "sweep k: draw.sensitive is required."),
        (
            SWEEP + "draw = { sensitve = 3 }\n",
            "draw.sensitve is not a parameter here (did you mean sensitive?)",
        ),
        (
            SWEEP.replace('["mondrian"]', '"mondrian"'),
            "methods must be a list, such as ['mondrian'] or 'all', not",
        ),
        (SWEEP.replace('name = "k"\n', ""), "sweep number 1: name is required."),
        ("", "recipe.toml: sweep is required."),
        (SWEEP + "[datasets]\nother = 3\n", "dataset other must be a table of keys and values, not 3."),
        (SWEEP + CHART + 'kind = "lin"\n', "chart k: kind must be 'line', 'time' or 'frontier', not 'lin'."),
        (SWEEP + "[quick]\nrwos = 3\n", "quick.rwos is not a parameter here (did you mean rows?)."),
        (SWEEP + '[[chart]]\nsweep = "k"\n', "chart k must be complete: x and y name the columns"),
        (
            SWEEP + "[datasets.other]\nrows = 3\n",
            "dataset other must be given by one of public, path and generate",
        ),
        (
            SWEEP + CHART + '[[published]]\nchart = "k"\nlabel = "a"\nat = [1]\nvalues = []\n',
            "published a must be even",
        ),
        (
            SWEEP + CHART + '[[published]]\nchart = "j"\nlabel = "a"\nat = [1]\nvalues = [1]\n',
            "There is no chart 'j'",
        ),
        (
            SWEEP.replace("methods", "metods"),
            "sweep k: methods is required. sweep k: metods is not a parameter here (did you mean methods?).",
        ),
    ],
)
def test_a_wrong_recipe_is_refused_in_a_sentence(text: str, said: str, recipe: Callable[..., Path]) -> None:
    path = recipe(text)
    with pytest.raises(WrongUse) as caught:
        Comparison.read(path)
    assert said in str(caught.value.args[0])
    assert str(path) in str(caught.value.args[0])
    assert len(str(caught.value.args[0]).replace(str(path), "")) < 400


PUBLISHED = '[[published]]\nchart = "k"\nlabel = "a"\nat = [1]\nvalues = [1]\n'


def test_published_values_stand_beside_their_own_score(recipe: Callable[..., Path]) -> None:
    read = Comparison.read(recipe(SWEEP + CHART + PUBLISHED + 'y = "c_avg"\n'))
    of_lm, of_sizes = read.chart[0].pictures()
    assert (read.beside(of_lm), [one.label for one in read.beside(of_sizes)]) == ([], ["a"])
    named = Comparison.read(
        recipe(SWEEP + CHART.replace("[[chart]]", '[[chart]]\nname = "k"') + CHART + PUBLISHED)
    )
    pictures = [one for chart in named.chart for one in chart.pictures()]
    assert [one.name for one in pictures if named.beside(one)] == ["k-lm", "k-c_avg"]


@pytest.mark.parametrize(
    ("charts", "more", "said"),
    [
        (CHART, "", 'published a: these are values of one y, .* have lm and c_avg; say which with y = "lm"'),
        (CHART, 'y = "lmm"', "no y in the charts of 'k' called 'lmm'. Did you mean 'lm'"),
        (
            CHART + CHART.replace('x = "k"', 'x = "rows"'),
            'y = "lm"',
            "values of one x, .* have k and rows; give their chart a name",
        ),
    ],
)
def test_published_values_of_several_things_are_refused(
    charts: str, more: str, said: str, recipe: Callable[..., Path]
) -> None:
    with pytest.raises(WrongUse, match=said):
        Comparison.read(recipe(f"{SWEEP}{charts}{PUBLISHED}{more}\n"))


def test_what_is_no_toml_is_bad_data(recipe: Callable[..., Path], tmp_path: Path) -> None:
    with pytest.raises(BadData, match="not TOML"):
        Comparison.read(recipe("[["))
    with pytest.raises(BadData, match="there is no such file"):
        Comparison.read(tmp_path / "absent.toml")


def test_a_chart_of_time_knows_its_axes() -> None:
    (picture,) = Chart(sweep="rows", kind="time").pictures()
    assert (picture.x, picture.y, picture.name) == ("rows", "seconds", "rows-rows-seconds")
    assert Chart(name="a b/c", sweep="s", x="k", y="lm").pictures()[0].name == "a-b-c"
    both = Chart(name="n", title="Cost", sweep="s", x="k", y=("lm", "ncp"), titles={"lm": "loss"}).pictures()
    assert [(one.name, one.title) for one in both] == [("n-lm", "Cost: loss"), ("n-ncp", "Cost: ncp")]
