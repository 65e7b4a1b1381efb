"""Top coding: large numbers are published as one value, ``90+``."""

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from shoal.data._cell_kinds import plain_number
from shoal.preparation._limits import LimitCoding

if TYPE_CHECKING:
    import polars


class TopCoding(LimitCoding):
    """Publish all numbers from a limit on as one value: 90 and above as ``90+``."""

    name: ClassVar[str] = "top-coding"
    metavar: ClassVar[str] = "COLUMN=NUMBER"
    public: ClassVar[str] = "large numbers as one value"
    help: ClassVar[str] = "publish numbers from a limit on as one value: age=90 as 90+"

    limits: dict[str, int | float] = Field(
        min_length=1, description="column to the least number that is coded"
    )

    def said(self, name: str, limit: float) -> str:
        """The limit of a column, and how it is published."""
        return f"{name} from {plain_number(limit)} on as {self.written(limit)}"

    def written(self, limit: float) -> str:
        """The limit with a sign that the range is open."""
        return f"{plain_number(limit)}+"

    def beyond(self, numbers: "polars.Series", limit: float) -> "polars.Series":
        """The limit itself, and all beyond it."""
        return numbers >= limit
