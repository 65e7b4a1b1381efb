"""Rules of published tables from rows of texts, one antecedent after another, and the fewest stars by trying all."""

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product

Row = dict[str, str]
Rule = tuple[tuple[tuple[str, str], ...], str, int, int, int]
"""A rule: the cells of its antecedent, its value, the rows that show the value, stars, and all rows."""


def antecedents(
    rows: Sequence[Row], quasi: Sequence[str], size: int | None
) -> Iterator[tuple[tuple[str, str], ...]]:
    """The antecedents of rules: whole classes, or cells of 1 … size columns that are not all ``*``."""
    widths = [len(quasi)] if size is None else range(1, min(size, len(quasi)) + 1)
    for width in widths:
        for columns in combinations(quasi, width):
            for cells in dict.fromkeys(tuple(row[column] for column in columns) for row in rows):
                if width == len(quasi) or any(cell != "*" for cell in cells):
                    yield tuple(zip(columns, cells, strict=True))


def rules(rows: Sequence[Row], quasi: Sequence[str], column: str, size: int | None = None) -> list[Rule]:
    """Every rule with its counts; a size of None means whole classes. Rows that are all ``*`` are suppressed."""
    found = []
    rows = [row for row in rows if any(row[name] != "*" for name in (*quasi, column))]
    for antecedent in antecedents(rows, quasi, size):
        members = [row[column] for row in rows if all(row[name] == cell for name, cell in antecedent)]
        counts = Counter(members)
        stars = counts.pop("*", 0)
        found += [(antecedent, value, count, stars, len(members)) for value, count in counts.items()]
    return found


def is_broken(rule: Rule, c: Fraction, fewer_than: int | None) -> bool:
    _, _, shown, stars, size = rule
    if Fraction(shown, size) > c:
        return True
    return fewer_than is not None and Fraction(shown + stars, size) > c and shown >= fewer_than


def hidden(
    rows: Sequence[Row],
    quasi: Sequence[str],
    column: str,
    confidence: float,
    fewer_than: int | None = None,
    size: int | None = None,
    values: Sequence[str] = (),
) -> bool:
    """Whether no rule is broken."""
    c = Fraction(str(confidence))
    return not any(
        is_broken(rule, c, fewer_than)
        for rule in rules(rows, quasi, column, size)
        if not values or rule[1] in values
    )


def least_stars(
    rows: Sequence[Row],
    quasi: Sequence[str],
    column: str,
    confidence: float,
    fewer_than: int | None = None,
    size: int | None = None,
    values: Sequence[str] = (),
) -> int:
    """The fewest cells to star, by trying all numbers of stars for every class and value."""
    entries: dict[tuple[tuple[str, ...], str], list[int]] = {}
    for place, row in enumerate(rows):
        if row[column] != "*":
            entries.setdefault((tuple(row[name] for name in quasi), row[column]), []).append(place)
    places = list(entries.values())
    best = len(rows)
    for numbers in product(*(range(len(cells) + 1) for cells in places)):
        if sum(numbers) >= best:
            continue
        starred = {place for cells, number in zip(places, numbers, strict=True) for place in cells[:number]}
        tried = [{**row, column: "*"} if place in starred else row for place, row in enumerate(rows)]
        if hidden(tried, quasi, column, confidence, fewer_than, size, values):
            best = sum(numbers)
    return best


def least_stars_of_classes(rows: Sequence[Row], quasi: Sequence[str], column: str, confidence: float) -> int:
    """The same for whole classes only, value by value: add stars until the value fits."""
    c = Fraction(str(confidence))
    stars = 0
    for _, _, shown, _, size in rules(rows, quasi, column):
        while Fraction(shown, size) > c:
            shown -= 1
            stars += 1
    return stars


def composition(shown_before: Counter[str], shown_after: Counter[str]) -> dict[str, int]:
    """What the stars of a class hide."""
    return {
        value: count - shown_after[value]
        for value, count in shown_before.items()
        if count > shown_after[value]
    }
