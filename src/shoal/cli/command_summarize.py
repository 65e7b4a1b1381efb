"""``shoal summarize``: cross-tables with totals, protected by hidden cells or by noise."""

from collections.abc import Sequence
from typing import Annotated, Any

from cyclopts import App, Parameter

from shoal.cli import show
from shoal.cli.command_anonymize import OUTPUT, Force, HierarchyPairs, Input, Json, Quiet
from shoal.cli.options import (
    GROUPS,
    Section,
    flag,
    flattened,
    is_hierarchy,
    list_option,
    pairs_of,
    single,
    split_names,
    text_option,
)
from shoal.io.reading import Reading
from shoal.io.releases.terms import Terms
from shoal.summaries.protection import Protection
from shoal.summarizing import TOTAL, Summarized
from shoal.summarizing import summarize as summed_up

EXAMPLE = """Example:
  shoal generate table --rows 2000 --seed 7 -o people.csv
  shoal summarize people.csv --by education,sex --count --sum age -o out"""

COLUMNS = GROUPS["Columns"]


def program(tokens: Sequence[str]) -> App:
    """The command."""
    command = flattened(
        summarize,
        reading=Section(Reading, "Reading"),
        protection=Section(Protection, "Promise", build=dict, without=("dominance",)),
        terms=Section(Terms, "Output"),
    )
    return single("summarize", command, EXAMPLE)


def summarize(
    input: Input,
    /,
    *,
    reading: Reading,
    protection: dict[str, Any],
    terms: Terms,
    by: Annotated[
        tuple[str, ...],
        Parameter(
            help="columns of a cross-table; repeat it for several tables, which are protected together",
            negative="",
            show_default=False,
            metavar="NAME,…",
            group=COLUMNS,
        ),
    ],
    output: Annotated[
        str, Parameter(help="the folder to make", name=("--output", "-o"), metavar="OUT", group=OUTPUT)
    ],
    count: Annotated[
        bool, flag("publish how many rows a cell has; nothing to sum up means this too", group=COLUMNS)
    ] = False,
    sum: Annotated[tuple[str, ...], list_option("columns to sum up: amounts from 0 on", group=COLUMNS)] = (),
    total: Annotated[str, text_option("name of totals; TOTAL by default", "TEXT", group=COLUMNS)] = TOTAL,
    hierarchy: HierarchyPairs = (),
    dominance: Annotated[
        str | None,
        text_option(
            "also hide a sum whose N largest amounts are more than K percent of it",
            "N,K",
            group=GROUPS["Promise"],
        ),
    ] = None,
    report: Annotated[bool, flag("write report.html", negative="--no-report", group=OUTPUT)] = True,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Publish cross-tables with totals, sensitive cells hidden.

    Cells with few rows, and sums that one amount dominates, are hidden (*), and so many others that nobody can compute
    them from the totals: linear programs prove it, and `shoal verify OUT` proves it again from the files. With
    --epsilon nothing is hidden, and counts get noise: differential privacy, which no file can prove.

    Nodes of hierarchies are totals too. A row is taken for a person.
    """
    with show.progress(quiet or json) as stage:
        found = summed_up(
            input,
            [split_names(names) for names in by],
            count=count or None,
            sums=sum,
            total=total,
            hierarchies=pairs_of(hierarchy, "--hierarchy", is_hierarchy),
            reading=reading,
            stage=stage,
            **protection,
            **({"dominance": tuple(dominance.split(","))} if dominance else {}),
        )
        found.write(output, force=force, report=report, terms=terms)
    return answer(found, output, json=json, quiet=quiet)


def answer(found: Summarized, folder: str, *, json: bool, quiet: bool) -> int:
    """Show what was published."""
    if json:
        show.as_json({**found.as_dict(), "folder": folder})
    elif not quiet:
        show.line(f"{len(found.release.data):,} cells published in {folder}/release")
        noisy = "epsilon" in found.release.parameters
        for value, (first, beside) in () if noisy else found.hidden.items():
            show.line(
                f"{value}: {first + beside:,} hidden, {first:,} by the rules and {beside:,} beside them"
            )
        show.warning_lines(found.warnings)
        show.verdict_lines(found.verdicts)
    return 0
