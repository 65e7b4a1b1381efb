"""Values that may not be what they are taken for: codes that mean missing, and days in several forms."""

import re
from collections.abc import Callable
from shlex import quote

import numpy as np

from shoal.arrays import Floats
from shoal.data.domain import Domain, Kind

CODES = re.compile(r"-(?:7+|8+|9+)|(?:7{2,}|8{2,}|9{2,})(?:\.0+)?")
"""Numbers that stand for a missing value in many files: -9, 99, 999, 8888."""

WORDS = frozenset({"N/A", "n/a", "#N/A", "NULL", "null", "NaN", "nan", ".", "-", "--"})
"""Names that do."""

NUMBERS = 3
"""A column with fewer other numbers tells too little about its codes."""

DAY_FORMS = {
    "YYYY-MM-DD": r"[0-9]{4}-[0-9]{2}-[0-9]{2}",
    "YYYY/MM/DD": r"[0-9]{4}/[0-9]{2}/[0-9]{2}",
    "YYYYMMDD": r"(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])",
    "DD.MM.YYYY": r"[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}",
    "DD-MM-YYYY": r"[0-9]{1,2}-[0-9]{1,2}-[0-9]{4}",
    "DD/MM/YYYY": r"(?:1[3-9]|2[0-9]|3[01])/[0-9]{1,2}/[0-9]{4}",
    "MM/DD/YYYY": r"[0-9]{1,2}/(?:1[3-9]|2[0-9]|3[01])/[0-9]{4}",
    "DD/MM/YYYY or MM/DD/YYYY": r"[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}",
    "DD MMM YYYY": r"[0-9]{1,2} [A-Za-z]{3} [0-9]{4}",
}
"""How days are written, the first that fits taken; the slashed one that tells no month apart stands behind those that
do."""

_FORMS = {form: re.compile(pattern + r"(?:[Tt ] *[0-9:.+Zz-]+)?") for form, pattern in DAY_FORMS.items()}


def code_remarks(name: str, domain: Domain) -> list[str]:
    """The sentence on values that look like codes of missing ones; none where there are none.

    A number is one where it is written like a code and stands apart: further away than all others are from each other,
    or below 0 where no other is.

    >>> from shoal.data.domain import nominal
    >>> code_remarks("job", nominal(("N/A", "clerk", "nurse")))[0][:58]
    "'N/A' in the column 'job' looks like a code for a missing "
    """
    found = [label for label in domain.labels[: domain.present] if label in WORDS]
    if domain.kind is Kind.NUMERIC and domain.values is not None:
        found = _codes(domain.labels[: domain.present], domain.values[: domain.present])
    if not found or domain.present < NUMBERS:
        return []
    shown = " and ".join(map(repr, found))
    kind = "numeric" if domain.kind is Kind.NUMERIC else "nominal"
    options = " ".join(f"--missing {quote(f'{name}={code}')}" for code in found)
    looks, be = ("looks like a code", "is") if len(found) == 1 else ("look like codes", "are")
    return [
        f"{shown} in the column {name!r} {looks} for a missing value, and {be} taken as written: say {options}, or "
        f"--kind {quote(f'{name}={kind}')} if not."
    ]


def _codes(labels: tuple[str, ...], values: Floats) -> list[str]:
    """The labels of numbers that look like codes."""
    like = np.array([CODES.fullmatch(label) is not None for label in labels], dtype=np.bool_)
    others = values[~like]
    if len(others) < NUMBERS or not like.any():
        return []
    low, high = float(others.min()), float(others.max())
    room = max(high - low, 1.0)
    apart = np.where(values < 0, low >= 0, values - high > room)
    return [label for label, one in zip(labels, (like & apart).tolist(), strict=True) if one]


def mixed_dates(name: str, domain: Domain, line_of: Callable[[int], int | None]) -> list[str]:
    """The sentence on a column of names all of which are days, but in several forms; none for any other.

    `line_of`: the first line with a value, given by its code.
    """
    labels = domain.labels[: domain.present]
    if domain.kind is not Kind.NOMINAL or len(labels) < 2:
        return []
    first: dict[str, int] = {}
    for code, label in enumerate(labels):
        form = next((form for form, pattern in _FORMS.items() if pattern.fullmatch(label)), None)
        if form is None:
            return []
        first.setdefault(form, code)
    if len(first) < 2:
        return []
    unclear = "DD/MM/YYYY or MM/DD/YYYY"
    if len(first) == 2 and unclear in first and first.keys() & {"DD/MM/YYYY", "MM/DD/YYYY"}:
        return []  # one form: the others tell which
    shown = "; ".join(f"{labels[code]}{_line(line_of(code))} is {form}" for form, code in first.items())
    given = [form for form in first if form != unclear]
    slashed = {"DD/MM/YYYY", "MM/DD/YYYY"}
    given += ["DD/MM/YYYY"] if unclear in first and not slashed & set(given) else []
    option = quote(f"{name}={','.join(given)}")
    return [
        f"The column {name!r} holds days in {len(first)} forms, and is taken as names: {shown}. Correct them, or say "
        f"--date-format {option}."
    ]


def _line(number: int | None) -> str:
    return "" if number is None else f" (line {number})"
