"""The base class of top and bottom coding, which publish all numbers beyond a limit as one value."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from shoal.data._cell_kinds import coordinates, plain_number
from shoal.data._promise_words import joined
from shoal.data.domain import Kind
from shoal.preparation.transform import ColumnStep, Values, typed_number

if TYPE_CHECKING:
    import polars


class LimitCoding(ColumnStep):
    """Publish all numbers beyond a limit, and the limit itself, as one value."""

    metavar: ClassVar[str] = "COLUMN=NUMBER"
    by_column: ClassVar[str] = "limits"
    coded: ClassVar[str]  # format of that value, to be filled with the limit
    reach: ClassVar[str]  # which numbers are coded, in words, to be filled with the limit
    beyond: ClassVar[Callable[[Any, float], Any]]  # function that tells which numbers are coded

    limits: dict[str, int | float]

    @classmethod
    def parsed(cls, column: str, text: str) -> int | float:
        """Parse the limit of a column."""
        return typed_number(text, cls.option)

    def sentence(self) -> str:
        """The coding and its limits, in words."""
        limits = {name: plain_number(limit) for name, limit in self.limits.items()}
        said = [f"{name} {self.reach.format(at)} as {self.coded.format(at)}" for name, at in limits.items()]
        return f"{self.name.replace('-', ' ')}: {joined(said)}"

    def apply(self, values: Values) -> "tuple[polars.Series, Kind]":
        """Code the values beyond the limit."""
        values.refuse_unless(Kind.NUMERIC, f"{self.name.replace('-', ' ')} (--{self.option})")
        limit = self.limits[values.name]
        beyond = type(self).beyond(coordinates(values.texts, Kind.NUMERIC), limit).fill_null(False)
        return values.texts.set(beyond, self.coded.format(plain_number(limit))), Kind.NUMERIC
