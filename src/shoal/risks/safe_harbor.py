"""Which columns hold what the Safe Harbor rule of HIPAA (45 CFR 164.514(b)(2)) lists, recognized by their content.

A column is of a kind if more than half of its cells look like it. Nothing is sent anywhere, and nothing here is legal
advice: a kind that is not found may still be there, and free text is not read.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from datetime import date
from ipaddress import ip_address
from typing import Any

import numpy as np

from shoal.data._suggested_role import names_persons, numbers_persons, words_of
from shoal.data.domain import Kind
from shoal.data.table import Column

HALF = 0.5
"""More than this share of the cells must fit."""

LOOKED_AT = 5_000
"""So many different values of a column are looked at, the most frequent first."""

A_FEW = 0.2
"""Of different values that may be names, more than this share must be: one color that is a surname too is none."""

OLDEST = 89
"""Ages above this are listed by the rule."""

SEVERAL = 10
"""Of fewer rows nothing is concluded from how their values are spread."""

MANY = 0.9
"""From this share of different values on, numbers of one shape are numbers of records."""


@dataclass(frozen=True, slots=True)
class HarborKind:
    """A column that holds what the rule lists."""

    column: str
    kind: str  # what it holds
    letter: str  # the paragraph of the rule, (A) to (R)
    share: float  # the share of its cells that look like it
    reason: str  # why, in words

    def as_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return asdict(self)


_FIRST_NAMES = """
aaron adam alan albert alexander alice amanda amy andrea andrew angela anna anne anthony arthur barbara
benjamin betty beverly brandon brenda brian carl carol catherine charles christian christina christine
christopher cynthia daniel david deborah dennis diana diane donald donna dorothy douglas edward elizabeth
emily emma eric eugene evelyn frances frank gary george gerald gloria grace gregory hannah harold heather
helen henry isabella jack jacob jacqueline james janet janice jason jean jeffrey jennifer jeremy jerry
jessica joan joe john jonathan jose joseph joshua joyce juan judith judy julia julie justin karen
katherine kathleen keith kelly kenneth kevin kimberly kyle larry laura lauren lawrence linda lisa louis
madison margaret maria marie mark martha mary matthew megan melissa michael michelle mohammed nancy
nathan nicholas nicole noah olivia pamela patricia patrick paul peter philip rachel ralph randy raymond
rebecca richard robert roger ronald rose roy russell ruth ryan samantha samuel sandra sara sarah scott
sean sharon shirley sophia stephanie stephen steven susan teresa terry theresa thomas timothy tyler
victoria vincent virginia walter wayne wei william zachary
"""
_LAST_NAMES = """
adams alexander allen anderson bailey baker bell bennett brooks brown bryant butler campbell carter
castillo chavez chen clark coleman collins cook cooper cox cruz davis diaz edwards evans fischer fisher
flores foster garcia gomez gonzales gonzalez gray green griffin gutierrez hall harris hayes henderson
hernandez hill howard hughes ivanov jackson james jenkins johnson jones kelly kim king kumar lee lewis
long lopez martin martinez mendoza meyer miller mitchell moore morales morgan morris murphy murray myers
nelson nguyen ortiz parker patel patterson perez perry peterson phillips powell price ramirez ramos reed
reyes reynolds richardson rivera roberts robinson rodriguez rogers ross ruiz russell sanchez sanders
schmidt schneider scott simmons singh smith stewart sullivan taylor thomas thompson torres turner walker
wang ward washington watson weber white williams wilson wood wright yang young
"""

COMMON_NAMES = frozenset((_FIRST_NAMES + _LAST_NAMES).split())

EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[a-z]{2,}", re.IGNORECASE)
URL = re.compile(r"(?:https?|ftp)://\S+|www\.[\w-]+\.\S+", re.IGNORECASE)
SSN = re.compile(r"(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}")
PHONE = re.compile(
    r"\+\d{1,3}[ ./-]?(?:\(?\d+\)?[ ./-]?)+"
    r"|\(\d{2,5}\)[ ./-]?\d{2,5}(?:[ .-]?\d{2,6})*"
    r"|\d{3}[ .-]\d{3}[ .-]\d{4}"
    r"|0\d{1,4}[ /-]\d{3,5}(?:[ -]?\d{2,5})*"
)
ZIP = re.compile(r"\d{5}(?:-\d{4})?")
MAC = re.compile(r"[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5}", re.IGNORECASE)
VIN = re.compile(r"[A-HJ-NPR-Z0-9]{17}")
UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
PICTURE = re.compile(r"\S.*\.(?:jpe?g|png|gif|tiff?|bmp|heic|dcm)", re.IGNORECASE)
DIGITS = re.compile(r"[\d -]{12,23}")
DATES = (
    re.compile(r"(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?:[T ]\d.*)?"),
    re.compile(r"(?P<d>\d{1,2})[-/.](?P<m>\d{1,2})[-/.](?P<y>\d{4})"),
    re.compile(r"(?P<m>\d{1,2})[-/.](?P<d>\d{1,2})[-/.](?P<y>\d{4})"),
)
NAME = re.compile(r"[^\W\d_]+(?:['’.-][^\W\d_]+)*\.?(?:,? [^\W\d_]+(?:['’.-][^\W\d_]+)*\.?){0,4}")


def _is_date(text: str) -> bool:
    return any(_is_day(found) for form in DATES if (found := form.fullmatch(text)))


def _is_day(found: re.Match[str]) -> bool:
    try:
        date(int(found["y"]), int(found["m"]), int(found["d"]))
    except ValueError:
        return False
    return True


def _is_address(text: str) -> bool:
    try:
        ip_address(text.split("/")[0])
    except ValueError:
        return False
    return "." in text or ":" in text


def _is_phone(text: str) -> bool:
    return 7 <= sum(map(str.isdigit, text)) <= 15 and PHONE.fullmatch(text) is not None


def _is_card(text: str) -> bool:
    """A number of a card, by its check digit (Luhn)."""
    digits = [int(sign) for sign in text if sign.isdigit()]
    if DIGITS.fullmatch(text) is None or not 12 <= len(digits) <= 19:
        return False
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2]]
    return (sum(doubled) + sum(digits[-1::-2])) % 10 == 0


def _is_iban(text: str) -> bool:
    """An account, by its check number (ISO 13616)."""
    plain = text.replace(" ", "").upper()
    if re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", plain) is None:
        return False
    return int("".join(str(int(sign, 36)) for sign in plain[4:] + plain[:4])) % 97 == 1


def _is_vehicle(text: str) -> bool:
    """A vehicle, by its check digit."""
    if VIN.fullmatch(text.upper()) is None or text.isdigit():
        return False
    letters = dict(
        zip(
            "ABCDEFGHJKLMNPRSTUVWXYZ",
            (1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 7, 9, 2, 3, 4, 5, 6, 7, 8, 9),
            strict=True,
        )
    )
    weights = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
    total = sum(
        (int(sign) if sign.isdigit() else letters[sign]) * weight
        for sign, weight in zip(text.upper(), weights, strict=True)
    )
    return text.upper()[8] == "0123456789X"[total % 11]


def _is_name(text: str) -> bool:
    if NAME.fullmatch(text) is None or not text[0].isupper():
        return False
    words = re.findall(r"[^\W\d_]+", text.lower())
    return any(word in COMMON_NAMES for word in words)


def _matches(form: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: form.fullmatch(text) is not None


TESTS: tuple[tuple[str, str, Callable[[str], bool]], ...] = (
    ("email", "F", _matches(EMAIL)),
    ("url", "N", _matches(URL)),
    ("ssn", "G", _matches(SSN)),
    ("ip", "O", _is_address),
    ("device", "M", _matches(MAC)),
    ("account", "J", _is_iban),
    ("account", "J", _is_card),
    ("vehicle", "L", _is_vehicle),
    ("date", "C", _is_date),
    ("phone", "D", _is_phone),
    ("photo", "Q", _matches(PICTURE)),
    ("record", "R", _matches(UUID)),
    ("name", "A", _is_name),
)
"""Kind, paragraph, and how one cell is recognized; the first that more than half of the cells fit is taken."""


def safe_harbor(columns: Iterable[Column]) -> tuple[HarborKind, ...]:
    """The columns that hold what the rule lists."""
    found = [_kind(column, *_cells(column)) for column in columns]
    return tuple(one for one in found if one is not None)


def _cells(column: Column) -> tuple[list[str], list[int]]:
    """The most frequent values, without the missing one, and how often they occur."""
    counts = np.bincount(column.codes, minlength=len(column.domain))
    if column.domain.missing is not None:
        counts[column.domain.missing] = 0
    order = np.argsort(-counts, kind="stable")[:LOOKED_AT]
    order = order[counts[order] > 0]
    return [column.domain.labels[code].strip() for code in order.tolist()], counts[order].tolist()


def _kind(column: Column, texts: list[str], counts: list[int]) -> HarborKind | None:
    total = sum(counts)
    if not total:
        return None
    if column.domain.kind is Kind.DATE:
        return _made(column, "date", "C", 1.0, "are dates")
    for kind, letter, fits in TESTS:
        share = sum(count for text, count in zip(texts, counts, strict=True) if fits(text)) / total
        if share > HALF and (kind != "name" or sum(map(fits, texts)) > len(texts) * A_FEW):
            return _made(column, kind, letter, share, f"look like {_WORDS[kind]}")
    return _numbers(column, texts, counts)


def _numbers(column: Column, texts: list[str], counts: list[int]) -> HarborKind | None:
    """Kinds for which a number alone says too little: the name of the column, or how the values are spread, decides."""
    total, words = sum(counts), set(words_of(column.name))

    def share(fits: Callable[[str], bool]) -> float:
        return sum(count for text, count in zip(texts, counts, strict=True) if fits(text)) / total

    if words & {"zip", "zipcode", "postal", "postcode", "plz"} and (found := share(_matches(ZIP))) > HALF:
        return _made(column, "zip", "B", found, "look like ZIP codes")
    if words & {"age", "alter"} and (old := share(lambda text: text.isdigit() and int(text) > OLDEST)):
        return _made(column, "age", "C", old, f"are ages above {OLDEST}")
    if words & {"fax", "telefax"} and (found := share(lambda text: sum(map(str.isdigit, text)) > 5)) > HALF:
        return _made(column, "fax", "E", found, "look like fax numbers")
    if (
        words & {"phone", "telephone", "mobile", "telefon"}
        and (found := share(lambda text: text.isdigit())) > HALF
    ):
        return _made(column, "phone", "D", found, "look like phone numbers")
    if names_persons(column.name):
        return _made(column, "name", "A", 1.0, "stand under a name that tells persons")
    if numbers_persons(column.name):
        return _made(column, "record", "H", 1.0, "stand under the name of a number of persons")
    shapes = {re.sub(r"[^\W\d_]", "A", re.sub(r"\d", "9", text)) for text in texts}
    telling = len(column.domain) >= MANY * len(column.codes) and len(column.codes) >= SEVERAL
    if (
        telling
        and len(shapes) == 1
        and any(map(str.isdigit, texts[0]))
        and len(texts[0]) > 3
        and "." not in texts[0]
    ):
        return _made(column, "record", "H", 1.0, "are different numbers of one shape")
    if share(_matches(ZIP)) == 1.0 and len(column.domain) > 1 and column.domain.labels[0].startswith("0"):
        return _made(column, "zip", "B", 1.0, "look like ZIP codes")
    return None


_WORDS = {
    "email": "e-mail addresses",
    "url": "web addresses",
    "ssn": "social security numbers",
    "ip": "addresses of computers",
    "device": "numbers of devices",
    "account": "numbers of accounts or cards",
    "vehicle": "numbers of vehicles",
    "date": "dates",
    "phone": "phone numbers",
    "photo": "names of pictures",
    "record": "numbers of records",
    "name": "names of persons",
}


def _made(column: Column, kind: str, letter: str, share: float, words: str) -> HarborKind:
    how_many = f"{share:.0%}" if share >= 0.01 else "Some"
    reason = (
        f"{how_many} of the cells of {column.name} {words}; the Safe Harbor rule lists them under ({letter})."
    )
    return HarborKind(column.name, kind, letter, share, reason)
