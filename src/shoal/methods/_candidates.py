"""What a method offers to try for a promise that was stated before a method was chosen."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

GROUPED = "Public items are published basket by basket, sensitive ones as counts of a group."
"""The remark on baskets in groups."""


class Aim(StrEnum):
    """What kind of promise is stated."""

    CLASSES = "classes"
    """Of a table: about its classes."""

    RULES = "rules"
    """Of a table: no class tells a sensitive value with too much confidence."""

    ITEMS = "items"
    """Of a table with items: whoever knows all quasi-identifiers and m items of a person finds k rows."""

    COHERENCE = "coherence"
    """Of baskets: whoever knows p items finds k baskets, and no secret in more than a share h of them."""

    DEGREE = "degree"
    """Of baskets: at most one p-th of a group holds a sensitive item."""

    COMBINATIONS = "combinations"
    """Of baskets: whoever knows m items finds k baskets."""

    @property
    def of_baskets(self) -> bool:
        """Whether it is about baskets."""
        return self not in (Aim.CLASSES, Aim.RULES, Aim.ITEMS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A stated promise, and how much a candidate may take."""

    aim: Aim
    promise: Mapping[str, Any] = field(default_factory=dict)
    """Of tables: the parameters that all methods of tables share, such as ``{"k": 10, "l": 3}``."""
    k: int | None = None
    h: float | None = None
    p: int | None = None
    m: int | None = None
    """`k`, `h`, `p`, `m`: of baskets; h and m of items of tables too."""
    confidence: float | None = None
    risk: float | None = None
    """`confidence`, `risk`: of rules: the largest confidence as published, and in the worst case."""
    seconds: float = 60.0  # for a method with a time limit of its own
    limits: tuple[float, ...] = ()
    """Shares of rows that may be suppressed and are worth trying, ascending; none where all rows are to be published.
    """


@dataclass(frozen=True, slots=True)
class Candidate:
    """A method with its parameters."""

    label: str  # what it is called beside others
    method: Mapping[str, Any] = field(default_factory=dict)  # name and parameters, as a recipe has them
    trees: bool = False  # whether columns (or items) without a hierarchy get one that is built
    axis: str | None = None  # the parameter in which it is stronger than what was stated, if any
    turn: int = 1  # candidates are tried in ascending order of it: the quick and promising ones first
    shown: tuple[str, ...] = ()  # parameters that tell it from others of the same label
    worst_case: bool = False
    """Whether the best value that it can reach where it is refused is a confidence in the worst case."""
    remark: str = ""  # a sentence on what is published, for whoever is proposed it
    lists: bool = False  # whether names without a hierarchy are published as lists of exact values
