r"""The syntax of published cells, written and read in one place.

===============  =====================================================================================
``*``            a suppressed cell: any value
``[25,31]``      a range of numbers or dates, both ends included
``[25,30)``      a bin of a hierarchy, its upper end not included
``{a|b}``        a set of names, one of which is the value
anything else    a raw value, or the text of a node of a hierarchy
===============  =====================================================================================

Inside a set, a backslash stands before ``\``, ``|``, ``{`` and ``}``, so that every set can be read back.
"""

import re
from collections.abc import Iterable

import numpy as np

from shoal.arrays import Mask
from shoal.data.clustered_table import ClusteredTable
from shoal.data.role import Role
from shoal.data.table import Table

SUPPRESSED = "*"

_LOOKS_PUBLISHED = re.compile(r"\*|[\[(][^,]*,.*[\])\[]|\{.*\}", re.DOTALL)
_SPECIAL = re.compile(r"([\\|{}])")


def looks_published(text: str) -> bool:
    """Whether a raw value could be taken for published syntax.

    >>> [looks_published(text) for text in ("*", "[1,2]", "{a|b}", "a*", "(see, above)")]
    [True, True, True, False, True]
    """
    return _LOOKS_PUBLISHED.fullmatch(text) is not None


def range_text(low: str, high: str) -> str:
    """The cell of a class whose values lie between two values; the value itself where they are one.

    >>> range_text("25", "31"), range_text("25", "25")
    ('[25,31]', '25')
    """
    return low if low == high else f"[{low},{high}]"


def set_text(labels: Iterable[str]) -> str:
    r"""The cell of a class that holds several names, in ascending order; the name itself where it is one.

    >>> print(set_text(["b", "a"]), set_text(["a"]), set_text(["x|y", "z"]))
    {a|b} a {x\|y|z}
    """
    ordered = sorted(labels)
    if len(ordered) == 1:
        return ordered[0]
    return "{" + "|".join(_SPECIAL.sub(r"\\\1", label) for label in ordered) + "}"


def set_members(text: str) -> list[str] | None:
    r"""The names of a set, or None where the text is not a set.

    >>> set_members(r"{x\|y|z}"), set_members("a")
    (['x|y', 'z'], None)
    """
    if len(text) < 2 or text[0] != "{" or text[-1] != "}":
        return None
    return split_escaped(text[1:-1])


def split_escaped(text: str) -> list[str]:
    r"""The parts between bars; a backslash stands before a letter that belongs to a part.

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
    """Which rows of a published table tell anything about somebody: the rows that have a class.

    A suppressed row may be published with ``*`` in every cell. It can be anybody's, and says of her nothing but that
    she is in the table; so it belongs to no class, however few such rows there are. A row of ``*`` with a sensitive
    value, or with items, is no such row: it would point at the few who had to be suppressed. Where some rows of ``*``
    have items, those without any are in one class with them: whoever knows the cells of a person finds all of them.
    Promises about a population count such rows, because to be in the table is what they hide. Where items are published
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
