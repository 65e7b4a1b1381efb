"""``shoal recommend``: candidates tried within a time limit, and the least lossy release that keeps the promise."""

import shlex
from collections.abc import Sequence
from typing import Annotated, Literal

from cyclopts import App, Parameter

from shoal.cli import show
from shoal.cli.anonymize import OUTPUT, Hierarchies, HierarchyPairs, Input, ItemHierarchy, Json, Quiet
from shoal.cli.options import (
    GROUPS,
    Section,
    flag,
    flattened,
    number_option,
    pairs_of,
    retyped,
    single,
    text_option,
    typed_option,
)
from shoal.cli.show_recommendation import recommended
from shoal.io.places import refuse_existing
from shoal.io.reading import Reading
from shoal.recipe import Recipe, Roles, Source
from shoal.recommend.page import refuse_other_folder, write
from shoal.recommend.recommendation import recommend
from shoal.recommend.stated import Stated

EXAMPLE = """Example:
  shoal recommend people.csv --k 5 --quasi age,education --sensitive disease \\
      --others drop --time-limit 20"""

LISTED = ("quasi", "sensitive", "identifying", "insensitive", "entity", "others")

Suppression = Annotated[
    float,
    Parameter(help="largest share of rows that may be left out", group=GROUPS["Method"], negative=""),
]
Scale = Annotated[
    Literal["loss", "queries"],
    Parameter(
        help="compare tables by the loss of their cells, or by the error of counting questions",
        group=GROUPS["Method"],
    ),
]
Jobs = Annotated[
    int | None, number_option("runs at a time; as many as there are cores unless told", group=OUTPUT)
]
Folder = Annotated[
    str | None,
    text_option(
        "also write a folder with recommend.html, results.csv and recipe.toml",
        "FOLDER",
        name=("--output", "-o"),
        group=OUTPUT,
    ),
]
TimeLimit = Annotated[float, Parameter(help="seconds for all", group=OUTPUT, negative="")]


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
    input: Input,
    /,
    *,
    stated: Stated,
    roles: Roles,
    source: dict[str, str],
    reading: Reading,
    hierarchies: Hierarchies = None,
    hierarchy: HierarchyPairs = (),
    item_hierarchy: ItemHierarchy = None,
    suppression: Suppression = 0.05,
    by: Scale = "loss",
    time_limit: TimeLimit = 60.0,
    jobs: Jobs = None,
    output: Folder = None,
    force: Annotated[bool, flag("replace such a folder", group=OUTPUT)] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Try methods and parameters that keep a promise, and propose the least lossy release.

    State what is promised: of a table --k 10, --k 10 --l 3, --risk 0.5 and so on; of baskets --h 0.5 --k 5 --p 2, or
    --p 10 alone, or --k 5 --m 2. Every candidate is made, proved and measured by one scale; what does not keep the
    promise is never proposed. The answer is the command to run.
    """
    if output is not None:
        refuse_existing(output, force, input)
        refuse_other_folder(output)
    given = pairs_of(hierarchy, "--hierarchy") | ({"items": item_hierarchy} if item_hierarchy else {})
    with show.bar(quiet or json) as tell:
        found = recommend(
            input,
            stated,
            roles=roles,
            reading=reading,
            hierarchies=given,
            hierarchies_folder=hierarchies,
            time_limit=time_limit,
            suppression=suppression,
            by=by,
            jobs=jobs,
            tell=tell,
            **source,
        )
    command = command_line(found.recipe)
    if output is not None:
        write(found, output, shlex.join(command))
    return recommended(found, command, output, json=json, quiet=quiet)


def command_line(recipe: Recipe, folder: str = "out") -> list[str]:
    """The words of the command that runs a recipe.

    >>> method = {"name": "mondrian", "k": 5}
    >>> recipe = Recipe(source=Source(path="my people.csv"), roles=Roles(quasi=("age",)), method=method)
    >>> shlex.join(command_line(recipe))
    "shoal anonymize mondrian 'my people.csv' --k 5 --quasi age -o out"
    """
    method = dict(recipe.method)
    words = ["shoal", "anonymize", str(method.pop("name")), recipe.source.path]
    for name, value in method.items():
        option = f"--{name.replace('_', '-')}"
        match value:
            case bool():
                words.append(option if value else f"--no-{option[2:]}")
            case dict():
                for key, part in value.items():
                    words += [option.removesuffix("s"), f"{key}={part}"]
            case list() | tuple():
                words += typed_option(option, ",".join(str(one).replace(",", "\\,") for one in value))
            case _:
                words += typed_option(option, str(value))
    words += [*retyped(recipe.roles), *retyped(recipe.source.reading)]
    if recipe.source.baskets is not None:
        words += typed_option("--baskets", recipe.source.baskets)
    for name, spec in recipe.hierarchies.items():
        if name == "items":
            words += typed_option("--item-hierarchy", spec)
        else:
            pair = f"{name.replace('=', chr(92) + '=')}={spec}"
            words += typed_option("--hierarchy", pair)
    return [*words, "-o", folder]
