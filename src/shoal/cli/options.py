"""Derive command-line options from the declared fields of methods, recipes and readers.

A command names the classes it takes as *sections*. `flattened` turns every field of a section into an option, and
passes the section, built and checked, to the command when it is called.
"""

import dataclasses
import inspect
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from itertools import chain
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

from cyclopts import App, Group, Parameter
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from shoal import registry
from shoal.cli.help_pages import value_word
from shoal.data._plain_text import singular
from shoal.errors import UnknownOption, WrongUse
from shoal.option_names import STEPS, share_instead

if TYPE_CHECKING:
    from shoal.preparation.transform import Transform

Fits = Callable[[str], bool]
"""A function that tells whether a text can be the value of a pair."""


def pairs_of(texts: Sequence[str], option: str, fits: Fits | None = None) -> dict[str, str]:
    """Parse pairs, one per text: ``--hierarchy age=intervals:5,10 --hierarchy zip=mask``.

    `fits`: tells what can be a value, to split a pair whose name contains a ``=``.

    >>> pairs_of(["age=intervals:5,10", "zip=mask"], "--hierarchy")
    {'age': 'intervals:5,10', 'zip': 'mask'}
    """
    pairs: dict[str, str] = {}
    for text in texts:
        pair = pair_in(text, fits)
        if pair is None:
            raise WrongUse(f"{option} takes NAME=VALUE, not {text!r}.")
        if pair[0] in pairs:
            raise WrongUse(f"{option} is given twice for {pair[0]!r}.")
        pairs[pair[0]] = pair[1]
    return pairs


def pair_in(text: str, fits: Fits | None = None) -> tuple[str, str] | None:
    r"""Split a pair into name and value; None if the text is no pair.

    It is split at the first ``=`` after which `fits` finds a value, or at the first of all if there is none. A ``=``
    after a backslash belongs to the name.

    >>> pair_in("a=b=2", is_number), pair_in(r"a\=b=c=d"), pair_in("a=b=c"), pair_in("a=")
    (('a=b', '2'), ('a=b', 'c=d'), ('a', 'b=c'), None)
    """
    places = [match.start() for match in re.finditer(r"(?<!\\)=", text)]
    pairs = [(text[:place].replace("\\=", "=").strip(), text[place + 1 :].strip()) for place in places]
    pairs = [pair for pair in pairs if all(pair)]
    return next((pair for pair in pairs if fits is None or fits(pair[1])), next(iter(pairs), None))


def is_number(text: str) -> bool:
    """Whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def is_kind(text: str) -> bool:
    """Whether a text names a kind of column."""
    from shoal.data.domain import Kind

    return text in set(Kind)


def is_hierarchy(text: str) -> bool:
    """Whether a text is a hierarchy builder, or a file that exists.

    >>> pair_in("a=b=mask", is_hierarchy), pair_in("grade=order:1=low,2=high", is_hierarchy)
    (('a=b', 'mask'), ('grade', 'order:1=low,2=high'))
    """
    from shoal.data._hierarchy_builders import BUILDERS

    return text.partition(":")[0] in BUILDERS or os.path.isfile(text)


WIDTH = 79
"""The longest line: help is wrapped at 80 columns where no terminal says otherwise."""

MADE = {
    "people.csv": "shoal generate table --rows 2000 --seed 7 -o people.csv",
    "baskets.dat": "shoal generate baskets --rows 1000 --items 50 --density 0.1 --seed 7 -o baskets.dat",
    "patients.csv": "shoal generate table --rows 1000 --numbered --seed 7 -o patients.csv",
    "visits.csv": "shoal generate visits --persons 1000 --seed 7 -o visits.csv",
    "shoppers.csv": "shoal generate mixed --rows 1000 --items 40 --seed 7 -o shoppers.csv",
}
"""Files that examples use, with the command that makes each."""


def epilogue(example: str | Callable[[], str]) -> str:
    """The example at the end of a help page; empty if the call cannot ask for a page."""
    if not may_be_typed("help", "h"):
        return ""
    return complete(example if isinstance(example, str) else example())


def complete(example: str) -> str:
    r"""An example as a help page shows it: its commands, preceded by those that make the files they use.

    >>> print(complete("Example:\n  shoal inspect people.csv"))
    Example:
      shoal generate table --rows 2000 --seed 7 -o people.csv
      shoal inspect people.csv
    """
    head, _, text = example.partition("\n")
    commands = [" ".join(line.split()) for line in text.replace("\\\n", " ").splitlines()]
    # A file may be followed by a column, as in visits.csv:person.
    words = {word.partition(":")[0] for command in commands for word in shlex.split(command)}
    made = [command for file, command in MADE.items() if file in words and command not in commands]
    return "\n".join([head, *(broken(command) for command in (*made, *commands))])


def broken(command: str) -> str:
    r"""Break a command into lines that fit the width, before options; the shell joins them again.

    >>> print(broken("shoal verify " + "--quasi a " * 8))
      shoal verify --quasi a --quasi a --quasi a --quasi a --quasi a --quasi a \
          --quasi a --quasi a
    """
    parts: list[str] = []
    for word in command.split():
        if parts and not word.startswith("-"):
            parts[-1] += f" {word}"
        else:
            parts.append(word)
    lines = ["  " + parts[0]]
    for part in parts[1:]:
        if len(lines[-1]) + 1 + len(part) > WIDTH - 2:
            lines.append("      " + part)
        else:
            lines[-1] += f" {part}"
    return " \\\n".join(lines)


TITLES = (
    "Promise",
    "Method",
    "Columns",
    "Items",
    "Population",
    "Risk",
    "Preparation",
    "Reading",
    "Shape",
    "Engine",
    "Output",
)
GROUPS = {title: Group(title, sort_key=place + 1) for place, title in enumerate(TITLES)}
"""The groups of options on a help page, in order."""


def split_names(text: str) -> tuple[str, ...]:
    r"""Split a list of names at its commas; a comma inside a name has a backslash before it.

    >>> split_names(r"age,income\, yearly")
    ('age', 'income, yearly')
    """
    return tuple(part.strip().replace("\\,", ",") for part in re.split(r"(?<!\\),", text))


def numbers_named(text: str) -> tuple[str, ...]:
    """Split a text into pairs of a name and a number at its commas; anything else is left as it is.

    >>> numbers_named("linkage=0.1,inference=0.05"), numbers_named("income, yearly=2")
    (('linkage=0.1', 'inference=0.05'), ('income, yearly=2',))
    """
    parts = split_names(text)
    pairs = [pair_in(part, is_number) for part in parts]
    return parts if all(pair is not None and is_number(pair[1]) for pair in pairs) else (text,)


def names_of(_: Any, tokens: Sequence[Any]) -> tuple[str, ...]:
    """Convert one or more lists of names: ``--quasi a,b --quasi c``."""
    return tuple(name for token in tokens for name in split_names(token.value))


def codes_of(_: Any, tokens: Sequence[Any]) -> tuple[str, ...]:
    """Convert codes of missing values, for all columns or for one: ``--missing -,none --missing age=999,998``."""
    entries: list[str] = []
    for token in tokens:
        column = None
        for part in split_names(token.value):
            pair = pair_in(part)
            column = column if pair is None else pair[0].replace("=", "\\=")
            entries.append(part if pair is not None or column is None else f"{column}={part}")
    return tuple(entries)


def source_named(_: Any, tokens: Sequence[Any]) -> str:
    """Convert a source; one that begins with a hyphen is a mistyped option, except ``-`` for standard input."""
    name: str = tokens[0].value
    if name.startswith("-") and name != "-":
        raise UnknownOption(name.partition("=")[0])
    return name


def whole(_: Any, tokens: Sequence[Any]) -> int:
    """Convert a whole number; anything else is refused and never rounded."""
    try:
        return int(tokens[0].value)
    except ValueError:
        name = (tokens[0].keyword or "").removeprefix("--").replace("-", "_")
        hint = share_instead(name, tokens[0].value).replace("use ", "use --").replace("_", "-")
        raise WrongUse(f"{tokens[0].value!r} is not a whole number{hint and f': {hint}'}.") from None


def to_seed(_: Any, tokens: Sequence[Any]) -> int:
    """Convert the seed of random numbers, a whole number from 0 on."""
    found = whole(_, tokens)
    if found < 0:
        raise WrongUse(f"A seed must be at least 0, not {found}.")
    return found


def list_option(help_text: str, **more: Any) -> Parameter:
    """An option that takes ``a,b`` and may be repeated."""
    return Parameter(
        help=help_text,
        negative="",
        **{"converter": names_of, "metavar": "NAME,…", "show_default": False, **more},
    )


def pairs_option(help_text: str, metavar: str = "NAME=VALUE", **more: Any) -> Parameter:
    """An option that takes a pair and may be repeated; `pairs_of` turns its values into a dictionary."""
    return Parameter(help=help_text, negative="", show_default=False, metavar=metavar, **more)


@dataclasses.dataclass(frozen=True, slots=True)
class Section:
    """A class whose fields become options of a command."""

    kind: type  # a pydantic model or a dataclass
    title: str  # the group on the help page
    only: tuple[str, ...] | None = None
    without: tuple[str, ...] = ()
    """`only`, `without`: which fields to offer; all by default."""
    names: Mapping[str, str | tuple[str, ...]] = dataclasses.field(default_factory=dict)
    """Fields whose options have other names, with those names."""
    build: Callable[..., Any] | None = None
    """Function that makes the section from the given options; by default the class itself."""

    def fields(self) -> list["Field"]:
        """The fields that become options."""
        return [
            field
            for field in fields_of(self.kind)
            if (self.only is None or field.name in self.only) and field.name not in self.without
        ]

    def parameters(self) -> list[inspect.Parameter]:
        """A keyword parameter for each field whose option the command line may contain."""
        offered = [field for field in self.fields() if self._offers(field)]
        return [field.parameter(self.title, self.names.get(field.name)) for field in offered]

    def _offers(self, field: "Field") -> bool:
        names = self.names.get(field.name, ())
        names = (names,) if isinstance(names, str) else names
        return field.default is PydanticUndefined or may_be_typed(field.name, field.flag, *names)

    def built(self, given: dict[str, Any]) -> Any:
        """Build the section from the options that the user gave, and remove these from `given`."""
        own = {
            field.name: field.value(given.pop(field.name)) for field in self.fields() if field.name in given
        }
        return (self.build or self.kind)(**own)


@dataclasses.dataclass(frozen=True, slots=True)
class Field:
    """A declared field of a pydantic model or a dataclass."""

    name: str
    annotation: Any
    default: Any
    help: str

    def parameter(self, title: str, flag: str | tuple[str, ...] | None) -> inspect.Parameter:
        """The field as a keyword parameter that the parser understands."""
        kind, default, plain = self.annotation, self.default, _plain(self.annotation)
        if self.is_mapping or self.is_list:
            kind = tuple[str, ...]
            default = () if self.is_mapping else self.default
        if self.is_mapping:
            option = pairs_option(
                self.help, "NAME=VALUE,…" if self.of_lists else "NAME=VALUE", name=flag or self.flag
            )
        elif kind == tuple[str, ...]:
            shown = ", ".join(map(str, filter(None, self.default or ())))
            option = list_option(
                self.help,
                name=flag,
                show_default=(lambda _: shown) if shown else False,
                **({"metavar": self.word} if self.word else {}),
                **({"converter": codes_of, "metavar": "[NAME=]TEXT,…"} if self.name == "missing" else {}),
            )
            kind = kind if self.default is not None else kind | None
        else:
            option = Parameter(
                help=self.help,
                name=flag,
                negative=None if self.default is True else "",
                show_default=self.default is not None and not isinstance(self.default, bool),
                metavar=self.word,
                converter=whole if plain is int else None,
            )
        return inspect.Parameter(
            self.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if default is PydanticUndefined else default,
            annotation=Annotated[kind, Parameter.combine(option, Parameter(group=GROUPS[title]))],
        )

    @property
    def word(self) -> str | None:
        """What stands for its value on a help page; None where the parser knows."""
        return value_word(self.name, list if self.is_list else _plain(self.annotation))

    @property
    def is_list(self) -> bool:
        """Whether it takes several texts or numbers."""
        return get_origin(_plain(self.annotation)) in (tuple, list)

    @property
    def is_mapping(self) -> bool:
        """Whether the field takes pairs of a name and a value."""
        origin = get_origin(_plain(self.annotation))
        return isinstance(origin, type) and issubclass(origin, Mapping)

    @property
    def of_lists(self) -> bool:
        """Whether the field takes pairs of a name and a list."""
        return self.is_mapping and get_origin(get_args(_plain(self.annotation))[1]) in (tuple, list)

    @property
    def fits(self) -> Fits | None:
        """The test whether a text can be the value of a pair, if values have a certain form; otherwise None."""
        named = {"kinds": is_kind, "hierarchies": is_hierarchy}.get(self.name)
        kinds = get_args(_plain(self.annotation))
        return is_number if float in (*kinds, *chain.from_iterable(map(get_args, kinds))) else named

    @property
    def flag(self) -> str:
        """The option of the field, unless its section gives it another name."""
        return f"--{(singular(self.name) if self.is_mapping else self.name).replace('_', '-')}"

    def value(self, given: Any) -> Any:
        """The value of the field, from what the user gave."""
        if not self.is_mapping:
            return given
        if self.fits is is_number and not self.of_lists:
            given = [pair for text in given for pair in numbers_named(text)]
        pairs = pairs_of(given, self.flag, self.fits)
        if self.of_lists:
            return {name: split_names(text) for name, text in pairs.items()}
        numbers = self.fits is is_number
        return {name: float(text) if numbers and is_number(text) else text for name, text in pairs.items()}


def fields_of(kind: type) -> list[Field]:
    """The fields of a pydantic model or a dataclass, in order."""
    if issubclass(kind, BaseModel):
        return [
            Field(
                name,
                field.annotation,
                field.get_default(call_default_factory=True),
                f"{field.description or ''}{range_of(field.metadata)}",
            )
            for name, field in kind.model_fields.items()
        ]
    hints, texts = get_type_hints(kind), described(kind)
    empty = dataclasses.MISSING
    return [
        Field(
            field.name,
            hints[field.name],
            field.default_factory() if field.default_factory is not empty else field.default,
            texts[field.name],
        )
        for field in dataclasses.fields(kind)  # type: ignore[arg-type]
    ]


def range_of(constraints: Sequence[Any]) -> str:
    """The range of a number, as a help text shows it.

    >>> from annotated_types import Ge, Lt
    >>> range_of([Ge(2)]), range_of([Ge(0), Lt(1)]), range_of([])
    (' [at least 2]', ' [at least 0, below 1]', '')
    """
    words = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}
    limits = [
        f"{word} {getattr(limit, name)}"
        for limit in constraints
        for name, word in words.items()
        if getattr(limit, name, None) is not None
    ]
    return f" [{', '.join(limits)}]" if limits else ""


def described(kind: type) -> dict[str, str]:
    """What the docstring of a class says about each of its parameters, by name."""
    text = (inspect.getdoc(kind) or "").partition("Parameters\n----------\n")[2]
    found = re.findall(r"^(\w[\w, ]*)\n((?:(?: {4}.*)?\n)+)", text + "\n", re.MULTILINE)
    texts = {
        name: " ".join(lines.split()).replace("``", "")
        for names, lines in found
        for name in names.split(", ")
    }
    return {name: text[:1].lower() + text[1:].removesuffix(".") for name, text in texts.items()}


def prose(text: str | None) -> str:
    """The paragraphs of a docstring, each on one line, with single backquotes; the terminal wraps them."""
    plain = inspect.cleandoc(text or "").replace("``", "`")
    return "\n\n".join(" ".join(part.split()) for part in plain.split("\n\n"))


def flag(help_text: str, **more: Any) -> Parameter:
    """An option without a value."""
    return Parameter(help=help_text, show_default=False, **{"negative": "", **more})


def text_option(help_text: str, metavar: str, **more: Any) -> Parameter:
    """An option that takes one text."""
    return Parameter(help=help_text, metavar=metavar, negative="", show_default=False, **more)


def output_option(help_text: str, metavar: str = "FOLDER") -> Parameter:
    """The option ``-o``, which says where to write."""
    return text_option(help_text, metavar, name=("--output", "-o"), group=GROUPS["Output"])


def number_option(help_text: str, **more: Any) -> Parameter:
    """An option that takes a whole number."""
    return Parameter(help=help_text, negative="", **{"converter": whole, "metavar": "N", **more})


def single(name: str, command: Callable[..., Any], example: str | Callable[[], str], **more: Any) -> App:
    """A program of one command, whose help is its docstring and ends in an example.

    `more`: of the program, such as the group that it is listed in.
    """
    app = App(
        name=name,
        help=prose(command.__doc__),
        help_epilogue=epilogue(example),
        group_parameters=Group("Options", sort_key=0),
        **more,
    )
    app.default(command)
    return app


def flattened(command: Callable[..., Any], **sections: Any) -> Callable[..., Any]:
    """Replace the sections among a command's parameters by one option for each of their fields."""
    plain = inspect.signature(command, eval_str=True).parameters.values()
    options = [option for section in sections.values() for option in section.parameters()]
    own = [parameter for parameter in plain if parameter.name not in sections]

    @wraps(command)
    def called(*arguments: Any, **given: Any) -> Any:
        built = {name: section.built(given) for name, section in sections.items()}
        return command(*arguments, **built, **given)

    first = [parameter for parameter in own if parameter.kind is not inspect.Parameter.KEYWORD_ONLY]
    last = [parameter for parameter in own if parameter.kind is inspect.Parameter.KEYWORD_ONLY]
    called.__signature__ = inspect.Signature([*first, *options, *last])  # type: ignore[attr-defined]
    called.__annotations__ = {}
    return called


def _plain(annotation: Any) -> Any:
    """The type of an annotation without `None`."""
    parts = [part for part in get_args(annotation) if part is not NoneType]
    optional = len(parts) < len(get_args(annotation))
    return parts[0] if optional and len(parts) == 1 else annotation


SHARED = {
    "key": (str, text_option("file of the secret key; made where there is none", "FILE")),
    "person": (str, text_option("column of the person's number; the entity by default", "COLUMN")),
    "shift_days": (
        int,
        number_option("the largest shift of dates, in days: 182 by default", show_default=False),
    ),
}
"""Options that several preparation steps share: their types and how they are shown."""


class Preparing:
    """The section of a command for the preparation steps, which are applied to columns before the method."""

    def __init__(self) -> None:
        options = {STEPS.get(name, name).replace("-", "_"): name for name in registry.TRANSFORMS}
        self._kinds: dict[str, type[Transform]] = {
            option: registry.load("transform", name)
            for option, name in options.items()
            if may_be_typed(option)
        }

    def parameters(self) -> list[inspect.Parameter]:
        """A keyword parameter for each step, and one for each shared option."""
        steps = [
            _keyword(
                name,
                tuple[str, ...],
                (),
                Parameter(help=kind.help, metavar=kind.metavar, negative="", show_default=False),
            )
            for name, kind in self._kinds.items()
        ]
        shared = {name: option for name, option in SHARED.items() if may_be_typed(name)}
        return steps + [_keyword(name, kind | None, None, option) for name, (kind, option) in shared.items()]

    def built(self, given: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        """The steps that the user gave, as plain data for a recipe; their options are removed from `given`."""
        shared = {name: given.pop(name, None) for name in SHARED}
        shared["days"] = shared.pop("shift_days")
        typed = {kind: given.pop(name, ()) for name, kind in self._kinds.items()}
        return tuple(step for kind, texts in typed.items() if texts for step in kind.typed(texts, shared))


def _keyword(name: str, kind: Any, default: Any, option: Parameter) -> inspect.Parameter:
    shown = Parameter.combine(option, Parameter(group=GROUPS["Preparation"]))
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, shown]
    )


_typed: ContextVar[frozenset[str] | None] = ContextVar("typed", default=None)


@contextmanager
def only_typed(tokens: Sequence[str]) -> Iterator[None]:
    """Let commands define only the options that a command line may contain, and those that are required.

    The parser takes about half a millisecond for each option, and of a hundred only a few are typed.
    """
    words = chain(tokens, *(token[1:] for token in tokens if token.startswith("-")))
    token = _typed.set(frozenset(_bare(word.partition("=")[0]) for word in words))
    try:
        yield
    finally:
        _typed.reset(token)


def _bare(word: str) -> str:
    """An option in one spelling: lower case, with hyphens, without those in front and without ``no-``."""
    return word.lower().replace("_", "-").lstrip("-").removeprefix("no-")


def may_be_typed(*names: str) -> bool:
    """Whether the command line may contain an option with one of these names."""
    typed = _typed.get()
    return typed is None or not typed.isdisjoint(map(_bare, names))
