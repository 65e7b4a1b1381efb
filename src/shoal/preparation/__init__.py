"""Preparation: steps that are applied to columns before the method, one per file, in the order of the recipe."""

from typing import TYPE_CHECKING, Any

from shoal import registry

if TYPE_CHECKING:
    from shoal.preparation.bottom_coding import BottomCoding as BottomCoding
    from shoal.preparation.date_part import DatePart as DatePart
    from shoal.preparation.drop_values import DropValues as DropValues
    from shoal.preparation.microaggregation import Microaggregation as Microaggregation
    from shoal.preparation.pseudonym import Pseudonym as Pseudonym
    from shoal.preparation.recode import Recode as Recode
    from shoal.preparation.rounding import Rounding as Rounding
    from shoal.preparation.shift_dates import ShiftDates as ShiftDates
    from shoal.preparation.top_coding import TopCoding as TopCoding


def __getattr__(name: str) -> Any:
    return registry.class_called("transform", name)


def __dir__() -> list[str]:
    return sorted(registry.class_names("transform"))
