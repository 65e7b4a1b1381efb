"""Cells that a spreadsheet would run as a formula: found, and published so that it does not.

A safe cell has an apostrophe before it. What begins with apostrophes and then like a formula gets one more, so that
every published text means one cell and the apostrophes can be taken away again.
"""

import re
from typing import TYPE_CHECKING

from shoal.data.role import Role
from shoal.data.table import Table
from shoal.errors import BadData, WrongUse

if TYPE_CHECKING:
    import polars

_FORMULA = r"^'*[=+\-@\t\r]"
_NUMBER = r"^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?%?$"


def is_formula(text: str) -> bool:
    """Whether a spreadsheet would run a cell; numbers with a sign are none.

    >>> [is_formula(text) for text in ("=1+1", "-5", "-5+1", "+49 30 1", "@a", "a=b", "[-5,3]")]
    [True, False, True, True, True, False, False]
    """
    return re.match(_FORMULA, text) is not None and re.match(_NUMBER, text) is None


def guarded(frame: "polars.DataFrame") -> "polars.DataFrame":
    """The same texts with an apostrophe before each that a spreadsheet would run."""
    import polars as pl

    texts = pl.col(pl.String)
    run = texts.str.contains(_FORMULA) & ~texts.str.contains(_NUMBER)
    return frame.with_columns(pl.when(run).then(pl.lit("'") + texts).otherwise(texts).name.keep())


def unguarded(frame: "polars.DataFrame") -> "polars.DataFrame":
    """The texts that `guarded` was given.

    Raises `BadData` if a cell could not come from it: two published texts would mean one cell.
    """
    import polars as pl

    plain = frame.with_columns(pl.col(pl.String).str.replace(r"^'('*[=+\-@\t\r])", "${1}"))
    again = guarded(plain)
    for one, other in zip(frame, again, strict=True):
        if not one.equals(other):
            raise BadData(
                "release.json says that cells are safe for spreadsheets, and some are not written so: the file was "
                "changed after it was made. Fetch the folder again.",
                column=one.name,
            )
    return plain


def refuse_unsafe_names(table: Table) -> None:
    """Refuse names of columns that a spreadsheet would run: the header of a file is not changed."""
    for name in table.names:
        if is_formula(name):
            raise WrongUse(f"A spreadsheet would run the name of the column {name!r}: rename it.")


def formulas_published(table: Table) -> tuple[str, ...]:
    """The sentence for a table that may publish cells or names that a spreadsheet would run."""
    roles = (Role.IDENTIFYING, Role.ENTITY)
    for column in table.every_column:
        if column.role in roles:
            continue
        text = next(filter(is_formula, (column.name, *column.domain.labels)), None)
        if text is not None:
            return (
                f"A spreadsheet would run cells of the column {column.name!r} as formulas, such as {text!r}: publish "
                "with --safe-cells, which puts an apostrophe before them.",
            )
    return ()
