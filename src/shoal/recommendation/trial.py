"""A candidate and what came of it."""

from dataclasses import dataclass

from shoal.comparison.results import Row
from shoal.methods._candidates import Candidate
from shoal.recommendation.goal import spelled


@dataclass(frozen=True, slots=True)
class Tried:
    """A candidate and what came of it."""

    candidate: Candidate
    status: str
    error: str
    """`status`, `error`: ``done``: it keeps the promise, proved; otherwise why there is no release."""
    loss: float | None
    privacy: float | None
    """`loss`, `privacy`: on the scale of the recommendation; none where there is no release."""
    seconds: float | None
    meets: bool  # whether it also meets the risk that was stated
    best: bool  # whether no other candidate is better in both ways
    row: Row  # everything that was measured

    @property
    def label(self) -> str:
        """What it is called, with the parameters that tell it from others of the same name."""
        axis = self.candidate.axis
        told = {*self.candidate.told, *(("k", axis) if axis else ())}
        shown = {name: value for name, value in self.candidate.method.items() if name in told}
        words = [
            f"{spelled(name)} {value:g}" for name, value in shown.items() if isinstance(value, int | float)
        ]
        return ", ".join([self.candidate.label, *words])

    @property
    def usable(self) -> bool:
        """Whether it can be proposed."""
        return self.status == "done" and self.meets and self.loss is not None
