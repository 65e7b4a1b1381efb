"""``shoal anonymize``: one command for each registered method, with options derived from the method's fields."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Annotated, Any

from cyclopts import App, Group, Parameter

from shoal import registry
from shoal.cli import run_summary, show
from shoal.cli.freed_memory import keep_freed_memory
from shoal.cli.options import (
    GROUPS,
    Preparing,
    Section,
    epilogue,
    flag,
    flattened,
    is_hierarchy,
    number_option,
    pairs_of,
    pairs_option,
    prose,
    single,
    source_named,
    text_option,
    to_seed,
)
from shoal.cli.program import COMMANDS, registered
from shoal.data.baskets import Baskets
from shoal.data.role import Roles
from shoal.io.overwrite_guard import refuse_existing
from shoal.io.reading import Reading
from shoal.methods.method import Method
from shoal.models._promises import Promises
from shoal.recipe import Output, Recipe, Running, Source

EPILOGUE = """Example:
  shoal anonymize {method} {input} {parameters} \\
      {roles}{more}-o out"""

ROLES = "--quasi age,education --sensitive occupation --others drop \\\n      "
ITEMS = "--quasi age,education --items products --others drop "
LINK = "--quasi age,sex,day,ward --sensitive finding --link visits.csv:person \\\n      --others drop "
SECRETS = "--sensitive 49,50 "
TREES = "--hierarchy age=intervals:5,10,20 --hierarchy education=suppress \\\n      "

LISTS = (
    "Lists take commas and repeats: --quasi a,b --quasi c; a comma inside a name has a backslash before it. "
    "Pairs are repeated: --kind zip=nominal --kind born=date; a = inside a name may need one too."
)

CLASSES = (
    "Rows that are published with the same quasi-identifiers form an equivalence class: most promises are about each "
    "of them."
)

CHOICE = (
    "Each method has a page of its own: shoal anonymize mondrian --help. For a table mondrian is a good beginning: it "
    "is quick and needs no hierarchies. `shoal recommend` tries all methods that can keep your promise, and proposes "
    "one."
)

OUTPUT = GROUPS["Output"]
OF_TABLE, OF_SETS = Group("Methods for tables", sort_key=1), Group("Methods for baskets", sort_key=2)
Input = Annotated[
    str,
    Parameter(
        help="a file, - for standard input, or postgresql://… and sqlite:///…",
        allow_leading_hyphen=True,
        converter=source_named,
    ),
]
Seed = Annotated[
    int | None,
    number_option(
        "what random numbers begin with, for methods that draw any: the same seed makes the same release",
        group=OUTPUT,
        converter=to_seed,
    ),
]
Hierarchies = Annotated[
    str | None,
    text_option(
        "folder of hierarchies: <column>.csv and *_hierarchy_<column>.csv", "DIR", group=GROUPS["Columns"]
    ),
]
HierarchyPairs = Annotated[
    tuple[str, ...],
    pairs_option(
        "the hierarchy of a column: a file, or how to build one, such as age=intervals:5,10,20, zip=mask, sex=suppress",
        "COLUMN=SPEC",
        group=GROUPS["Columns"],
    ),
]
ItemHierarchy = Annotated[
    tuple[str, ...],
    pairs_option(
        "the hierarchy of the items: a file, or how to build one, such as items=balanced:5",
        "items=SPEC",
        group=GROUPS["Items"],
    ),
]
SaveRecipe = Annotated[
    str | None, text_option("also write the recipe of this run, for `shoal run`", "FILE", group=OUTPUT)
]
Jobs = Annotated[
    int | None, number_option("runs at a time; as many as there are cores by default", group=OUTPUT)
]
Force = Annotated[bool, flag("replace an earlier release of that name", group=OUTPUT)]
Replace = Annotated[bool, flag("replace a file of that name", name="--force", group=OUTPUT)]
Quiet = Annotated[bool, flag("print nothing but errors", group=OUTPUT)]
Json = Annotated[bool, flag("print one JSON object", group=OUTPUT)]

FOLDER = {"folder": ("--output", "-o")}
OF_TABLES = ("format", "to", "safe_cells", "also", "value_map", "after", "who")
"""Output options that apply only to published tables."""

OF_BASKETS = ("separator", "names", "encoding", "query", "sheet")
"""Options that say how baskets are read."""

DRAWN = ("public_share", "private", "private_below")
"""Options that draw the roles of items at random."""

OF_ITEMS = ("items", "items_from", "item_separator", "sensitive_items", "insensitive_items")
"""Options about a column of items, and the roles of the items in it."""


def program(tokens: Sequence[str]) -> App:
    """The command with its methods."""
    names = registered(tokens, "method")
    about = f"{COMMANDS['anonymize']}\n\n{CHOICE}"
    app = App(name="anonymize", help=about, help_epilogue=epilogue(partial(example, names[0])))
    for place, name in enumerate(names):
        of_sets = registry.load("method", name).accepts is Baskets
        group = OF_SETS if of_sets else OF_TABLE
        app.command(single(name, command_of(name), partial(example, name), group=group, sort_key=place))
    return app


def command_of(name: str) -> Callable[..., Any]:
    """The command of one method."""
    kind: type[Method] = registry.load("method", name)
    short = tuple(field for field in kind.model_fields if field in Promises.model_fields)
    if kind.accepts is Baskets:
        command = flattened(
            anonymize_baskets,
            method=Section(kind, "Method", without=("promises",), build=partial(dict, name=name)),
            roles=Section(Roles, "Items", only=("sensitive", "insensitive", *DRAWN)),
            source=Section(Source, "Reading", only=("baskets",), build=dict),
            reading=Section(Reading, "Reading", only=OF_BASKETS),
            output=Section(Output, "Output", without=OF_TABLES, names=FOLDER),
            running=Section(Running, "Engine"),
        )
    else:
        command = flattened(
            anonymize_table,
            promise=Section(
                kind, "Promise", only=short, without=("promises",), build=partial(dict, name=name)
            ),
            method=Section(kind, "Method", without=short, build=dict),
            roles=Section(Roles, "Columns", without=_beside(kind)),
            preparation=Preparing(),
            reading=Section(Reading, "Reading"),
            output=Section(Output, "Output", names=FOLDER),
            running=Section(Running, "Engine"),
        )
    classes = [CLASSES] if "k" in short and kind.accepts is not Baskets else []
    command.__doc__ = "\n\n".join([prose(kind.__doc__), *classes, LISTS, f"{kind.paper}."])
    return command


def anonymize_table(
    input: Input,
    /,
    *,
    promise: dict[str, Any],
    method: dict[str, Any],
    roles: Roles,
    preparation: tuple[dict[str, Any], ...],
    reading: Reading,
    output: Output,
    running: Running,
    hierarchies: Hierarchies = None,
    hierarchy: HierarchyPairs = (),
    seed: Seed = None,
    save_recipe: SaveRecipe = None,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Publish a table."""
    recipe = Recipe(
        source=Source(path=input, reading=reading, hierarchies_folder=hierarchies),
        roles=roles,
        hierarchies=pairs_of(hierarchy, "--hierarchy", is_hierarchy),
        preparation=preparation,
        method=promise | method,
        seed=seed,
        running=running,
        output=output,
    )
    return carried_out(recipe, save=save_recipe, force=force, quiet=quiet, json=json)


def anonymize_baskets(
    input: Input,
    /,
    *,
    method: dict[str, Any],
    roles: Roles,
    source: dict[str, Any],
    reading: Reading,
    output: Output,
    running: Running,
    hierarchy: ItemHierarchy = (),
    seed: Seed = None,
    save_recipe: SaveRecipe = None,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Publish baskets."""
    keep_freed_memory()
    recipe = Recipe(
        source=Source(path=input, reading=reading, **source),
        roles=roles,
        hierarchies=pairs_of(hierarchy, "--hierarchy", is_hierarchy),
        method=method,
        seed=seed,
        running=running,
        output=output,
    )
    return carried_out(recipe, save=save_recipe, force=force, quiet=quiet, json=json)


def carried_out(recipe: Recipe, *, save: str | None, force: bool, quiet: bool, json: bool) -> int:
    """Run a recipe, write its release folder, and show the result."""
    from shoal.pipeline import publish  # not needed for the help page, and it loads a lot

    if save is not None:
        refuse_existing(save, force, recipe.source.path)
    with show.progress(quiet or json) as stage:
        run, folder = publish(recipe, force=force, stage=stage)
    if save is not None:
        _with_steps(recipe, run.recipe.get("method", {})).write(save)
    run_summary.publication(run, folder, json=json, quiet=quiet)
    return 0  # a run that breaks a promise is an error, and writes nothing


def _with_steps(recipe: Recipe, done: Mapping[str, Any]) -> Recipe:
    """The recipe with the steps of a search instead of its seconds: how far these come depends on the machine."""
    if recipe.method.get("improve") is None or not done.get("improve_steps"):
        return recipe
    others = {name: value for name, value in recipe.method.items() if name != "improve"}
    return recipe.model_copy(update={"method": {**others, "improve_steps": list(done["improve_steps"])}})


def example(name: str, more: str = "") -> str:
    """An example command of a method that works on the data of `shoal generate`."""
    from shoal.recommendation.command_line import typed_parameter

    kind: type[Method] = registry.load("method", name)
    given = [typed_parameter(name, value) for name, value in kind.example.items() if name != "promises"]
    source, roles = _sample(kind)
    return EPILOGUE.format(
        method=name, input=source, parameters=" ".join(chain(*given)), roles=roles, more=more
    )


def _beside(kind: type[Method]) -> tuple[str, ...]:
    """The role options that a method for tables does not take."""
    return (*DRAWN, *(() if kind.needs_items else OF_ITEMS), *(() if kind.needs_link else ("link",)))


def _sample(kind: type[Method]) -> tuple[str, str]:
    """The file of generated data that a method takes, and the options for the roles of its columns or items."""
    if kind.needs_link:
        return "patients.csv", LINK
    if kind.needs_items:
        return "shoppers.csv", ITEMS
    if kind.accepts is Baskets:
        return "baskets.dat", SECRETS if kind.needs_sensitive else ""
    return "people.csv", ROLES + (TREES if getattr(kind, "along_hierarchies", False) else "")


def first_example(more: str = "") -> str:
    """The example of the first method of the registry."""
    return example(next(iter(registry.METHODS)), more)
