"""The data of a run: read or generated, cut to its rows, with its roles."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from shoal import registry
from shoal.comparison.sweep_recipe import Draw
from shoal.data.baskets import Baskets
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.errors import UnknownName, WrongUse
from shoal.io.reading import Reading
from shoal.recipe import Roles
from shoal.sources import read_roles, with_drawn_roles, with_hierarchies, with_item_hierarchy


def load(data: Mapping[str, Any], draw: Mapping[str, Any], seed: int) -> Table | Baskets:
    """Read or make the data of a run.

    `data`, `draw`: as `cells_of` plans them. `seed`: the seed of the run, for everything that is drawn at random.
    """
    made = _generated(data, seed) if "generate" in data else _read(data)
    if isinstance(made, Baskets):
        made = _with_items(made, data)
        made = with_item_hierarchy(made, data["hierarchies"])
        made = with_drawn_roles(made, Roles(**data["roles"]), seed)
        return _drawn(made, Draw(**draw), seed) if draw else made
    return made


def _with_items(baskets: Baskets, data: Mapping[str, Any]) -> Baskets:
    """The baskets with only the items that the dataset asks for."""
    from shoal.io.baskets.conversion import without_rare_items

    if data.get("items") is not None:
        known = frozenset(baskets.vocabulary)
        for item in data["items"]:
            if item not in known:
                raise UnknownName("item", item, baskets.vocabulary)
        wanted = frozenset(data["items"])
        baskets = baskets.keep(np.array([item in wanted for item in baskets.vocabulary], dtype=np.bool_))
    if data.get("least_support") is not None:
        baskets = without_rare_items(baskets, data["least_support"])
    return baskets


def generator_of(data: Mapping[str, Any]) -> Any:
    """The generator of a dataset, with its shape checked.

    Raises `WrongUse` if the shape has a field that the generator does not know, or a value out of range.
    """
    shape = dict(data["shape"])
    if data["rows"] is not None:
        shape["rows"] = data["rows"]
    kind = registry.load("dataset", data["generate"])
    for name in shape:
        if name not in kind.model_fields:
            raise UnknownName(f"field of the shape of {data['generate']} called", name, kind.model_fields)
    return kind(**shape)


def _generated(data: Mapping[str, Any], seed: int) -> Table | Baskets:
    made: Table | Baskets = generator_of(data).make(seed if data["seed"] == "each" else data["seed"])
    roles = Roles(**data["roles"])
    if isinstance(made, Baskets):
        from shoal.io.baskets.load import with_roles

        return with_roles(made, roles)
    return with_hierarchies(with_column_roles(made, roles), data["hierarchies"])


def with_column_roles(table: Table, roles: Roles) -> Table:
    """Give the columns of a generated table their roles, as happens to those of a file."""
    named = roles.by_column()
    order = (Role.QUASI, Role.SENSITIVE, Role.IDENTIFYING, Role.INSENSITIVE, Role.ENTITY, Role.ITEMS)
    wanted = {name: role for role in order for name in named[role]}
    for name in wanted:
        if name not in table.names:
            raise UnknownName("column", name, table.names)
    if roles.others is None and (without := [name for name in table.names if name not in wanted]):
        raise WrongUse(f'Columns without a role: {", ".join(without)}. Name it, or write others = "drop".')
    if roles.others == "insensitive":
        wanted = dict.fromkeys(table.names, Role.INSENSITIVE) | wanted
    columns: list[Column] = [
        replace(column, role=wanted[column.name])
        for column in table.columns
        if wanted.get(column.name, Role.IDENTIFYING) is not Role.IDENTIFYING
    ]
    return Table(tuple(columns))


def _read(data: Mapping[str, Any]) -> Table | Baskets:
    roles, rows, reading = Roles(**data["roles"]), data["rows"], reading_of(data)
    made: Table | Baskets
    if data["form"] == "baskets":
        from shoal.io.baskets.load import load_baskets

        made = baskets = load_baskets(data["path"], data["baskets"], reading, roles).baskets
        count = len(baskets)
    else:
        made = read_roles(data["path"], roles, reading, data["hierarchies"])
        count = made.rows
    return made if rows is None or rows >= count else made.take(np.arange(rows))


def reading_of(data: Mapping[str, Any]) -> Reading:
    """The options for reading the file of a dataset."""
    return Reading(**{name: _tuples(value) for name, value in data["reading"].items()})


def _tuples(value: Any) -> Any:
    """Turn lists, which JSON has, into tuples, which a reading has."""
    if isinstance(value, list):
        return tuple(value)
    return {key: _tuples(part) for key, part in value.items()} if isinstance(value, dict) else value


def _drawn(baskets: Baskets, draw: Draw, seed: int) -> Baskets:
    supports = baskets.supports
    able = np.flatnonzero((supports >= draw.above) & (supports <= draw.below * len(baskets)))
    if len(able) < draw.sensitive:
        raise WrongUse(f"{draw.sensitive} items are to be drawn, but only {len(able)} fit the bounds.")
    chosen = np.random.default_rng(seed).choice(able, draw.sensitive, replace=False)
    return replace(baskets, sensitive=np.sort(chosen).astype(np.int32))
