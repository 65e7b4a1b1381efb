"""Bottom coding: small numbers are published as one value, ``<=20``."""

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from shoal.data._cell_kinds import plain_number
from shoal.preparation._limits import LimitCoding

if TYPE_CHECKING:
    import polars


class BottomCoding(LimitCoding):
    """Publish all numbers up to a limit as one value: 20 and below as ``<=20``."""

    name: ClassVar[str] = "bottom-coding"
    metavar: ClassVar[str] = "COLUMN=NUMBER"
    public: ClassVar[str] = "small numbers as one value"
    help: ClassVar[str] = "publish numbers up to a limit as one value: age=20 as <=20"

    limits: dict[str, int | float] = Field(
        min_length=1, description="column to the largest number that is coded"
    )

    def said(self, name: str, limit: float) -> str:
        """The limit of a column, and how it is published."""
        return f"{name} up to {plain_number(limit)} as {self.written(limit)}"

    def written(self, limit: float) -> str:
        """The limit with a sign that the range is open."""
        return f"<={plain_number(limit)}"

    def beyond(self, numbers: "polars.Series", limit: float) -> "polars.Series":
        """The limit itself, and all beyond it."""
        return numbers <= limit
