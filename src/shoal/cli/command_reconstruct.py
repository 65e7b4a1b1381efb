"""``shoal reconstruct``: draw datasets that a disassociated release could have been made from."""

from collections.abc import Sequence
from typing import Annotated

from cyclopts import App, Parameter, validators

from shoal.cli import show
from shoal.cli.command_anonymize import OUTPUT, Quiet
from shoal.cli.options import number_option, output_option, single, text_option, to_seed
from shoal.data._plain_text import counted
from shoal.io.releases.reconstructions import read_published_clusters, write_reconstructions

EXAMPLE = """Example:
  shoal anonymize disassociation baskets.dat --k 3 --m 2 -o out
  shoal reconstruct out --count 5 --seed 1 -o copies"""

Count = Annotated[
    int, number_option("how many datasets to draw", group=OUTPUT, validator=validators.Number(gte=1))
]
Seed = Annotated[int, number_option("the same seed draws the same datasets", group=OUTPUT, converter=to_seed)]
Target = Annotated[str, output_option("the folder to make, with 1.dat, 2.dat, …", "DIR")]
Layout = Annotated[
    str | None,
    text_option(
        "layout of the files: lines, spmf, long:ID,ITEM, matrix or column:NAME", "LAYOUT", group=OUTPUT
    ),
]


def program(tokens: Sequence[str]) -> App:
    """The command."""
    return single("reconstruct", reconstruct, EXAMPLE)


def reconstruct(
    folder: Annotated[
        str, Parameter(help="a folder made by `shoal anonymize disassociation`, or its release folder")
    ],
    /,
    *,
    output: Target,
    count: Count = 5,
    seed: Seed = 1,
    baskets: Layout = None,
    quiet: Quiet = False,
) -> None:
    """Draw datasets that a disassociated release could come from.

    Every dataset has the baskets, the chunks and the terms that were published, put together at random. Run an analysis
    on several of them: what it gives on all is in the release, what differs was taken apart.
    """
    with show.progress(quiet) as stage:
        stage("reconstructing")
        files = write_reconstructions(read_published_clusters(folder), output, count, seed, baskets)
    if not quiet:
        show.line(
            f"{counted(len(files), 'datasets')} in {output}: {files[0].name}"
            + (f" … {files[-1].name}" if count > 1 else "")
        )
