"""The runs of a comparison: combinations, keys that name them, and data that is or is not at hand."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shoal import registry
from shoal.comparison.grid import Cell, cells_of
from shoal.comparison.run_data import load
from shoal.comparison.sweep_recipe import Comparison
from shoal.comparison.worker import Bench
from shoal.data.baskets import Baskets
from shoal.data.table import Table
from shoal.errors import WrongUse

BASKETS = """
title = "A test"
[datasets.baskets]
generate = "baskets"
rows = 80
shape = { items = 20, density = 0.2 }
"""


def cells(path: Path) -> list[Cell]:
    return cells_of(Comparison.read(path), path.parent)


def loaded(cell: Cell) -> Any:
    plan = json.loads(json.dumps(cell.plan))
    return load(plan["data"], plan["draw"], plan["seed"])


def test_every_combination_is_a_run(recipe: Callable[..., Path]) -> None:
    found = cells(
        recipe("""
[[sweep]]
name = "s"
datasets = ["people"]
methods = ["mondrian", { name = "mondrian", label = "relaxed", partitioning = "relaxed" }]
parameters = { publish = "sets" }
grid = { k = [2, 3], rows = [30, 40] }
seeds = [1, 2]
""")
    )
    assert len(found) == len({cell.key for cell in found}) == 2 * 2 * 2 * 2
    last = found[-1]
    assert last.facts["label"] == "relaxed"
    assert last.facts["parameters"] == {"k": 3, "publish": "sets", "partitioning": "relaxed"}
    assert last.plan["data"]["rows"] == 40
    assert last.plan["method"] == {"name": "mondrian", "k": 3, "publish": "sets", "partitioning": "relaxed"}
    assert loaded(last).rows == 40


def test_a_key_names_a_run_and_nothing_else(recipe: Callable[..., Path]) -> None:
    text = '[[sweep]]\nname = "s"\ndatasets = ["people"]\nmethods = ["mondrian"]\ngrid = { k = [2, 3] }\n'
    first = [cell.key for cell in cells(recipe(text))]
    grown = [cell.key for cell in cells(recipe(text.replace("[2, 3]", "[1000, 3, 2]")))]
    assert set(first) < set(grown)
    for change in (
        ("k = [2, 3]", "k = [2, 3], split = ['loss']"),
        ('"s"', '"t"'),
        ("]\ngrid", "]\nseeds = [5]\ngrid"),
    ):
        assert not set(first) & {cell.key for cell in cells(recipe(text.replace(*change)))}


def test_all_methods_that_fit(recipe: Callable[..., Path]) -> None:
    found = cells(
        recipe(
            '[[sweep]]\nname = "s"\ndatasets = ["people"]\nmethods = "all"\ngrid = { k = [5], t = [0.5] }\n'
        )
    )
    wanted = {
        name
        for name in registry.METHODS
        for kind in [registry.load("method", name)]
        if kind.accepts is Table
        and {"k", "t"} <= set(kind.model_fields)
        and not any(field.is_required() for field in kind.model_fields.values())
        and not kind(k=5, t=0.5).misfits()
    }
    assert {cell.facts["method"] for cell in found} == wanted
    assert "mondrian" in wanted


def test_an_unknown_parameter_is_refused_before_anything_runs(recipe: Callable[..., Path]) -> None:
    text = '[[sweep]]\nname = "s"\ndatasets = ["people"]\nmethods = ["mondrian"]\ngrid = { kk = [5] }\n'
    with pytest.raises(WrongUse, match=r"sweep s: mondrian: kk is not a parameter here \(did you mean k\?\)"):
        cells(recipe(text))
    with pytest.raises(WrongUse, match=r"There is no method 'mondrain'. Did you mean 'mondrian'"):
        cells(recipe(text.replace('["mondrian"]', '["mondrain"]')))


def test_otherwise_is_taken_where_public_data_is_absent(
    recipe: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = """
title = "A test"
[datasets.mine]
public = "some/data.csv"
roles = { quasi = ["age"], others = "drop" }
hierarchies = { age = "intervals:5,10" }
rows = 3
[datasets.mine.otherwise]
generate = "table"
rows = 50
"""
    sweep = '[[sweep]]\nname = "s"\ndatasets = ["mine"]\nmethods = ["mondrian"]\ngrid = { k = [2] }\n'
    (cell,) = cells(recipe(sweep, data))
    assert cell.facts["source"] == "generated"
    table = loaded(cell)
    assert table.rows == 50
    assert table.names == ("age",)
    assert table.columns[0].hierarchy is not None

    (tmp_path / "public" / "some").mkdir(parents=True)
    (tmp_path / "public" / "some" / "data.csv").write_text("age,name\n30,a\n31,b\n32,c\n33,d\n")
    monkeypatch.setenv("SHOAL_DATA", str(tmp_path / "public"))
    (public,) = cells(recipe(sweep, data))
    assert public.facts["source"] == "public"
    assert public.key != cell.key
    assert loaded(public).columns[0].domain.labels[:1] == ("30",)
    assert loaded(public).rows == 3

    monkeypatch.delenv("SHOAL_DATA")
    with pytest.raises(WrongUse, match="mine is not at hand: set SHOAL_DATA"):
        cells(recipe(sweep, data.partition("[datasets.mine.otherwise]")[0]))


def test_roles_of_items_are_drawn_by_the_seed(recipe: Callable[..., Path]) -> None:
    sweep = """
[[sweep]]
name = "s"
datasets = ["baskets"]
methods = ["coherence"]
parameters = { h = 0.9, k = 2, p = 1 }
draw = { sensitive = 3, below = 0.5, above = 2 }
grid = { "draw.sensitive" = [2, 4], "data.density" = [0.1, 0.3] }
seeds = [1, 2]
"""
    found = cells(recipe(sweep, BASKETS))
    baskets = [loaded(cell) for cell in found]
    assert all(isinstance(one, Baskets) and len(one) == 80 for one in baskets)
    assert [len(one.sensitive) for one in baskets] == [2, 2, 2, 2, 4, 4, 4, 4]
    assert baskets[0].items.size < baskets[2].items.size
    assert not np.array_equal(baskets[4].sensitive, baskets[5].sensitive)
    assert np.array_equal(baskets[4].sensitive, loaded(found[4]).sensitive)
    for one in baskets:
        assert (one.supports[one.sensitive] >= 2).all()
        assert (one.supports[one.sensitive] <= 40).all()
    shares = cells(
        recipe(
            sweep.replace(
                "draw = { sensitive = 3, below = 0.5, above = 2 }", 'roles = { private = "rest" }'
            ).replace('"draw.sensitive" = [2, 4]', '"roles.public_share" = [0.2, 0.6]'),
            BASKETS,
        )
    )
    few, many = loaded(shares[0]), loaded(shares[-1])
    assert len(few.public) < len(many.public)
    assert len(few.sensitive) + len(few.public) == len(few.vocabulary)


@pytest.mark.parametrize(
    ("roles", "said"),
    [
        ('{ quasi = ["agee"], others = "drop" }', "no column 'agee'. Did you mean 'age'"),
        ('{ quasi = ["age"] }', "Columns without a role: date-of-birth, sex"),
    ],
)
def test_generated_tables_need_their_roles(roles: str, said: str, recipe: Callable[..., Path]) -> None:
    data = f'title = "A test"\n[datasets.people]\ngenerate = "table"\nrows = 20\nroles = {roles}\n'
    text = '[[sweep]]\nname = "s"\ndatasets = ["people"]\nmethods = ["mondrian"]\ngrid = { k = [2] }\n'
    (cell,) = cells(recipe(text, data))
    with pytest.raises(WrongUse, match=said):
        loaded(cell)


def test_each_run_can_have_data_of_its_own(recipe: Callable[..., Path]) -> None:
    text = '[[sweep]]\nname = "s"\ndatasets = ["baskets"]\nmethods = ["coherence"]\nseeds = [1, 2]\n'
    text += "parameters = { h = 1.0, k = 2, p = 1 }\n"
    tree = loaded(cells(recipe(text, BASKETS + 'hierarchies = { items = "suppress" }\n'))[0])
    assert tree.hierarchy is not None
    same = [loaded(cell) for cell in cells(recipe(text, BASKETS))]
    assert np.array_equal(same[0].items, same[1].items)
    each = [loaded(cell) for cell in cells(recipe(text, BASKETS + 'seed = "each"\n'))]
    assert not np.array_equal(each[0].items, each[1].items)


@pytest.mark.parametrize(
    ("cut", "left"),
    [
        ('items = ["2", "5", "9"]', ("2", "5", "9")),
        ("least_support = 20", None),
        ("least_support = 0.25", None),
    ],
)
def test_baskets_can_be_cut_to_some_items(
    cut: str, left: tuple[str, ...] | None, recipe: Callable[..., Path]
) -> None:
    sweep = '[[sweep]]\nname = "s"\ndatasets = ["baskets"]\nmethods = ["disassociation"]\nparameters = { k = 2 }\n'
    (whole,) = map(loaded, cells(recipe(sweep, BASKETS)))
    (few,) = map(loaded, cells(recipe(sweep, f"{BASKETS.rstrip()}\n{cut}\n")))
    frequent = {item for item, support in zip(whole.vocabulary, whole.supports, strict=True) if support >= 20}
    assert set(few.vocabulary) == (frequent if left is None else set(left))
    assert 0 < len(few.vocabulary) < len(whole.vocabulary)
    assert len(few) == len(whole)


def test_an_item_that_is_not_there_cannot_be_kept(recipe: Callable[..., Path]) -> None:
    sweep = '[[sweep]]\nname = "s"\ndatasets = ["baskets"]\nmethods = ["disassociation"]\nparameters = { k = 2 }\n'
    with pytest.raises(WrongUse, match="no item 'beer'"):
        loaded(cells(recipe(sweep, f'{BASKETS.rstrip()}\nitems = ["beer"]\n'))[0])


MEASURED = """
[[sweep]]
name = "s"
datasets = ["baskets"]
methods = ["coherence"]
parameters = {{ h = 1, k = 2, p = 1 }}
measures = {measures}
{grid}
"""


def test_a_sweep_can_name_its_measures_and_their_options(recipe: Callable[..., Path]) -> None:
    given = MEASURED.format(
        measures='["suppression", { name = "itemsets", first_rank = 1, last_rank = 4 }]',
        grid='grid = { "measures.itemsets.top" = [1, 50] }',
    )
    found = cells(recipe(given, BASKETS))
    assert [cell.plan["measures"][1]["top"] for cell in found] == [1, 50]
    assert [cell.facts["parameters"]["measures.itemsets.top"] for cell in found] == [1, 50]
    scores = [Bench().answer(json.loads(json.dumps(cell.plan)))["scores"] for cell in found]
    assert all({"information_loss", "tkd"} <= set(one) for one in scores)
    (bare,) = cells(recipe(MEASURED.format(measures="[]", grid=""), BASKETS))
    assert Bench().answer(json.loads(json.dumps(bare.plan)))["scores"] == {}


@pytest.mark.parametrize(
    ("measures", "grid", "said"),
    [
        ('["suppresion"]', "", "no measure 'suppresion'. Did you mean 'suppression'"),
        ('[{ name = "itemsets", topp = 3 }]', "", "itemsets.*topp"),
        (
            '["suppression"]',
            'grid = { "measures.itemsets.top" = [1] }',
            "needs 'itemsets' among the measures",
        ),
    ],
)
def test_a_wrong_measure_is_refused_before_anything_runs(
    measures: str, grid: str, said: str, recipe: Callable[..., Path]
) -> None:
    with pytest.raises(WrongUse, match=said):
        cells(recipe(MEASURED.format(measures=measures, grid=grid), BASKETS))
