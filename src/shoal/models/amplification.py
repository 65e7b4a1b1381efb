"""Amplification: how far a perturbed value changes the odds of two values (Evfimievski, Gehrke and Srikant 2003)."""

from fractions import Fraction
from math import inf
from typing import ClassVar

from pydantic import Field

from shoal.models._exact import fraction
from shoal.models._matrices import MatrixModel
from shoal.models.model import Number


class Amplification(MatrixModel):
    """Seeing the published value changes the odds of any two original values by a factor of γ at most.

    Whatever a reader believed before, what she believes afterwards follows from it alone. With γ = exp(ε) it is ε-local
    differential privacy of the column.
    """

    name: ClassVar[str] = "amplification"
    paper: ClassVar[str] = (
        "Evfimievski, Gehrke, Srikant: Limiting privacy breaches in privacy preserving data mining. PODS 2003"
    )
    bounded_by: ClassVar[str] = "gamma"

    gamma: float = Field(
        gt=1, allow_inf_nan=False, description="largest factor by which a published value changes odds"
    )

    def sentence(self, of: str, known: str) -> str:
        """The promise for readers who know no model by its name."""
        return (
            f"Values of {of} were changed at random: seeing one changes the odds of any two original values by a "
            f"factor of at most {self.gamma:g}."
        )

    def allows(self, factor: Fraction | float) -> bool:
        """Whether the factor is at most γ."""
        return factor <= fraction(self.gamma)

    def reached(self, factor: Fraction | float) -> Number | None:
        """The factor."""
        return None if factor == inf else factor

    def largest(self) -> Fraction:
        """γ itself."""
        return fraction(self.gamma)

    def promise(self) -> str:
        """The promise in words."""
        return (
            f"a published value of {self.column or 'each column'} changes the odds of any two original ones by a "
            f"factor of at most {self.gamma:g}"
        )
