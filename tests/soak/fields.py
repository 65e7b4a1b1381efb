"""Random values for parameters, by what methods and models declare: type, range, default."""

from random import Random
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le
from pydantic.fields import FieldInfo

MOST = 5.0
"""The largest number that is drawn for a parameter without an upper bound."""


class NoGenerator(Exception):
    """Raised for a parameter whose type has no generator."""


def draw_field(random: Random, owner: str, name: str, field: FieldInfo) -> Any:
    """A value that the declaration of a parameter allows.

    Raises
    ------
    NoGenerator
        For other types: such parameters have generators of their own in `named.py`.
    """
    kinds = [kind for kind in _kinds(field.annotation) if kind is not NoneType]
    choices = [choice for kind in kinds if get_origin(kind) is Literal for choice in get_args(kind)]
    if choices:
        return random.choice(choices)
    if bool in kinds:
        return random.random() < 0.5
    if int in kinds:
        return int(_low(field, 1)) + min(int(random.expovariate(0.7)), 8)
    if float in kinds:
        return _number(random, field)
    raise NoGenerator(
        f"{owner} has a parameter {name!r} of type {field.annotation}, which the soak cannot draw: add a generator "
        "for it to NAMED in tests/soak/named.py."
    )


def _kinds(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)


def _low(field: FieldInfo, default: float) -> float:
    bounds = [float(one.ge) for one in field.metadata if isinstance(one, Ge)]  # type: ignore[arg-type]
    return max([*bounds, *(float(one.gt) for one in field.metadata if isinstance(one, Gt))], default=default)  # type: ignore[arg-type]


def _number(random: Random, field: FieldInfo) -> float:
    """A number with few digits, sometimes an end of its range where that is allowed."""
    low = _low(field, 0.0)
    high = min((float(one.le) for one in field.metadata if isinstance(one, Le)), default=low + MOST)  # type: ignore[arg-type]
    closed = any(isinstance(one, Ge) for one in field.metadata)
    steps = random.choice([4, 10, 100, 3])
    place = random.randint(0 if closed else 1, steps)
    return round(low + (high - low) * place / steps, 4)
