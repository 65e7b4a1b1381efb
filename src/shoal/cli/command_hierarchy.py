"""``shoal hierarchy``: build, check and convert hierarchies."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from shoal.cli import show
from shoal.cli.command_anonymize import OUTPUT, Input, Json, Replace
from shoal.cli.options import (
    GROUPS,
    Section,
    epilogue,
    flattened,
    is_hierarchy,
    output_option,
    pair_in,
    single,
    text_option,
)
from shoal.cli.program import COMMANDS
from shoal.data._hierarchy_builders import build as build_hierarchy
from shoal.errors import BadData, WrongUse
from shoal.io.hierarchies.check import check as check_hierarchy
from shoal.io.hierarchies.load import Format, read_hierarchy, write_hierarchy
from shoal.io.overwrite_guard import refuse_existing
from shoal.io.reading import Reading
from shoal.sources import read_column

BUILD = """Example:
  shoal hierarchy build people.csv age=intervals:5,10,20 -o age.csv"""
CHECK = f"""{BUILD}
  shoal hierarchy check age.csv people.csv --column age"""
CONVERT = f"""{BUILD}
  shoal hierarchy convert age.csv age.json --format amnesia-json"""

File = Annotated[
    str, Parameter(help="a hierarchy: ARX's rows, a child,parent list, or Amnesia's text or JSON")
]
Target = Annotated[str, output_option("the file to write", "FILE")]
Written = Annotated[Format, Parameter(help="how to write it", group=OUTPUT)]
ColumnName = Annotated[
    str | None,
    text_option(
        "the column of the data; found out from the file's name by default", "NAME", group=GROUPS["Columns"]
    ),
]


def program(tokens: Sequence[str]) -> App:
    """The commands."""
    app = App(name="hierarchy", help=COMMANDS["hierarchy"], help_epilogue=epilogue(BUILD))
    reading = Section(Reading, "Reading", without=("drop_missing",))
    app.command(single("build", flattened(build, reading=reading), BUILD))
    usage = "shoal hierarchy check [OPTIONS] FILE [INPUT]"
    app.command(single("check", flattened(check, reading=reading), CHECK, usage=usage))
    app.command(single("convert", flattened(convert, reading=reading), CONVERT))
    return app


def build(
    input: Input,
    spec: Annotated[
        str, Parameter(help="COLUMN=BUILDER, such as age=intervals:5,10,20, zip=mask, sex=suppress")
    ],
    /,
    *,
    output: Target,
    reading: Reading,
    format: Written = "arx",
    force: Replace = False,
) -> None:
    """Build the hierarchy of a column from its values, and write it.

    Builders: intervals:WIDTH,…, mask, prefix:LENGTH,…, dates[:PART,…], order:SIZE,…, balanced:CHILDREN and suppress.
    """
    name, builder = pair_in(spec, is_hierarchy) or (spec, "")
    if not builder:
        raise WrongUse(f"{spec!r} is not of the form COLUMN=BUILDER, such as age=intervals:5,10,20.")
    refuse_existing(output, force, input)
    column = read_column(input, name, reading)
    hierarchy = build_hierarchy(builder, column.domain, name).covering(column.domain, name)
    write_hierarchy(hierarchy, output, format)


def check(
    file: File,
    input: Annotated[str | None, Parameter(help="the data whose values it must cover")] = None,
    /,
    *,
    reading: Reading,
    column: ColumnName = None,
    json: Json = False,
) -> int:
    """List everything that is wrong with a hierarchy, each with its line; exit 3 if there is anything.

    Values of the data that it misses, leaves that reach no root, levels that do not nest, texts with two meanings.
    """
    domain = None if input is None else read_column(input, column or column_named(file), reading).domain
    found = check_hierarchy(file, domain)
    if json:
        show.as_json(found.as_dict())
    else:
        show.findings(found)
    return BadData.exit_code if found else 0


def convert(
    file: File,
    output: Annotated[str, Parameter(help="the file to write")],
    /,
    *,
    reading: Reading,
    format: Written = "arx",
    data: Annotated[
        str | None, text_option("the data, for a hierarchy of ranges", "INPUT", group=GROUPS["Columns"])
    ] = None,
    column: ColumnName = None,
    force: Replace = False,
) -> None:
    """Write a hierarchy in another format."""
    refuse_existing(output, force, file, data)
    domain = None if data is None else read_column(data, column or column_named(file), reading).domain
    write_hierarchy(read_hierarchy(file, domain), output, format)


def column_named(file: str) -> str:
    """The column that a hierarchy file is named after.

    >>> column_named("hierarchies/age.csv"), column_named("adult_hierarchy_native-country.csv")
    ('age', 'native-country')
    """
    return Path(file).stem.rpartition("_hierarchy_")[2]
