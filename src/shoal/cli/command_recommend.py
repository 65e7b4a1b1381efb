"""``shoal recommend``: try candidates within a time limit, and propose the least lossy that keeps the promise."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter

from shoal.cli import show
from shoal.cli.command_anonymize import (
    OF_ITEMS,
    OUTPUT,
    Hierarchies,
    HierarchyPairs,
    Jobs,
    Json,
    Quiet,
)
from shoal.cli.options import (
    GROUPS,
    Section,
    flag,
    flattened,
    is_hierarchy,
    output_option,
    pairs_of,
    single,
    source_named,
)
from shoal.cli.show_recommendation import recommended
from shoal.io.overwrite_guard import refuse_existing
from shoal.io.reading import Reading
from shoal.recipe import Roles, Source
from shoal.recommendation.goal import Stated
from shoal.recommendation.proposal_page import refuse_other_folder, write
from shoal.recommendation.propose import propose

EXAMPLE = """Example:
  shoal recommend people.csv --k 5 --quasi age,education --sensitive disease \\
      --others drop --time-limit 20"""

LISTED = ("quasi", "sensitive", "identifying", "insensitive", "entity", "others", *OF_ITEMS)

SuppressionLimit = Annotated[
    float,
    Parameter(
        help="largest share of the rows that may be suppressed: 0.01 is one in a hundred",
        metavar="SHARE",
        group=GROUPS["Method"],
        negative="",
    ),
]
Scale = Annotated[
    Literal["loss", "queries"],
    Parameter(
        help="compare tables by the loss of their cells, or by the error of counting questions",
        group=GROUPS["Method"],
    ),
]
Folder = Annotated[
    str | None, output_option("also write a folder with recommend.html, results.csv and recipe.toml")
]
TimeLimit = Annotated[
    float,
    Parameter(help="seconds for all candidates together", metavar="SECONDS", group=OUTPUT, negative=""),
]
ReadAgain = Annotated[
    str,
    Parameter(
        help="a file, or postgresql://… and sqlite:///…; it is read several times",
        allow_leading_hyphen=True,
        converter=source_named,
    ),
]


def program(tokens: Sequence[str]) -> App:
    """The command."""
    command = flattened(
        recommend_release,
        stated=Section(Stated, "Promise", without=("promises",)),
        roles=Section(Roles, "Columns", only=LISTED),
        source=Section(Source, "Reading", only=("baskets",), build=dict),
        reading=Section(Reading, "Reading", without=("published",)),
    )
    return single("recommend", command, EXAMPLE)


def recommend_release(
    input: ReadAgain,
    /,
    *,
    stated: Stated,
    roles: Roles,
    source: dict[str, str],
    reading: Reading,
    hierarchies: Hierarchies = None,
    hierarchy: HierarchyPairs = (),
    suppression_limit: SuppressionLimit = 0.05,
    by: Scale = "loss",
    time_limit: TimeLimit = 60.0,
    jobs: Jobs = None,
    output: Folder = None,
    force: Annotated[bool, flag("replace such a folder", group=OUTPUT)] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Try what keeps a promise, and propose the least lossy release.

    State what is promised: of a table --k 10, --k 10 --l 3, --risk 0.5 and so on; of baskets --h 0.5 --k 5 --p 2, or
    --p 10 alone, or --k 5 --m 2, which is for a table with --items too. Every candidate is made, proved and measured by
    one scale; what does not keep the promise is never proposed. The answer is the command to run.
    """
    if output is not None:
        refuse_existing(output, force, input)
        refuse_other_folder(output)
    given = pairs_of(hierarchy, "--hierarchy", is_hierarchy)
    data: dict[str, Any] = {"roles": roles, "reading": reading, "hierarchies": given}
    data["hierarchies_folder"] = hierarchies
    limits: dict[str, Any] = {"time_limit": time_limit, "by": by, "jobs": jobs}
    limits["suppression_limit"] = suppression_limit
    with show.bar(quiet or json) as tell:
        found = propose(input, stated, tell=tell, **{**data, **limits, **source})
    if output is not None:
        write(found, output)
    return recommended(found, output, json=json, quiet=quiet)
