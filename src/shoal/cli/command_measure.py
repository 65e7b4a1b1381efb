"""``shoal measure``: show the information loss of a release."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Annotated

from cyclopts import App, Parameter

from shoal.cli import show
from shoal.cli.command_anonymize import Json, first_example
from shoal.cli.options import Section, flattened, list_option, pairs_of, pairs_option, single
from shoal.errors import WrongUse
from shoal.measuring import measured_and_missing
from shoal.recipe import Running

EXAMPLE = """{first}
  shoal measure out --original people.csv"""


def program(tokens: Sequence[str]) -> App:
    """The command."""
    command = flattened(measure, running=Section(Running, "Engine"))
    return single("measure", command, lambda: EXAMPLE.format(first=first_example()))


def measure(
    folder: Annotated[str, Parameter(help="a folder made by `shoal anonymize`, with its run.json")],
    /,
    *,
    running: Running,
    original: Annotated[str, Parameter(help="the data that the release was made from", metavar="INPUT")],
    measures: Annotated[
        tuple[str, ...],
        list_option("only these measures, also those that run only on request; `shoal methods` lists them"),
    ] = (),
    option: Annotated[
        tuple[str, ...],
        pairs_option("an option of a measure, such as queries.workload=FILE", "MEASURE.OPTION=VALUE"),
    ] = (),
    json: Json = False,
) -> None:
    """Compare a release with its original.

    How to read the original, its roles and its hierarchies are taken from run.json in the folder. With --json every
    score stands under its name, and its part for a column under the name, a dot and the column. On stream and spark,
    only measures are taken that need no more than counts over the rows; what is left out is told, with --json under
    `unmeasured`.
    """
    with show.progress(json) as stage, closing(running.open()) as engine:
        stage("measuring")
        asked = chosen(measures, pairs_of(option, "--option"))
        scores, unmeasured = measured_and_missing(folder, original, measures=asked, engine=engine)
    show.scores(scores, unmeasured, json=json)


def chosen(names: Sequence[str], options: Mapping[str, str]) -> list[dict[str, str]] | None:
    """The measures that are asked for, with their options; None for all that run by default.

    >>> chosen(["loss"], {"queries.seed": "3"})
    [{'name': 'loss'}, {'name': 'queries', 'seed': '3'}]
    """
    asked: dict[str, dict[str, str]] = {name: {"name": name} for name in names}
    for key, value in options.items():
        name, dot, field = key.partition(".")
        if not dot or not field:
            raise WrongUse(f"--option takes MEASURE.OPTION=VALUE, not {key}={value}.")
        asked.setdefault(name, {"name": name})[field.replace("-", "_")] = value
    return list(asked.values()) or None
