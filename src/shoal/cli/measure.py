"""``shoal measure``: what a release costs in utility."""

from collections.abc import Sequence
from typing import Annotated

from cyclopts import App, Parameter

from shoal.audit import measure as measure_folder
from shoal.cli import show
from shoal.cli.anonymize import Json, first_example
from shoal.cli.options import single

EXAMPLE = """{first}
  shoal measure out --original people.csv"""


def program(tokens: Sequence[str]) -> App:
    """The command."""
    return single("measure", measure, EXAMPLE.format(first=first_example()))


def measure(
    folder: Annotated[str, Parameter(help="a folder made by `shoal anonymize`, with its run.json")],
    /,
    *,
    original: Annotated[str, Parameter(help="the data that the release was made from", metavar="INPUT")],
    json: Json = False,
) -> None:
    """Compare a release with its original.

    How to read the original, its roles and its hierarchies are taken from run.json in the folder. With --json every
    score stands under its name, and its part for a column under the name, a dot and the column.
    """
    with show.progress(json) as stage:
        stage("measuring")
        scores = measure_folder(folder, original)
    show.scores(scores, json=json)
