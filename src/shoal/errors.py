"""Errors, warnings and progress messages: every error that Shoal raises, in one tree.

::

    ShoalError                 anything that Shoal refuses or cannot do
    ├── Infeasible             the promise cannot be kept on this data (exit 1)
    ├── BrokenPromise          a release does not keep what it promises (exit 1)
    ├── WrongUse               a parameter out of range, an unknown name (exit 2)
    │   ├── UnknownName        a column, item, method or model that is not there
    │   ├── UnknownOption      a word of the command line that can only be a mistyped option
    │   ├── MissingExtra       an optional part of Shoal that is not installed
    │   └── BrokenPackage      a package that adds to Shoal what cannot be used
    ├── CannotWrite            a place that takes no file: full, closed, or gone (exit 2)
    ├── EngineFailed           a cluster that does not start, or gave up (exit 2)
    └── BadData                input that cannot be read or trusted (exit 3)

Every message says what is wrong, where it is, and what to do next. It names options as they are typed (``--k 10``), and
is shown with the parameters of Python (``k=10``) everywhere but on the command line. Each class also derives from a
built-in error, so that callers who do not know Shoal can catch ``ValueError``.

A concern that does not stop a run, but that the owner of the data should know, is a `ShoalWarning`.
"""

import errno
import logging
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.addresses import without_passwords
from shoal.option_names import new_name, spoken

if TYPE_CHECKING:
    from pydantic import ValidationError


class ShoalWarning(UserWarning):
    """A disclosure warning: the run goes on."""


def warn(sentences: Iterable[str]) -> None:
    """Issue each sentence as a `ShoalWarning`, attributed to the line that called Shoal.

    Only the functions that users call do this, once; everything below them returns its sentences to its caller.
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "shoal":
        level, frame = level + 1, frame.f_back
    for sentence in sentences:
        warnings.warn(spoken(sentence), ShoalWarning, stacklevel=level)


Stage = Callable[[str], None]
"""Progress callback: it receives the name of each step as the step begins."""


def logged(stage: Stage | None) -> Stage:
    """A callback that also logs each step to the logger ``shoal``."""

    def tell(step: str) -> None:
        logging.getLogger("shoal").info(step)
        if stage is not None:
            stage(step)

    return tell


class ShoalError(Exception):
    """Anything that Shoal refuses or cannot do; passwords in addresses are removed from its message."""

    exit_code = 2

    def __init__(self, *said: object) -> None:
        super().__init__(*without_passwords(said))

    def __str__(self) -> str:
        return spoken(super().__str__())

    def as_dict(self) -> dict[str, Any]:
        """The error as plain data: its kind, its message, and what else is known, such as a file and a line."""
        known = {name: getattr(self, name, None) for name in ("best", "path", "line", "column")}
        more = {name: value for name, value in known.items() if value is not None}
        return {"kind": type(self).__name__, "message": str(self), **more}


class Infeasible(ShoalError, ValueError):
    """The promise cannot be kept on this data; the message and, if there is one, `best` say what could be kept."""

    exit_code = 1

    def __init__(self, message: str, best: float | int | None = None) -> None:
        super().__init__(message)
        self.best = best


class BrokenPromise(ShoalError, ValueError):
    """A release does not keep what it promises."""

    exit_code = 1


class WrongUse(ShoalError, ValueError):
    """A parameter out of range, or parameters that do not fit together."""

    exit_code = 2


class UnknownName(WrongUse, LookupError):
    """A name that does not exist; the message lists known names, similar ones first, and names the file, if any.

    >>> UnknownName("column", "agee", ["age", "sex"]).args[0]
    "There is no column 'agee'. Did you mean 'age'? There are: age, sex."
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], where: object = None) -> None:
        names = list(known)
        place = "" if where is None else f" in {where}"
        if new := new_name(kind, name, names):
            super().__init__(f"There is no {kind} {name!r}{place}: it is now {new!r}.")
            return
        from difflib import get_close_matches

        folded = {one.casefold(): one for one in names}
        near = [folded[one] for one in get_close_matches(name.casefold(), folded, n=3, cutoff=0.6)]
        hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        shown = ", ".join(names[:20]) + (f", … ({len(names)} in all)" if len(names) > 20 else "")
        super().__init__(f"There is no {kind} {name!r}{place}.{hint} There are: {shown or 'none'}.")


class UnknownOption(WrongUse):
    """A word in the place of a command's input that can only be a mistyped option."""

    def __init__(self, option: str) -> None:
        self.option = option
        super().__init__(f"Unknown option: {option}.")


class MissingExtra(WrongUse, ImportError):
    """An optional part of Shoal that is not installed; the message says how to install it."""

    def __init__(self, purpose: str, extra: str) -> None:
        super().__init__(f'{purpose} needs the extra "{extra}": pip install "shoal[{extra}]".')


class BrokenPackage(WrongUse, ImportError):
    """Another package adds a method, a model or a measure that cannot be used.

    >>> BrokenPackage("shoal-x", "method 'x'", "SyntaxError: invalid syntax").args[0]
    "The package shoal-x: its method 'x' cannot be used (SyntaxError: invalid syntax). Update or uninstall the package."
    """

    def __init__(self, package: str, what: str, why: str) -> None:
        super().__init__(
            f"The package {package}: its {what} cannot be used ({why}). Update or uninstall the package."
        )


class LeftOut(UserWarning):
    """An addition of another package cannot be used, and is left out of lists of everything."""


CLOSED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR, errno.ENOENT})
"""Error numbers of places that cannot be written to, however much space is free."""


class CannotWrite(ShoalError, OSError):
    """A file cannot be written; the message gives the system's reason, and nothing half-written is left behind."""

    def __init__(self, what: str, cause: Exception) -> None:
        said = getattr(cause, "strerror", None) or str(cause)
        other = "Choose" if getattr(cause, "errno", None) in CLOSED else "Make room or choose"
        super().__init__(f"{what} cannot be written: {said}. {other} another place, and run it again.")


class EngineFailed(ShoalError, RuntimeError):
    """A cluster did not start, or gave up; nothing was published."""


class BadData(ShoalError, ValueError):
    """Input that cannot be read or trusted; `path`, `line` and `column` say where, as far as known.

    Lines count from 1, the header included; a column is given by name.
    """

    exit_code = 3

    def __init__(
        self,
        message: str,
        path: str | Path | None = None,
        line: int | None = None,
        column: str | None = None,
    ) -> None:
        self.path, self.line, self.column = path, line, column
        places = [
            str(path) if path is not None else "",
            f"line {line}" if line is not None else "",
            f"column {column!r}" if column is not None else "",
        ]
        where = ", ".join(place for place in places if place)
        super().__init__(f"{where}: {message}" if where else message)


def explain(error: "ValidationError", known: Iterable[str] = ()) -> str:
    """Say what is wrong with parameters: which ones, what is allowed, and what was given.

    `known`: names of parameters, to suggest the one that was meant.
    """
    places = [(".".join(map(str, problem["loc"])), problem) for problem in error.errors()]
    return "; ".join(fault_text(where, problem, known) for where, problem in places) + "."


def fault_text(where: str, problem: Mapping[str, Any], known: Iterable[str] = ()) -> str:
    """Say what is wrong with one parameter, without a full stop.

    `where`: the name of the parameter. `known`: names of parameters, to suggest the one that was meant.
    """
    if problem["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        if new := new_name("parameter", str(problem["loc"][-1]), known):
            return f"The parameter {where!r} is now {new!r}"
        from difflib import get_close_matches

        near = get_close_matches(str(problem["loc"][-1]), list(known), n=1, cutoff=0.6)
        return f"{where} is not a parameter here" + (f" (did you mean {near[0]}?)" if near else "")
    if problem["type"] == "missing":
        return f"{where} is required"
    if problem["type"] == "too_short":
        least = problem["ctx"]["min_length"]
        return f"{where} must have at least {'one entry' if least == 1 else f'{least} entries'}"
    said = wanted(problem)
    # A whole sentence already says what was given, and so does a fault of several parameters together.
    if problem["type"] == "value_error" and (said[:1].isupper() or not problem["loc"]):
        return f"{where}: {said}" if where else said
    given = problem["input"]
    plain = given is None or isinstance(given, str | int | float | list | tuple | dict | set)
    came = f", not {given!r}" if plain else f", not a {type(given).__name__}"
    return f"{where or 'parameters'} must be {said}{came if problem['loc'] else ''}"


def wanted(problem: Mapping[str, Any]) -> str:
    """Say what a parameter must be."""
    if problem["type"] == "string_too_short" and problem["ctx"]["min_length"] == 1:
        return "a text that is not empty"
    if problem["type"] in ("tuple_type", "list_type"):
        return f"a list, such as [{problem['input']!r}]"
    if problem["type"] in ("model_type", "dict_type", "dataclass_type"):
        return "a table of keys and values"
    if problem["type"] in LIMITS:
        limit = next(iter(problem["ctx"].values()))
        return f"{LIMITS[problem['type']]} {limit:g}"
    said: str = problem["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
    return said.partition(", unable to")[0].rstrip(".")


LIMITS = {
    "greater_than": "above",
    "greater_than_equal": "at least",
    "less_than": "below",
    "less_than_equal": "at most",
}
"""Pydantic's limits of numbers, in words."""
