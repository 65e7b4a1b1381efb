"""What is promised of cross-tables."""

from collections.abc import Collection
from typing import Any, ClassVar

from pydantic import Field, field_validator, model_validator

from shoal.errors import WrongUse
from shoal.parameters import Parameters


class Protection(Parameters):
    """Which cells of a cross-table are sensitive, and how uncertain hidden ones stay; or how much noise is added."""

    name: ClassVar[str] = "summarize"

    threshold: int = Field(
        default=3,
        ge=2,
        description="cells with fewer rows are hidden, and hidden counts stay uncertain by at least this much",
    )
    p: float = Field(
        default=10,
        gt=0,
        lt=100,
        description="a sum is hidden where the second largest amount could tell the largest to within p percent, and "
        "no hidden sum can be estimated to within p percent",
    )
    dominance: tuple[int, float] | None = Field(
        default=None,
        description="n,k: also hide a sum whose n largest amounts are more than k percent of it",
    )
    epsilon: float | None = Field(
        default=None,
        gt=0,
        le=100,
        description="hide nothing, and add discrete Laplace noise to counts instead: the privacy budget of the folder",
    )
    time_limit: float = Field(
        default=20, gt=0, description="seconds to look for hidden cells that can be published after all"
    )

    @field_validator("dominance", mode="before")
    @classmethod
    def _pair(cls, given: Any) -> Any:
        if given is not None and (isinstance(given, str) or len(given) != 2):
            raise WrongUse("it is two numbers, n,k, such as 1,75")
        return given

    @model_validator(mode="after")
    def _sound(self) -> "Protection":
        if self.dominance is not None and not (self.dominance[0] >= 1 and 50 < self.dominance[1] < 100):
            raise WrongUse(
                "Dominance is n,k: the n largest amounts, n from 1 on, and k percent, above 50 and below 100"
            )
        given = {"threshold", "p", "dominance"} & self.model_fields_set
        if self.epsilon is not None and given:
            named = ", ".join(f"--{name}" for name in sorted(given))
            raise WrongUse(f"With --epsilon no cell is hidden; omit {named}")
        return self

    @property
    def percent(self) -> float:
        """The percentage to within which no hidden sum can be estimated, as p and the dominance rule ask."""
        if self.dominance is None:
            return self.p
        return max(self.p, 100 * (100 - self.dominance[1]) / self.dominance[1])


def refuse_sums(protection: Protection, sums: tuple[str, ...], by: Collection[str]) -> None:
    """Refuse sums that cannot be protected, and rules for sums where there are none.

    How much noise a sum needs depends on the largest possible amount; and where rows are counted by the amounts
    themselves, the name of a cell gives away what its hidden sum hides.
    """
    for name in sums:
        if name in by:
            raise WrongUse(
                f"{name!r} is to be summed up and counted by: the names of the cells would tell the amounts that "
                "hidden sums hide. Count by another column, or by classes of it in a column of their own."
            )
    idle = sorted({"p", "dominance"} & protection.model_fields_set)
    if idle and not sums:
        raise WrongUse(f"--{idle[0]} is a rule for sums, and there are none; name columns with --sum.")
    if protection.epsilon is not None and sums:
        raise WrongUse(
            "--epsilon is for counts: how much noise a sum needs depends on the largest amount that anybody can have. "
            "Omit --sum, or count classes of amounts (--by)."
        )
