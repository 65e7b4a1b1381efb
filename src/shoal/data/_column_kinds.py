"""How a column is taken, in words: as numbers, categories, dates or codes, and why.

Codes are not numbers: the difference of two postcodes or hospitals means nothing. Whole numbers are taken as numbers
all the same where nobody says otherwise, because a range of codes is a correct cell; but it is said, and promises that
depend on differences ask.
"""

import re
from collections.abc import Iterable, Sequence
from shlex import quote
from typing import NamedTuple

import numpy as np

from shoal.data._suggested_role import words_of
from shoal.data.domain import Domain, Kind

FEW = range(3, 10)
"""So many different whole numbers may be codes of categories; two are alike either way, and ten are a scale."""

FIRST = (0, 1)
"""Codes of categories begin so."""

LARGEST = 99
"""Codes of categories are small."""

MOST = 0.9
"""From this share of values with a digit on, names are codes."""

SHOWN = 6
"""So many columns of one kind are named."""

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


class Taken(NamedTuple):
    """How a column is taken: the word, why, and what else it looks like (empty where it does not)."""

    kind: str
    why: str
    doubt: str = ""


def taken(name: str, domain: Domain) -> Taken:
    """How a column is taken, and why.

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
    """Why the numbers of a column look like codes; empty where they look like amounts.

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
    """How the columns of a table are taken, in a sentence, and one on numbers that look like codes."""
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
    """What is said of numbers that look like codes: `columns` are names, and why they do where they do."""
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
