"""Say how columns are interpreted (as numbers, categories, dates or codes) and why, and warn of doubtful values.

Codes are not numbers: the difference of two postcodes or hospitals means nothing. Integers are still taken as numbers
unless the user says otherwise, because a range of codes is a correct cell. But the user is told, and promises that
depend on differences ask for the kind.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from shlex import quote
from typing import NamedTuple

import numpy as np

from shoal.arrays import Floats
from shoal.data._suggested_role import words_of
from shoal.data.domain import Domain, Kind

FEW = range(3, 10)
"""Numbers of different integers that may be codes of categories; with two it makes no difference, ten are a scale."""

FIRST = (0, 1)
"""The first number of codes of categories."""

LARGEST = 99
"""The largest number that is a code of a category."""

MOST = 0.9
"""From this share of values with a digit on, names count as codes."""

SHOWN = 6
"""The most columns of one kind that are named."""

CODE_WORD = re.compile(
    r"zip(code)?|postcode|postal|plz|postleitzahl|code|icd|atc|ops|drg|soc|isco|isic|naics|nace|fips|id|identifier|"
    r"hospital|hosp|hospnum|clinic|ward|station|site|cent(er|re)|department|district|municipality|gemeinde|county|"
    r"state|region|country|bundesland|land|race|ethnic(ity)?|sex|gender|religion|marital|occupation|industry|diagnos[ei]s"
)
"""Words in names of columns whose numbers are codes."""

AMOUNT_WORD = re.compile(
    r"age|alter|year|years|yr|yrs|jahr|jahre|month|months|day|days|week|weeks|hour|hours|minutes|time|times|duration|"
    r"num|number|count|counts|anzahl|n|size|children|kids|visits|stay|rooms|persons|members|score|scale|grade|level|stage|"
    r"stufe|rank|rating|degree|severity|index|apgar|gcs|nihss|rankin|mrs|income|salary|wage|price|amount|total|sum|"
    r"dose|weight|height|bmi|pressure|rate|share|percent"
)
"""Words in names of columns whose numbers are amounts, or a scale."""


CODES = re.compile(r"-(?:7+|8+|9+)|(?:7{2,}|8{2,}|9{2,})(?:\.0+)?")
"""Numbers that stand for a missing value in many files: -9, 99, 999, 8888."""

WORDS = frozenset({"N/A", "n/a", "#N/A", "NULL", "null", "NaN", "nan", ".", "-", "--"})
"""Texts that stand for a missing value in many files."""

NUMBERS = 3
"""With fewer other numbers in a column, one cannot tell whether it has codes of missing values."""

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
"""Forms of dates, of which the first that fits is taken; the form with slashes in which day and month cannot be told
apart comes after the unambiguous ones."""

_FORMS = {form: re.compile(pattern + r"(?:[Tt ] *[0-9:.+Zz-]+)?") for form, pattern in DAY_FORMS.items()}


class Taken(NamedTuple):
    """How a column is interpreted: the kind in a word, the reason, and what else it looks like, if anything."""

    kind: str
    why: str
    doubt: str = ""


def taken(name: str, domain: Domain) -> Taken:
    """Say how a column is interpreted, and why.

    >>> from shoal.data.domain import nominal
    >>> taken("job", nominal(("clerk", "nurse")))
    Taken(kind='category', why='names', doubt='')
    >>> taken("zip", nominal(("02139", "02140"))).why, taken("flag", nominal(("0", "1"))).why
    ('digits with a leading zero', 'names with digits')
    """
    labels = domain.labels[: domain.present]
    if domain.kind is Kind.DATE:
        return Taken("date", "all values are days")
    if domain.kind is Kind.ORDINAL:
        return Taken("ordered category", "its order was given")
    if domain.kind is Kind.NUMERIC:
        whole = _whole(domain)
        return Taken("number", "whole numbers" if whole else "numbers", code_doubt(name, domain))
    if labels and all(map(str.isdigit, labels)) and any(label[0] == "0" < label for label in labels):
        return Taken("code", "digits with a leading zero")
    if labels and sum(any(map(str.isdigit, label)) for label in labels) >= MOST * len(labels):
        return Taken("code", "names with digits")
    return Taken("category", "names" if labels else "no values")


def code_doubt(name: str, domain: Domain) -> str:
    """Say why the numbers of a column look like codes; empty if they look like amounts.

    >>> import numpy as np
    >>> def numbers(*values: float) -> Domain:
    ...     return Domain(Kind.NUMERIC, tuple(map(str, values)), np.array(values, dtype=np.float64))
    >>> code_doubt("zip", numbers(10115, 20095, 80331)), code_doubt("outcome", numbers(1, 2, 3, 4))
    ("its name says 'zip'", '4 small whole numbers')
    >>> code_doubt("children", numbers(0, 1, 2, 3)), code_doubt("income", numbers(1000, 2000, 3000))
    ('', '')
    """
    if domain.kind is not Kind.NUMERIC or domain.present < FEW.start or not _whole(domain):
        return ""
    words = words_of(name)
    if found := next(filter(CODE_WORD.fullmatch, words), None):
        return "" if any(map(AMOUNT_WORD.fullmatch, words)) and found != "zip" else f"its name says {found!r}"
    low, high = domain.bounds
    small = domain.present in FEW and low in FIRST and high <= LARGEST
    if not small or any(map(AMOUNT_WORD.fullmatch, words)):
        return ""
    return f"{domain.present} small whole numbers"


def taken_sentences(columns: Iterable[tuple[str, Domain]]) -> tuple[str, ...]:
    """A sentence on how the columns of a table are interpreted, and one on numbers that look like codes, if any."""
    found = {name: taken(name, domain) for name, domain in columns}
    if not found:
        return ()
    kinds = {"number": "numbers", "date": "dates", "ordered category": "ordered categories"}
    kinds |= {"code": "codes", "category": "categories"}
    parts = [
        f"{_listed(names)} as {words}"
        for kind, words in kinds.items()
        if (names := [name for name, one in found.items() if one.kind == kind])
    ]
    return (f"Taken: {'; '.join(parts)}.", *doubt_sentences((name, one.doubt) for name, one in found.items()))


def doubt_sentences(columns: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """The sentence on numbers that look like codes, if any. `columns`: names, and why they look like codes."""
    doubtful = [(name, why) for name, why in columns if why]
    if not doubtful:
        return ()
    shown = [f"{name} ({why})" for name, why in doubtful]
    option = f"--kind {quote(f'{doubtful[0][0]}=nominal')}"
    taken_so = "may be a code, and is" if len(doubtful) == 1 else "may be codes, and are"
    return (
        f"{_listed(shown)} {taken_so} taken as numbers: where differences mean nothing, say {option} to take "
        "categories.",
    )


def _listed(names: Sequence[str]) -> str:
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def _whole(domain: Domain) -> bool:
    assert domain.values is not None
    present = domain.values[: domain.present]
    return bool((present == np.floor(present)).all())


def code_remarks(name: str, domain: Domain) -> list[str]:
    """The remark on values that look like codes of missing values, if there are any.

    A number looks like one if it is written like such a code and is an outlier: further away from the other numbers
    than they are from each other, or below 0 while no other is.

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
    """The labels of numbers that look like codes of missing values."""
    like = np.array([CODES.fullmatch(label) is not None for label in labels], dtype=np.bool_)
    others = values[~like]
    if len(others) < NUMBERS or not like.any():
        return []
    low, high = float(others.min()), float(others.max())
    room = max(high - low, 1.0)
    apart = np.where(values < 0, low >= 0, values - high > room)
    return [label for label, one in zip(labels, (like & apart).tolist(), strict=True) if one]


def mixed_dates(name: str, domain: Domain, line_of: Callable[[int], int | None]) -> list[str]:
    """The remark on a column of names if all are dates, but in several forms.

    `line_of`: function that returns the first line with a value, given its code.
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
        return []  # this is one form: the unambiguous dates tell which
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
