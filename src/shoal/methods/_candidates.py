"""Candidates: what a method offers `recommend` to try for a promise, before a method has been chosen."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

GROUPED = "Public items are published basket by basket, sensitive ones as counts of a group."
"""The remark on methods that publish baskets in groups."""


class Aim(StrEnum):
    """The kind of promise that is stated."""

    CLASSES = "classes"
    """For a table: promises about its classes."""

    RULES = "rules"
    """For a table: no class reveals a sensitive value with too much confidence."""

    ITEMS = "items"
    """For a table with items: whoever knows all quasi-identifiers and m items of a person finds k rows."""

    COHERENCE = "coherence"
    """For baskets: whoever knows p items finds k baskets, and no secret in more than a share h of them."""

    DEGREE = "degree"
    """For baskets: at most one p-th of a group holds a sensitive item."""

    COMBINATIONS = "combinations"
    """For baskets: whoever knows m items finds k baskets."""

    @property
    def of_baskets(self) -> bool:
        """Whether the promise is about baskets."""
        return self not in (Aim.CLASSES, Aim.RULES, Aim.ITEMS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A stated promise, and what a candidate may spend: time and suppressed rows."""

    aim: Aim
    promise: Mapping[str, Any] = field(default_factory=dict)
    """For tables: the parameters that all methods for tables share, such as ``{"k": 10, "l": 3}``."""
    k: int | None = None
    h: float | None = None
    p: int | None = None
    m: int | None = None
    """`k`, `h`, `p`, `m`: for baskets; h and m also for the items of tables."""
    confidence: float | None = None
    risk: float | None = None
    """`confidence`, `risk`: for rules: the largest confidence as published, and in the worst case."""
    seconds: float = 60.0  # the time limit for methods that have one
    limits: tuple[float, ...] = ()
    """Shares of suppressed rows that are worth trying, ascending; none if all rows are to be published."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A method with its parameters."""

    label: str  # its name in the list of candidates
    method: Mapping[str, Any] = field(default_factory=dict)  # name and parameters, as in a recipe
    trees: bool = False  # whether a hierarchy is built for columns (or items) that have none
    axis: str | None = None  # the parameter in which it is stronger than what was stated, if any
    turn: int = 1  # candidates are tried in ascending order of this number: fast and promising ones first
    shown: tuple[str, ...] = ()  # parameters that distinguish it from others with the same label
    worst_case: bool = False
    """Whether the best value that is reported when it is infeasible is a confidence in the worst case."""
    remark: str = ""  # a sentence on what is published, shown with the proposal
    lists: bool = False  # whether names without a hierarchy are published as lists of exact values
