"""Names that look like numbers or dates in a form that is not read as such, and what to do about it."""

import re
from collections.abc import Iterable
from shlex import quote

from shoal.data._calendar import TIMESTAMP
from shoal.data.domain import Domain, Kind

_TIMESTAMP = re.compile(TIMESTAMP)
_SLASHED = re.compile(r"[0-9]{1,2}/[0-9]{1,2}/(?:[0-9]{2}){1,2}(?:[ T].*)?")
_COMMA = re.compile(r"-?(?:[0-9]+|[0-9]{1,3}(?:\.[0-9]{3})+)(?:,[0-9]+)?")


def lookalike(name: str, domain: Domain) -> str:
    """What the names of a column look like, and how to have them read so; empty where they look like names.

    Nothing is guessed from it: ``03/04/2024`` is a day in March or in April, and ``1,234`` may be above a thousand.

    >>> from shoal.data.domain import nominal
    >>> lookalike("weight", nominal(("61,5", "70")))
    'looks like numbers with a decimal comma; write a point instead to have numbers and ranges of them'
    """
    labels = domain.labels[: domain.present]
    if domain.kind is not Kind.NOMINAL or not labels:
        return ""
    if all(map(_TIMESTAMP.fullmatch, labels)):
        return f"looks like timestamps; --kind {quote(name + '=date')} takes the days"
    if all(map(_SLASHED.fullmatch, labels)):
        return (
            "looks like dates, but day and month cannot be told apart (MM/DD or DD/MM?); write YYYY-MM-DD or "
            "DD.MM.YYYY to have dates and ranges of them"
        )
    if all(map(_COMMA.fullmatch, labels)) and any("," in label for label in labels):
        return "looks like numbers with a decimal comma; write a point instead to have numbers and ranges of them"
    return ""


def told_once(sentences: Iterable[str]) -> tuple[str, ...]:
    """Sentences without those on columns that look like timestamps, where others say that they hold times.

    >>> told_once(["Taken: 'x' (times) as names.", "The quasi-identifier 'x' looks like timestamps; …"])
    ("Taken: 'x' (times) as names.",)
    """
    said = tuple(sentences)
    found = [
        (sentence, re.match(r"The quasi-identifier (.+) looks like timestamps", sentence))
        for sentence in said
    ]
    return tuple(
        sentence
        for sentence, look in found
        if look is None or not any(f"{look[1]} (times)" in other for other in said)
    )
