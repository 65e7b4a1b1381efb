"""How a day is written: the forms that are read, each of which can mean one day only."""

import re

FORMS = {
    "%Y-%m-%d": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
    "%Y/%m/%d": r"^[0-9]{4}/[0-9]{2}/[0-9]{2}$",
    "%d.%m.%Y": r"^[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}$",
}
"""The forms of a day, and how their texts look. With slashes, day and month cannot be distinguished unless the year is
first; with dots, the day always is."""

FORM_NAMES = "YYYY-MM-DD, YYYY/MM/DD or DD.MM.YYYY"

TIMESTAMP = (
    r"^([0-9]{4}[-/][0-9]{2}[-/][0-9]{2}|[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4})"
    r"(?:T|t| +)[0-2]?[0-9]:[0-5][0-9](?::[0-6][0-9](?:[.,][0-9]+)?)?(?: ?(?:Z|z|UTC|[+-][0-9]{2}(?::?[0-9]{2})?))?$"
)
"""A day in one of the forms, which is the first group, and a time of day behind it."""

_DOTTED = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})")


def iso(text: str) -> str:
    """A day of any form in the form ``YYYY-MM-DD``; other texts as they are, but for their slashes.

    >>> iso("1.9.2024"), iso("2024/09/01"), iso("2024-09-01")
    ('2024-09-01', '2024-09-01', '2024-09-01')
    """
    if found := _DOTTED.fullmatch(text):
        return f"{found[3]}-{int(found[2]):02d}-{int(found[1]):02d}"
    return text.replace("/", "-")
