r"""The syntax of published cells, written and read in one place.

===============  =====================================================================================
``*``            a suppressed cell: any value
``[25,31]``      a range of numbers or dates, both ends included
``[25,30)``      a bin of a hierarchy, its upper end not included
``{a|b}``        a set of names, one of which is the value
anything else    a raw value, or the text of a node of a hierarchy
===============  =====================================================================================

Inside a set, ``\``, ``|``, ``{`` and ``}`` are escaped by a backslash, so that every set can be read back.

With safe cells, an apostrophe is put before a cell that a spreadsheet would run as a formula. A text that already
begins with apostrophes followed by a formula gets one more, so that they can be removed again unambiguously.
"""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from shoal.arrays import Mask
from shoal.data.clustered_table import ClusteredTable
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.errors import BadData, WrongUse

if TYPE_CHECKING:
    import polars

SUPPRESSED = "*"

_LOOKS_PUBLISHED = re.compile(r"\*|[\[(][^,]*,.*[\])\[]|\{.*\}", re.DOTALL)
_SPECIAL = re.compile(r"([\\|{}])")
_FORMULA = r"^'*[=+\-@\t\r]"
_NUMBER = r"^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?%?$"


def looks_published(text: str) -> bool:
    """Whether a raw value could be taken for published syntax.

    >>> [looks_published(text) for text in ("*", "[1,2]", "{a|b}", "a*", "(see, above)")]
    [True, True, True, False, True]
    """
    return _LOOKS_PUBLISHED.fullmatch(text) is not None


def range_text(low: str, high: str) -> str:
    """The cell for a range of values; the value itself if both ends are equal.

    >>> range_text("25", "31"), range_text("25", "25")
    ('[25,31]', '25')
    """
    return low if low == high else f"[{low},{high}]"


def set_text(labels: Iterable[str]) -> str:
    r"""The cell for a set of names, in ascending order; the name itself if there is only one.

    >>> print(set_text(["b", "a"]), set_text(["a"]), set_text(["x|y", "z"]))
    {a|b} a {x\|y|z}
    """
    ordered = sorted(labels)
    if len(ordered) == 1:
        return ordered[0]
    return "{" + "|".join(_SPECIAL.sub(r"\\\1", label) for label in ordered) + "}"


def set_members(text: str) -> list[str] | None:
    r"""The names in a set; None if the text is not a set.

    >>> set_members(r"{x\|y|z}"), set_members("a")
    (['x|y', 'z'], None)
    """
    if len(text) < 2 or text[0] != "{" or text[-1] != "}":
        return None
    return split_escaped(text[1:-1])


def split_escaped(text: str) -> list[str]:
    r"""Split a text at its bars; a character after a backslash belongs to its part.

    >>> split_escaped(r"x\|y|z")
    ['x|y', 'z']
    """
    if "\\" not in text:
        return text.split("|")
    parts = [""]
    letters = iter(text)
    for letter in letters:
        if letter == "\\":
            parts[-1] += next(letters, "")
        elif letter == "|":
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def telling_rows(table: Table) -> Mask:
    """A mask of the rows of a published table that disclose anything about a person: those that belong to a class.

    A suppressed row may be published with ``*`` in every cell. It can be anybody's, and discloses only that its person
    is in the table, so it belongs to no class, however few such rows there are. A row of ``*`` with a sensitive value,
    or with items, does not count as such: it would point at the few who had to be suppressed. If some rows of ``*``
    have items, those without any are in a class with them, because whoever knows the cells of a person finds all of
    them.
    Promises about a population do count suppressed rows, because they hide who is in the table. If items are published
    in clusters, every row has a class, because every class has clusters.
    """
    if isinstance(table, ClusteredTable):
        return np.ones(table.rows, dtype=np.bool_)
    hidden: Mask = np.full(table.rows, bool(table.quasi), dtype=np.bool_)
    for column in (*table.quasi, *table.sensitive):
        labels = column.domain.labels
        hidden &= column.codes == (labels.index(SUPPRESSED) if SUPPRESSED in labels else -1)
    for column in table.with_role(Role.ITEMS):
        labels = column.domain.labels
        if (column.codes[hidden] != (labels.index("") if "" in labels else -1)).any():
            hidden[:] = False
    return ~hidden


def is_formula(text: str) -> bool:
    """Whether a spreadsheet would run a cell as a formula; numbers with a sign are not formulas.

    >>> [is_formula(text) for text in ("=1+1", "-5", "-5+1", "+49 30 1", "@a", "a=b", "[-5,3]")]
    [True, False, True, True, True, False, False]
    """
    return re.match(_FORMULA, text) is not None and re.match(_NUMBER, text) is None


def guarded(frame: "polars.DataFrame") -> "polars.DataFrame":
    """Put an apostrophe before each text that a spreadsheet would run as a formula."""
    import polars as pl

    texts = pl.col(pl.String)
    run = texts.str.contains(_FORMULA) & ~texts.str.contains(_NUMBER)
    return frame.with_columns(pl.when(run).then(pl.lit("'") + texts).otherwise(texts).name.keep())


def unguarded(frame: "polars.DataFrame") -> "polars.DataFrame":
    """Undo `guarded`.

    Raises `BadData` if a cell cannot have come from it: two published texts would mean the same cell.
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
    """Refuse names of columns that a spreadsheet would run as formulas, because the header is never changed."""
    for name in table.names:
        if is_formula(name):
            raise WrongUse(f"A spreadsheet would run the name of the column {name!r}: rename it.")


def formulas_published(table: Table) -> tuple[str, ...]:
    """The warning about a table that may publish cells or names that a spreadsheet would run as formulas."""
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
