"""What a model found in published data, or in a part of it; what was found in several parts can be joined."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from typing import TypeAlias, TypeVar

from shoal.data.verdict import SHOWN, Offender

Number: TypeAlias = int | float | Fraction
Some = TypeVar("Some", bound=Number)


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Facts about published data from which a verdict follows."""

    offenders: tuple[tuple[float, Offender], ...] = ()
    """The worst places, each with its badness: a larger number is worse. The worst first, at most as many as a verdict
    shows."""
    count: int = 0  # how many places break the promise
    sums: Mapping[str, int] = field(default_factory=dict)
    lowest: Mapping[str, Number] = field(default_factory=dict)
    highest: Mapping[str, Number] = field(default_factory=dict)
    """`sums`, `lowest`, `highest`: numbers by name, of which that of the whole is the sum, the least or the largest of
    those of its parts."""
    remarks: frozenset[str] = frozenset()  # what a reader of the verdict should know of how it was judged
    names: frozenset[str] = frozenset()
    """What the verdict has to name, such as the items that were taken as sensitive."""

    def joined(self, other: "Evidence") -> "Evidence":
        """What was found in two parts, whichever comes first."""
        worst = sorted(
            (*self.offenders, *other.offenders), key=lambda entry: (-entry[0], entry[1].where, entry[1].why)
        )
        return Evidence(
            tuple(worst[:SHOWN]),
            self.count + other.count,
            _joined(self.sums, other.sums, lambda one, two: one + two),
            _joined(self.lowest, other.lowest, min),
            _joined(self.highest, other.highest, max),
            self.remarks | other.remarks,
            self.names | other.names,
        )

    @property
    def places(self) -> tuple[Offender, ...]:
        """The worst places alone."""
        return tuple(offender for _, offender in self.offenders)


@dataclass(frozen=True, slots=True)
class Part:
    """What must be known to judge some lines of a published file."""

    name: str  # the name of the part; lines are numbered inside it
    secrets: frozenset[str] = frozenset()  # items that are secret on other lines


def joined(parts: Iterable[Evidence]) -> Evidence:
    """What was found in all parts."""
    return reduce(Evidence.joined, parts, Evidence())


def _joined(
    one: Mapping[str, Some], other: Mapping[str, Some], which: Callable[[Some, Some], Some]
) -> Mapping[str, Some]:
    both = {**one, **other}
    return both | {name: which(one[name], other[name]) for name in one.keys() & other.keys()}
