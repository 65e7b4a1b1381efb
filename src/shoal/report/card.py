"""A card on the first screen of the report: one figure, a sentence, and a few more numbers."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """A number with its name, and a remark where it needs one."""

    name: str
    value: str
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """A figure, the words that continue the sentence after it, and further numbers."""

    figure: str
    words: str
    lines: tuple[Line, ...] = ()
