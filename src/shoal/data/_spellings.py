"""Find values that differ only in spelling: in case, Unicode form, invisible characters, or zeros of numbers."""

import re
import unicodedata
from collections.abc import Iterable, Mapping

from shoal.data._plain_text import counted
from shoal.data.baskets import Baskets
from shoal.data.domain import Domain, Kind

_NUMBER = re.compile(r"([+-]?)0*([0-9]*)(?:\.([0-9]*?)0*)?")
_FILLERS = {0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, *range(0x180B, 0x1810), *range(0xFE00, 0xFE10)}
"""Invisible letters and marks, in addition to the format characters of Unicode."""


def spelling_key(text: str) -> str:
    r"""A key that is equal for texts that differ only in spelling.

    Letters are compared in compatibility form (NFKC), in which wide letters, ligatures and composed accents become the
    plain ones, and without case; invisible characters are removed, and runs of blanks become one. Numbers without an
    exponent are compared without superfluous zeros and plus signs.

    >>> len({spelling_key(text) for text in ("Flu", "flu ", "ＦＬＵ", "f\u200blu")})
    1
    >>> [spelling_key(text) for text in ("01", "+1.0", "1.", "-0.50", "0", "1e0", "1.2.3")]
    ['1', '1', '1', '-0.5', '0', '1e0', '1.2.3']
    """
    key = text.casefold()
    if not text.isascii():
        plain = unicodedata.normalize("NFKC", text)
        shown = "".join(letter for letter in plain if not _is_hidden(letter))
        key = unicodedata.normalize("NFKC", shown.casefold())
    key = " ".join(key.split())
    number = _NUMBER.fullmatch(key) if any(map(str.isdigit, key)) else None
    if number is None:
        return key
    sign, whole, part = number.groups()
    digits = f"{whole or '0'}.{part}" if part else whole or "0"
    return f"-{digits}" if sign == "-" and digits != "0" else digits


def _is_hidden(letter: str) -> bool:
    return unicodedata.category(letter) == "Cf" or ord(letter) in _FILLERS or 0xE0100 <= ord(letter) < 0xE01F0


def alike(texts: Iterable[str]) -> list[list[str]]:
    """Groups of texts that differ only in spelling, in code-point order.

    >>> alike(["flu", "cold", "Flu", "1.0", "1"])
    [['1', '1.0'], ['Flu', 'flu']]
    """
    found: dict[str, list[str]] = {}
    for text in texts:
        if text:
            found.setdefault(spelling_key(text), []).append(text)
    return sorted(sorted(same) for same in found.values() if len(same) > 1)


def alike_in(domain: Domain) -> list[list[str]]:
    """Groups of values of a column that differ only in spelling; equal numbers and dates are one value already."""
    named = domain.kind in (Kind.NOMINAL, Kind.ORDINAL)
    return alike(domain.labels[: domain.present]) if named else []


def frequent_spelling(counts: Mapping[str, int]) -> dict[str, str]:
    """Map each text to the most frequent of those that differ from it only in spelling.

    Of equally frequent ones, the first in code-point order is taken, so that the order of rows does not matter.

    >>> frequent_spelling({"flu": 1, "Flu": 2, "cold": 1})
    {'flu': 'Flu', 'Flu': 'Flu', 'cold': 'cold'}
    """
    keys = {text: spelling_key(text) for text in counts}
    chosen: dict[str, str] = {}
    for text in sorted(counts, key=lambda text: (-counts[text], text)):
        chosen.setdefault(keys[text], text)
    return {text: chosen[key] for text, key in keys.items()}


def pair_text(same: list[str]) -> str:
    r"""Two texts for a sentence, with escaped characters if they look the same.

    >>> print(pair_text(["Flu", "flu"]), "-", pair_text(["caf\xe9", "cafe\u0301"]))
    'Flu' and 'flu' - 'caf\xe9' and 'cafe\u0301'
    """
    one, other = same[:2]
    shown = ascii if unicodedata.normalize("NFKC", one) == unicodedata.normalize("NFKC", other) else repr
    return f"{shown(one)} and {shown(other)}"


def spelled_twice(name: str, domain: Domain) -> list[str]:
    """The warning about a sensitive column with values that differ only in spelling, if there are any."""
    found = alike_in(domain)
    if not found:
        return []
    return [
        f"The sensitive column {name!r} has {counted(len(found), 'values')} in several spellings, such as "
        f"{pair_text(found[0])}: they count as different secrets, and promises about them mean less than they say. "
        f"Make them one with --normalize {name}."
    ]


def values_alike(name: str, texts: Iterable[str]) -> tuple[str, ...]:
    """The warning about published secrets that differ only in spelling, if there are any.

    >>> values_alike("ill", ["flu", "cold", "Flu"])
    ("Values of ill differ in spelling alone, such as 'Flu' and 'flu': they were judged as different secrets.",)
    """
    found = alike(texts)
    if not found:
        return ()
    return (
        f"Values of {name} differ in spelling alone, such as {pair_text(found[0])}: they were judged as different "
        "secrets.",
    )


def items_spelled_twice(baskets: Baskets) -> tuple[str, ...]:
    """The warning about sensitive items that differ from others only in spelling, if there are any."""
    secret = {baskets.vocabulary[item] for item in baskets.sensitive}
    found = [same for same in alike(baskets.vocabulary) if secret.intersection(same)] if secret else []
    if not found:
        return ()
    roles = " and ".join("sensitive" if item in secret else "not sensitive" for item in found[0][:2])
    return (
        f"{counted(len(found), 'sensitive items')} {'is' if len(found) == 1 else 'are'} there in several spellings, "
        f"such as {pair_text(found[0])} ({roles}): they count as different items. Give them one spelling.",
    )
