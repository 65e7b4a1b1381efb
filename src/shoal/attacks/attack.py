"""What every attack has in common.

Attacks run on the owner's own data, to measure a release before others see it. Success alone misleads: much can be
guessed about people who are not in the release at all. So each attack says beside its success what a plain guess
gives (baseline), what is learned about people outside of the release (control), and what is left between (residual).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import fsum
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from shoal.arrays import Floats, Rows
from shoal.data.release import Release
from shoal.parameters import Parameters
from shoal.risks.interval import wilson


@dataclass(frozen=True, slots=True)
class Attacked:
    """What an attack came to.

    Parameters
    ----------
    name
        Of the attack.
    success
        The share of people about whom the adversary is right, or the mean chance to be right.
    baseline
        The same for a guess that looks at nobody's data.
    control
        The same about people who are not in the release, or by what others tell.
    people
        How many people were tried.
    sentence
        The same in words.
    parts
        Further figures by name, such as other knowledge of the adversary.
    """

    name: str
    success: float
    baseline: float
    control: float
    people: int
    sentence: str
    parts: Mapping[str, float] = field(default_factory=dict)

    @property
    def residual(self) -> float:
        """The part of what can be learned at all beyond the control that the release gives away (Anonymeter).

        >>> Attacked("linkage", 0.6, 0.0, 0.2, 10, "").residual
        0.49999999999999994
        """
        if self.success <= self.control or self.control >= 1:
            return 0.0
        return (self.success - self.control) / (1 - self.control)

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval of 95 % around the success."""
        return wilson(self.success * self.people, self.people)

    def as_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "success": self.success,
            "baseline": self.baseline,
            "control": self.control,
            "residual": self.residual,
            "people": self.people,
            "interval": list(self.interval),
            "sentence": self.sentence,
            "parts": dict(self.parts),
        }


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """What is attacked, and with what.

    Parameters
    ----------
    release
        What is published.
    original
        What it was made from, a `Table` or `Baskets` with the hierarchies of the run: it has the people, and tells
        whether the adversary is right.
    control
        People who are not in the release, of the same kind, where there are some.
    other
        Another release about people some of whom are in both, where there is one.
    """

    release: Release
    original: Any
    control: Any = None
    other: Release | None = None


def mean(chances: Floats) -> float:
    """The mean of chances, summed exactly: what is at most 1/k each is at most 1/k in the mean."""
    return fsum(chances.tolist()) / len(chances) if len(chances) else 0.0


class Attack(Parameters):
    """A way to learn about people from a release."""

    name: ClassVar[str]
    """The name in the registry."""

    accepts: ClassVar[tuple[type, ...]]
    """The forms of published data it can attack."""

    people: int = Field(default=2_000, ge=1, description="how many people are tried at most, drawn at random")
    seed: int = Field(default=0, ge=0, description="for what is drawn")

    def run(self, target: Target) -> Attacked | None:
        """Attack a release; None where it gives this attack nothing to work on.

        Nothing here needs the trace: an attack can be repeated from the files.
        """
        raise NotImplementedError

    def drawn(self, count: int) -> Rows:
        """So many people as are tried, of so many, ascending."""
        if count <= self.people:
            return np.arange(count, dtype=np.int64)
        chosen = np.random.default_rng(self.seed).choice(count, self.people, replace=False)
        return np.sort(chosen).astype(np.int64)
