"""``shoal run``: make a release from a recipe."""

from collections.abc import Sequence
from typing import Annotated

from cyclopts import App, Parameter

from shoal.cli.command_anonymize import OUTPUT, Force, Json, Quiet, carried_out, first_example
from shoal.cli.options import (
    GROUPS,
    number_option,
    output_option,
    pairs_of,
    pairs_option,
    single,
    source_named,
    text_option,
)
from shoal.recipe import Recipe

EXAMPLE = """{first}
  shoal run recipe.toml -o again
  shoal run recipe.toml --k 20 -o coarser"""


def program(tokens: Sequence[str]) -> App:
    """The command."""
    return single("run", run, lambda: EXAMPLE.format(first=first_example("--save-recipe recipe.toml ")))


def run(
    recipe: Annotated[str, Parameter(help="a TOML file, as written by --save-recipe")],
    /,
    *,
    output: Annotated[str | None, output_option("the release folder, instead of the recipe's")] = None,
    input: Annotated[
        str | None,
        text_option(
            "the data, instead of the recipe's", "INPUT", group=GROUPS["Reading"], converter=source_named
        ),
    ] = None,
    k: Annotated[int | None, number_option("k of the method, instead of the recipe's", group=OUTPUT)] = None,
    with_: Annotated[
        tuple[str, ...],
        pairs_option(
            "another parameter of the method, instead of the recipe's",
            "NAME=VALUE",
            name="--with",
            group=OUTPUT,
        ),
    ] = (),
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
    if input is not None:
        plan = plan.model_copy(update={"source": plan.source.model_copy(update={"path": input})})
    changed = pairs_of(with_, "--with") | ({} if k is None else {"k": k})
    if changed:
        plan = plan.model_copy(update={"method": {**plan.method, **changed}})
        plan.the_method()
    return carried_out(plan, save=None, force=force, quiet=quiet, json=json)
