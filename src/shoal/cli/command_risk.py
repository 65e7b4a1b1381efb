"""``shoal risk``: what data gives away before it is published."""

from collections.abc import Sequence
from typing import Annotated, Any

from cyclopts import App, Parameter

from shoal.assessing import risk as assess
from shoal.cli import show
from shoal.cli.command_anonymize import Input, Json
from shoal.cli.options import GROUPS, Section, flattened, list_option, single
from shoal.data._plain_text import counted
from shoal.io.reading import Reading
from shoal.recipe import Source
from shoal.risks.assessment import BasketsRisk, RiskOptions, TableRisk
from shoal.risks.known_items import KnownItemsRisk

EXAMPLE = """Example:
  shoal risk people.csv --quasi age,zip,sex --sample-fraction 0.05"""

COLUMNS, RISK = GROUPS["Columns"], GROUPS["Risk"]
LISTED = 12
"""The most combinations of columns that are shown."""


def program(tokens: Sequence[str]) -> App:
    """The command."""
    command = flattened(
        risk,
        source=Section(Source, "Reading", only=("baskets",), build=dict),
        reading=Section(Reading, "Reading"),
        options=Section(RiskOptions, "Risk", build=dict),
    )
    return single("risk", command, EXAMPLE)


def risk(
    input: Input,
    /,
    *,
    source: dict[str, Any],
    reading: Reading,
    options: dict[str, Any],
    quasi: Annotated[
        tuple[str, ...],
        list_option("columns that may be known; the suggested ones by default", group=COLUMNS),
    ] = (),
    entity: Annotated[
        str | None,
        Parameter(help="column that says which rows belong to one person", metavar="COLUMN", group=COLUMNS),
    ] = None,
    sensitive: Annotated[
        tuple[str, ...], list_option("items of baskets that must not be learned", group=GROUPS["Items"])
    ] = (),
    insensitive: Annotated[
        tuple[str, ...],
        list_option("items of baskets that are neither known nor secret", group=GROUPS["Items"]),
    ] = (),
    population: Annotated[
        str | None,
        Parameter(help="a table of everybody, with the same columns", metavar="FILE", group=RISK),
    ] = None,
    json: Json = False,
) -> None:
    """Show what data gives away before it is published.

    A table: prosecutor, journalist and marketer risk, people who are unique in the table and in the population,
    combinations of columns that single people out, the rows that stand out most, and columns that the Safe Harbor rule
    of HIPAA lists. Baskets (named by --baskets, or by the ending .dat or .spmf): how many of them one to four known
    items single out.
    """
    with show.progress(json) as stage:
        stage("measuring risk")
        found = assess(
            input,
            quasi=quasi,
            sensitive=sensitive,
            insensitive=insensitive,
            entity=entity,
            reading=reading,
            baskets=source.get("baskets"),
            population=population,
            **options,
        )
    show.as_json(found.as_dict()) if json else lines(found)


def lines(found: TableRisk | BasketsRisk) -> None:
    """Show all risks in words."""
    if isinstance(found, BasketsRisk):
        baskets_lines(found)
    else:
        table_lines(found)


def baskets_lines(found: BasketsRisk) -> None:
    """Show what a few known items give away."""
    show.line(f"{counted(found.baskets, 'baskets')} of {counted(found.items, 'items')}.", "bold")
    show.grid(
        [_known_cells(one) for one in found.known],
        ["known items", "baskets", "unique", "interval", "mean chance"],
    )
    show.line(
        "Unique: no other basket holds the known items. Mean chance: to pick the right one of those that do."
    )


def _known_cells(one: KnownItemsRisk) -> tuple[Any, ...]:
    """A row of the table: what a number of known items gives away."""
    if not one.baskets:
        return one.known, 0, "–", "–", "–"
    interval = "exact" if one.exact else f"{one.interval[0]:.1%} to {one.interval[1]:.1%}"
    return one.known, one.baskets, _percent(one.unique), interval, _percent(one.chance)


def table_lines(found: TableRisk) -> None:
    """Show all risks of a table."""
    _linkage_lines(found)
    show.line()
    _unique_lines(found)
    show.line()
    _column_lines(found)
    show.line()
    _combination_lines(found)
    _record_lines(found)
    if strangers := found.linkage.strangers:
        said = f"{counted(strangers, 'persons')} of the table cannot be in the population: nobody or too few there have"
        show.line(
            f"{show.WARNING:<7} {said} their values. Is it the population of this table?", "bold yellow"
        )
    for kind in found.kinds:
        show.line(f"{show.WARNING:<7} {kind.reason}", "bold yellow")


def _linkage_lines(found: TableRisk) -> None:
    linkage = found.linkage
    show.line(f"{counted(linkage.people, 'persons')}; known: {', '.join(found.quasi)}.", "bold")
    risks = {"prosecutor": linkage.prosecutor, "journalist": linkage.journalist, "marketer": linkage.marketer}
    show.grid(
        [
            (name, _percent(one.highest), _percent(one.average), _percent(one.above))
            for name, one in risks.items()
        ],
        ["risk", "highest", "average", f"above {found.threshold:g}"],
    )


def _unique_lines(found: TableRisk) -> None:
    uniques = found.population_uniques
    show.line(
        f"Unique in the table: {_percent(found.sample_uniques)} ({counted(found.linkage.unique, 'persons')})."
    )
    models = [("Pitman", uniques.pitman), ("Zayatz", uniques.zayatz), ("SNB", uniques.snb)]
    text = ", ".join(
        f"{name} {'no estimate' if share is None else _percent(share)}" for name, share in models
    )
    show.line(
        f"Unique among {uniques.population:,} people: {_percent(uniques.share)} by {uniques.chosen} ({text})."
    )


def _column_lines(found: TableRisk) -> None:
    show.grid(
        [
            (one.name, one.distinct, _percent(one.unique), one.distinction, one.separation)
            for one in found.columns
        ],
        ["column", "values", "unique", "distinction", "separation"],
    )


def _combination_lines(found: TableRisk) -> None:
    combinations = found.combinations
    wanted = "all rows" if combinations.wanted == 1 else f"{combinations.wanted:.0%} of the rows"
    if combinations.found == ((),):
        show.line("One row stands alone, whatever is known of it.")
        return
    if not combinations.found:
        show.line(f"No combination of up to {counted(combinations.largest, 'columns')} singles out {wanted}.")
        return
    show.line(f"Smallest combinations, of up to {combinations.largest} columns, that single out {wanted}:")
    for names in combinations.found[:LISTED]:
        show.line(f"  {', '.join(names)}")
    if (more := len(combinations.found) - LISTED) > 0:
        show.line(f"  … and {more:,} more (--json lists all)")
    if not combinations.complete:
        show.line("  There are more, which were not looked for: there are too many.")


def _record_lines(found: TableRisk) -> None:
    records = found.records
    if not records.top:
        show.line(f"No row is singled out by up to {counted(records.size, 'columns')}.")
        return
    scored = counted(int((records.counts > 0).sum()), "rows")
    show.line(f"Up to {counted(records.size, 'columns')} single out {scored}. Those that stand out most:")
    show.grid(
        [
            (row + 1, float(records.scores[row]), " or ".join("+".join(names) for names in sets[:3]))
            for row, sets in records.top[:5]
        ],
        ["row", "score", "singled out by"],
    )


def _percent(share: float) -> str:
    return f"{share:.1%}" if share == 0 or share >= 0.001 else f"{100 * share:.2g}%"
