"""Top coding: large numbers are published as one value, ``90+``."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from shoal.data._cell_kinds import coordinates, plain_number
from shoal.data.domain import Kind
from shoal.preparation.transform import Transform, Values, listed, pairs, typed_number

if TYPE_CHECKING:
    import polars


class TopCoding(Transform):
    """Publish all numbers from a limit on as one value: 90 and above as ``90+``."""

    name: ClassVar[str] = "top-coding"
    option: ClassVar[str] = "top"
    metavar: ClassVar[str] = "COLUMN=NUMBER"
    help: ClassVar[str] = "publish numbers from a limit on as one value: age=90 as 90+"

    limits: dict[str, int | float] = Field(
        min_length=1, description="column to the least number that is coded"
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
            f"{name} from {plain_number(limit)} on as {plain_number(limit)}+"
            for name, limit in self.limits.items()
        ]
        return f"top coding: {listed(said)}"

    def apply(self, values: Values) -> "tuple[polars.Series, Kind]":
        """The coded values."""
        values.refuse_unless(Kind.NUMERIC, "top coding (--top)")
        limit = self.limits[values.name]
        high = (coordinates(values.texts, Kind.NUMERIC) >= limit).fill_null(False)
        return values.texts.set(high, f"{plain_number(limit)}+"), Kind.NUMERIC
