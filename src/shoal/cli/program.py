"""The program: run the command that is asked for, and turn errors into messages and exit codes.

Exit codes: 0 done and verified; 1 the promise cannot be or is not kept; 2 wrong use, or a place that cannot be written;
3 bad data. In addition, following Unix: 70 a fault of Shoal itself, 130 interrupted, 141 the reader of a pipe is gone.
"""

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any, TextIO

from cyclopts import (
    App,
    Argument,
    CycloptsError,
    Group,
    MissingArgumentError,
    UnknownOptionError,
    UnusedCliTokensError,
)

from shoal import __version__, registry
from shoal.addresses import without_passwords
from shoal.cli.help_pages import Page, Part, colored, drawn, options_on, say, stored_pages
from shoal.cli.options import only_typed, prose
from shoal.cli.show import as_json
from shoal.cli.start import pipe_closed
from shoal.data._plain_text import visible
from shoal.errors import LeftOut, ShoalError, UnknownOption
from shoal.option_names import RENAMED, as_typed, new_option

if TYPE_CHECKING:
    from rich.console import Console

COMMANDS = {
    "inspect": "Show what a table or baskets hold, and suggest roles.",
    "risk": "Show what data gives away before it is published.",
    "recommend": "Try what keeps a promise, and propose the least lossy release.",
    "anonymize": "Make a release that keeps a promise, prove it, and measure it.",
    "run": "Make a release as a recipe says.",
    "summarize": "Publish cross-tables with totals, sensitive cells hidden.",
    "studio": "Open a page on which all of this is done without code.",
    "verify": "Prove promises from published files alone.",
    "attack": "Attack a release, to see what others could still learn.",
    "find": "Find somebody in a release, or explain the cells of one row.",
    "measure": "Compare a release with its original.",
    "sql": "Print the query that checks a promise inside a warehouse.",
    "reconstruct": "Draw datasets that a disassociated release could come from.",
    "hierarchy": "Build, check and convert hierarchies.",
    "convert": "Write baskets in another format, without rare items if wanted.",
    "generate": "Make synthetic data of a given shape.",
    "compare": "Run many methods and parameters, and chart the results.",
    "methods": "List methods, models, measures and attacks, or describe one.",
    "warm-up": "Compile all methods now, so that no first run has to wait.",
}
"""The commands. Each is in `command_NAME.py`, with underscores for hyphens, which defines `program(tokens)`."""

TITLES = {"inspect": "Make a release", "verify": "Look at a release", "hierarchy": "Tools"}
"""The boxes of commands on the first help page, by the command that each begins with."""

ABOUT = """Publish data about people so that each of them stays one fish in the shoal.

Usually: inspect a file, anonymize it, read the report that lies beside the release, attack it, and publish out/release.
Every command has a page of its own: shoal COMMAND --help."""

EXAMPLE = """Example:
  shoal generate table --rows 2000 --seed 7 -o people.csv
  shoal inspect people.csv
  shoal anonymize mondrian people.csv --k 3 --quasi age,education \\
      --sensitive occupation --others drop -o out
  shoal verify out"""

WRONG_USE, FAULT, INTERRUPTED = 2, 70, 130


class Formatter:
    """A formatter that passes the parts of a help page to a callback as the parser makes them."""

    def __init__(self, take: Callable[[Part, "Console"], None]) -> None:
        self.take = take

    def render_usage(self, console: "Console", options: Any, usage: Any) -> None:
        """Pass on the usage line."""
        self.take(f"Usage: {_plain(usage)}", console)

    def render_description(self, console: "Console", options: Any, description: Any) -> None:
        """Pass on the description of the command."""
        self.take(_plain(description), console)

    def __call__(self, console: "Console", options: Any, panel: Any) -> None:
        """Pass on a group of options or commands."""
        rows = []
        for entry in panel.entries:
            label = _command(entry) if panel.format == "command" else _option(entry)
            added = [f"[choices: {', '.join(entry.choices)}]"] if entry.choices else []
            added += [f"[default: {entry.default}]"] if entry.default is not None else []
            added += ["[required]"] if entry.required else []
            rows.append((label, _plain(entry.description), " ".join(added)))
        if rows:
            self.take((panel.title, rows), console)


def _command(entry: Any) -> str:
    """The label of a command, with its other names."""
    name, *others = entry.all_options or ("",)
    return f"{name} ({', '.join(others)})" if others else name


def _option(entry: Any) -> str:
    """The label of an option with the word for its value, or of an argument; some versions of the parser lack one."""
    argument, word = getattr(entry, "positional_label", None), getattr(entry, "metavar", None)
    names = [*entry.positive_names, *entry.positive_shorts]
    if names and word and not argument:
        names[-1] += f" {word}"
    return " ".join(filter(None, (argument, *names, *entry.negative_names, *entry.negative_shorts)))


def _plain(shown: Any) -> str:
    """The plain text of what the parser shows."""
    text = getattr(shown, "primary_renderable", shown)
    return str(getattr(text, "plain", text or "")).strip()


def _printed(part: Part, console: "Console") -> None:
    """Print a part of a help page."""
    say(drawn(part, console.width, colored(console.file)), console.file)


def page_of(names: Sequence[str]) -> Page:
    """The help page of a command, as the parser makes it."""
    from rich.console import Console

    parts: list[Part] = []
    app = program(names)
    app.help_formatter = Formatter(lambda part, _: parts.append(part))
    app.help_print(list(names), console=Console(quiet=True))
    for name in names:
        app = app[name]
    return [*parts, f"\n{app.help_epilogue}"]


POINT = "\n- "
"""What precedes each item of a message that lists several; the terminal shows each on its own line."""

HELP = frozenset(("--help", "-h", "--version"))
"""Options that ask for a page instead of work."""


def program(tokens: Sequence[str] = ()) -> App:
    """The parser for one call: only the command that is asked for is imported; without one, all are listed."""
    app = App(
        name="shoal",
        help=prose(ABOUT),
        help_format="plaintext",
        help_epilogue=EXAMPLE,
        help_formatter=Formatter(_printed),
        version=__version__,
        suppress_keyboard_interrupt=False,
        result_action="return_value",
    )
    asked = next(iter(tokens), "")
    if asked in COMMANDS:
        app.command(import_module(f"shoal.cli.command_{asked.replace('-', '_')}").program(tokens[1:]))
        return app
    app.group_commands = box = Group("Options", sort_key=len(COMMANDS))
    for place, (name, summary) in enumerate(COMMANDS.items()):
        box = Group(TITLES[name], sort_key=place) if name in TITLES else box
        app.command(App(name=name, help=summary, group=box, sort_key=place))
    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code; errors become a sentence on standard error.

    With ``--json``, an error is also printed as an object on standard output.
    """
    tokens = list(sys.argv[1:] if arguments is None else arguments)
    with as_typed():
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _warned
                code = _called(tokens)
            sys.stdout.flush()
            return int(code or 0)
        except BaseException as error:
            if os.environ.get("SHOAL_DEBUG") == "1":
                raise
            return _explained(error, json="--json" in tokens)


def _called(tokens: list[str]) -> Any:
    """Run a command line with a parser of only the options on it; with all options for a help page or an error."""
    if HELP.isdisjoint(tokens) and len(tokens) > 1:
        with only_typed(tokens):
            app = program(tokens)
        # The parser refuses before anything is done.
        with suppress(CycloptsError):
            return app(tokens, exit_on_error=False, print_error=False)
    return program(tokens)(tokens, exit_on_error=False, print_error=False)


def _warned(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Show a `LeftOut` warning as a sentence, and other warnings as Python does."""
    if issubclass(category, LeftOut):
        print(f"shoal: {visible(' '.join(str(message).split()))}", file=sys.stderr)
    else:
        sys.stderr.write(warnings.formatwarning(message, category, filename, lineno, line))


def _explained(error: BaseException, json: bool) -> int:
    """Print what went wrong in a sentence, and return the exit code."""
    if isinstance(error, BrokenPipeError | SystemExit):  # rich turns the one into the other
        return pipe_closed()
    sentence, code = _sentence(error)
    message, *points = (without_passwords(" ".join(part.split())) for part in sentence.split(POINT))
    print("\n  - ".join((f"shoal: {visible(message)}", *map(visible, points))), file=sys.stderr)
    message = " - ".join((message, *points))
    if json:
        known = error.as_dict() if isinstance(error, ShoalError) else {"kind": _kind(error, code)}
        as_json({"error": {**known, "message": message, "exit_code": code}})
    return code


def _kind(error: BaseException, code: int) -> str:
    """The kind of an error that is not a `ShoalError`."""
    return (
        "WrongUse" if isinstance(error, CycloptsError) else "Fault" if code == FAULT else type(error).__name__
    )


def _sentence(error: BaseException) -> tuple[str, int]:
    match error:
        case ShoalError():
            return str(error), error.exit_code
        case UnusedCliTokensError():
            words = " ".join(error.unused_tokens or ())
            return f"Unexpected argument {words!r}. See: shoal {_place(error)}--help", WRONG_USE
        case UnknownOptionError():
            return f"{unknown_option(error)} See: shoal {_place(error)}--help", WRONG_USE
        case MissingArgumentError():
            return f"{missing_argument(error)} See: shoal {_place(error)}--help", WRONG_USE
        case CycloptsError(__cause__=UnknownOption(option=option), app=App() as app):
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
    """The command that an error belongs to, for the hint to its help."""
    return "".join(f"{name} " for name in error.command_chain or ())


def pages() -> list[tuple[str, ...]]:
    """Every command that has a help page, by the names that lead to it."""
    found: list[tuple[str, ...]] = [()]
    with only_typed(()):
        for name in COMMANDS:
            inside = program([name])[name]
            found += [(name,), *((name, part) for part in inside if not part.startswith("-"))]
    return found


def registered(tokens: Sequence[str], family: str) -> list[str]:
    """The names of a family that a call needs: the one it asks for, or all if it asks for none."""
    asked = next(iter(tokens), "")
    if asked in RENAMED.get(family, ()):
        registry.load(family, asked)  # refuses it, and says what it is called now
    return [asked] if asked in registry.FAMILIES[family] else list(registry.load_all(family))


NAMESAKES = (
    ("--max-suppressed", "--suppression-limit"),
    ("--objective", "--split", "--pick"),
    ("--quasi", "--qi", "--quasi-identifiers", "--keys"),
    ("--missing", "--na", "--null"),
    ("--output", "--out"),
    ("--hierarchy", "--hierarchies"),
    ("--baskets", "--layout"),
)
"""Options for one purpose that have different names in different methods, or in other programs."""

MEANT = {"--rows": ("--baskets", "--people", "--persons", "--count", "--number", "--n")}
"""Options, and other names that people try for them, where these are not options themselves."""


def unknown_option(error: UnknownOptionError) -> str:
    """The message for an unknown option: the one that was probably meant, or what it is an option of."""
    option = (error.token.keyword or error.token.value).partition("=")[0]
    return named(option, error.argument_collection, error.command_chain or ())


def named(option: str, options: Iterable[Argument], commands: Sequence[str]) -> str:
    """The message for an option that a command does not have, given its options: the one meant, or where it belongs."""
    collection = list(options)
    known = list(chain.from_iterable(one.names for one in collection if one.parse))
    if new := new_option(option, known):
        return f"{option} is now {new}."
    said = f"Unknown option: {option}."
    if meant := _namesakes(option, known):
        texts = {name: one.parameter.help or "" for one in collection for name in one.names}
        return f"{said} Did you mean {' or '.join(f'{name} ({texts[name]})' for name in meant)}?"
    if where := _elsewhere(option, commands):
        return said + where
    near = _near(option, known)
    return f"{said} Did you mean {near[0]}?" if near else said


def missing_argument(error: MissingArgumentError) -> str:
    """The message for a missing argument or value, with what it is for."""
    assert error.argument is not None
    said = error.argument.parameter.help
    why = f": {said}" if said else ""
    if error.keyword is not None:
        return f"{error.keyword} needs a value{why}."
    unknown = [word for word in error.unused_tokens or () if word.startswith("--")]
    near = _near(error.argument.name, unknown)
    return f"{error.argument.name} is missing{f' (there is no {near[0]})' if near else ''}{why}."


def _near(option: str, known: Iterable[str]) -> list[str]:
    """The known option with the most similar name, compared without hyphens in front; empty if none is similar.

    >>> _near("--weigth", ["--weight", "--height"]), _near("--baskets", ["--skew", "--seed"])
    (['--weight'], [])
    """
    from difflib import get_close_matches

    names = {name.lstrip("-"): name for name in known}
    return [names[name] for name in get_close_matches(option.lstrip("-"), names, n=1, cutoff=0.6)]


def _namesakes(option: str, known: list[str]) -> list[str]:
    """The known options that serve the purpose of an unknown one."""
    family = [name for names in NAMESAKES if option in names for name in names]
    family += [name for name, words in MEANT.items() if option in words]
    return [name for name in family if name in known]


def _method_pages() -> dict[str, Page]:
    """The help pages of all methods."""
    if registry.others_add():
        return {name: page_of(("anonymize", name)) for name in registry.load_all("method")}
    stored = stored_pages()
    return {name: stored.get(f"anonymize {name}", ()) for name in registry.METHODS}


def _elsewhere(option: str, commands: Sequence[str]) -> str:
    """A hint which other methods, or which models for `verify`, have an option; empty if none has it."""
    match next(iter(commands), ""):
        case "anonymize" if option == "--model":
            return " It is an option of verify. A method is given a model in the promises of a recipe."
        case "anonymize":
            names = [name for name, page in _method_pages().items() if option in options_on(page)]
            return f" It is an option of {', '.join(names)}." if names else ""
        case "verify":
            field = option.removeprefix("--").replace("-", "_")
            models = registry.load_all("model").items()
            names = [name for name, kind in models if field in kind.model_fields]
            return f" It belongs to a model: --model {' or '.join(names)}." if names else ""
    return ""
