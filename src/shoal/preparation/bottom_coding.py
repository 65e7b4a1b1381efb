"""Bottom coding: small numbers are published as one value, ``<=20``."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from shoal.data._cell_kinds import coordinates, plain_number
from shoal.data.domain import Kind
from shoal.preparation.transform import Transform, Values, listed, pairs, typed_number

if TYPE_CHECKING:
    import polars


class BottomCoding(Transform):
    """Publish all numbers up to a limit as one value: 20 and below as ``<=20``."""

    name: ClassVar[str] = "bottom-coding"
    option: ClassVar[str] = "bottom"
    metavar: ClassVar[str] = "COLUMN=NUMBER"
    help: ClassVar[str] = "publish numbers up to a limit as one value: age=20 as <=20"

    limits: dict[str, int | float] = Field(
        min_length=1, description="column to the largest number that is coded"
    )

    @classmethod
    def typed(cls, texts: Sequence[str], shared: Mapping[str, Any]) -> list[dict[str, Any]]:
        """One step for all columns."""
        found = {name: typed_number(text, cls.option) for name, text in pairs(texts, cls.option).items()}
        return [{"name": cls.name, "limits": found}] if found else []

    @property
    def columns_changed(self) -> tuple[str, ...]:
        """The columns with a limit."""
        return tuple(self.limits)

    def sentence(self) -> str:
        """The limits."""
        said = [
            f"{name} up to {plain_number(limit)} as <={plain_number(limit)}"
            for name, limit in self.limits.items()
        ]
        return f"bottom coding: {listed(said)}"

    def apply(self, values: Values) -> "tuple[polars.Series, Kind]":
        """The coded values."""
        values.refuse_unless(Kind.NUMERIC, "bottom coding (--bottom)")
        limit = self.limits[values.name]
        low = (coordinates(values.texts, Kind.NUMERIC) <= limit).fill_null(False)
        return values.texts.set(low, f"<={plain_number(limit)}"), Kind.NUMERIC
