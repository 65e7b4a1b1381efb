"""``shoal generate``: make synthetic data."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any, get_type_hints

from cyclopts import App

from shoal import registry
from shoal.cli import run_summary, show
from shoal.cli.command_anonymize import OUTPUT, Quiet, Replace
from shoal.cli.options import MADE, Section, flattened, number_option, output_option, single, to_seed
from shoal.cli.program import COMMANDS
from shoal.data.baskets import Baskets
from shoal.io.baskets.conversion import layout_by_ending
from shoal.io.baskets.load import write_baskets
from shoal.io.overwrite_guard import refuse_existing
from shoal.io.tables.load import write_table

EXAMPLES = {
    "table": f"Example:\n  {MADE['people.csv']}",
    "baskets": f"Example:\n  {MADE['baskets.dat']}",
    "mixed": f"Example:\n  {MADE['shoppers.csv']}",
    "visits": f"Example:\n  {MADE['patients.csv']}\n  {MADE['visits.csv']}",
}

Seed = Annotated[
    int | None, number_option("the same seed makes the same data", group=OUTPUT, converter=to_seed)
]
Target = Annotated[
    str,
    output_option(
        "the file to write; its ending tells the format, and .gz or .zst behind that of baskets compresses",
        "FILE",
    ),
]


def program(tokens: Sequence[str]) -> App:
    """The command, with one part for each registered generator."""
    app = App(name="generate", help=COMMANDS["generate"], help_epilogue=EXAMPLES["table"])
    for form, kind in generators().items():
        app.command(single(form, command_of(kind), EXAMPLES[form]))
    return app


def generators() -> dict[str, type]:
    """The registered generators, by the form of what they make: a table, baskets, or a table with items."""
    kinds = [registry.load("dataset", name) for name in registry.DATASETS]
    return {getattr(kind, "form", made_by(kind).__name__.lower()): kind for kind in kinds}


def made_by(kind: Any) -> type:
    """The type of data that a generator makes."""
    made: type = get_type_hints(kind.make)["return"]
    return made


def command_of(kind: type) -> Callable[..., Any]:
    """The command of one generator."""
    command = flattened(generate, shape=Section(kind, "Shape"))
    command.__doc__ = kind.__doc__
    return command


def generate(
    *, shape: Any, output: Target, seed: Seed = None, force: Replace = False, quiet: Quiet = False
) -> None:
    """Make data and write it."""
    refuse_existing(output, force)
    layout = layout_by_ending(output) if made_by(type(shape)) is Baskets else ""
    with show.progress(quiet) as stage:
        stage("generating")
        data = shape.make(seed)
        stage("writing")
        if isinstance(data, Baskets):
            write_baskets(replace(data, layout=layout), output)
        else:
            write_table(data, output)
    if not quiet:
        show.line(f"{run_summary.count(data):,} {run_summary.noun(data)} in {output}")
