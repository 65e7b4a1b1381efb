"""``shoal convert``: write baskets in another format."""

from collections.abc import Sequence
from typing import Annotated, Any

from cyclopts import App, Parameter

from shoal.cli import show
from shoal.cli.command_anonymize import OF_BASKETS, OUTPUT, Input, Quiet
from shoal.cli.options import Section, flag, flattened, list_option, number_option, single, text_option
from shoal.data.baskets import Baskets
from shoal.io.baskets.conversion import convert_baskets, separator_to_tell
from shoal.io.baskets.load import EncodedBaskets
from shoal.io.overwrite_guard import refuse_existing
from shoal.io.reading import Reading
from shoal.recipe import Source

EXAMPLE = """Example:
  shoal convert baskets.dat baskets.csv --to matrix --least-support 0.05"""


def program(tokens: Sequence[str]) -> App:
    """The command."""
    command = flattened(
        convert,
        source=Section(Source, "Reading", only=("baskets",), build=dict),
        reading=Section(Reading, "Reading", only=OF_BASKETS),
    )
    return single("convert", command, EXAMPLE)


def convert(
    input: Input,
    output: Annotated[str, Parameter(help="the file to write")],
    /,
    *,
    source: dict[str, Any],
    reading: Reading,
    to: Annotated[
        str | None,
        text_option(
            "layout to write: lines, spmf, long:ID,ITEM, matrix or column:NAME; .dat, .spmf, .parquet and "
            ".arrow tell it themselves",
            "LAYOUT",
            group=OUTPUT,
        ),
    ] = None,
    least_support: Annotated[
        float,
        Parameter(
            help="leave out items that fewer baskets hold: a number, or below 1 a share of the baskets",
            metavar="NUMBER",
            group=OUTPUT,
            negative="",
        ),
    ] = 0,
    drop_empty: Annotated[bool, flag("leave out baskets without items", group=OUTPUT)] = False,
    drop_only: Annotated[
        tuple[str, ...],
        list_option(
            "leave out baskets that hold these items and no others: the sensitive ones", group=OUTPUT
        ),
    ] = (),
    most_items: Annotated[
        int | None, number_option("leave out baskets with more items", group=OUTPUT, show_default=False)
    ] = None,
    force: Annotated[bool, flag("replace a file of that name", group=OUTPUT)] = False,
    quiet: Quiet = False,
) -> None:
    """Write baskets in another format, without rare items if wanted.

    Formats: one basket a line, SPMF, a long table of basket and item, a matrix of 0 and 1, or a column of a table;
    gzip and Zstandard are unpacked, and packed where the new name ends in .gz or .zst. Baskets that lose all their
    items stay, because they are persons too.
    """
    refuse_existing(output, force, input)
    before, after = convert_baskets(
        input,
        output,
        layout=source.get("baskets"),
        reading=reading,
        to=to,
        least_support=least_support,
        drop_empty=drop_empty,
        drop_only=drop_only,
        most_items=most_items,
    )
    if not quiet:
        tell(before, after, output)


def tell(encoded: EncodedBaskets, after: Baskets, output: str) -> None:
    """Say what was read and written, and how to read it if that is not obvious."""
    before = encoded.baskets
    show.line(
        f"{len(after):,} of {len(before):,} baskets with {len(after.vocabulary):,} of {len(before.vocabulary):,} "
        f"items in {output}"
    )
    show.warning_lines(encoded.remarks)
    if (separator := separator_to_tell(after)) is not None:
        show.line(f"Items hold what is usually between them; read this file with --separator {separator!r}.")
