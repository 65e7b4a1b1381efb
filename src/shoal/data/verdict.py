"""Verdicts of models on published data, and violations of the canonical order."""

from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from shoal.data._plain_text import BROKEN, OK, counted, visible, written

SHOWN = 10
"""The most offenders that a verdict lists; all are counted."""


@dataclass(frozen=True, slots=True)
class Offender:
    """A place where a promise is broken, and the numbers that break it."""

    where: str
    """The class, group or set of items, as published."""

    why: str
    """The numbers: ``3 rows where 10 are promised``."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a promise holds, by how much, and where it does not.

    Parameters
    ----------
    model
        The name of the model.
    promise
        The promise in words: ``every class has at least 10 rows``.
    holds
        Whether the published data keeps it.
    value
        What the published data achieves: the largest k, the largest share, … None if there is nothing to judge.
    threshold
        What was promised.
    offenders
        The worst places, at most ten.
    offender_count
        The number of places that break the promise.
    remark
        Anything else that a reader of the verdict should know, in words.
    """

    model: str
    promise: str
    holds: bool
    value: int | float | Fraction | None
    threshold: int | float | Fraction
    offenders: tuple[Offender, ...] = ()
    offender_count: int = 0
    remark: str = ""

    def __bool__(self) -> bool:
        return self.holds

    def __repr__(self) -> str:
        reached = "" if self.value is None else f", found {written(_plain(self.value))}"
        places = f", in {counted(self.offender_count, 'places')}" if self.offender_count else ""
        kept = "is kept" if self.holds else "is broken"
        return f"<Verdict: {self.model} {kept}: {self.promise}{reached}{places}>"

    def __str__(self) -> str:
        """What the terminal shows: the promise, what was found, and the worst places."""
        word = OK if self.holds else BROKEN
        reached = "" if self.value is None else f"; found {written(_plain(self.value))}"
        lines = [f"{word:<7} {self.model}: {self.promise}{reached}."]
        if self.remark:
            lines.append(f"        {self.remark}")
        lines += [f"        {offender.where}: {offender.why}" for offender in self.offenders]
        if (hidden := self.offender_count - len(self.offenders)) > 0:
            lines.append(f"        … and {hidden:,} more")
        return "\n".join(map(visible, lines))

    def _repr_html_(self) -> str:
        """The verdict as notebooks show it."""
        from shoal.data._notebook import card, facts, grid, sign, text

        reached = "–" if self.value is None else f"{float(self.value):.6g}"
        pairs = [("model", self.model), ("promised", f"{float(self.threshold):.6g}"), ("reached", reached)]
        if self.remark:
            pairs.append(("remark", self.remark))
        hidden = self.offender_count - len(self.offenders)
        places = [[place.where, place.why] for place in self.offenders]
        broken = grid(["where", "why"], places, f"and {hidden:,} more places" if hidden > 0 else "")
        heading = f"{sign(self.holds)}: {text(self.promise, 400)}"
        return card(heading, facts(pairs), broken if places else "")

    def as_dict(self) -> dict[str, Any]:
        """The verdict as plain data, ready for JSON."""
        plain = asdict(self)
        for name in ("value", "threshold"):
            if isinstance(plain[name], Fraction):
                plain[name] = float(plain[name])
        return plain


def _plain(value: int | float | Fraction) -> int | float:
    """A number that can be shown."""
    return value if isinstance(value, int) else float(value)


NAMED = 10
"""The most violations that are named; all are counted."""

LONG = 60
"""The most characters of a row that are shown."""

UNSORTED = "its items do not ascend, or one is repeated"
MISNUMBERED = "its number is not its place: baskets are numbered 1, 2, 3, … in their order"


@dataclass(frozen=True, slots=True)
class OrderViolations:
    """The places where published rows are not in canonical order."""

    form: str  # the noun for a row: ``row``, ``basket``, ``group`` or ``cluster``
    places: tuple[tuple[str, str], ...] = ()
    """The first places where the order is broken: the row in words, and why."""
    count: int = 0  # the number of such places


def early(form: str, ahead: str) -> str:
    """Say that a row breaks the order; it cannot be told whether this row or the one ahead of it was moved.

    >>> early("basket", "basket 3 {z}")
    'in ascending order it would come before the basket ahead of it, basket 3 {z}: one of the two is out of place'
    """
    return f"in ascending order it would come before the {form} ahead of it, {ahead}: one of the two is out of place"


def shortened(text: str) -> str:
    """Cut a text to the length that is shown."""
    return text if len(text) <= LONG else text[: LONG - 1] + "…"
