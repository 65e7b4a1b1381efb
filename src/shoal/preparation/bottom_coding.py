"""Bottom coding: small numbers are published as one value, ``<=20``."""

from collections.abc import Callable
from operator import le
from typing import Any, ClassVar

from pydantic import Field

from shoal.preparation._limits import LimitCoding


class BottomCoding(LimitCoding):
    """Publish all numbers up to a limit as one value: 20 and below as ``<=20``."""

    name: ClassVar[str] = "bottom-coding"
    public: ClassVar[str] = "small numbers as one value"
    help: ClassVar[str] = "publish numbers up to a limit as one value: age=20 as <=20"
    reach: ClassVar[str] = "up to {}"
    coded: ClassVar[str] = "<={}"
    beyond: ClassVar[Callable[[Any, float], Any]] = le

    limits: dict[str, int | float] = Field(
        min_length=1, description="column to the largest number that is coded"
    )
