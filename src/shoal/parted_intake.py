"""What a run on rows in parts takes in: them with roles and hierarchies, and what is to be said about them."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from shoal import registry
from shoal.data.baskets import Baskets
from shoal.data.hierarchy import Hierarchy
from shoal.data.parts import Engine, PartedBaskets, PartedTable
from shoal.errors import WrongUse
from shoal.io.reading import Reading
from shoal.methods.method import Method
from shoal.recipe import Output, Roles
from shoal.sources import (
    BASKET_ENDINGS,
    are_items,
    column_roles,
    draw_of,
    folder_and_columns,
    give_hierarchies,
    refuse_baskets,
    refuse_generalized,
    told_of_baskets,
    with_item_hierarchy,
)


@dataclass(frozen=True, slots=True, eq=False)
class PartedIntake:
    """Rows in parts that are ready for a method.

    Parameters
    ----------
    data, left_out, hierarchies, warnings
        As of data in memory (`Intake`).
    told
        What a recipe tells of baskets: a published form need not tell which items were sensitive.
    seconds
        How long it took to read them.
    """

    data: PartedTable | PartedBaskets
    left_out: int = 0
    hierarchies: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    told: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0


def take_in_parts(
    method: Method,
    source: Any,
    engine: Engine,
    roles: Roles,
    reading: Reading,
    hierarchies: Mapping[str, str | Hierarchy],
    *,
    folder: str | None = None,
    layout: str | None = None,
    seed: int | None = None,
) -> PartedIntake:
    """Read what a method accepts, and say so where the source does not look like it.

    Parameters
    ----------
    folder
        Of hierarchy files, for quasi-identifiers that have no other.
    layout, seed
        Of baskets: how they are written, and for roles that are drawn.

    Raises
    ------
    WrongUse
        If the method does not run there, or not with its parameters; then nothing was read.
    """
    refuse_uncut(method, engine)
    begin = time.perf_counter()
    if method.accepts is Baskets:
        intake = _take_in_baskets(source, engine, roles, reading, hierarchies, layout, seed)
    else:
        refuse_generalized(method, reading)
        try:
            intake = _take_in_table(source, engine, roles, reading, hierarchies, folder)
        except WrongUse as error:
            if not _look_like_baskets(source, engine, reading):
                raise
            refuse_baskets(source, method, error)
    return replace(intake, seconds=time.perf_counter() - begin)


def refuse_uncut(method: Method, engine: Engine) -> None:
    """Refuse a method that does not run there, or not with its parameters, before anything is read."""
    if engine.name not in method.engines and engine.name in registry.ENGINES:
        raise WrongUse(
            f"{method.name} does not run on {engine.name}: {method.uncut}. Run it on one machine with --engine local."
        )
    method.refuse_parts()


def _look_like_baskets(source: Any, engine: Engine, reading: Reading) -> bool:
    """Whether a file has the ending of baskets, or one column of items with blanks between; only its head is read."""
    from shoal.io.source import format_of
    from shoal.io.tables.distributed import open_parts

    if not isinstance(source, str | Path):
        return False
    if format_of(source) in BASKET_ENDINGS:
        return True
    try:
        return are_items(open_parts(source, engine, reading).names)
    except WrongUse:
        return False


def _take_in_table(
    source: Any,
    engine: Engine,
    roles: Roles,
    reading: Reading,
    hierarchies: Mapping[str, str | Hierarchy],
    folder: str | None,
) -> PartedIntake:
    from shoal.io.tables.distributed import receive_parted_table
    from shoal.io.tables.load import persons_counted

    arrival = receive_parted_table(
        source,
        engine,
        **column_roles(roles),
        reading=reading,
        columns=tuple(folder_and_columns(hierarchies, folder)[1]),
    )
    schema, told, warnings = give_hierarchies(arrival.table.schema, hierarchies, folder)
    data = replace(arrival.table, schema=schema)
    return PartedIntake(data, arrival.left_out, told, (*arrival.taken, *persons_counted(arrival), *warnings))


def warned_of_formulas(intake: PartedIntake, output: Output | None = None) -> PartedIntake:
    """The same rows, with a warning where they are published with cells that a spreadsheet would run."""
    told = (output or Output()).formulas_told(intake.data.schema)
    return replace(intake, warnings=(*intake.warnings, *told))


def _take_in_baskets(
    source: Any,
    engine: Engine,
    roles: Roles,
    reading: Reading,
    hierarchies: Mapping[str, str | Hierarchy],
    layout: str | None,
    seed: int | None,
) -> PartedIntake:
    from shoal.io.baskets.distributed import receive_parted_baskets

    drawn = draw_of(roles, seed)
    read, remarks = receive_parted_baskets(
        engine, source, layout, reading, sensitive=roles.sensitive, insensitive=roles.insensitive
    )
    if drawn is not None:
        from shoal.data._random_roles import draw_roles_in_parts

        read = draw_roles_in_parts(read, **drawn)
    data = replace(read, schema=with_item_hierarchy(read.schema, hierarchies))
    return PartedIntake(data, warnings=remarks, told=_told(data.schema, layout, reading))


def _told(schema: Baskets, layout: str | None, reading: Reading) -> dict[str, Any]:
    named = {"sensitive": schema.sensitive, "insensitive": schema.insensitive}
    return {
        "roles": {role: [schema.vocabulary[item] for item in items] for role, items in named.items()},
        "source": told_of_baskets(layout, reading),
    }
