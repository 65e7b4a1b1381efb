"""Suggest a role for a column from its name and a few statistics, and find columns that list numbers of persons."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from shoal.data.domain import Domain, Kind
from shoal.data.role import Role

FLAG = 2
"""A column of many rows with at most so many values is a flag, such as 0 and 1, and never an id of persons."""

NEARLY_ALL = 0.9
"""From this share of unique rows on, a column identifies persons like a name."""


def _words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


PERSON = (
    r"patient(en)?|person(al|en)?|customer|client|kunden?|member|student|pupil|employee|worker|staff|user|subject|"
    r"participant|proband(en)?|respondent|citizen|resident|taxpayer|insured|insurance|versicherten|versicherungs|"
    r"beneficiary|case|fall|individual|donor|applicant|account|national|social|tax|steuer|medical record|"
    r"health"
)
NUMBER = r"id|ids|identifier|uid|number|num|no|nr|nummer|code|key|hash|pseudonym"
PERSON_ID = (
    rf"(({PERSON}) ?)+(record )?(security )?({NUMBER})( ({NUMBER}))?|(pat|cust|emp|stud|subj) ?(id|no|nr)|"
    rf"id ?({PERSON})|patient|customer|participant|respondent|ssn|nhs( number)?|mrn|cpr|svnr|"
    r"passport( ?(no|nr|number))?|pid"
)
"""Pattern of column names for numbers of persons, to match the whole name; compiled on first use."""

ID_WORDS = _words("id identifier uid uuid guid pseudonym")
THINGS = _words(
    "department ward station hospital clinic site center centre unit team room bed product item stock store shop "
    "branch company course class group category type kind status region area level doctor physician provider "
    "drug test device batch version model"
)
"""Words for things and people with ids that are not those of the persons in a table."""

ABOUT = _words("type kind class category status group count flag verified domain prefix suffix length level")
"""Last words of column names that describe a name or a number, so that the column itself is none."""

DIRECT = (
    r"(?:.* )?(?:(?:first|last|full|sur|fore|family|given|middle|maiden|birth|user|nick|patient|person|customer|client|"
    r"employee|member|student|mother|father|mothers|fathers|spouse|contact|login) ?names?|vorname|nachname|"
    r"familienname|geburtsname|benutzername|e ?mail(?: ?address)?|"
    r"(?:tele|cell|mobile)? ?phone(?: ?(?:number|no|nr))?|mobile|telefon(?:nummer)?|handy(?:nummer)?|fax|iban|"
    r"(?:ip|home|street|postal) address|anschrift)|names?|address|adresse"
)
"""Pattern of column names for names and addresses of persons, to match the whole name."""

WEAK_WORDS = _words(
    "name user key account card licence license plate address adresse street strasse straße ip url signature "
    "photo"
)
"""Words in names of columns that identify persons if they have many values."""

QUASI_WORDS = _words(
    "age alter birth birthday birthdate birthyear born dob dateofbirth yob geburtsdatum geburtstag geburtsjahr sex "
    "gender geschlecht zip zipcode postcode postal plz postleitzahl city town county state region country stadt "
    "wohnort ort land nation nationality native citizenship staatsangehörigkeit language education degree school "
    "marital familienstand relationship household children race ethnic ethnicity height weight date datum admission "
    "admitted admit discharge discharged aufnahme aufnahmedatum entlassung entlassungsdatum"
)
SENSITIVE_WORDS = _words(
    "dx icd diagnoses diagnosis diagnose disease illness krankheit erkrankung condition disorder symptom treatment "
    "therapy therapie medication medikament drug hiv aids cancer lab labor laboratory blood finding befund pregnant "
    "pregnancy disability salary gehalt income einkommen wage earning debt wealth credit loan occupation beruf job "
    "religion religious faith konfession party vote orientation crime offence offense grade score"
)


LEAST_LISTS = 20
"""With fewer values, one cannot tell whether a column holds lists of numbers of persons, such as ``P103; P208``."""

VALUES_PER_ROW = 0.5
"""The smallest number of different lists per row: lists of persons hardly repeat."""

LISTS = 0.5
"""From this share of lists among its values on, a column counts as one of lists."""

CELLS_OF_A_NUMBER = 2
"""The most lists that a number of a person occurs in, on average; codes of illnesses occur in many."""

SOME = 1000
"""Size of the sample of values that is examined first."""

_BETWEEN = re.compile(r"\s*[;,|]\s*|\s+")
_NUMBERED = re.compile(r"[^\W_]*[0-9][\w-]*")

NAMED = "its name says"
"""The beginning of a reason that comes from the name of a column."""


class Suggestion(NamedTuple):
    """A suggested role, and the reason for it."""

    role: Role
    reason: str


def words_of(name: str) -> list[str]:
    """The words in the name of a column, in lower case.

    >>> words_of("CustomerID"), words_of("date-of_birth"), words_of("ICD10")
    (['customer', 'id'], ['date', 'of', 'birth'], ['icd'])
    """
    spaced = re.sub(r"([a-zß-ÿ])([A-Z])", r"\1 \2", re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1 \2", name))
    return re.findall(r"[^\W\d_]+", spaced.lower())


def names_persons(name: str) -> bool:
    """Whether a column's name says that it holds names or addresses of persons."""
    return re.fullmatch(DIRECT, " ".join(words_of(name))) is not None


def numbers_persons(name: str) -> bool:
    """Whether a column's name says that it holds ids of persons, not of things.

    >>> [numbers_persons(name) for name in ("id", "patientid", "CustomerID", "department_id", "id_type", "valid")]
    [True, True, True, False, False, False]
    """
    words = words_of(name)
    if re.fullmatch(PERSON_ID, " ".join(words)):
        return True
    named = not ID_WORDS.isdisjoint(words) and words[-1] not in ABOUT
    telling = (QUASI_WORDS, SENSITIVE_WORDS, THINGS)
    return named and not any(_first(known, words) for known in telling)


def called_quasi(name: str) -> str | None:
    """The word in a column's name that marks it as a quasi-identifier; None if there is none."""
    return _first(QUASI_WORDS, words_of(name))


def suggest_role(
    name: str,
    distinct: int,
    rows: int,
    unique: float,
    *,
    missing: int = 0,
    measured: bool = False,
    listed: bool = False,
) -> Suggestion:
    """Suggest a role for a column, with the reason.

    The name decides first, then the statistics. A column without any clue is suggested as a quasi-identifier, to be
    safe.

    `distinct`: the number of different values, without the missing one. `rows`, `missing`: the number of cells, and of
    those without a value. `unique`: the share of rows whose value nobody else has. `measured`: whether the values are
    amounts, which may all differ without being names. `listed`: whether the values are lists of numbers of persons.

    >>> suggest_role("dateOfBirth", 9000, 30000, 0.1).role.value
    'quasi'
    >>> suggest_role("patient_id", 60, 4000, 0.0).role.value
    'entity'
    """
    words = words_of(name)
    if listed:
        return Suggestion(Role.IDENTIFYING, "its cells list numbers, each of which is in few cells")
    if names_persons(name):
        return Suggestion(Role.IDENTIFYING, f"{NAMED} that it names persons")
    flag = distinct <= FLAG <= rows / 10 or distinct == 1 < rows
    if numbers_persons(name) and not flag:
        if distinct < rows - missing:
            return Suggestion(Role.ENTITY, f"an id of persons: {distinct:,} of them in {rows:,} rows")
        return Suggestion(Role.IDENTIFYING, "an id of persons, each of whom has one row")
    constant = distinct == 0 or (distinct == 1 and not missing)
    if (found := _first(QUASI_WORDS, words)) and not constant:
        return Suggestion(Role.QUASI, f"{NAMED} {found!r}: others may know it")
    if not found and (found := _first(SENSITIVE_WORDS, words)):
        return Suggestion(Role.SENSITIVE, f"{NAMED} {found!r}: it should not be learned about a person")
    if constant:
        return Suggestion(
            Role.INSENSITIVE, "all rows have the same value" if distinct else "it has no values"
        )
    if (found := _first(WEAK_WORDS, words)) and distinct * 10 >= rows and words[-1] not in ABOUT:
        return Suggestion(Role.IDENTIFYING, f"{NAMED} {found!r}, and it has many values")
    if unique >= NEARLY_ALL and not measured:
        return Suggestion(Role.IDENTIFYING, f"{unique:.0%} of the rows have a value of their own")
    return Suggestion(Role.QUASI, "not recognized; treated as known to others, to be safe")


def _first(known: frozenset[str], words: list[str]) -> str | None:
    """The first of the words that is known, in the singular or plural."""
    return next((word for word in words if word in known or word.removesuffix("s") in known), None)


def share_of_lists(domain: Domain, rows: int) -> float:
    """The share of values that are lists of numbers, if these identify persons like names; otherwise 0."""
    labels = domain.labels[: domain.present]
    if domain.kind is not Kind.NOMINAL or len(labels) < max(LEAST_LISTS, VALUES_PER_ROW * rows):
        return 0.0
    some = _lists(labels[:: len(labels) // SOME or 1])
    if len(some) < LISTS / 2 * min(SOME, len(labels)) or _repeat(some):
        return 0.0
    lists = _lists(labels)
    share = len(lists) / len(labels)
    return share if share >= LISTS and not _repeat(lists) else 0.0


def _lists(labels: Sequence[str]) -> list[list[str]]:
    return [parts for parts in map(_parts, labels) if parts]


def _repeat(lists: Sequence[list[str]]) -> bool:
    """Whether numbers occur in too many lists to be those of persons; with more lists, they repeat more often."""
    met = Counter(chain.from_iterable(lists))
    return met.total() > CELLS_OF_A_NUMBER * len(met)


def _parts(label: str) -> list[str]:
    """The numbers in a list; empty if the text is something else.

    >>> _parts("P103; P208"), _parts("12 Main Street"), _parts("P103")
    (['P103', 'P208'], [], [])
    """
    parts = _BETWEEN.split(label.strip("[](){} "))
    several = len(parts) > 1 and all(map(_NUMBERED.fullmatch, parts))
    return parts if several else []
