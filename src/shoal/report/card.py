"""What a card of the first screen says: one figure, a sentence, and a few numbers more."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """A number with its name, and a remark where it needs one."""

    name: str
    value: str
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """A figure, the words that go on after it, and what else belongs to it."""

    figure: str
    words: str
    lines: tuple[Line, ...] = ()
