"""What top and bottom coding share: limits of columns, and one value for all numbers beyond."""

from typing import TYPE_CHECKING, ClassVar

from shoal.data._cell_kinds import coordinates
from shoal.data.domain import Kind
from shoal.preparation.transform import ColumnTransform, Values, listed, typed_number

if TYPE_CHECKING:
    import polars


class LimitCoding(ColumnTransform):
    """Publish all numbers beyond a limit as one value."""

    by_column: ClassVar[str] = "limits"

    limits: dict[str, int | float]

    @classmethod
    def typed_value(cls, name: str, text: str) -> int | float:
        """A limit."""
        return typed_number(text, cls.option)

    def sentence(self) -> str:
        """The limits."""
        said = [self.said(name, limit) for name, limit in self.limits.items()]
        return f"{self.name.replace('-', ' ')}: {listed(said)}"

    def apply(self, values: Values) -> "tuple[polars.Series, Kind]":
        """The coded values."""
        values.refuse_unless(Kind.NUMERIC, f"{self.name.replace('-', ' ')} (--{self.option})")
        limit = self.limits[values.name]
        beyond = self.beyond(coordinates(values.texts, Kind.NUMERIC), limit).fill_null(False)
        return values.texts.set(beyond, self.written(limit)), Kind.NUMERIC

    def said(self, name: str, limit: float) -> str:
        """What is done to a column."""
        raise NotImplementedError

    def written(self, limit: float) -> str:
        """The value that stands for all numbers beyond a limit."""
        raise NotImplementedError

    def beyond(self, numbers: "polars.Series", limit: float) -> "polars.Series":
        """Which numbers are coded."""
        raise NotImplementedError
