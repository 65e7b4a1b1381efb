"""(d,γ)-privacy of perturbed values (Rastogi, Suciu and Hong 2007)."""

from fractions import Fraction
from math import floor, inf
from typing import ClassVar, Self

from pydantic import Field, model_validator

from shoal.data._promise_words import percent
from shoal.errors import WrongUse
from shoal.models._exact import fraction
from shoal.models._matrices import MatrixModel, posterior


class DGammaPrivacy(MatrixModel):
    """A value that was believed with a chance of at most d is believed with at most γ once the published one is seen.

    Nor does the belief fall below d/γ of what it was. It is about each value of one person, whatever is believed of
    the others: the belief that is left goes to the value that the published one speaks against most.
    """

    name: ClassVar[str] = "d-gamma-privacy"
    paper: ClassVar[str] = (
        "Rastogi, Suciu, Hong: The boundary between privacy and utility in data publishing. VLDB 2007"
    )
    bounded_by: ClassVar[str] = "gamma"

    d: float = Field(gt=0, lt=1, description="a belief in a value before, at most")
    gamma: float = Field(gt=0, lt=1, description="the belief in it afterwards, at most")

    def sentence(self, of: str, known: str) -> str:
        """The promise for readers who know no model by its name."""
        return (
            f"Values of {of} were changed at random: a value believed with a chance of at most {percent(self.d)} "
            f"before is believed with at most {percent(self.gamma)} after seeing one."
        )

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        if self.gamma <= self.d:
            raise WrongUse("gamma must be above d, for example --d 0.1 --gamma 0.4")
        return self

    def allows(self, factor: Fraction | float) -> bool:
        """Whether belief grows and falls as little as is promised."""
        if factor == inf:
            return False
        least, most = fraction(self.d), fraction(self.gamma)
        return posterior(least, factor) <= most and least / most <= 1 / Fraction(factor)

    def reached(self, factor: Fraction | float) -> Fraction:
        """The highest belief afterwards."""
        return posterior(fraction(self.d), factor)

    def largest(self) -> Fraction:
        """The largest factor with which belief grows to γ at most, and falls to d/γ at most."""
        least, most = fraction(self.d), fraction(self.gamma)
        limit = min(most * (1 - least) / (least * (1 - most)), most / least)
        return Fraction(floor(limit * 10**6), 10**6)

    def promise(self) -> str:
        """The promise in words."""
        return (
            f"a value of {self.column or 'each column'} that is believed with a chance of at most {self.d:g} is "
            f"believed with at most {self.gamma:g} once the published one is seen"
        )
