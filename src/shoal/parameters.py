"""Parameters that are checked when they are given, and what is said of wrong ones."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from shoal.errors import WrongUse


class Parameters(BaseModel):
    """Parameters with types and ranges; a wrong one is a `WrongUse` that says which, what is allowed and what came.

    As a part of something larger it is checked by pydantic, so that the larger one tells where it is wrong.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    def __init__(self, /, **given: Any) -> None:
        try:
            super().__init__(**given)
        except ValidationError as error:
            kind = type(self)
            name = getattr(kind, "name", None)
            said = explain(error, kind.model_fields)
            raise WrongUse(f"{name}: {said}" if isinstance(name, str) else said) from error

    # Otherwise pydantic would call it for parts too.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]


def explain(error: ValidationError, known: Iterable[str] = ()) -> str:
    """Say what is wrong with parameters: which one, what is allowed, what came.

    Parameters
    ----------
    known
        Names of parameters, to find the one that was meant.
    """
    places = [(".".join(map(str, problem["loc"])), problem) for problem in error.errors()]
    return "; ".join(told(where, problem, known) for where, problem in places) + "."


def told(where: str, problem: Mapping[str, Any], known: Iterable[str] = ()) -> str:
    """One thing that is wrong, without a full stop.

    Parameters
    ----------
    where
        What the parameter is called.
    problem
        As pydantic tells it.
    known
        Names of parameters, to find the one that was meant.
    """
    if problem["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        near = get_close_matches(str(problem["loc"][-1]), list(known), n=1, cutoff=0.6)
        return f"{where} is not a parameter here" + (f" (did you mean {near[0]}?)" if near else "")
    if problem["type"] == "missing":
        return f"{where} is required"
    if problem["type"] == "too_short":
        least = problem["ctx"]["min_length"]
        return f"{where} must have at least {'one entry' if least == 1 else f'{least} entries'}"
    said = wanted(problem)
    # What is a sentence of its own says what came itself.
    if problem["type"] == "value_error" and said[:1].isupper():
        return f"{where}: {said}" if where else said
    given = problem["input"]
    plain = given is None or isinstance(given, str | int | float | list | tuple | dict | set)
    came = f", not {given!r}" if plain else f", not a {type(given).__name__}"
    came = came if problem["loc"] else ""
    return f"{where or 'parameters'} must be {said}{came}"


def wanted(problem: Mapping[str, Any]) -> str:
    """What a parameter must be, as pydantic tells it."""
    if problem["type"] in ("tuple_type", "list_type"):
        return f"a list, such as [{problem['input']!r}]"
    if problem["type"] in ("model_type", "dict_type", "dataclass_type"):
        return "a table of keys and values"
    said: str = problem["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
    return said.partition(", unable to")[0].rstrip(".")
