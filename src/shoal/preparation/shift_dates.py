"""Shifted dates: all dates of a person are moved by the same secret number of days."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from pydantic import Field

from shoal.data._cell_kinds import Distinct, coordinates, without_times
from shoal.data._promise_words import joined
from shoal.data.domain import Kind
from shoal.data.role import Roles
from shoal.errors import BadData, WrongUse
from shoal.preparation._key import KeyedStep, digest, key_of

if TYPE_CHECKING:
    import polars


class ShiftDates(KeyedStep):
    """Move all dates of a person by the same number of days, which only the key tells; intervals between them stay.

    Every shift from -`days` to `days` except 0 is equally likely. A row without a number of a person is refused.
    """

    name: ClassVar[str] = "shift-dates"
    public: ClassVar[str] = "all days of a person shifted by the same secret number"
    help: ClassVar[str] = (
        "move all days of a person by one secret number of days (--key FILE, --person COLUMN)"
    )
    by_rows: ClassVar[bool] = True

    columns: tuple[str, ...] = Field(min_length=1, description="columns of dates")
    person: str | None = Field(
        default=None,
        description="column of the person's number; the entity, or the one identifying column, by default",
    )
    days: int = Field(default=182, ge=1, le=36500, description="the largest shift, in days")

    @property
    def columns_read(self) -> tuple[str, ...]:
        """The column of the person's number."""
        return () if self.person is None else (self.person,)

    def among(self, roles: Roles) -> Self:
        """The step with the column of the person's number, found from the roles if it is not named."""
        if self.person is not None:
            return self
        only = roles.identifying[0] if len(roles.identifying) == 1 else None
        person = roles.entity or only
        if person is None:
            raise WrongUse(
                "Dates are shifted by person (--shift-dates): name the column of the person's number with --person, "
                "--entity or --identifying."
            )
        return self.model_copy(update={"person": person})

    def sentence(self) -> str:
        """The columns and the largest shift, in words."""
        return f"dates shifted by person, by up to {self.days} days and a secret key: {joined(self.columns)}"

    def apply_to_rows(self, cells: Mapping[str, Distinct]) -> dict[str, Distinct]:
        """Shift the dates."""
        assert self.person is not None
        persons = cells[self.person]
        if persons.missing.any():
            raise BadData(
                "a row has no number of its person, so that its dates cannot be shifted.", column=self.person
            )
        key = key_of(self.key, "--shift-dates")
        shifts = np.array(
            [self._shift(key, text) for text in persons.texts.fill_null("").to_list()], dtype=np.int64
        )
        return {name: self._moved(name, cells[name], shifts[persons.places]) for name in self.columns}

    def _moved(self, name: str, cells: Distinct, shifts: "np.ndarray[Any, np.dtype[np.int64]]") -> Distinct:
        days = coordinates(without_times(cells.texts), Kind.DATE)
        wrong = days.is_null() & cells.texts.is_not_null()
        if wrong.any():
            raise BadData(
                f"{cells.texts[int(wrong.arg_true()[0])]!r} is not a date that can be shifted; say its form "
                "(--date-format), or name it as missing (--missing).",
                column=name,
            )
        none = np.iinfo(np.int64).max
        moved = days.fill_null(0.0).to_numpy().astype(np.int64)[cells.places] + shifts
        moved[cells.missing] = none
        found, places = np.unique(moved, return_inverse=True)
        return Distinct(_texts(found, none), places.astype(np.int32))

    def _shift(self, key: bytes, person: str) -> int:
        """The shift of a person: from -days to days, but not 0."""
        plain = re.sub(r"\.0+$", "", person)  # numbers of a column with gaps have decimals in some files
        drawn = int.from_bytes(digest(key, "shift", plain), "big") % (2 * self.days)
        return drawn - self.days if drawn < self.days else drawn - self.days + 1


def _texts(days: "np.ndarray[Any, np.dtype[np.int64]]", none: int) -> "polars.Series":
    """Dates as texts; null for `none`."""
    import polars as pl

    known = days != none
    texts = [str(day) for day in days[known].astype("datetime64[D]")]
    return pl.Series([*texts, *[None] * int((~known).sum())], dtype=pl.String)
