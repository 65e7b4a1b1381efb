"""A base class for parameters that are checked when they are given."""

from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from shoal.errors import WrongUse, explain


class Parameters(BaseModel):
    """Parameters with types and ranges; a wrong one raises `WrongUse`, which says what is allowed and what was given.

    As a part of another such object it is checked by pydantic, so that the outer object can tell where the fault is.
    """

    # The validator is built on first use: few of the classes that are loaded are used.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    def __init__(self, /, **given: Any) -> None:
        try:
            super().__init__(**given)
        except ValidationError as error:
            kind = type(self)
            name = getattr(kind, "name", None)
            said = explain(error, kind.model_fields)
            raise WrongUse(f"{name}: {said}" if isinstance(name, str) else said) from error

    # Without this mark, pydantic would call it for parts too.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]


def without_nones(value: Any) -> Any:
    """Plain data without its `None` entries, for TOML, which has no null."""
    if isinstance(value, dict):
        return {key: without_nones(part) for key, part in value.items() if part is not None}
    if isinstance(value, list):
        return [without_nones(part) for part in value if part is not None]
    return value
