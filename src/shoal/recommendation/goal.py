"""The promise that a user states before a method is chosen."""

from fractions import Fraction
from math import ceil
from typing import Any, ClassVar, Self

from pydantic import Field

from shoal.errors import WrongUse
from shoal.methods._candidates import Aim
from shoal.methods.table_method import TableMethod

KNOWN = 2
"""The number of items that an adversary is assumed to know if only a risk is stated for baskets."""


def spelled(parameter: str) -> str:
    """The spelling of a parameter as an option."""
    return parameter.replace("_", "-")


class Stated(TableMethod):
    """A stated promise: for tables in the short forms that methods take, for baskets by h, k, p and m."""

    name: ClassVar[str] = "recommend"
    suppresses: ClassVar[bool] = True

    confidence: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="tables: largest confidence of a rule from a class to a sensitive value, as published",
    )
    risk: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="tables: largest confidence of such a rule in the worst case; k, c and t are proposed for it; "
        "baskets: largest chance to guess a basket or a secret for whoever knows p items (2 by default), for which h "
        "and k are proposed",
    )
    h: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="baskets, with k and p: largest share of a sensitive item among the baskets that fit",
    )
    p: int | None = Field(
        default=None,
        ge=1,
        description="baskets: with h and k, most public items that an adversary knows; alone, the degree: at most one "
        "p-th of a group's baskets holds a sensitive item",
    )
    m: int | None = Field(
        default=None,
        ge=1,
        description="baskets, or tables with items, with k: how many items of a person an adversary knows",
    )

    def aim(self, baskets: bool, items: bool = False) -> Aim:
        """The kind of the promise. `items`: whether a column of the table holds items.

        Raises `WrongUse` if nothing is promised, or the promise does not fit the data, or its parameters do not fit
        together.
        """
        if items:
            return self._aim_of_items()
        return self._aim_of_baskets() if baskets else self._aim_of_table()

    def _aim_of_items(self) -> Aim:
        if given := self._given("p", "confidence", "risk"):
            raise WrongUse(
                f"{given} is not a promise about a table with items; say --k 5 --m 2, for example."
            )
        if self.k is None:
            raise WrongUse(
                "Say how many rows must fit what is known of a person: --k 5, and --m 2 known items."
            )
        return Aim.ITEMS

    def _aim_of_table(self) -> Aim:
        if given := self._given("h", "p", "m"):
            raise WrongUse(
                f"{given} is a promise about baskets, and this is a table; say --k 10, for example."
            )
        if self.confidence is not None or self.risk is not None:
            return Aim.RULES
        if not self.models():
            raise WrongUse(
                "Nothing is promised: say what, for example --k 10, or --k 10 --l 3, or --risk 0.5."
            )
        return Aim.CLASSES

    def tuned(self) -> Self:
        """The promise about baskets with a stated risk replaced by h, k and p that keep it, unless these are stated.

        An adversary who knows p items finds k baskets, picks the right one with probability 1/k, and learns a secret
        with probability h.
        """
        if self.risk is None:
            return self
        wanted = {"h": self.risk, "k": max(ceil(1 / Fraction(str(self.risk))), 1), "p": KNOWN}
        filled = {name: value for name, value in wanted.items() if getattr(self, name) is None}
        if "k" not in filled and self.k is not None and self.k < wanted["k"]:
            raise WrongUse(f"A risk of {self.risk:g} needs k = {wanted['k']} at least; omit --k.")
        if "h" not in filled and self.h is not None and self.h > self.risk:
            raise WrongUse(f"A risk of {self.risk:g} needs h = {self.risk:g} at most; omit --h.")
        return self.model_copy(update={**filled, "risk": None})

    def _aim_of_baskets(self) -> Aim:
        known = {"k", "h", "p", "m"}
        if given := self._given(*(name for name in type(self).model_fields if name not in known)):
            raise WrongUse(f"{given} is a promise about tables, and these are baskets.")
        stated = frozenset(name for name in known if getattr(self, name) is not None)
        match sorted(stated):
            case ["h", "k", "p"]:
                return Aim.COHERENCE
            case ["p"]:
                if self.p is not None and self.p < 2:
                    raise WrongUse(
                        "A degree p must be at least 2: at most one p-th of a group holds a secret."
                    )
                return Aim.DEGREE
            case ["k"] | ["k", "m"]:
                return Aim.COMBINATIONS
        raise WrongUse(
            "Say what is promised about the baskets: --h 0.5 --k 5 --p 2 (coherence) or --risk 0.2, which proposes "
            "them, --p 10 alone (degree), or --k 5 --m 2 (combinations of items)."
        )

    def _given(self, *names: str) -> str:
        fields = type(self).model_fields
        found = [
            f"--{spelled(name)}"
            for name in names
            if getattr(self, name) != fields[name].get_default(call_default_factory=True)
        ]
        return " ".join(found)

    def of_tables(self) -> dict[str, Any]:
        """The given parameters of those that all methods for tables share."""
        shared = TableMethod.model_fields
        plain = self.model_dump(mode="json", exclude_defaults=True)
        found = {name: value for name, value in plain.items() if name in shared}
        return found | ({"population": self.population} if self.population is not None else {})
