"""``shoal compare``: run many methods and parameters, and chart the results."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from shoal.cli import show
from shoal.cli.command_anonymize import OUTPUT, Jobs, Json, Quiet
from shoal.cli.options import flag, output_option, single
from shoal.cli.program import INTERRUPTED
from shoal.comparison.runner import compare as compare_recipe
from shoal.io.overwrite_guard import refuse_existing

EXAMPLE = """Example:
  shoal compare sweep.toml --example
  shoal compare sweep.toml --quick -o compared"""


def program(tokens: Sequence[str]) -> App:
    """The command."""
    return single("compare", compare, EXAMPLE)


def compare(
    recipe: Annotated[str, Parameter(help="a TOML file of datasets, sweeps and charts")],
    /,
    *,
    output: Annotated[
        str | None, output_option("the folder to write; called like the recipe by default")
    ] = None,
    quick: Annotated[
        bool,
        flag("run the small form: at most 1,000 rows, two values of each list, one seed", group=OUTPUT),
    ] = False,
    jobs: Jobs = None,
    charts: Annotated[bool, Parameter(help="draw pictures", group=OUTPUT, show_default=False)] = True,
    example: Annotated[bool, flag("write an example of a recipe, and do nothing else", group=OUTPUT)] = False,
    force: Annotated[bool, flag("forget the runs that are finished there", group=OUTPUT)] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Run many methods and parameters, and chart the results.

    Runs that are finished in the folder already are not repeated: call it again after an interruption, or after the
    recipe has grown. A run that fails is recorded, and the others go on.
    """
    if example:
        return _example(Path(recipe), force)
    folder = output or Path(recipe).stem
    try:
        with show.bar(quiet or json) as tell:
            found = compare_recipe(
                recipe, folder, quick=quick, jobs=jobs, force=force, charts=charts, tell=tell
            )
    except KeyboardInterrupt:
        show.line(
            f"shoal: interrupted; finished runs are kept in {folder}, call it again to go on.",
            file=sys.stderr,
        )
        return INTERRUPTED
    return show.comparison(found, quiet=quiet, json=json)


def _example(path: Path, force: bool) -> int:
    """Write a recipe to begin with."""
    from importlib.resources import files

    refuse_existing(str(path), force)
    path.write_bytes(files("shoal.comparison").joinpath("templates", "example.toml").read_bytes())
    return 0
