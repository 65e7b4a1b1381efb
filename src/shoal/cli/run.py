"""``shoal run``: a release as a recipe says."""

from collections.abc import Sequence
from typing import Annotated

from cyclopts import App, Parameter

from shoal.cli.anonymize import OUTPUT, Force, Json, Quiet, carried_out, first_example
from shoal.cli.options import single, text_option
from shoal.recipe import Recipe

EXAMPLE = """{first}
  shoal run recipe.toml -o again"""


def program(tokens: Sequence[str]) -> App:
    """The command."""
    return single("run", run, EXAMPLE.format(first=first_example("--save-recipe recipe.toml ")))


def run(
    recipe: Annotated[str, Parameter(help="a TOML file, as written by --save-recipe")],
    /,
    *,
    output: Annotated[
        str | None,
        text_option(
            "the release folder, instead of the recipe's", "FOLDER", name=("--output", "-o"), group=OUTPUT
        ),
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Make a release as a recipe says.

    Relative paths in the recipe are taken from the folder that it lies in.
    """
    plan = Recipe.read(recipe)
    if output is not None:
        plan = plan.model_copy(update={"output": plan.output.model_copy(update={"folder": output})})
    return carried_out(plan, save=None, force=force, quiet=quiet, json=json)
