"""Forms made from declared fields: the page asks for what a model or method declares."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from shoal.errors import WrongUse


@dataclass(frozen=True, slots=True)
class Entry:
    """One field of a form."""

    name: str
    shape: str
    """``number``, ``whole``, ``switch``, ``choice``, ``names``, ``pairs`` (names with numbers) or ``text``."""
    value: Any
    help: str
    default: Any = None
    required: bool = False
    options: tuple[str, ...] = ()
    limits: tuple[tuple[str, float], ...] = ()  # the attributes of a number's range

    @property
    def label(self) -> str:
        """The name in words."""
        return self.name.replace("_", " ")

    @property
    def text(self) -> str:
        """The value as the field shows it."""
        if self.value is None:
            return ""
        if isinstance(self.value, Mapping):
            return ", ".join(f"{name}={value}" for name, value in self.value.items())
        return ", ".join(map(str, self.value)) if isinstance(self.value, list | tuple) else str(self.value)

    def parsed(self, text: Any) -> Any:
        """What was typed, as the model takes it; None where nothing was.

        Raises `WrongUse` where a number, or a name with a number, is asked for and something else was typed.
        """
        if self.shape == "switch":
            return bool(text)
        text = str(text).strip()
        if not text:
            return None
        if self.shape == "names":
            return [one.strip() for one in text.split(",") if one.strip()]
        if self.shape == "pairs":
            return dict(map(self._pair, filter(str.strip, text.split(","))))
        if self.shape in ("number", "whole"):
            try:
                number = float(text)
            except ValueError:
                raise WrongUse(f"{self.label} must be a number, not {text!r}.") from None
            return int(number) if number.is_integer() and self.shape == "whole" else number
        return text

    def _pair(self, text: str) -> tuple[str, float]:
        name, sign, number = text.strip().rpartition("=")
        try:
            value = float(number)
        except ValueError:
            sign = ""
        if not sign or not name.strip():
            raise WrongUse(
                f"{self.label} must be names with numbers, such as age=2, sex=1; not {text.strip()!r}."
            )
        return name.strip(), int(value) if value.is_integer() else value


def entries(kind: type[BaseModel], values: Mapping[str, Any], names: Iterable[str]) -> list[Entry]:
    """The fields of a model that a form can ask for, with their current values."""
    found = (entry_of(kind, name, values.get(name)) for name in names)
    return [entry for entry in found if entry is not None]


def entry_of(kind: type[BaseModel], name: str, value: Any) -> Entry | None:
    """One field of a form; None where a form cannot ask for the field."""
    field = kind.model_fields[name]
    shape, options = _shape(field.annotation)
    if not shape:
        return None
    default = field.get_default(call_default_factory=True)
    default = None if default is PydanticUndefined else default
    given = default if value is None and shape in ("switch", "choice") else value
    return Entry(
        name,
        shape,
        given,
        field.description or "",
        default,
        field.is_required(),
        options,
        tuple(_limits(field.metadata)),
    )


def _shape(annotation: Any) -> tuple[str, tuple[str, ...]]:
    parts = [part for part in get_args(annotation) if part is not NoneType]
    if NoneType in get_args(annotation) and len(parts) == 1:
        annotation = parts[0]
    if get_origin(annotation) is Literal:
        return "choice", tuple(map(str, get_args(annotation)))
    if get_origin(annotation) in (tuple, list) and str in get_args(annotation):
        return "names", ()
    if get_origin(annotation) is dict and _is_number(get_args(annotation)[1]):
        return "pairs", ()
    shapes: dict[Any, str] = {bool: "switch", int: "whole", float: "number", str: "text"}
    return shapes.get(annotation, ""), ()


def _is_number(annotation: Any) -> bool:
    return (get_args(annotation) or (annotation,))[0] in (int, float)


def _limits(metadata: Iterable[Any]) -> Iterable[tuple[str, float]]:
    for limit in metadata:
        for key, attribute in (("ge", "min"), ("gt", "min"), ("le", "max"), ("lt", "max")):
            value = getattr(limit, key, None)
            if isinstance(value, int | float):
                yield attribute, value
