"""Write a recipe as the command that a user would type."""

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from shoal.data._plain_text import singular
from shoal.recipe import Recipe


def command_line(recipe: Recipe, folder: str = "out") -> list[str]:
    """The words of the command that runs a recipe.

    >>> import shlex
    >>> from shoal.recipe import Roles, Source
    >>> method = {"name": "mondrian", "k": 5}
    >>> recipe = Recipe(source=Source(path="my people.csv"), roles=Roles(quasi=("age",)), method=method)
    >>> shlex.join(command_line(recipe))
    "shoal anonymize mondrian 'my people.csv' --k 5 --quasi age -o out"
    """
    method = dict(recipe.method)
    words = ["shoal", "anonymize", str(method.pop("name")), recipe.source.path]
    for name, value in method.items():
        words += typed_parameter(name, value)
    words += [*typed_options(recipe.roles), *typed_options(recipe.source.reading)]
    if recipe.source.baskets is not None:
        words += typed_option("--baskets", recipe.source.baskets)
    for name, spec in recipe.hierarchies.items():
        words += typed_option("--hierarchy", f"{name.replace('=', chr(92) + '=')}={spec}")
    return [*words, "-o", folder]


def typed_parameter(name: str, value: Any) -> list[str]:
    """Write a parameter of a method as words of a command line.

    >>> typed_parameter("k", 10), typed_parameter("weights", {"age": 2}), typed_parameter("order", ["a", "b"])
    (['--k', '10'], ['--weight', 'age=2'], ['--order', 'a,b'])
    """
    option = f"--{name.replace('_', '-')}"
    match value:
        case bool():
            return [option if value else f"--no-{option[2:]}"]
        case dict():
            pairs = (f"{key.replace('=', chr(92) + '=')}={part}" for key, part in value.items())
            return [word for pair in pairs for word in (singular(option), pair)]
        case list() | tuple():
            return typed_option(option, ",".join(str(one).replace(",", "\\,") for one in value))
    return typed_option(option, str(value))


def typed_options(section: Any) -> list[str]:
    r"""Write a section as options: those of its fields that differ from their defaults.

    >>> from shoal.io.reading import Reading
    >>> typed_options(Reading(names=("age", "income, yearly"), drop_missing=True, kinds={"zip": "nominal"}))
    ['--names', 'age,income\\, yearly', '--drop-missing', '--kind', 'zip=nominal']
    """
    options: list[str] = []
    for name, default in _defaults(section):
        value = getattr(section, name)
        flag = f"--{(singular(name) if isinstance(value, Mapping) else name).replace('_', '-')}"
        if value == default:
            continue
        if isinstance(value, bool):
            options.append(flag)
            continue
        pairs = value.items() if isinstance(value, Mapping) else [(None, value)]
        if name == "missing" and any("=" in text for text in value):
            pairs = [(None, text) for text in value]
        for key, part in pairs:
            text = part if isinstance(part, str) else ",".join(one.replace(",", "\\,") for one in part)
            pair = "" if key is None else key.replace("=", "\\=") + "="
            options += typed_option(flag, pair + text)
    return options


def _defaults(section: Any) -> Iterator[tuple[str, Any]]:
    """The fields of a pydantic model or a dataclass, with their defaults."""
    if isinstance(section, BaseModel):
        for name, facts in type(section).model_fields.items():
            yield name, facts.get_default(call_default_factory=True)
        return
    for field in dataclasses.fields(section):
        made = field.default_factory
        yield field.name, field.default if made is dataclasses.MISSING else made()


def typed_option(flag: str, text: str) -> list[str]:
    """Write an option and its value as words of a command line, joined if the value looks like an option.

    >>> typed_option("--missing", "?"), typed_option("--missing", "-")
    (['--missing', '?'], ['--missing=-'])
    """
    return [f"{flag}={text}"] if text.startswith("-") else [flag, text]
