"""The scale on which candidates are compared: their loss and their protection."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from shoal.comparison.results import Row
from shoal.errors import UnknownName
from shoal.methods._candidates import Aim
from shoal.recommendation.candidate_list import main_parameter
from shoal.recommendation.goal import Stated, spelled

By = Literal["loss", "queries"]

MODELS = {
    "k": "k-anonymity",
    "l": "distinct-diversity",
    "entropy_l": "entropy-diversity",
    "t": "t-closeness",
    "alpha": "alpha-k-anonymity",
    "beta": "beta-likeness",
    "delta": "delta-disclosure",
    "maximal_risk": "reidentification-risk",
    "average_risk": "reidentification-risk",
    "k_map": "k-map",
    "presence": "delta-presence",
}
"""For each parameter, the model that says which value was reached."""

HIGHER = frozenset({"k", "l", "entropy_l", "k_map"})
"""Parameters for tables of which higher values mean more protection."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A measure of loss and a measure of protection for all candidates."""

    aim: Aim
    measures: tuple[str, ...]  # the measures to take of each run
    loss: str
    meaning: str
    """`loss`, `meaning`: the score of loss, and what it means."""
    axis: str
    privacy: str
    """`axis`, `privacy`: the parameter by which protection is measured, and its label; for rules it is the
    ``worst case``."""
    high: bool  # whether higher values mean more protection
    risk: float | None = None

    def loss_of(self, row: Row, quasi: int, sensitive: int) -> float | None:
        """The loss of a run; None if it was not measured."""
        if self.aim is not Aim.RULES or self.loss == "are":
            return row.get(self.loss)
        if row.get("lm") is None:
            return None
        starred = float(row.get("starred_share") or 0.0) * sensitive
        return (float(row["lm"]) + starred) / (quasi + sensitive)

    def privacy_of(self, row: Row, method: Mapping[str, Any]) -> float | None:
        """The protection that a run reached."""
        if self.aim is Aim.RULES:
            return row.get("confidence_worst")
        reached = row.get(f"reached.{MODELS.get(self.axis, '')}") if self.aim is Aim.CLASSES else None
        return reached if reached is not None else method.get(self.axis)

    def meets(self, privacy: float | None) -> bool:
        """Whether a run that keeps the promise of its method also meets the stated risk."""
        return self.risk is None or (privacy is not None and privacy <= self.risk + 1e-12)

    def beats(self, one: tuple[float, float], other: tuple[float, float]) -> bool:
        """Whether one pair of protection and loss is at least as good as another in both, and better in one."""
        more = (one[0] - other[0]) * (1 if self.high else -1)
        less = other[1] - one[1]
        return more >= 0 and less >= 0 and (more > 0 or less > 0)


def scale_for(aim: Aim, stated: Stated, by: By) -> Scale:
    """The scale for a kind of promise.

    Tables are compared by the loss of their cells, or by the error of counting queries. If rules are hidden, starred
    sensitive cells count as lost. The forms in which baskets are published lose different things, so they are compared
    by the error of the supports of pairs of items.
    """
    if by not in get_args(By):
        raise UnknownName("way to compare", str(by), get_args(By))
    axis = main_parameter(aim, stated) or "k"
    loss, meaning = ("are", "mean relative error of counts") if by == "queries" else ("", "")
    if aim is Aim.CLASSES:
        loss, meaning = loss or "lm_mean", meaning or "mean loss of a cell"
        return Scale(aim, ("loss", "classes", "queries"), loss, meaning, axis, spelled(axis), axis in HIGHER)
    if aim is Aim.RULES:
        loss, meaning = loss or "cell_loss", meaning or "mean loss of a cell, a starred one losing all"
        measures = ("loss", "classes", "hidden-rules", "queries")
        return Scale(aim, measures, loss, meaning, axis, "worst case", False, stated.risk)
    if aim is Aim.ITEMS:
        meaning = "mean of the losses of cells and of items"
        return Scale(aim, ("loss", "classes", "item-loss"), "mixed_loss", meaning, axis, spelled(axis), True)
    meaning = "mean relative error of the supports of pairs of items"
    return Scale(aim, ("pair-supports", "suppression"), "pair_error", meaning, axis, spelled(axis), True)
