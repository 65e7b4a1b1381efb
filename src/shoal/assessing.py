"""Measure the disclosure risk of data before it is published.

::

    shoal.risk("people.csv", quasi=["age", "zip"])
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from shoal.data.baskets import Baskets
from shoal.data.profile import profile_table
from shoal.data.table import Column, Table
from shoal.errors import WrongUse
from shoal.io.reading import Reading, listed, with_names
from shoal.recipe import Roles, explain
from shoal.risks.assessment import BasketsRisk, RiskOptions, TableRisk, baskets_risk, table_risk
from shoal.sources import BASKET_ENDINGS, Request, load_baskets, read_roles


def risk(
    source: Any,
    *,
    quasi: str | Sequence[str] = (),
    sensitive: str | Sequence[str] = (),
    insensitive: str | Sequence[str] = (),
    entity: str | None = None,
    reading: Reading | None = None,
    names: Sequence[str] | None = None,
    baskets: str | None = None,
    population: Any = None,
    seed: int = 0,
    **options: Any,
) -> TableRisk | BasketsRisk:
    """Measure what data gives away to somebody who knows some of it.

    Parameters
    ----------
    source
        A path, an address of a database, a frame, a list of baskets, a `Table` or `Baskets`.
    quasi
        Columns that an adversary may know; by default, those with that role, or the suggested ones.
    sensitive, insensitive
        Items of baskets that an adversary does not know.
    entity
        The column that says which rows belong to one person.
    baskets
        The layout of baskets. A source without one is a table, unless it is a list, or its name ends in ``.dat`` or
        ``.spmf``.
    population
        A table of the whole population, with the same columns: for journalist and marketer risk.
    seed
        For risks that are measured on a sample of the baskets.
    **options
        The fields of `RiskOptions`: ``threshold``, ``population_size`` or ``sample_fraction``, ``unique_share``,
        ``largest`` and ``record_columns``.
    """
    reading = with_names(reading, names)
    try:
        asked = RiskOptions(**options)
    except ValidationError as error:
        raise WrongUse(explain(error)) from error
    data = _read(source, reading, baskets, listed(sensitive), listed(insensitive), entity)
    of_tables = {
        "quasi": listed(quasi),
        "entity": entity,
        "population": None if population is None else True,
    }
    _refuse_without_effect(
        data, of_tables, {"sensitive": listed(sensitive), "insensitive": listed(insensitive)}
    )
    if isinstance(data, Baskets):
        return baskets_risk(data, seed=seed)
    columns = _known(data, listed(quasi))
    others = None if population is None else _population(population, columns, reading)
    return table_risk(data, columns, asked, others)


def _refuse_without_effect(
    data: Table | Baskets, of_tables: Mapping[str, Any], of_baskets: Mapping[str, Any]
) -> None:
    """Refuse options that would have no effect: columns for baskets, and items for a table."""
    if isinstance(data, Baskets):
        for name in (name for name, given in of_tables.items() if given is not None and given != ()):
            raise WrongUse(f"--{name} is about a table, and these are baskets; omit it.")
    for name in (name for name, given in of_baskets.items() if given and isinstance(data, Table)):
        raise WrongUse(
            f"--{name} names items of baskets, and this is a table: say with --quasi which columns may be known."
        )


def _read(
    source: Any,
    reading: Reading,
    layout: str | None,
    sensitive: tuple[str, ...],
    insensitive: tuple[str, ...],
    entity: str | None,
) -> Table | Baskets:
    from shoal.io.source import format_of

    if isinstance(source, Table | Baskets):
        return source
    sets = isinstance(source, list | tuple)
    if layout is not None or sets or (isinstance(source, str | Path) and format_of(source) in BASKET_ENDINGS):
        roles = Roles(sensitive=sensitive, insensitive=insensitive)
        found = load_baskets(Request(source, roles=roles, reading=reading, layout=layout)).data
        assert isinstance(found, Baskets)
        return found
    return read_roles(source, Roles(entity=entity, others="insensitive"), reading, {})


def _known(table: Table, names: tuple[str, ...]) -> tuple[Column, ...]:
    """The columns that an adversary is assumed to know."""
    if names:
        return table.select(dict.fromkeys(names))
    if table.quasi:
        return table.quasi
    entity = table.entity
    found = [name for name in profile_table(table).quasi if entity is None or name != entity.name]
    if not found:
        raise WrongUse("No column looks like one that others may know; name those with --quasi.")
    return table.select(found)


def _population(source: Any, columns: Sequence[Column], reading: Reading) -> Table:
    """The table of the population, with the columns that an adversary knows."""
    if isinstance(source, Table):
        return source
    roles = Roles(quasi=tuple(column.name for column in columns), others="drop")
    return read_roles(source, roles, reading, {})
