"""Values, numbers with nouns, and tables as plain text."""

from collections.abc import Sequence

OK, BROKEN = "OK", "BROKEN"
"""How a promise is marked that is kept, and one that is not."""


def visible(text: str) -> str:
    r"""A text whose control characters cannot steer the terminal: data may hold any.

    >>> print(visible("a" + chr(27) + "[2J"))
    a\x1b[2J
    """
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def written(value: object) -> str:
    """A value as a reader wants it.

    >>> [written(value) for value in (30162, 0.123456, 12.0, None, True, "age")]
    ['30,162', '0.1235', '12', '', 'yes', 'age']
    """
    match value:
        case bool():
            return "yes" if value else "no"
        case None:
            return ""
        case int():
            return f"{value:,}"
        case float():
            return (
                f"{value:,.0f}"
                if value.is_integer()
                else f"{value:,.4g}"
                if abs(value) < 1e4
                else f"{value:,.1f}"
            )
    return visible(str(value))


def counted(number: int, nouns: str) -> str:
    """Format a number with its noun, which is given in the plural.

    >>> counted(1, "rows"), counted(1200, "rows"), counted(1, "classes"), counted(1, "hierarchies")
    ('1 row', '1,200 rows', '1 class', '1 hierarchy')
    """
    return f"{number:,} {singular(nouns) if number == 1 else nouns}"


def singular(nouns: str) -> str:
    """The singular of a plural noun.

    >>> [singular(nouns) for nouns in ("rows", "classes", "hierarchies", "different values", "vectors of levels")]
    ['row', 'class', 'hierarchy', 'different value', 'vector of levels']
    """
    noun, of, whose = nouns.partition(" of ")
    for ending, one in (("ies", "y"), ("sses", "ss"), ("s", "")):
        if noun.endswith(ending):
            return noun.removesuffix(ending) + one + of + whose
    return nouns


def grid_lines(rows: Sequence[Sequence[object]], head: Sequence[str] = ()) -> list[str]:
    r"""Rows under each other, the head first; columns of numbers stand to the right.

    >>> print("\n".join(grid_lines([("age", 0.5), ("zip", 12)], ["column", "loss"])))
    column  loss
    age      0.5
    zip       12
    """
    texts = [[written(cell) for cell in row] for row in rows]
    numeric = [all(_is_number(cell) for cell in column) for column in zip(*rows, strict=True)]
    widths = [max(map(len, column)) for column in zip(*([head] if head else []), *texts, strict=True)]
    lines = []
    for row in [head, *texts] if head else texts:
        cells = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def _is_number(value: object) -> bool:
    share = isinstance(value, str) and value.endswith("%")
    return value is None or share or (isinstance(value, int | float) and not isinstance(value, bool))
