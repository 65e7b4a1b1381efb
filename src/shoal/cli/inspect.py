"""``shoal inspect``: what data holds, and which roles its columns may play."""

from collections.abc import Sequence
from typing import Annotated, Any

from cyclopts import App

from shoal import registry
from shoal.cli import profiles, show
from shoal.cli.anonymize import Input, Json
from shoal.cli.options import GROUPS, Section, flattened, list_option, retyped, single
from shoal.data.baskets import Baskets
from shoal.data.profile import BasketsProfile
from shoal.data.table import Table
from shoal.intake import profile
from shoal.io.reading import Reading
from shoal.recipe import Source

EXAMPLE = """Example:
  shoal inspect people.csv"""

Quasi = Annotated[
    tuple[str, ...],
    list_option("columns to look at together; the suggested ones unless told", group=GROUPS["Columns"]),
]


def program(tokens: Sequence[str]) -> App:
    """The command."""
    command = flattened(
        inspect,
        source=Section(Source, "Reading", only=("baskets",), build=dict),
        reading=Section(Reading, "Reading"),
    )
    return single("inspect", command, EXAMPLE)


def inspect(
    input: Input, /, *, source: dict[str, Any], reading: Reading, quasi: Quasi = (), json: Json = False
) -> None:
    """Show what a table or baskets hold, and suggest roles.

    A table: each column alone, and how many rows the quasi-identifiers single out together. Baskets (told by --baskets,
    or by the ending .dat or .spmf): items, lengths, supports, and how many baskets a few known items single out. Roles
    are guessed from names and numbers: decide yourself.
    """
    with show.progress(json) as stage:
        stage("reading")
        found = profile(input, reading=reading, layout=source.get("baskets"), quasi=quasi or None)
    if json:
        show.as_json(found.as_dict())
    elif isinstance(found, BasketsProfile):
        method = first_method(Baskets)
        profiles.baskets_profile(found, method and f"shoal anonymize {method} --help")
    else:
        method = first_method(Table)
        profiles.table_profile(found, method and profiles.suggestion(found, input, method, retyped(reading)))


def first_method(form: type) -> str | None:
    """The first registered method for data of a form."""
    return next((name for name in registry.METHODS if registry.load("method", name).accepts is form), None)
