"""Rounding: numbers become the nearest multiple of a base."""

from decimal import ROUND_HALF_EVEN, Decimal
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from shoal.data._cell_kinds import plain_number
from shoal.data._promise_words import joined
from shoal.data.domain import Kind
from shoal.preparation.transform import ColumnStep, Values, typed_number

if TYPE_CHECKING:
    import polars


class Rounding(ColumnStep):
    """Publish numbers as the nearest multiple of a base; of two equally near ones, the even multiple.

    Everything is computed on decimal digits. Coded ends, such as ``90+``, stay as they are.
    """

    name: ClassVar[str] = "rounding"
    metavar: ClassVar[str] = "COLUMN=BASE"
    public: ClassVar[str] = "rounded"
    help: ClassVar[str] = "publish numbers as the nearest multiple of a base: income=1000"
    by_column: ClassVar[str] = "bases"

    bases: dict[str, int | float] = Field(min_length=1, description="column to base, a number above 0")

    @classmethod
    def parsed(cls, column: str, text: str) -> int | float:
        """Parse the base of a column."""
        return typed_number(text, cls.option)

    def model_post_init(self, _: Any) -> None:
        """Refuse a base that is not above 0."""
        from shoal.errors import WrongUse

        if wrong := [name for name, base in self.bases.items() if not base > 0]:
            raise WrongUse(f"The base that {wrong[0]} is rounded to (--round) must be above 0.")

    def sentence(self) -> str:
        """The columns and their bases, in words."""
        said = [f"{name} to multiples of {plain_number(base)}" for name, base in self.bases.items()]
        return f"rounding: {joined(said)}"

    def apply(self, values: Values) -> "tuple[polars.Series, Kind]":
        """Round the numbers."""
        import polars as pl

        values.refuse_unless(Kind.NUMERIC, "rounding (--round)")
        base = Decimal(plain_number(self.bases[values.name]))
        texts = [None if text is None else rounded(text, base) for text in values.texts.to_list()]
        return pl.Series(texts, dtype=pl.String), Kind.NUMERIC


def rounded(text: str, base: Decimal) -> str:
    """Round a number to the nearest multiple of a base.

    >>> rounded("1499.5", Decimal(1000)), rounded("2.5", Decimal(1)), rounded("0.16", Decimal("0.05"))
    ('1000', '2', '0.15')
    """
    if text.endswith("+") or text.startswith("<="):
        return text
    steps = (Decimal(text) / base).to_integral_value(ROUND_HALF_EVEN)
    return plain_number(steps * base)
