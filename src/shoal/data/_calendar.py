"""Forms of writing a date that are read because each is unambiguous, and parts of the calendar."""

import re

import numpy as np

from shoal.arrays import AnyArray

FORMS = {
    "%Y-%m-%d": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
    "%Y/%m/%d": r"^[0-9]{4}/[0-9]{2}/[0-9]{2}$",
    "%d.%m.%Y": r"^[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}$",
}
"""The forms of a date, with patterns of their texts. With slashes, day and month cannot be told apart unless the year
comes first; with dots, the day always comes first."""

FORM_NAMES = "YYYY-MM-DD, YYYY/MM/DD or DD.MM.YYYY"

TIMESTAMP = (
    r"^([0-9]{4}[-/][0-9]{2}[-/][0-9]{2}|[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4})"
    r"(?:T|t| +)[0-2]?[0-9]:[0-5][0-9](?::[0-6][0-9](?:[.,][0-9]+)?)?(?: ?(?:Z|z|UTC|[+-][0-9]{2}(?::?[0-9]{2})?))?$"
)
"""Pattern of a date in one of the forms, which is the first group, followed by a time of day."""

CALENDAR = ("day", "month", "quarter", "year", "decade")
"""Parts of the calendar, from fine to coarse."""

MONTH, QUARTER = r"^([0-9]{4}-[0-9]{2})$", r"^([0-9]{4})-Q([1-4])$"
"""Patterns of published months and quarters."""

_DOTTED = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})")


def iso(text: str) -> str:
    """Rewrite a date of any form as ``YYYY-MM-DD``; in other texts only slashes are replaced.

    >>> iso("1.9.2024"), iso("2024/09/01"), iso("2024-09-01")
    ('2024-09-01', '2024-09-01', '2024-09-01')
    """
    if found := _DOTTED.fullmatch(text):
        return f"{found[3]}-{int(found[2]):02d}-{int(found[1]):02d}"
    return text.replace("/", "-")


def part_texts(days: AnyArray, part: str) -> list[str]:
    """The text of the month, quarter or other part of the calendar (`CALENDAR`) that each day lies in."""
    if part == "day":
        return [str(day) for day in days]
    if part == "month":
        return [str(month) for month in days.astype("datetime64[M]")]
    years = days.astype("datetime64[Y]").astype(np.int64) + 1970
    if part == "quarter":
        quarters = days.astype("datetime64[M]").astype(np.int64) % 12 // 3 + 1
        return [
            f"{year:04d}-Q{quarter}" for year, quarter in zip(years.tolist(), quarters.tolist(), strict=True)
        ]
    if part == "year":
        return [f"{year:04d}" for year in years.tolist()]
    return [f"{year // 10 * 10:04d}s" for year in years.tolist()]
