"""The program: which command is asked for, and what becomes of errors.

Exit codes: 0 done and verified; 1 the promise cannot be or is not kept; 2 wrong use, or a place that cannot be written;
3 bad data. Beyond those, as Unix has it: 70 a fault of Shoal itself, 130 interrupted, 141 the reader of a pipe is gone.
"""

import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import TextIO

from cyclopts import App, CycloptsError, MissingArgumentError, UnknownOptionError, UnusedCliTokensError

from shoal import __version__, registry
from shoal.addresses import without_passwords
from shoal.cli.show import as_json, visible
from shoal.errors import LeftOut, ShoalError, UnknownOption
from shoal.option_names import as_typed
from shoal.renamed import RENAMED

COMMANDS = {
    "inspect": "Show what a table or baskets hold, and suggest roles.",
    "risk": "Show what data gives away before it is published.",
    "anonymize": "Make a release that keeps a promise, prove it, and measure it.",
    "run": "Make a release as a recipe says.",
    "verify": "Prove promises from published files alone.",
    "attack": "Attack a release, to see what others could still learn.",
    "find": "Find somebody in a release, or explain the cells of one row.",
    "measure": "Compare a release with its original.",
    "reconstruct": "Draw datasets that a disassociated release could come from.",
    "convert": "Write baskets in another format, without rare items if wanted.",
    "compare": "Run many methods and parameters, and draw what comes.",
    "recommend": "Try what keeps a promise, and propose the least lossy release.",
    "studio": "Open a page on which all of this is done without code.",
    "hierarchy": "Build, check and convert hierarchies.",
    "generate": "Make synthetic data of a given shape.",
    "warm-up": "Compile all methods now, so that no first run has to wait.",
    "methods": "List methods, models, measures and attacks, or describe one.",
}
"""Each command lives in the module of its name, with underscores for hyphens, which offers `program(tokens)`."""

EXAMPLE = """Example:
  shoal generate table --rows 2000 --seed 7 -o people.csv"""

WRONG_USE, FAULT, INTERRUPTED, PIPE_CLOSED = 2, 70, 130, 141


def program(tokens: Sequence[str] = ()) -> App:
    """The parser of one call: only the command that is asked for is imported, all are listed."""
    app = App(
        name="shoal",
        help="Publish data about people so that each of them stays one fish in the shoal.",
        help_format="plaintext",
        help_epilogue=EXAMPLE,
        version=__version__,
        suppress_keyboard_interrupt=False,
        result_action="return_value",
    )
    asked = next(iter(tokens), "")
    if asked in COMMANDS:
        app.command(import_module(f"shoal.cli.{asked.replace('-', '_')}").program(tokens[1:]))
        return app
    for place, (name, summary) in enumerate(COMMANDS.items()):
        app.command(App(name=name, help=summary, sort_key=place))
    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code; errors become a sentence on standard error.

    With ``--json`` an error is an object on standard output too.
    """
    tokens = list(sys.argv[1:] if arguments is None else arguments)
    with as_typed():
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _warned
                code = program(tokens)(tokens, exit_on_error=False, print_error=False)
            sys.stdout.flush()
            return int(code or 0)
        except BaseException as error:
            if os.environ.get("SHOAL_DEBUG") == "1":
                raise
            return _explained(error, json="--json" in tokens)


def _warned(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Show what was left out as a sentence, and other warnings as Python does."""
    if issubclass(category, LeftOut):
        print(f"shoal: {visible(' '.join(str(message).split()))}", file=sys.stderr)
    else:
        sys.stderr.write(warnings.formatwarning(message, category, filename, lineno, line))


def _explained(error: BaseException, json: bool) -> int:
    """Say what went wrong in a sentence; the exit code for it."""
    if isinstance(error, BrokenPipeError | SystemExit):  # rich turns the one into the other
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    sentence, code = _sentence(error)
    message = without_passwords(" ".join(sentence.split()))
    print(f"shoal: {visible(message)}", file=sys.stderr)
    if json:
        known = error.as_dict() if isinstance(error, ShoalError) else {"kind": _kind(error, code)}
        as_json({"error": {**known, "message": message, "exit_code": code}})
    return code


def _kind(error: BaseException, code: int) -> str:
    """What kind of error it is, where it is none of ours."""
    return (
        "WrongUse" if isinstance(error, CycloptsError) else "Fault" if code == FAULT else type(error).__name__
    )


def _sentence(error: BaseException) -> tuple[str, int]:
    match error:
        case ShoalError():
            return str(error), error.exit_code
        case UnusedCliTokensError():
            words = " ".join(error.unused_tokens or ())
            return f"There is no place for {words!r}. See: shoal {_place(error)}--help", WRONG_USE
        case UnknownOptionError():
            from shoal.cli.suggestions import unknown_option

            return f"{unknown_option(error)} See: shoal {_place(error)}--help", WRONG_USE
        case MissingArgumentError():
            from shoal.cli.suggestions import missing_argument

            return f"{missing_argument(error)} See: shoal {_place(error)}--help", WRONG_USE
        case CycloptsError(__cause__=UnknownOption(option=option), app=App() as app):
            from shoal.cli.suggestions import named

            options = app.assemble_argument_collection(default_parameter=None)
            said = named(option, options, error.command_chain or ())
            return f"{said} See: shoal {_place(error)}--help", WRONG_USE
        case CycloptsError():
            return f"{str(error).strip()} See: shoal {_place(error)}--help", WRONG_USE
        case KeyboardInterrupt():
            return "interrupted; nothing was written.", INTERRUPTED
        case MemoryError():
            return "there is not enough memory for this; nothing was written.", FAULT
        case OSError():
            place = f"{error.filename}: " if error.filename else ""
            return f"{place}{error.strerror or error}; nothing was written.", WRONG_USE
    return (
        f"this is a fault of Shoal, not of yours ({type(error).__name__}: {error}). "
        "Call it again with SHOAL_DEBUG=1 in the environment to see where, and report it.",
        FAULT,
    )


def _place(error: CycloptsError) -> str:
    """The command that an error belongs to, for the hint at its help."""
    return "".join(f"{name} " for name in error.command_chain or ())


def pages() -> list[tuple[str, ...]]:
    """Every command that has a help page, by the names that lead to it."""
    found: list[tuple[str, ...]] = [()]
    for name in COMMANDS:
        inside = program([name])[name]
        found += [(name,), *((name, part) for part in inside if not part.startswith("-"))]
    return found


def registered(tokens: Sequence[str], family: str) -> list[str]:
    """The names that a call needs to know: the one it asks for, or all where it asks for none of them."""
    asked = next(iter(tokens), "")
    if asked in RENAMED.get(family, ()):
        registry.load(family, asked)  # refuses it, and says what it is called now
    return [asked] if asked in registry.FAMILIES[family] else list(registry.load_all(family))
