"""A synthetic table of people, with the skews and correlations of a census and a register of diagnoses."""

from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.arrays import Codes, Floats, Mask, Rows
from shoal.data.domain import Domain, Kind
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.parameters import Parameters

TODAY = np.datetime64("2020-01-01")
"""The day on which people have the age that the column says."""

YOUNGEST, OLDEST = 17, 90

SEXES = ("Female", "Male")

EDUCATIONS = (
    "Preschool",
    "1st-4th",
    "5th-6th",
    "7th-8th",
    "9th",
    "10th",
    "11th",
    "12th",
    "HS-grad",
    "Some-college",
    "Assoc-voc",
    "Assoc-acdm",
    "Bachelors",
    "Masters",
    "Prof-school",
    "Doctorate",
)
"""Names of the education numbers 1 … 16."""

EDUCATION_SHARES = np.array(
    [2, 5, 10, 20, 16, 28, 36, 13, 322, 224, 42, 33, 165, 53, 18, 13], dtype=np.float64
)

MARITAL = ("Divorced", "Married", "Never-married", "Separated", "Widowed")
MARITAL_SHARES = np.array(
    [
        [1, 8, 90, 1, 0],
        [10, 47, 39, 4, 0],
        [18, 62, 15, 4, 1],
        [20, 64, 8, 3, 5],
        [12, 52, 5, 2, 29],
    ],
    dtype=np.float64,
)
"""Shares of `MARITAL` by age: below 25, 35, 50, 65, and above."""

OCCUPATIONS = (
    "Adm-clerical",
    "Craft-repair",
    "Exec-managerial",
    "Farming-fishing",
    "Handlers-cleaners",
    "Other-service",
    "Prof-specialty",
    "Sales",
    "Tech-support",
    "Transport-moving",
)
OCCUPATION_SHARES = np.array(
    [
        [
            [14, 8, 4, 3, 12, 46, 1, 11, 0, 1],
            [30, 4, 12, 1, 4, 24, 6, 15, 3, 1],
            [16, 1, 22, 1, 1, 5, 42, 9, 3, 0],
        ],
        [
            [3, 30, 5, 9, 16, 14, 1, 6, 1, 15],
            [8, 27, 14, 4, 7, 9, 6, 13, 4, 8],
            [6, 5, 31, 2, 1, 3, 34, 13, 4, 1],
        ],
    ],
    dtype=np.float64,
)
"""Shares of `OCCUPATIONS` by sex, and by education: less than high school, less than a degree, a degree."""

COUNTRIES = (
    "Canada",
    "China",
    "Cuba",
    "England",
    "Germany",
    "India",
    "Italy",
    "Mexico",
    "Philippines",
    "United-States",
)
COUNTRY_SHARES = np.array([6, 6, 8, 7, 9, 12, 5, 42, 15, 890], dtype=np.float64)

DISEASES = (
    "asthma",
    "breast cancer",
    "depression",
    "diabetes",
    "flu",
    "heart disease",
    "hypertension",
    "migraine",
    "none",
    "prostate cancer",
)
DISEASE_SHARES = np.array(
    [
        [[60, 1, 60, 10, 90, 2, 10, 70, 697, 0], [60, 0, 35, 10, 90, 4, 20, 30, 751, 0]],
        [[50, 8, 85, 30, 80, 10, 50, 90, 597, 0], [45, 0, 50, 40, 80, 25, 90, 35, 634, 1]],
        [[40, 25, 70, 90, 70, 60, 190, 50, 405, 0], [35, 0, 45, 120, 70, 120, 220, 20, 350, 20]],
        [[35, 40, 55, 150, 80, 190, 280, 20, 150, 0], [30, 1, 40, 160, 80, 270, 260, 10, 89, 60]],
    ],
    dtype=np.float64,
)
"""How many of a thousand people have each of `DISEASES`, by age (below 30, 50, 65, and above) and by sex."""

DISEASE_AGES = (30, 50, 65)
WITH_GAPS = ("zip", "marital-status", "occupation", "hours-per-week", "country")
"""The columns with missing cells."""


class People(Parameters):
    """People with age, sex, place, education, work and diagnosis.

    The truth: ages become rarer from 40 on; `date-of-birth` gives the exact age on 2020-01-01; `education` is the name
    of `education-num`, and young people cannot have finished the highest ones; `marital-status` depends on age,
    `occupation` on sex and education, `hours-per-week` on sex and age, and `disease` on sex and age alone, by the
    shares in `DISEASE_SHARES`. The popularity of places follows a Zipf law. Cells of zip, marital status, occupation,
    hours and country are missing independently of everything else.
    """

    name: ClassVar[str] = "people"

    rows: int = Field(default=30_000, ge=1, le=100_000_000, description="number of people")
    zips: int = Field(default=200, ge=1, le=50_000, description="number of places (zip codes)")
    missing: float = Field(
        default=0.02,
        ge=0,
        le=1,
        description="share of missing cells in zip, marital status, work and country",
    )

    numbered: bool = Field(
        default=False, description="begin with a column `person`, 1, 2, …, by which records can be joined"
    )

    def make(self, seed: int | None = None) -> Table:
        """Make the table; the same seed makes the same table. All columns are insensitive until they get roles."""
        generator = np.random.default_rng(seed)
        age, born = self._births(generator)
        sex = _draw(generator, np.zeros(self.rows, dtype=np.int64), np.array([[49.0, 51.0]]))
        education = self._educations(generator, age)
        level = np.digitize(education + 1, (9, 13))
        marital = _draw(generator, np.digitize(age, (25, 35, 50, 65)), MARITAL_SHARES)
        occupation = _draw(generator, sex * 3 + level, OCCUPATION_SHARES.reshape(6, -1))
        disease = _draw(generator, np.digitize(age, DISEASE_AGES) * 2 + sex, DISEASE_SHARES.reshape(8, -1))
        country = _draw(generator, np.zeros(self.rows, dtype=np.int64), COUNTRY_SHARES[None, :])
        places, zips = self._places(generator)
        hours = self._hours(generator, age, sex)
        gaps = {name: generator.random(self.rows) < self.missing for name in WITH_GAPS}
        columns: tuple[Column, ...] = (
            numbers("age", age),
            dates("date-of-birth", born),
            names("sex", SEXES, sex),
            names("zip", zips, places, gaps["zip"]),
            numbers("education-num", education + 1),
            names("education", EDUCATIONS, education),
            names("marital-status", MARITAL, marital, gaps["marital-status"]),
            names("occupation", OCCUPATIONS, occupation, gaps["occupation"]),
            numbers("hours-per-week", hours, gaps["hours-per-week"]),
            names("country", COUNTRIES, country, gaps["country"]),
            names("disease", DISEASES, disease),
        )
        if self.numbered:
            columns = (numbers("person", np.arange(1, self.rows + 1)), *columns)
        return Table(columns)

    def _births(self, generator: np.random.Generator) -> tuple[Rows, Rows]:
        """Ages in years, and days of birth counted from 1970-01-01."""
        ages = np.arange(YOUNGEST, OLDEST + 1)
        shares = np.minimum(1.0, np.exp(-(ages - 40) / 22.0))
        age = ages[_draw(generator, np.zeros(self.rows, dtype=np.int64), shares[None, :])]
        latest = _birthday(ages)
        earliest = _birthday(ages + 1) + 1
        place = age - YOUNGEST
        days = (latest - earliest + 1)[place]
        return age, earliest[place] + (generator.random(self.rows) * days).astype(np.int64)

    def _educations(self, generator: np.random.Generator, age: Rows) -> Rows:
        """Indices into `EDUCATIONS`; below 18, 20, 22 and 25 years the highest ones are out of reach."""
        shares = np.tile(EDUCATION_SHARES, (5, 1))
        for row, highest in enumerate((8, 10, 12, 13)):
            shares[row, highest:] = 0
        return _draw(generator, np.digitize(age, (18, 20, 22, 25)), shares)

    def _places(self, generator: np.random.Generator) -> tuple[Rows, tuple[str, ...]]:
        """Indices into a list of zip codes, and the list in ascending order."""
        numbers = np.sort(generator.choice(np.arange(501, 99_951), self.zips, replace=False))
        shares = generator.permutation(np.arange(1, self.zips + 1, dtype=np.float64) ** -0.8)
        place = _draw(generator, np.zeros(self.rows, dtype=np.int64), shares[None, :])
        return place, tuple(f"{number:05}" for number in numbers)

    def _hours(self, generator: np.random.Generator, age: Rows, sex: Rows) -> Rows:
        """Hours of work per week: 40 for almost half of the people, fewer for the young and the old."""
        mean = np.where((age < 22) | (age > 65), 26.0, 40.0) + np.where(sex == 1, 3.0, -2.0)
        hours = np.clip(np.rint(generator.normal(mean, 10.0)), 1, 99).astype(np.int64)
        full = (generator.random(self.rows) < 0.55) & (mean > 30)
        return np.where(full, 40, hours)


def _draw(generator: np.random.Generator, groups: Rows, shares: Floats) -> Rows:
    """For each person, draw an index by the shares of that person's group; `shares` has one row per group."""
    cumulated = np.cumsum(shares, axis=1)
    cumulated = cumulated / cumulated[:, -1:]
    # The groups are laid out one after another on a line, each of length 1, so that one search finds all indices.
    line = (cumulated + np.arange(len(shares))[:, None]).ravel()
    places = (
        np.searchsorted(line, groups + generator.random(len(groups)), side="right") - groups * shares.shape[1]
    )
    return np.asarray(np.minimum(places, shares.shape[1] - 1))


def _birthday(ages: Rows) -> Rows:
    """The last day of birth, counted from 1970-01-01, that gives each age on `TODAY`."""
    years = TODAY.astype("datetime64[Y]").astype(np.int64) - ages
    return np.asarray(years.astype("datetime64[Y]").astype("datetime64[D]").astype(np.int64))


def names(name: str, labels: tuple[str, ...], places: Rows, gaps: Mask | None = None) -> Column:
    """A column of names from their indices in a list."""
    order = sorted(range(len(labels)), key=labels.__getitem__)
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    codes, used, missing = _codes(ranks[places], gaps)
    texts = tuple(labels[order[place]] for place in used) + (("",) if missing is not None else ())
    return Column(name, Role.INSENSITIVE, Domain(Kind.NOMINAL, texts, None, missing), codes)


def numbers(name: str, values: Rows, gaps: Mask | None = None) -> Column:
    """A column of whole numbers."""
    codes, used, missing = _codes(values, gaps)
    texts = tuple(map(str, used.tolist())) + (("",) if missing is not None else ())
    held = used.astype(np.float64) if missing is None else np.append(used, np.nan)
    return Column(name, Role.INSENSITIVE, Domain(Kind.NUMERIC, texts, held, missing), codes)


def dates(name: str, days: Rows) -> Column:
    """A column of dates from days counted from 1970-01-01."""
    codes, used, _ = _codes(days, None)
    texts = tuple(np.datetime_as_string(used.astype("datetime64[D]")).tolist())
    return Column(name, Role.INSENSITIVE, Domain(Kind.DATE, texts, used.astype(np.float64)), codes)


def _codes(values: Rows, gaps: Mask | None) -> tuple[Codes, Rows, int | None]:
    """Codes of whole numbers, the distinct numbers that occur, and the code of the missing value where there is one."""
    present = values if gaps is None else values[~gaps]
    used = np.unique(present)
    codes = np.searchsorted(used, values).astype(np.int32)
    if gaps is None or not gaps.any():
        return codes, used, None
    codes[gaps] = len(used)
    return codes, used, len(used)
