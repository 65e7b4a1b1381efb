"""Top coding: large numbers are published as one value, ``90+``."""

from collections.abc import Callable
from operator import ge
from typing import Any, ClassVar

from pydantic import Field

from shoal.preparation._limits import LimitCoding


class TopCoding(LimitCoding):
    """Publish all numbers from a limit on as one value: 90 and above as ``90+``."""

    name: ClassVar[str] = "top-coding"
    public: ClassVar[str] = "large numbers as one value"
    help: ClassVar[str] = "publish numbers from a limit on as one value: age=90 as 90+"
    reach: ClassVar[str] = "from {} on"
    coded: ClassVar[str] = "{}+"
    beyond: ClassVar[Callable[[Any, float], Any]] = ge

    limits: dict[str, int | float] = Field(
        min_length=1, description="column to the smallest number that is coded"
    )
