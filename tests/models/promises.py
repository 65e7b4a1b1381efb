"""Promises of every registered model about one small kind of table, and such tables."""

from typing import Any

import numpy as np
from hypothesis import strategies as st
from tests.naive.models import Row
from tests.tables import column, texts

from shoal import registry
from shoal.data.domain import Kind
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.models.model import TableModel

QUASI = ("x", "y")
SENSITIVE = ("illness", "income")

TREE = {
    "flu": ("lung", "*"),
    "cold": ("lung", "*"),
    "gout": ("joint", "*"),
    "": ("", "*"),
}

GUARDS = {"flu": ("1", "*"), "cold": ("1", "*"), "gout": ("2", "*"), "": ("30", "*")}
"""A tree of illnesses whose nodes are called like incomes, so that an income can name one."""

PARAMETERS: dict[str, list[dict[str, Any]]] = {
    "k-anonymity": [{"k": 2}, {"k": 3}],
    "distinct-diversity": [{"l": 2}, {"l": 3}, {"l": 2, "column": "income"}],
    "entropy-diversity": [{"l": 1.5}, {"l": 2}, {"l": 2.5}, {"l": 3}, {"l": 1.8898815748423097}],
    "recursive-diversity": [{"c": 1, "l": 2}, {"c": 2, "l": 2}, {"c": 2, "l": 3}, {"c": 0.5, "l": 2}],
    "t-closeness": [
        {"t": 0},
        {"t": 0.2},
        {"t": 0.25, "distance": "equal"},
        {"t": 0.5, "distance": "equal"},
        {"t": 0.3333, "distance": "ordered", "column": "income"},
        {"t": 0.25, "distance": "ordered", "column": "income"},
        {"t": 0.25, "distance": "ordered", "column": "illness", "order": ("gout", "flu", "cold")},
        {"t": 0.3, "distance": "hierarchical", "column": "illness", "tree": TREE},
        {"t": 0.5, "distance": "hierarchical", "column": "illness", "tree": TREE},
    ],
    "alpha-k-anonymity": [
        {"alpha": 0.5, "k": 2},
        {"alpha": 0.6667, "k": 1},
        {"alpha": 0.5, "k": 3, "values": ("flu", "1")},
    ],
    "confidence-bounding": [{"bounds": {"flu": 0.5, "": 0.25}, "column": "illness"}, {"bounds": {"gout": 0}}],
    "hidden-rules": [
        {"confidence": 0.5},
        {"confidence": 0.6667, "values": ("flu", "1")},
        {"confidence": 0.4, "fewer_than": 1, "column": "illness"},
    ],
    "beta-likeness": [
        {"beta": 0.5, "form": "basic"},
        {"beta": 1, "form": "basic"},
        {"beta": 1, "form": "enhanced"},
        {"beta": 2, "form": "enhanced"},
    ],
    "delta-disclosure": [{"delta": 0.7}, {"delta": 1.0986}, {"delta": 1.1}],
    "ke-anonymity": [{"k": k, "e": e, "column": "income"} for k, e in ((2, 1), (2, 28.5), (3, 29))],
    "em-anonymity": [
        {"epsilon": 0, "m": 2, "column": "income"},
        {"epsilon": 1, "m": 2, "column": "income"},
        {"epsilon": 28, "m": 2, "column": "income"},
        {"epsilon": 0.9667, "m": 2, "nearness": "relative", "column": "income"},
    ],
    "personalized-privacy": [
        {"column": "illness", "guard": "income", "p": p, "tree": GUARDS} for p in (0.5, 0.6667, 0.3)
    ],
    "xy-privacy": [
        {"column": "illness", "k": 2},
        {"column": "illness", "k": 1, "h": 0.5},
        {"column": "income", "x": ("x", "y"), "k": 2, "h": 0.6667},
    ],
    "m-invariance": [
        {"m": 2},
        {"m": 2, "column": "illness"},
        {"m": 2, "column": "income"},
        {"m": 3, "column": "income"},
    ],
    "reidentification-risk": [
        {"risk": 0.5},
        {"risk": 0.3334},
        {"risk": 0.5, "over": "average"},
        {"risk": 0.2, "over": "average"},
    ],
    "k-map": [{"k": 2}, {"k": 4}],
    "delta-presence": [{"delta_max": 0.5}, {"delta_max": 0.75}],
}


def promises(name: str) -> list[TableModel]:
    """Promises of one model with parameters that random tables keep as often as they break them."""
    model_class = registry.load("model", name)
    return [model_class(**parameters) for parameters in PARAMETERS[name]]


def with_population(model: TableModel, population: Table) -> TableModel:
    return model.among(population) if "population" in type(model).model_fields else model  # type: ignore[attr-defined]


def quasi_of(data: Table) -> list[Row]:
    return texts(Table(data.quasi))


@st.composite
def tables(draw: st.DrawFn, least: int = 1, most: int = 14) -> Table:
    """Two quasi-identifiers, a name and a number that are secret, missing cells everywhere."""
    rows = draw(st.integers(least, most))

    def cells(values: str) -> list[Any]:
        return draw(st.lists(st.sampled_from([*values, None]), min_size=rows, max_size=rows))

    illnesses = {"f": "flu", "c": "cold", "g": "gout", None: None}
    incomes = {"a": 1, "b": 2, "c": 30, None: None}
    return Table(
        (
            column("x", cells("pq")),
            column("y", cells("r")),
            column("illness", [illnesses[cell] for cell in cells("ffccg")], Role.SENSITIVE, Kind.NOMINAL),
            column("income", [incomes[cell] for cell in cells("aabc")], Role.SENSITIVE, Kind.NUMERIC),
        )
    )


@st.composite
def populations(draw: st.DrawFn) -> Table:
    rows = draw(st.integers(1, 20))

    def cells(values: str) -> list[Any]:
        return draw(st.lists(st.sampled_from([*values, None]), min_size=rows, max_size=rows))

    return Table((column("x", cells("pqs")), column("y", cells("r"))))


def class_numbers(data: Table) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The class of each row, numbered by first appearance."""
    keys = [tuple(row.values()) for row in quasi_of(data)]
    places = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    return np.array([places[key] for key in keys], dtype=np.int64)
