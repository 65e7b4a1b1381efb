"""How baskets lie in a file: the names of the layouts, and finding out which one a file has."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Literal, TypeAlias

from shoal.errors import BadData, UnknownName, WrongUse
from shoal.io.reading import refuse_wrong_names

Form: TypeAlias = Literal["lines", "spmf", "long", "matrix", "column"]

PUBLISHED_NAMES: dict[Form, str] = {
    "lines": "data.dat",
    "spmf": "data.spmf",
    "long": "data.csv",
    "matrix": "data.csv",
    "column": "data.csv",
}

DELIMITERS = "\t,;|"
"""What may stand between the cells of a delimited table."""

SAMPLE = 1 << 16
"""How many bytes of a file are looked at to find out its layout."""

WHITE = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""White space, which is taken away around items: all that `str.strip` takes away."""

BLANKS = " \t\r"
"""What stands between the items of a line, or around the cells of one, and never in an item."""

NAMED = 1000
"""How many baskets that do not stand as published ones do are remembered."""

BETWEEN_ITEMS = "|;, \t\x1f"
"""What may separate the items of a cell: the first of these that occurs in a cell does."""

ZEROS, ONES = frozenset({"0", "0.0", "false"}), frozenset({"1", "1.0", "true"})
"""Cells of a matrix, in lower case."""

NO_NAMES = frozenset({"0", "1", "true", "false"})
"""A first line of a matrix that holds nothing else is no header."""

_BASKET_NAME = re.compile(
    r"id|.*[ _-]?(id|no|number)|basket|transaction|trans|order|invoice|session|customer|user|member|patient|person",
    re.IGNORECASE,
)
_ITEM_NAME = re.compile(
    r"(item|product|article|stock|sku|good|page|term|code|diagnos|drug)\w*( ?(id|no|name|code|number))?",
    re.IGNORECASE,
)
_NODE = re.compile(r"(?<!\S)(\{[^{}\s]*\}|\[[^\[\]()\s]*[\])])(?!\S)")
"""A set or a range that stands for several items."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A layout and what belongs to it."""

    form: Form
    """``lines``: one basket a line. ``spmf``: the same in the format of the SPMF library, ``1 -1 2 -1 -2``. ``long``:
    a table with one row for each item of each basket. ``matrix``: a table of 0 and 1, one column an item. ``column``:
    a table with the baskets in one of its columns."""
    columns: tuple[str, ...] = ()
    """Of a long table the names of the columns that hold the basket and the item; of a column layout the column's.
    Empty where the file's own order says it."""
    separator: str | None = None
    """The character between items: of ``lines`` None for blanks, of ``column`` None for the one that is found."""

    def __str__(self) -> str:
        if self.form == "lines":
            return "lines" if self.separator is None else f"lines:{self.separator}"
        if self.form == "column":
            return f"column:{self.columns[0]}"
        if self.form == "long" and self.columns:
            text = io.StringIO()
            csv.writer(text, lineterminator="").writerow(self.columns)
            return f"long:{text.getvalue()}"
        return self.form


def parse_layout(text: str, separator: str | None = None) -> Layout:
    """The layout that a text such as ``long:invoice,item`` names.

    `text`: ``lines``, ``lines:SEPARATOR``, ``spmf``, ``long``, ``long:ID,ITEM``, ``matrix`` or ``column:NAME``. A name
    with a comma in it is put in double quotes. `separator`: the character between items, for ``lines`` and ``column``;
    between cells, for ``long`` and ``matrix``. Raises `WrongUse` if there is no such layout, or it lacks a name.
    """
    form, colon, rest = text.partition(":")
    if form == "lines":
        mark = _checked(separator or rest or None)
        return Layout("lines", (), None if mark == " " else mark)
    if form == "spmf" or form == "matrix":
        if colon:
            raise WrongUse(f"The layout {form} takes nothing after a colon; you gave {text!r}.")
        if form == "spmf" and separator is not None:
            raise WrongUse("SPMF separates items by -1: leave the separator out.")
        return Layout("spmf") if form == "spmf" else Layout("matrix", (), _checked(separator))
    if form == "long":
        columns = tuple(next(csv.reader([rest]), [])) if colon else ()
        if colon and (len(columns) != 2 or "" in columns or columns[0] == columns[1]):
            raise WrongUse(
                f"A long layout names two columns, the basket's and the item's: long:ID,ITEM. You gave {text!r}."
            )
        return Layout("long", columns, _checked(separator))
    if form == "column":
        if not rest:
            raise WrongUse("A column layout names its column: column:NAME.")
        return Layout("column", (rest,), _checked(separator))
    raise UnknownName("layout", text, ["lines", "spmf", "long:ID,ITEM", "matrix", "column:NAME"])


def published_name(layout: str) -> str:
    """The name of the file that baskets of a layout are published in.

    >>> published_name("long:invoice,item")
    'data.csv'
    """
    return PUBLISHED_NAMES[parse_layout(layout).form]


def published_separator(vocabulary: tuple[str, ...]) -> str:
    """What separates the items of a published cell: the first candidate that no item holds.

    >>> published_separator(("red|green", "blue"))
    ';'
    """
    used = set().union(*map(set, vocabulary)) if vocabulary else set()
    separator = next((mark for mark in BETWEEN_ITEMS if mark not in used), None)
    if separator is None:
        raise WrongUse(
            "The items hold every character that could separate them in a cell; read them in the long layout."
        )
    return separator


def refuse_unwritable(vocabulary: tuple[str, ...], layout: Layout) -> None:
    """Refuse items that a reader of this layout would not find again."""
    item = unwritable(vocabulary, layout)
    if item is not None:
        raise WrongUse(
            f"The item {item!r} cannot be written in the layout {layout.form}, because it could not be read again; "
            "use the long layout, or give the item another name."
        )


def refuse_further(names: Iterable[str], layout: Layout, path: str | Path | None) -> None:
    """Refuse columns that published baskets do not have: nobody would judge them."""
    columns = layout.columns or tuple(names)[:2]
    if further := [name for name in names if name not in columns]:
        raise BadData(
            f"beside the baskets ({', '.join(columns)}) there are columns that nobody judges: {', '.join(further)}. "
            "Take them out.",
            path,
        )


def unwritable(vocabulary: tuple[str, ...], layout: Layout) -> str | None:
    """The first item that a reader of this layout would not find again; None if there is none.

    >>> unwritable(("beer", "red wine"), Layout("lines")), unwritable(("beer", "red wine"), Layout("matrix"))
    ('red wine', None)
    """
    forbidden = {
        "lines": r"[ \t\r\n]" if layout.separator is None else rf"[\r\n{re.escape(layout.separator)}]",
        "spmf": r"[ \t\r\n]|^-[12]$|^[@#%]",
        "matrix": r"[\r\n]",
    }.get(layout.form, r"\0")
    if layout.form == "matrix" and not set(vocabulary) <= {"0", "1"} and is_row_of_cells(vocabulary):
        return next(item for item in vocabulary if item not in ("0", "1"))
    wrong = re.compile(rf"{forbidden}|^\s|\s\Z|^\ufeff|^$|\0")
    return next((item for item in vocabulary if wrong.search(item)), None)


def is_row_of_cells(names: Sequence[str]) -> bool:
    """Whether the first line of a matrix is its first row, and no header."""
    return {name.lower() for name in names} <= NO_NAMES


def names_say(names: Sequence[str]) -> bool:
    """Whether the names of two columns say that the first holds the basket and the second the item.

    >>> names_say(["InvoiceNo", "StockCode"]), names_say(["item", "basket"]), names_say(["item_id", "product"])
    (True, False, False)
    """
    if len(names) != 2 or _ITEM_NAME.fullmatch(names[0]):
        return False
    return bool(_BASKET_NAME.fullmatch(names[0]) and _ITEM_NAME.fullmatch(names[1]))


def table_layout(names: Sequence[str], lists: Sequence[str], binary: bool) -> Layout:
    """The layout of a table whose columns have types.

    - One column of lists: column.
    - Two columns, and their names are those of a basket and an item, as in a text: long.
    - Two columns or more of 0 and 1 alone: a matrix.

    `lists`: the columns that hold lists. `binary`: whether all columns hold 0 and 1 (or True and False) alone. Raises
    `WrongUse` if it is none of them, with what to say.
    """
    if len(lists) == 1:
        return Layout("column", (lists[0],))
    if not lists and names_say(names):
        return Layout("long", tuple(names))
    if binary and len(names) > 1:
        return Layout("matrix")
    raise _unclear(names, lists)


def _unclear(names: Sequence[str], lists: Sequence[str]) -> WrongUse:
    has = f"The table has the columns {', '.join(names)}"
    if len(names) == 2 and not lists:
        first, second = reversed(names) if names_say(names[::-1]) else names
        call = str(Layout("long", (first, second)))
        return WrongUse(
            f"{has}, and their names do not say which one tells the basket. If it is {first!r}, and {second!r} the "
            f"item, say --baskets {call}."
        )
    if len(names) == 1:
        return WrongUse(f"{has} alone: say that its cells hold the baskets with --baskets column:{names[0]}.")
    return WrongUse(
        f"{has}: say which hold the baskets with --baskets long:ID,ITEM or column:NAME, or leave columns out until "
        f"only 0 and 1 are left (matrix)."
    )


def find_layout(sample: bytes, name: str = "", names: Sequence[str] | None = None) -> Layout:
    """Find out the layout of a text file from its beginning.

    - The first line that is neither blank nor a comment ends with ``-2``: SPMF.
    - Every line holds two cells, and the names in the first line are those of a basket and an item (``id``,
      ``invoice``, ``customer`` … and ``item``, ``product``, ``stockcode`` …): long.
    - Every line but the first holds the same number of cells, all 0 or 1 (or True and False): a matrix. Two cells
      separated by a blank that are never equal could be baskets of the items 0 and 1 as well: ambiguous.
    - No line holds a comma, semicolon, tab or ``|``, but for those inside of nodes such as ``{beer|wine}`` and
      ``[1,5]``, and the name does not end in ``.csv`` or ``.tsv``: lines.

    `sample`: the first bytes of the file, `SAMPLE` of them. `names`: the names of the columns, where they are given:
    then the first line is no header. Raises `WrongUse` if it may be more than one of them.
    """
    lines = _sample_lines(sample)
    first = next((line for line in lines if line[0] not in "@#%"), "")
    if first.split()[-1:] == ["-2"]:
        return Layout("spmf")
    for delimiter in DELIMITERS:
        cells = [line.split(delimiter) for line in lines]
        if cells and all(len(row) == 2 for row in cells):
            if names is not None:
                refuse_wrong_names(names, cells[0])
            basket, item = (
                names if names and len(names) == 2 else (cell.strip().strip('"') for cell in cells[0])
            )
            if names_say((basket, item)):
                return Layout("long", (basket, item))
    if _looks_like_matrix(lines, name, names):
        return Layout("matrix")
    is_table = re.search(r"\.(csv|tsv)(\.\w+)?$", name) is not None
    bare = [_NODE.sub("", line) for line in lines]
    if is_table or any(delimiter in line for line in bare for delimiter in DELIMITERS):
        raise _ambiguous(name)
    return Layout("lines")


def _checked(separator: str | None) -> str | None:
    """The separator; what cannot separate is refused."""
    if separator is None:
        return None
    if len(separator) != 1 or not separator.isascii() or separator in '\r\n"' or separator.isalnum():
        raise WrongUse(
            f'A separator is one ASCII character that is not a letter, digit, quote or line end, such as "," or "|"; '
            f"you gave {separator!r}."
        )
    return separator


def _sample_lines(sample: bytes) -> list[str]:
    """The whole lines of a sample that are not blank."""
    text = sample.decode("utf-8", errors="replace").removeprefix("\ufeff")
    whole = text if len(sample) < SAMPLE or "\n" not in text else text[: text.rindex("\n")]
    return [line.rstrip("\r") for line in whole.split("\n") if line.strip()]


def _looks_like_matrix(lines: list[str], name: str, names: Sequence[str] | None) -> bool:
    """Whether the lines after the first are cells of 0 and 1; the first may be a header, and name a row's label."""
    body = lines[1:] if len(lines) > 1 and names is None else lines
    for delimiter in [*DELIMITERS, None]:
        known = ZEROS | ONES if delimiter is not None else {"0", "1"}
        header = list(names) if names is not None else lines[0].split(delimiter) if lines else []
        labeled = bool(header) and not header[0].strip(' "') and delimiter is not None
        header = header[labeled:]
        width = len(header)
        # One line that is none is enough, and it comes early.
        rows = (_cells(line, delimiter)[labeled:] for line in body)
        if width < 2 or any(len(row) != width or not set(row) <= known for row in rows):
            continue
        pairs = chain([header], (_cells(line, delimiter) for line in body))
        if delimiter is None and width == 2 and all(row[0] != row[1] for row in pairs):
            raise _ambiguous(name)
        return True
    return False


def _cells(line: str, delimiter: str | None) -> list[str]:
    return [cell.strip(' "').lower() for cell in line.split(delimiter)]


def _ambiguous(name: str) -> WrongUse:
    return WrongUse(
        f"{name or 'The input'} could hold baskets in more than one way. Say which with --baskets: lines (with "
        "--separator if no blanks separate the items), spmf, long:ID,ITEM, matrix or column:NAME."
    )
