"""``shoal verify``: promises proved from published files alone."""

from collections.abc import Sequence
from typing import Annotated

from cyclopts import App, Parameter

from shoal.audit import verify_as_asked
from shoal.cli import show
from shoal.cli.anonymize import Json, Quiet, first_example
from shoal.cli.options import Section, flattened, single, source_named
from shoal.io.reading import Reading
from shoal.methods.table_method import TableMethod
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
        str,
        Parameter(
            help="a folder made by `shoal anonymize`, its release folder, or any table; - for standard input",
            allow_leading_hyphen=True,
            converter=source_named,
        ),
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

    A release folder is judged by what it promises itself, or by the promises that are given here; then its columns have
    the roles that release.json names, unless told. Any other table is judged by the promises that are given here. Cells
    are taken as they are, and nothing is guessed, not even what is missing.

    A row of * in all quasi-identifiers and all sensitive columns is a suppressed row: promises about the sizes of
    classes leave it out.
    """
    with show.progress(quiet or json) as stage:
        stage("verifying")
        verdicts = verify_as_asked(path, promised, roles, reading)
    return show.verdicts(verdicts, json=json, quiet=quiet)
