"""Build hierarchies from the values of a column alone.

======================  ===============================================================================================
``intervals:5,10,20``   bins of numbers that start at multiples of the width: ``17``, ``[15,20)``, ``[10,20)``, …
``intervals:5,10,90+``  the same with an open end: all values from 90 on are ``90+``; ``<20`` is open downwards
``mask``                characters hidden from the right: ``81667``, ``8166*``, ``816**``, …
``prefix:1,3``          the first characters kept: ``81667``, ``816*``, ``8*``
``dates:month,year``    parts of the calendar: ``1967-01-23``, ``1967-01``, ``1967``
``order:2,4``           groups of neighbors: ``{a|b}``, ``{a|b|c|d}``, and ``[1,2]`` for numbers and dates
``balanced:3``          groups of at most 3 nodes, again and again, until one is left
``suppress``            nothing between the value and ``*``
======================  ===============================================================================================

Every hierarchy ends in the root ``*``, and a missing value is a leaf directly below it.
"""

from collections.abc import Callable
from decimal import Context, Decimal, InvalidOperation
from itertools import pairwise

import numpy as np

from shoal.arrays import AnyArray, Rows
from shoal.data._calendar import CALENDAR, part_texts
from shoal.data._cell_kinds import plain_number
from shoal.data.domain import Domain, Kind
from shoal.data.hierarchy import Hierarchy, climb
from shoal.data.published_syntax import looks_published, range_text, set_text
from shoal.errors import BadData, UnknownName, WrongUse

SET_MEMBERS = 20
"""The largest set that is written out; of a larger one, only the first and the last member are: ``{a|…|z}``."""

_EXACT = Context(prec=2000)

Arguments = list[str]
TextsOf = Callable[[Rows], list[str]]


def build(spec: str, domain: Domain, column: str) -> Hierarchy:
    """Build the hierarchy of a column.

    `spec`: a builder and its arguments, as on the command line: ``intervals:5,10,20``. `domain`: the values of the
    column, all of which become leaves. `column`: the name of the column, for messages. Raises `WrongUse` if there is no
    such builder, or it cannot be used with these arguments or on these values. Raises `BadData` if a value of the
    column reads like a node of its hierarchy, so that a published one would be ambiguous.
    """
    name, colon, rest = spec.partition(":")
    if name not in BUILDERS:
        raise UnknownName("hierarchy builder", name, BUILDERS)
    arguments = [argument.strip() for argument in rest.split(",")] if colon else []
    try:
        hierarchy = BUILDERS[name](_present(domain), arguments)
    except WrongUse as error:
        raise WrongUse(f"{column}={spec}: {error.args[0]}") from None
    _refuse_ambiguity(hierarchy, column)
    return hierarchy.covering(domain, column)


def intervals(domain: Domain, widths: Arguments) -> Hierarchy:
    """Bins of numbers that start at multiples of each width; the upper end is not part of a bin.

    Widths ascend and each is a multiple of the one before, so that bins nest. They may be decimal fractions: everything
    is computed on the decimal digits of the values, so that a bin always contains its values. ``90+`` and ``<20`` are
    open ends: all values from 90 on, and all below 20, are one node on every level, whatever values later data has. A
    bin that holds a coded value (``90+``, ``<=20``) is open too.
    """
    if domain.kind is not Kind.NUMERIC:
        raise WrongUse(f"intervals are made of numbers, and the column is {domain.kind}.")
    ends = [_decimal(width.strip("+<="), "an open end") for width in widths if _is_end(width)]
    tops = [end for end, text in zip(ends, filter(_is_end, widths), strict=True) if text.endswith("+")]
    bottoms = [end for end, text in zip(ends, filter(_is_end, widths), strict=True) if text.startswith("<")]
    decimals = [_decimal(width, "a width") for width in widths if not _is_end(width)]
    _check_nesting(decimals, "width")
    if len(tops) > 1 or len(bottoms) > 1 or (tops and bottoms and tops[0] <= bottoms[0]):
        raise WrongUse("at most one end is open upwards (90+) and one downwards below it (<20).")
    scaled, (*steps, low_end, high_end), digits = _whole_numbers(
        domain, [*decimals, *(bottoms or [Decimal(0)]), *(tops or [Decimal(0)])]
    )
    above = np.array([label.endswith("+") for label in domain.labels], dtype=np.bool_)
    below = np.array([label.startswith("<=") for label in domain.labels], dtype=np.bool_)
    for coded, ends, beyond in ((above, tops, scaled >= high_end), (below, bottoms, scaled < low_end)):
        coded[np.asarray(beyond, dtype=np.bool_) & bool(ends)] = (
            False  # coded values beyond an open end make no bin open
        )

    def bins(step: int) -> TextsOf:
        open_above, open_below = (set((scaled[coded] // step * step).tolist()) for coded in (above, below))

        def text(value: int) -> str:
            if tops and value >= high_end:
                return f"{_plain(high_end, digits)}+"
            if bottoms and value < low_end:
                return f"<{_plain(low_end, digits)}"
            low = value // step * step
            if low in open_above:
                return f"{_plain(low, digits)}+"
            high = min(low + step, high_end) if tops else low + step
            if low in open_below:
                return f"<{_plain(high, digits)}"
            return f"[{_plain(max(low, low_end) if bottoms else low, digits)},{_plain(high, digits)})"

        return lambda leaves: [text(value) for value in scaled[leaves].tolist()]

    return climb(domain.labels, [bins(step) for step in steps], by_width=True)


def _is_end(argument: str) -> bool:
    """Whether an argument of intervals is an open end, ``90+`` or ``<20``, rather than a width."""
    return argument.endswith("+") or argument.startswith("<")


def mask(domain: Domain, arguments: Arguments) -> Hierarchy:
    """Hide one more character from the right on each level, until the root hides the first one too.

    A masked value keeps its length. A value shorter than the longest keeps its first character on the levels above
    those that hide all its others.
    """
    _check_none("mask", arguments)
    labels = domain.labels
    longest = max(map(len, labels), default=0)

    def masked(hidden: int) -> TextsOf:
        def texts(leaves: Rows) -> list[str]:
            values = [labels[leaf] for leaf in leaves.tolist()]
            kept = [max(len(value) - hidden, 1) for value in values]
            return [
                value[:keep] + "*" * (len(value) - keep) for value, keep in zip(values, kept, strict=True)
            ]

        return texts

    return climb(labels, [masked(hidden) for hidden in range(1, longest)])


def prefix(domain: Domain, lengths: Arguments) -> Hierarchy:
    """Keep the first characters: one level for each length, the longest first. A shorter value stays as it is."""
    labels = domain.labels
    kept = sorted({_whole(length, "a length", least=1) for length in lengths}, reverse=True)
    longest = max(map(len, labels), default=0)
    if not kept:
        raise WrongUse("prefix needs the numbers of characters to keep: prefix:1,3.")
    if labels and kept[0] >= longest:
        raise WrongUse(f"keeping {kept[0]} characters hides nothing: the longest value has {longest}.")

    def beginning(length: int) -> TextsOf:
        def texts(leaves: Rows) -> list[str]:
            values = (labels[leaf] for leaf in leaves.tolist())
            return [value[:length] + "*" if len(value) >= length else value for value in values]

        return texts

    return climb(labels, [beginning(length) for length in kept])


def dates(domain: Domain, parts: Arguments) -> Hierarchy:
    """Parts of the calendar; month, quarter, year and decade by default. A day is ``1967-01-23``."""
    if domain.kind is not Kind.DATE:
        raise WrongUse(f"dates are made of dates, and the column is {domain.kind}.")
    for part in parts:
        if part not in CALENDAR:
            raise UnknownName("part of the calendar", part, CALENDAR)
    assert domain.values is not None
    days = np.floor(domain.values).astype(np.int64).astype("datetime64[D]")

    def part_of(part: str) -> TextsOf:
        return lambda leaves: part_texts(days[leaves], part)

    chosen = [part for part in CALENDAR if part in (parts or CALENDAR[1:])]
    if chosen and chosen[0] == "day" and part_of("day")(np.arange(len(days))) == list(domain.labels):
        del chosen[0]
    return climb(domain.labels, [part_of(part) for part in chosen])


def order(domain: Domain, sizes: Arguments) -> Hierarchy:
    """Groups of neighbors in the order of the values, one level for each size; the last group may be smaller.

    Sizes ascend and each is a multiple of the one before, so that groups nest.
    """
    numbers = [_whole(size, "a group size", least=2) for size in sizes]
    _check_nesting([Decimal(number) for number in numbers], "group size")
    places = np.arange(len(domain))
    return climb(domain.labels, [_group_texts(domain, places // number) for number in numbers])


def balanced(domain: Domain, arguments: Arguments) -> Hierarchy:
    """Groups of at most so many neighbors, groups of at most as many groups, and so on, as even in size as possible."""
    if len(arguments) != 1:
        raise WrongUse("balanced needs one number, the children of a node: balanced:3.")
    fan_out = _whole(arguments[0], "the number of children", least=2)
    groups: Rows = np.arange(len(domain), dtype=np.int64)
    nodes, levels = len(domain), []
    while nodes > fan_out:
        above = -(-nodes // fan_out)
        groups = groups * above // nodes
        levels.append(_group_texts(domain, groups))
        nodes = above
    return climb(domain.labels, levels)


def suppress(domain: Domain, arguments: Arguments) -> Hierarchy:
    """Only the value itself, or ``*``."""
    _check_none("suppress", arguments)
    return climb(domain.labels, [])


BUILDERS: dict[str, Callable[[Domain, Arguments], Hierarchy]] = {
    "intervals": intervals,
    "mask": mask,
    "prefix": prefix,
    "dates": dates,
    "order": order,
    "balanced": balanced,
    "suppress": suppress,
}
"""The builders by name. Each takes a domain without missing values, and the arguments after the colon."""


def _present(domain: Domain) -> Domain:
    """The domain without its missing value."""
    if domain.missing is None:
        return domain
    values = None if domain.values is None else domain.values[:-1]
    return Domain(domain.kind, domain.labels[:-1], values)


def _refuse_ambiguity(hierarchy: Hierarchy, column: str) -> None:
    for label in hierarchy.leaves:
        if looks_published(label):
            raise BadData(
                f"the value {label!r} looks like a published cell; rename it in the data.", column=column
            )
    clashes = hierarchy.ambiguous()
    if clashes:
        raise BadData(
            f"the value {clashes[0]!r} reads like a group of other values in this hierarchy; rename it in the data, "
            "or choose another builder.",
            column=column,
        )


def _group_texts(domain: Domain, groups: Rows) -> TextsOf:
    """The texts of groups of neighbors, given the group of each value; groups ascend."""
    starts = np.searchsorted(groups, np.arange(int(groups.max(initial=-1)) + 2))
    ranges = domain.values is not None

    def text(group: int) -> str:
        low, high = int(starts[group]), int(starts[group + 1]) - 1
        if ranges:
            return range_text(domain.labels[low], domain.labels[high])
        if high - low < SET_MEMBERS:
            return set_text(domain.labels[low : high + 1])
        return f"{{{_member(domain.labels[low])}|…|{_member(domain.labels[high])}}}"

    return lambda leaves: [text(group) for group in groups[leaves].tolist()]


def _member(label: str) -> str:
    """A name as it is written inside a set."""
    return set_text(("", label))[2:-1]


def _check_none(name: str, arguments: Arguments) -> None:
    if arguments:
        raise WrongUse(f"{name} takes no arguments, and was given {','.join(arguments)!r}.")


def _check_nesting(numbers: list[Decimal], noun: str) -> None:
    if not numbers:
        raise WrongUse(f"it needs at least one {noun}, such as 5,10,20.")
    if numbers[0] <= 0:
        raise WrongUse(f"a {noun} must be above 0, and {numbers[0]} is not.")
    for low, high in pairwise(numbers):
        if high <= low or _EXACT.remainder(high, low) != 0:
            raise WrongUse(
                f"the {noun} {high} is not a larger multiple of {low}, so levels would not nest; "
                f"use {low * 2} or another multiple of {low}."
            )


def _whole(text: str, noun: str, least: int) -> int:
    if not text.isdecimal() or int(text) < least:
        raise WrongUse(f"{noun} must be a whole number of at least {least}, and {text!r} is not.")
    return int(text)


def _decimal(text: str, noun: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite():
        raise WrongUse(f"{noun} must be a number, and {text!r} is not.")
    return number


def _whole_numbers(domain: Domain, widths: list[Decimal]) -> tuple[AnyArray, list[int], int]:
    """Values and widths, multiplied by the power of ten that makes all of them integers, and that power.

    They are machine integers if all fit, and Python's otherwise.
    """
    assert domain.values is not None
    whole = bool(np.all((np.abs(domain.values) < 2**53) & (domain.values == np.floor(domain.values))))
    if whole and all(width == int(width) < 2**53 for width in widths):
        return domain.values.astype(np.int64), [int(width) for width in widths], 0
    values = [
        _exact(label, value) for label, value in zip(domain.labels, domain.values.tolist(), strict=True)
    ]
    digits = max([0, *(-int(number.as_tuple().exponent) for number in (*values, *widths))])
    steps = [int(width.scaleb(digits, _EXACT)) for width in widths]
    numbers = [int(value.scaleb(digits, _EXACT)) for value in values]
    fits = all(abs(number) < 2**62 for number in (*numbers, *steps))
    return np.array(numbers, dtype=np.int64 if fits else object), steps, digits


def _exact(label: str, value: float) -> Decimal:
    """The exact decimal number in a label; its coordinate if the label writes it in another way."""
    try:
        number = Decimal(label)
    except InvalidOperation:
        number = Decimal(repr(value))
    if float(number) != value:
        number = Decimal(repr(value))
    if not number.is_finite():
        raise WrongUse(f"the value {label!r} lies in no bin.")
    return number


def _plain(number: int, digits: int) -> str:
    """Format a scaled number without an exponent and without superfluous zeros."""
    return plain_number(Decimal(number).scaleb(-digits, _EXACT))
