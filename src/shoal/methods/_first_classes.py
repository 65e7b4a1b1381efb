"""The first step of methods that start from the classes of another method."""

from typing import Any

import numpy as np

from shoal import registry
from shoal.arrays import Rows
from shoal.data._equal_rows import row_classes
from shoal.data.table import Table
from shoal.engines.local import Local
from shoal.errors import Infeasible, WrongUse
from shoal.measures._comparison import blank_rows
from shoal.methods.table_method import TableMethod

CLUSTERS = "the method for tables that makes the first classes: mondrian, lattice or samarati"


def first_method(name: str, owner: TableMethod, **instead: Any) -> TableMethod:
    """The method that makes the first classes, with the promises of `owner`; `instead` replaces some of them."""
    kind = registry.load("method", name)
    if not issubclass(kind, TableMethod) or kind.needs_items or kind.needs_link or kind.publishes is not None:
        raise WrongUse(f"{name} makes no classes of a table: give --clusters mondrian, lattice or samarati.")
    shared: dict[str, Any] = {
        field: getattr(owner, field) for field in TableMethod.model_fields if field not in instead
    }
    given = {field: value for field, value in shared.items() if value is not None}
    made: TableMethod = kind(**given, **instead)
    return made


def first_classes(method: TableMethod, table: Table, engine: Local, seed: int | None) -> tuple[Rows, Rows]:
    """The rows that a method for tables publishes, and the class of each."""
    release, trace = method.anonymize(table, engine, seed)
    shown = release.data
    assert isinstance(shown, Table)
    found = row_classes(shown.quasi, shown.rows)
    kept = np.arange(shown.rows)
    if extra := shown.rows + release.suppressed - table.rows:
        # Some suppressed rows were published as stars.
        blank = blank_rows(shown.quasi, kept)
        kept = kept[~blank] if extra <= int(blank.sum()) else kept
    _, numbers = np.unique(found.number[kept], return_inverse=True)
    if not len(kept):
        raise Infeasible(f"{method.name} suppresses every row. Promise less.")
    return trace.rows[kept], numbers
