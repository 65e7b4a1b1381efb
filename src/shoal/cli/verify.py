"""``shoal verify``: promises proved from published files alone."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from shoal.cli import show
from shoal.cli.anonymize import Json, Quiet, first_example
from shoal.cli.options import Section, flattened, single
from shoal.io.reading import Reading
from shoal.methods.table_method import TableMethod
from shoal.pipeline import verify_file, verify_folder
from shoal.recipe import Roles

EXAMPLE = """{first}
  shoal verify out
  shoal verify out/release/data.csv --quasi age,education --k 3"""


def program(tokens: Sequence[str]) -> App:
    """The command; what it can prove is what methods of tables can promise."""
    command = flattened(
        verify,
        promised=Section(TableMethod, "Promise", without=("promises",)),
        roles=Section(Roles, "Columns", only=("quasi", "sensitive", "entity")),
        reading=Section(Reading, "Reading", only=("separator", "names", "sheet", "query")),
    )
    return single("verify", command, EXAMPLE.format(first=first_example()))


def verify(
    path: Annotated[
        str, Parameter(help="a folder made by `shoal anonymize`, its release folder, or any table")
    ],
    /,
    *,
    promised: TableMethod,
    roles: Roles,
    reading: Reading,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Prove promises from published files alone.

    A release folder is judged by what it promises itself. Any other table is judged by the promises that are given
    here; then its cells are taken as they are, and nothing is guessed, not even what is missing.
    """
    with show.progress(quiet or json) as stage:
        stage("verifying")
        if promised.models() or roles.quasi or Path(path).is_file():
            verdicts = verify_file(path, promised, roles, reading)
        else:
            verdicts = verify_folder(path, promised.population)
    return show.verdicts(verdicts, json=json, quiet=quiet)
