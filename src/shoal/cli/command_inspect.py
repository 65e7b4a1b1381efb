"""``shoal inspect``: show what data holds, and suggest roles of its columns."""

from collections.abc import Sequence
from shlex import quote
from typing import Annotated, Any

from cyclopts import App

from shoal import registry
from shoal.cli import profiles, show
from shoal.cli.command_anonymize import OF_BASKETS, Input, Json
from shoal.cli.options import GROUPS, Section, flattened, list_option, single
from shoal.data.baskets import Baskets
from shoal.data.profile import BasketsProfile, TableProfile
from shoal.data.table import Table
from shoal.io.baskets.layouts import parse_layout
from shoal.io.reading import Reading
from shoal.recipe import Source
from shoal.recommendation.command_line import typed_options, typed_parameter
from shoal.sources import likely_layout, profile

EXAMPLE = """Example:
  shoal inspect people.csv"""

Quasi = Annotated[
    tuple[str, ...],
    list_option("columns to look at together; the suggested ones by default", group=GROUPS["Columns"]),
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

    A table: each column alone, and how many rows the quasi-identifiers single out together. Baskets (named by
    --baskets, or by the ending .dat or .spmf): items, lengths, supports, and how many baskets a few known items single
    out. A table that may hold baskets, as a matrix of 0 and 1 or in long form, is shown with a note. Roles are guessed
    from names and numbers: decide yourself.
    """
    layout = source.get("baskets")
    with show.progress(json) as stage:
        stage("reading")
        found = profile(input, reading=reading, layout=layout, quasi=quasi or None)
    likely = None if isinstance(found, BasketsProfile) else likely_layout(input)
    if json:
        show.as_json(found.as_dict() | ({} if likely is None else {"likely_baskets": likely}))
    elif isinstance(found, BasketsProfile):
        count = found.baskets if found.items else 0
        profiles.baskets_profile(found, basket_suggestion(input, layout, reading, count))
    else:
        profiles.table_profile(found, table_suggestion(found, input, reading, quasi))
    if likely is not None and isinstance(found, TableProfile) and not json:
        count = likely_count(found, likely)
        profiles.likely_baskets(likely, basket_suggestion(input, likely, reading, count))


def table_suggestion(
    found: TableProfile, source: str, reading: Reading, quasi: Sequence[str] = ()
) -> str | None:
    """A command for a table, with the suggested roles, or with the given quasi-identifiers."""
    method = first_method(Table)
    return method and profiles.suggestion(found, source, method, typed_options(reading), quasi)


def likely_count(found: TableProfile, layout: str) -> int:
    """How many baskets a table holds when read in a layout: one per row, or one per value of a column."""
    if layout == "matrix" and all(set(column.examples) <= {"0"} for column in found.columns):
        return 0
    named = parse_layout(layout).columns[:1]
    return next((column.distinct for column in found.columns if column.name in named), found.rows)


def basket_suggestion(source: str, layout: str | None, reading: Reading, count: int) -> str | None:
    """A command for `count` baskets that needs no other options, ready to be pasted; None if none could run."""
    kinds = registry.load_all("method").values()
    kind = next((kind for kind in kinds if kind.accepts is Baskets and not kind.needs_sensitive), None)
    if kind is None or count < 2:
        return None
    example = {name: min(value, count) if name == "k" else value for name, value in kind.example.items()}
    words = ["shoal", "anonymize", kind.name, source]
    words += [word for name, value in example.items() for word in typed_parameter(name, value)]
    words += [] if layout is None else ["--baskets", layout]
    given = {name: getattr(reading, name) for name in OF_BASKETS}
    words += typed_options(Reading(**given))
    return " ".join(map(quote, [*words, "-o", "out"]))


def first_method(form: type) -> str | None:
    """The first registered method for data of a form."""
    return next((name for name, kind in registry.load_all("method").items() if kind.accepts is form), None)
