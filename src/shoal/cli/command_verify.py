"""``shoal verify``: prove promises from published files alone."""

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Annotated, Any

from cyclopts import App, Parameter

from shoal import registry
from shoal.cli import show
from shoal.cli.command_anonymize import Json, Quiet, first_example
from shoal.cli.options import GROUPS, Section, flattened, single, source_named, text_option
from shoal.io.reading import Reading
from shoal.models._promises import Promises
from shoal.models.model import Model, TableModel
from shoal.recipe import Roles, Running, Source
from shoal.verification import Asked, Trees, verify_as_asked

EXAMPLE = """{first}
  shoal verify out
  shoal verify out/release/data.csv --quasi age,education --k 3
  shoal verify out/release/data.csv --quasi age,education --model k-anonymity \\
      --k 3 --missing-matches-all"""

MODEL = "--model"

ModelName = Annotated[
    str | None,
    text_option(
        "a model with all its parameters, which `shoal verify --model NAME --help` lists: "
        + ", ".join(registry.MODELS),
        "NAME",
        group=GROUPS["Promise"],
    ),
]

TABLE = ("separator", "names", "sheet", "query")
"""The options of reading a published table or a file of baskets."""

COLUMNS, ITEMS = ("quasi", "sensitive", "entity", "items"), ("sensitive", "insensitive")
"""The roles that columns and items can be given."""

FOLDER = {"folder": "--hierarchies"}

OF_THE_TABLE = ("entity", "population")
"""Parameters of models that follow from the roles and the population of the table."""


def program(tokens: Sequence[str]) -> App:
    """The command; its promises are the short forms for tables, or the parameters of the model that is named."""
    name = asked_model(tokens)
    command = _command(None if name is None else registry.load("model", name))
    return single("verify", command, lambda: EXAMPLE.format(first=first_example()))


def asked_model(tokens: Sequence[str]) -> str | None:
    """The model that a call names: its parameters become options.

    >>> asked_model(["data.dat", "--model", "km-anonymity"]), asked_model(["--model=k-map"]), asked_model(["out"])
    ('km-anonymity', 'k-map', None)
    """
    for place, token in enumerate(tokens):
        option, equals, value = token.partition("=")
        if option == MODEL:
            return value if equals else next(iter(tokens[place + 1 :]), None)
    return None


def _command(kind: type[Model] | None) -> Callable[..., Any]:
    """The command with the parameters of a model, and for tables also with the short forms of promises."""
    own = () if kind is None else tuple(name for name in kind.model_fields if name not in OF_THE_TABLE)
    tables = kind is None or issubclass(kind, TableModel)
    return flattened(
        verify,
        promised=Section(Promises, "Promise", only=None if tables else (), without=("promises", *own)),
        promise=Section(kind or Promises, "Promise", only=own, build=kind or (lambda: None)),
        roles=Section(
            Roles, "Columns" if tables else "Items", only=COLUMNS if tables else ITEMS, without=own
        ),
        source=Section(Source, "Reading", only=() if tables else ("baskets",), build=dict),
        trees=Section(Trees, "Population", only=None if tables else (), names=FOLDER),
        reading=Section(Reading, "Reading", only=TABLE, without=own),
        running=Section(Running, "Engine", without=own),
    )


def verify(
    path: Annotated[
        str,
        Parameter(
            help="a folder made by `shoal anonymize`, its release folder, or any published file; - for standard input",
            allow_leading_hyphen=True,
            converter=source_named,
        ),
    ],
    /,
    *,
    promised: Promises,
    promise: Model | None,
    roles: Roles,
    source: dict[str, Any],
    trees: Trees,
    reading: Reading,
    running: Running,
    model: ModelName = None,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Prove promises from published files alone.

    A release folder is judged by what it promises itself and by the order of its rows, which must tell nothing of the
    input, or by the promises that are given here; then its columns have the roles that release.json names, by default.
    Any other file is judged by the promises that are given here: a table by the short forms of them, or by a model;
    baskets, groups and clusters (data.jsonl) by a model. Cells are taken as they are, and nothing is guessed, not even
    what is missing. The last line tells by which columns or items it was judged, and which columns nobody judged.

    A release folder that holds anything beside release.json and the published data breaks its promise.

    A row of * in all quasi-identifiers and all sensitive columns is a suppressed row: promises about the sizes of
    classes leave it out.

    Promises about a population are judged beside its file. Where published cells are nodes of hierarchies, these tell
    who of the population is meant: a folder with its run.json knows them, otherwise give them here.
    """
    if promise is not None:
        promised = promised.model_copy(update={"promises": (promise,)})
    with show.progress(quiet or json) as stage, closing(running.open()) as engine:
        stage("verifying")
        asked = Asked(promised, roles, reading, source.get("baskets"), trees)
        verdicts = verify_as_asked(path, asked, engine)
    return show.verdicts(verdicts, json=json, quiet=quiet)
