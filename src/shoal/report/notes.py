"""What a method notes about its work, beside its pictures: plain numbers and words."""

from collections.abc import Mapping
from typing import Any

from shoal.report.wording import number, shown

SHOWN = 60
"""Notes that are listed."""

SHOWN_ELSEWHERE = ("pictures", "solutions", "summary", "intake", "unread", "series", "explanation")
"""Notes that have a place of their own on the page; so have those about rules."""


def notes_of(notes: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Notes as names and texts: of a list only the length is given, and a nested note is named by both its keys.

    >>> notes_of({"moles": {"1": 3}, "suppressed": ["a", "b"], "binary_search": True})
    (('moles, 1', '3'), ('suppressed', '2 entries'), ('binary search', 'yes'))
    """
    plain = {
        key: value
        for key, value in notes.items()
        if key not in SHOWN_ELSEWHERE and not key.startswith("rules.")
    }
    return tuple(_lines(plain, ""))[:SHOWN]


def summary_of(notes: Mapping[str, Any]) -> tuple[str, ...]:
    """What the method chose, in its own sentences."""
    return tuple(shown(str(sentence), 600) for sentence in notes.get("summary", ()))[:SHOWN]


def explanation_of(notes: Mapping[str, Any], limit: int = 20_000) -> str:
    """The explanation that was asked for; empty where there is none."""
    text = "\n".join(
        shown(line, 400) if line else "" for line in str(notes.get("explanation", "")).split("\n")
    )
    return text if len(text) <= limit else text[:limit] + "\n… cut here; run.json holds all of it\n"


def _lines(notes: Mapping[str, Any], above: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for key, value in notes.items():
        name = f"{above}{shown(str(key)).replace('_', ' ')}"
        match value:
            case bool():
                found.append((name, "yes" if value else "no"))
            case int() | float():
                found.append((name, number(value)))
            case str():
                found.append((name, shown(value, 200)))
            case Mapping():
                found += _lines(value, f"{name}, ")
            case list() | tuple():
                found.append((name, f"{len(value):,} entries"))
            case None:
                continue
            case _:
                found.append((name, shown(str(value), 200)))
    return found
