"""What to say about an option that a command does not have, or that a call lacks: its name, and what it is for."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from itertools import chain

from cyclopts import Argument, MissingArgumentError, UnknownOptionError

from shoal import registry
from shoal.renamed import new_option

NAMESAKES = (
    ("--max-suppressed", "--suppression-limit"),
    ("--objective", "--split", "--pick"),
    ("--quasi", "--qi", "--quasi-identifiers", "--keys"),
    ("--missing", "--na", "--null"),
    ("--output", "--out"),
    ("--hierarchy", "--hierarchies"),
    ("--baskets", "--layout"),
)
"""Options with one purpose that have different names in different methods, or elsewhere."""

MEANT = {"--rows": ("--baskets", "--people", "--persons", "--count", "--number", "--n")}
"""Options, and words that are taken for them where they mean nothing else."""


def unknown_option(error: UnknownOptionError) -> str:
    """Name an unknown option, and the one that was meant, or where it belongs."""
    option = (error.token.keyword or error.token.value).partition("=")[0]
    return named(option, error.argument_collection, error.command_chain or ())


def named(option: str, options: Iterable[Argument], commands: Sequence[str]) -> str:
    """Name an unknown option among those of a command, and the one that was meant, or where it belongs."""
    collection = list(options)
    known = list(chain.from_iterable(one.names for one in collection if one.parse))
    if new := new_option(option, known):
        return f"{option} is now {new}."
    said = f"Unknown option: {option}."
    if meant := _namesakes(option, known):
        texts = {name: one.parameter.help or "" for one in collection for name in one.names}
        return f"{said} Did you mean {' or '.join(f'{name} ({texts[name]})' for name in meant)}?"
    near = _near(option, known)
    did_you = f" Did you mean {near[0]}?" if near else ""
    return said + did_you + _elsewhere(option, commands)


def missing_argument(error: MissingArgumentError) -> str:
    """Name what a call lacks, an option or its value, and what it is for."""
    assert error.argument is not None
    said = error.argument.parameter.help
    why = f": {said}" if said else ""
    if error.keyword is not None:
        return f"{error.keyword} needs a value{why}."
    unknown = [word for word in error.unused_tokens or () if word.startswith("--")]
    near = _near(error.argument.name, unknown)
    return f"{error.argument.name} is missing{f' (there is no {near[0]})' if near else ''}{why}."


def _near(option: str, known: Iterable[str]) -> list[str]:
    """The option with the nearest name; the hyphens before a name make it no nearer to others.

    >>> _near("--weigth", ["--weight", "--height"]), _near("--baskets", ["--skew", "--seed"])
    (['--weight'], [])
    """
    names = {name.lstrip("-"): name for name in known}
    return [names[name] for name in get_close_matches(option.lstrip("-"), names, n=1, cutoff=0.6)]


def _namesakes(option: str, known: list[str]) -> list[str]:
    """The options here that have the purpose of another."""
    family = [name for names in NAMESAKES if option in names for name in names]
    family += [name for name, words in MEANT.items() if option in words]
    return [name for name in family if name in known]


def _elsewhere(option: str, commands: Sequence[str]) -> str:
    """Which other methods, or models to verify by, have an option."""
    field = option.removeprefix("--").replace("-", "_")
    command = next(iter(commands), "")
    family = {"anonymize": "method", "verify": "model"}.get(command)
    if family is None:
        return ""
    names = [name for name, kind in registry.load_all(family).items() if field in kind.model_fields]
    if not names:
        return ""
    if command == "verify":
        return f" It belongs to a model: --model {' or '.join(names)}."
    return f" It is an option of {', '.join(names)}."
