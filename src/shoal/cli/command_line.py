"""A recipe as the command that a user would type."""

from shoal.cli.options import retyped, typed_option
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
        option = f"--{name.replace('_', '-')}"
        match value:
            case bool():
                words.append(option if value else f"--no-{option[2:]}")
            case dict():
                for key, part in value.items():
                    words += [option.removesuffix("s"), f"{key.replace('=', chr(92) + '=')}={part}"]
            case list() | tuple():
                words += typed_option(option, ",".join(str(one).replace(",", "\\,") for one in value))
            case _:
                words += typed_option(option, str(value))
    words += [*retyped(recipe.roles), *retyped(recipe.source.reading)]
    if recipe.source.baskets is not None:
        words += typed_option("--baskets", recipe.source.baskets)
    for name, spec in recipe.hierarchies.items():
        words += typed_option("--hierarchy", f"{name.replace('=', chr(92) + '=')}={spec}")
    return [*words, "-o", folder]
