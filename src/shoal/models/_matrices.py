"""What promises about perturbed values have in common: they are judged from the published matrix of chances."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import inf
from typing import Any, ClassVar, Self

from pydantic import Field

from shoal.data.release import Published
from shoal.data.table import Table
from shoal.data.verdict import SHOWN, Offender, Verdict
from shoal.errors import BadData, WrongUse
from shoal.models._equivalence_classes import Excerpt
from shoal.models._exact import fraction
from shoal.models.model import Evidence, Number, TableModel

DRAWN = "by the published matrix; that values were drawn by it cannot be seen in the files"
"""The remark of every verdict on perturbed values."""


class MatrixModel(TableModel):
    """A promise about what one published value tells of the one that was there, whatever a reader believed before.

    A line of the matrix belongs to a value: whole numbers, in the order of the values, whose shares in their sum are
    the chances that it is published as each of them.
    """

    monotone: ClassVar[bool] = False
    absorbs: ClassVar[bool] = False

    bounded_by: ClassVar[str]
    """The parameter whose value is the threshold."""

    column: str | None = Field(default=None, description="the perturbed column; the method names it")
    matrix: dict[str, tuple[int, ...]] | None = Field(
        default=None, description="value to the weights of what it is published as; the method publishes it"
    )

    def bound(self, table: Table, *, published: bool = False) -> tuple[Self, ...]:
        """Itself, of a release by a method that perturbs; nobody else can promise it."""
        if self.column is None or self.matrix is None:
            raise WrongUse(
                f"{self.name} is about perturbed values, judged from the matrix that a release of pram publishes; "
                "publish by pram, or verify such a release."
            )
        return (self,)

    def of(self, column: str, matrix: Mapping[str, Sequence[int]]) -> Self:
        """The same promise about a column that was perturbed by a matrix."""
        lines = {value: tuple(line) for value, line in matrix.items()}
        return self.model_copy(update={"column": column, "matrix": lines})

    def refuse_vague(self) -> None:
        """Refuse a promise of a release that does not publish its matrix."""
        if self.column is None or self.matrix is None:
            raise BadData(f"release.json: the promise {self.name} must name its column and its matrix.")

    def refuse_vacuous(self, published: Published, details: Mapping[str, Any]) -> None:
        """Refuse a release that does not say that the column is perturbed."""
        if self.column not in details.get("perturbed", ()):
            raise BadData(
                f"release.json: the promise {self.name} is about the column {self.column!r}, and the release does not "
                "say that it is perturbed. Fetch the folder again."
            )

    def examine(self, published: Excerpt) -> Evidence:
        """Look for published values that the matrix does not publish."""
        assert self.column is not None
        assert self.matrix is not None
        column = published.table.column(self.column)
        used = {column.domain.labels[code] for code in column.occurring.tolist()}
        strange = sorted(used - self.matrix.keys())
        places = [
            (1.0, Offender(f"{self.column} {value or '(missing)'}", "the matrix does not publish this value"))
            for value in strange[:SHOWN]
        ]
        return Evidence(tuple(places), len(strange))

    def conclude(self, evidence: Evidence) -> Verdict:
        """The matrix decides, and whether all published values are its own."""
        wrong = self._malformed()
        if wrong:
            fault = Offender("the matrix", wrong)
            return Verdict(self.name, self.promise(), False, None, self.threshold(), (fault,), 1, DRAWN)
        factor = self.factor()
        fault = Offender(f"the matrix of {self.column}", self.why(factor))
        more = () if self.allows(factor) else (fault,)
        return self.concluded(evidence, self.promise(), self.reached(factor), self.threshold(), more, DRAWN)

    def factor(self) -> Fraction | float:
        """The largest factor by which a published value changes the odds of two others; infinite with certainty."""
        assert self.matrix is not None
        lines = list(self.matrix.values())
        sums = [sum(line) for line in lines]
        largest: Fraction | float = Fraction(1)
        for place in range(len(lines)):
            chances: list[Any] = [line[place] for line in lines]
            if len(set(sums)) > 1:
                chances = [Fraction(one, total) for one, total in zip(chances, sums, strict=True)]
            if max(chances):
                ratio = inf if not min(chances) else Fraction(max(chances), min(chances))
                largest = max(largest, ratio)
        return largest

    def _malformed(self) -> str:
        assert self.matrix is not None
        lines = list(self.matrix.values())
        if any(len(line) != len(lines) for line in lines):
            return "it is not square"
        if any(min(line) < 0 or not sum(line) for line in lines):
            return "its lines must be whole numbers from 0 on, and not all 0"
        return ""

    def allows(self, factor: Fraction | float) -> bool:
        """Whether the promise is kept where odds change by such a factor at most."""
        raise NotImplementedError

    def reached(self, factor: Fraction | float) -> Number | None:
        """What is reached with such a factor; None where no number says it."""
        raise NotImplementedError

    def largest(self) -> Fraction:
        """The largest factor that keeps the promise, or a little less."""
        raise NotImplementedError

    def why(self, factor: Fraction | float) -> str:
        """Why such a factor is too large, in words."""
        return f"a published value changes the odds of two others by a factor of {float(factor):g}"

    def promise(self) -> str:
        """The promise in words."""
        raise NotImplementedError

    def threshold(self) -> Number:
        """What is promised."""
        value = getattr(self, self.bounded_by)
        return value if isinstance(value, int) else fraction(value)


def posterior(prior: Fraction, factor: Fraction | float) -> Fraction:
    """The highest belief after a value was seen, of whoever believed something with such a chance before.

    >>> posterior(Fraction(1, 10), Fraction(9))
    Fraction(1, 2)
    """
    if factor == inf:
        return Fraction(1)
    return prior * Fraction(factor) / (1 + prior * (Fraction(factor) - 1))
