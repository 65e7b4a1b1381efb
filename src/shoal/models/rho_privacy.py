"""ρ1-to-ρ2 privacy of perturbed values (Evfimievski, Gehrke and Srikant 2003)."""

from fractions import Fraction
from math import ceil
from typing import ClassVar, Self

from pydantic import Field, model_validator

from shoal.data._promise_words import percent
from shoal.errors import WrongUse
from shoal.models._exact import fraction
from shoal.models._matrices import MatrixModel, posterior


class RhoPrivacy(MatrixModel):
    """What was believed with a chance of at most ρ1 is believed with less than ρ2 after the published value was seen.

    Nor does a belief of at least ρ2 fall to ρ1 or less. It is about every property of the value and every belief, and
    so it holds exactly where odds change by a factor below ρ2(1 − ρ1) / ρ1(1 − ρ2).
    """

    name: ClassVar[str] = "rho-privacy"
    paper: ClassVar[str] = (
        "Evfimievski, Gehrke, Srikant: Limiting privacy breaches in privacy preserving data mining. PODS 2003"
    )
    bounded_by: ClassVar[str] = "rho2"

    rho1: float = Field(gt=0, lt=1, description="a belief before the published value is seen, at most")
    rho2: float = Field(gt=0, lt=1, description="the belief afterwards stays below this")

    def sentence(self, of: str, known: str) -> str:
        """The promise for readers who know no model by its name."""
        return (
            f"Values of {of} were changed at random: what was believed with a chance of at most {percent(self.rho1)} "
            f"before is believed with less than {percent(self.rho2)} after seeing one."
        )

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        if self.rho2 <= self.rho1:
            raise WrongUse("rho2 must be above rho1, for example 0.5 beside 0.1.")
        return self

    def _limit(self) -> Fraction:
        before, after = fraction(self.rho1), fraction(self.rho2)
        return after * (1 - before) / (before * (1 - after))

    def allows(self, factor: Fraction | float) -> bool:
        """Whether the factor is below the limit."""
        return factor < self._limit()

    def reached(self, factor: Fraction | float) -> Fraction:
        """The highest belief afterwards."""
        return posterior(fraction(self.rho1), factor)

    def largest(self) -> Fraction:
        """A little less than the limit."""
        return Fraction(ceil(self._limit() * 10**6) - 1, 10**6)

    def promise(self) -> str:
        """The promise in words."""
        return (
            f"what is believed of {self.column or 'each column'} with a chance of at most {self.rho1:g} is believed "
            f"with less than {self.rho2:g} once the published value is seen"
        )
