"""Read the input of a run: data with roles and hierarchies, and warnings about it."""

import os
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.data._column_kinds import taken_sentences
from shoal.data._item_sets import label_sets
from shoal.data.baskets import Baskets
from shoal.data.clusters import Clusters
from shoal.data.dataset import schema_of, with_schema
from shoal.data.domain import nominal
from shoal.data.groups import Groups
from shoal.data.hierarchy import Hierarchy
from shoal.data.published_syntax import formulas_published
from shoal.data.related import Related
from shoal.data.role import Role
from shoal.data.table import Column, Table
from shoal.engines.local import Local
from shoal.engines.protocol import Engine
from shoal.errors import UnknownName, WrongUse
from shoal.io.reading import Reading
from shoal.methods.method import Method
from shoal.preparation._key import absent_keys, made_keys
from shoal.preparation.transform import Transform
from shoal.recipe import Recipe, Roles, is_hierarchy_file, names_folder
from shoal.risks.role_guards import refuse_identifiers

if TYPE_CHECKING:
    from shoal.data.profile import BasketsProfile, TableProfile

PLAIN = (Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE)
"""Roles of columns that are published and hold one value per cell."""

BASKET_ENDINGS = (".dat", ".spmf")
"""Endings of files that hold baskets, not a table."""


@dataclass(frozen=True, slots=True, eq=False)
class Intake:
    """Data that is ready for a method."""

    data: Any
    """A table or baskets with roles and hierarchies, or a `Dataset` of them if an engine holds the rows."""
    left_out: int = 0  # number of rows that were left out because they have missing values
    hierarchies: Mapping[str, str] = field(default_factory=dict)
    """For each column, where its hierarchy comes from: a file, or a builder."""
    warnings: tuple[str, ...] = ()  # what the owner of the data should know, in plain sentences
    read_as: Mapping[str, Any] = field(default_factory=dict)  # how the data was read, for the recipe
    seconds: float = 0.0  # how long reading took
    preparation: tuple[Transform, ...] = ()  # the steps that were applied to columns
    notes: tuple[str, ...] = ()  # how columns are interpreted, and which keys were made, in plain sentences
    unread: tuple[str, ...] = ()  # columns of a table that are neither read nor published


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """What to read, and how."""

    source: Any  # a path, an address of a database, or data in memory
    roles: Roles = field(default_factory=Roles)
    reading: Reading = field(default_factory=Reading)
    hierarchies: Mapping[str, str | Hierarchy] = field(default_factory=dict)
    """For each column its hierarchy, a builder or a file; for the items of baskets, under ``items``; in older recipes
    also a folder of files, under ``folder``."""
    folder: str | None = None  # folder of hierarchy files, for quasi-identifiers without another hierarchy
    layout: str | None = None
    seed: int | None = None
    """`layout`, `seed`: for baskets: how they are written, and the seed of roles that are drawn."""
    preparation: tuple[Transform, ...] = ()  # the steps to apply to columns before the method
    formulas: bool = True
    """Whether to warn of cells that a spreadsheet would run as formulas, because they are published as they are."""


def load(request: Request, method: Method, engine: Engine | None = None) -> Intake:
    """Read the data for a method, and explain an error if the source looks like another kind of data.

    `engine`: where the rows stay; in this machine's memory by default. Raises `WrongUse` before reading anything if the
    method, or the method with its parameters, does not run there; also if a quasi-identifier looks like an identifier
    and is not insisted on.
    """
    engine = engine or Local()
    engine.refuse_method(method)
    begin, roles = time.perf_counter(), request.roles
    files = [step.key_file for step in request.preparation if step.key_file is not None]
    keys = absent_keys(files) if files else ()
    if method.accepts is Baskets:
        if request.preparation:
            raise WrongUse("Baskets have no columns to prepare: omit the preparation.")
        intake = load_baskets(request, engine)
    else:
        refuse_generalized(method, request.reading)
        if method.needs_items or method.needs_link:
            method.refuse_without(bool(roles.items or roles.items_from), bool(roles.link))
        try:
            intake = load_table(request, engine)
        except WrongUse as error:
            if not looks_like_baskets(request.source, request.reading, engine):
                raise
            raise WrongUse(
                f"{request.source}: these look like baskets; {method.name} takes tables (see `shoal methods`). {error}"
            ) from error
    schema = schema_of(intake.data)
    if isinstance(schema, Table):
        if not request.reading.published:
            refuse_identifiers(schema, intake.data.rows, request.roles.insist)
        formulas = formulas_published(schema) if request.formulas else ()
        plain = [column for column in schema.every_column if column.role in PLAIN]
        notes = (
            *(made_keys(keys) if keys else ()),
            *taken_sentences((column.name, column.domain) for column in plain),
        )
        if roles.link or roles.items_from:
            # The release does not name the other file.
            intake = replace(intake, read_as={"roles": roles.model_dump(mode="json", exclude_defaults=True)})
        intake = replace(intake, warnings=(*intake.warnings, *formulas), notes=notes)
    return replace(intake, seconds=time.perf_counter() - begin)


def load_baskets(request: Request, engine: Engine | None = None) -> Intake:
    """Read baskets, and give their items their roles and their hierarchy."""
    layout, reading, roles = request.layout, request.reading, request.roles
    draw_of(roles, request.seed)
    encoded = (engine or Local()).load_baskets(request.source, layout, reading, roles)
    data = with_drawn_roles(encoded.baskets, roles, request.seed)
    data = with_schema(data, with_item_hierarchy(schema_of(data), request.hierarchies))
    return Intake(data, warnings=encoded.remarks, read_as={"source": reading_record(layout, reading)})


def read_baskets_for(source: Any, recipe: Recipe) -> Baskets:
    """Read baskets as the recipe says, without a hierarchy."""
    plan = recipe.source
    request = Request(source, recipe.roles, plan.reading, layout=plan.baskets, seed=recipe.seed)
    baskets: Baskets = load_baskets(request).data
    return baskets


def reading_record(layout: str | None, reading: Reading) -> dict[str, Any]:
    """How baskets were read, as a recipe records it: the options that are needed to read them again."""
    options = {
        "separator": reading.separator,
        "names": reading.names,
        "encoding": reading.encoding,
        "query": reading.query,
        "sheet": reading.sheet,
    }
    given = {name: value for name, value in options.items() if value is not None}
    source = {"baskets": layout, "reading": given or None}
    return {name: value for name, value in source.items() if value is not None}


def refuse_generalized(method: Method, reading: Reading) -> None:
    """Refuse a table that is generalized already, unless the method can start from one."""
    if reading.published and not method.accepts_generalized():
        raise WrongUse(
            f"{method.name} would take generalized cells for names: --published is for methods that go on from an "
            "anonymous table, such as table-rule-hiding with --anonymize-with none."
        )


def load_table(request: Request, engine: Engine | None = None) -> Intake:
    """Read a table, give its columns their roles, and its quasi-identifiers their hierarchies.

    Raises `WrongUse` for a hierarchy of a column on which it has no effect.
    """
    folder, named = folder_and_columns(request.hierarchies, request.folder)
    steps = request.preparation
    encoded = (engine or Local()).load_table(
        request.source, request.roles, request.reading, tuple(named), steps
    )
    try:
        schema, specs, warnings = give_hierarchies(schema_of(encoded.table), named, folder)
    except WrongUse as error:
        raise _after_preparation(error, steps) from None
    data = with_schema(encoded.table, schema)
    said = (*encoded.remarks, *warnings)
    return Intake(data, encoded.left_out, specs, said, preparation=steps, unread=encoded.unread)


def _after_preparation(error: WrongUse, steps: Sequence[Transform]) -> WrongUse:
    """The same error about a hierarchy builder, with the preparation of its column added."""
    said = str(error.args[0])
    done = [
        step.sentence() for step in steps if any(said.startswith(f"{name}=") for name in step.columns_changed)
    ]
    if not done:
        return error
    return WrongUse(
        f"{said} The preparation left it so ({'; '.join(done)}), and hierarchies are built on what it leaves: "
        "choose another builder, or omit this step."
    )


def give_hierarchies(
    table: Table, hierarchies: Mapping[str, str | Hierarchy], folder: str | None = None
) -> tuple[Table, dict[str, str], list[str]]:
    """Give columns their hierarchies; also where each comes from, and warnings for the owner of the data.

    Raises `WrongUse` for a hierarchy of a column on which it has no effect.
    """
    folder, named = folder_and_columns(hierarchies, folder)
    published = [column.name for column in table.every_column]
    for name in named:
        if name not in published:
            raise WrongUse(
                f"The hierarchy of {name!r} has no effect: the column is not published. Name it with --quasi, or "
                "omit its hierarchy."
            )
    warnings = []
    found = hierarchies_of(table, named, folder)
    if folder is not None and not hierarchies_of(table, {}, folder):
        quasi = [column.name for column in table.quasi]
        warnings.append(
            f"No file in {folder} is the hierarchy of a quasi-identifier: files are called "
            f"{quasi[0] if quasi else 'COLUMN'}.csv or ANYTHING_hierarchy_{quasi[0] if quasi else 'COLUMN'}.csv."
        )
    specs = {name: spec if isinstance(spec, str) else "given" for name, spec in found.items()}
    return with_hierarchies(table, found), specs, warnings


def read_roles(
    source: Any, roles: Roles, reading: Reading, hierarchies: Mapping[str, str | Hierarchy]
) -> Table:
    """Read a table, give its columns their roles, and its quasi-identifiers their hierarchies."""
    table: Table = load_table(Request(source, roles, reading, hierarchies)).data
    return table


def looks_like_baskets(source: Any, reading: Reading, engine: Engine | None = None) -> bool:
    """Whether a file that was read as a table has an ending of baskets, or a single column of items between blanks."""
    from shoal.io.source import STANDARD_INPUT, format_of

    if not isinstance(source, str | Path) or str(source) == STANDARD_INPUT:
        return False
    if format_of(source) in BASKET_ENDINGS:
        return True
    return are_items((engine or Local()).column_names(source, reading))


def looks_like_table(source: Any, layout: str | None) -> bool:
    """Whether a file here that cannot be read as baskets has columns, and they are none of a layout of baskets.

    `layout`: the layout that is given, if one is; what was said to be lines has no columns.
    """
    from shoal.io.baskets.layouts import parse_layout, table_layout
    from shoal.io.source import FRAME_FORMATS, STANDARD_INPUT, format_of, part_files

    if not isinstance(source, str | Path) or str(source) == STANDARD_INPUT:
        return False
    if Path(source).is_dir():
        source = part_files(source)[0]
    given = None if layout is None else parse_layout(layout)
    if given is not None and given.form == "lines":
        return False
    names = Local().column_names(source, Reading())
    if len(names) < 2 or (given is not None and given.columns and set(given.columns) <= set(names)):
        return False
    if format_of(source) not in FRAME_FORMATS:
        return likely_layout(source) is None
    try:
        table_layout(names, [], False)
    except WrongUse:
        return True
    return False


def are_items(names: Sequence[str]) -> bool:
    """Whether the column names look like a line of items separated by blanks.

    >>> are_items(["milk bread tea"]), are_items(["age", "zip"]), are_items(["first name"])
    (True, False, False)
    """
    words = names[0].split() if len(names) == 1 else []
    return len(words) > 2 or (len(words) == 2 and all(map(str.isdigit, words)))


def form_of(source: Any) -> type:
    """The form that a published file seems to have, judged by its ending and first line; a table in case of doubt."""
    from shoal.io.releases.set_lines import read_json_lines
    from shoal.io.source import STANDARD_INPUT, format_of

    if str(source) == STANDARD_INPUT or "://" in str(source) or not os.path.isfile(source):
        return Table
    if format_of(source) == ".jsonl":
        first = next((entry for _, entry in read_json_lines(source)), {})
        return Groups if "baskets" in first else Clusters
    return Baskets if looks_like_baskets(source, Reading()) else Table


def likely_layout(source: Any, forms: Collection[str] = ("matrix", "long")) -> str | None:
    """The layout of baskets that a text file seems to have, among some forms: by default, those with a header."""
    from shoal.io.baskets.layouts import SAMPLE, find_layout
    from shoal.io.source import FRAME_FORMATS, STANDARD_INPUT, format_of, read_bytes

    place = str(source) if isinstance(source, str | Path) else STANDARD_INPUT
    if (
        place == STANDARD_INPUT
        or "://" in place
        or not os.path.isfile(place)
        or format_of(place) in FRAME_FORMATS
    ):
        return None
    try:
        if Path(place).suffix.lower() in (".gz", ".zst"):
            sample = read_bytes(place)[:SAMPLE]
        else:
            with open(place, "rb") as file:
                sample = file.read(SAMPLE)
        layout = find_layout(sample, place)
    except WrongUse:
        return None
    return str(layout) if layout.form in forms else None


def with_item_hierarchy(baskets: Baskets, given: Mapping[str, str | Hierarchy]) -> Baskets:
    """Give the items of baskets their hierarchy, found under ``items``: an object, a file, or a builder.

    Raises `UnknownName` if there are hierarchies under other names.
    """
    from shoal.data._hierarchy_builders import build
    from shoal.io.hierarchies.load import read_hierarchy

    for name in given:
        if name != "items":
            raise UnknownName("hierarchy in baskets called", name, ["items"])
    spec = given.get("items")
    if spec is None:
        return baskets
    domain = nominal(baskets.vocabulary)
    if isinstance(spec, str):
        spec = read_hierarchy(spec, domain) if is_hierarchy_file(spec) else build(spec, domain, "items")
    return replace(baskets, hierarchy=spec)


def with_drawn_roles(baskets: Any, roles: Roles, seed: int | None) -> Any:
    """Draw the roles of items at random, if the recipe says so."""
    from shoal.data._random_roles import draw_roles

    drawn = draw_of(roles, seed)
    return baskets if drawn is None else draw_roles(baskets, **drawn)


def draw_of(roles: Roles, seed: int | None) -> dict[str, Any] | None:
    """The parameters of a random draw of roles, if the recipe asks for one; otherwise None."""
    if roles.public_share is None:
        if roles.private != "none" or roles.private_below is not None:
            raise WrongUse("--private and --private-below are about a draw: say --public-share too.")
        return None
    if seed is None:
        raise WrongUse("--public-share draws at random: say --seed, so that the draw can be repeated.")
    return {
        "share": roles.public_share,
        "seed": seed,
        "private": roles.private,
        "below": roles.private_below,
    }


def profile(
    source: Any,
    *,
    reading: Reading | None = None,
    layout: str | None = None,
    quasi: Sequence[str] | None = None,
) -> "TableProfile | BasketsProfile":
    """Profile data before anything is done to it.

    `layout`: the layout of baskets. A source without one is a table, unless its name ends in ``.dat`` or ``.spmf``.
    `quasi`: columns of a table to examine together; the suggested ones by default.
    """
    from shoal.data.profile import profile_baskets, profile_table
    from shoal.io.source import format_of

    reading = reading or Reading()
    if layout is not None or (isinstance(source, str | Path) and format_of(source) in BASKET_ENDINGS):
        from shoal.io.baskets.load import load_baskets

        encoded = load_baskets(source, layout, reading)
        return profile_baskets(encoded.baskets, encoded.remarks)
    intake = load_table(Request(source, Roles(others="insensitive"), reading, {}))
    return profile_table(intake.data, quasi, intake.warnings)


def read_column(source: Any, name: str, reading: Reading) -> Column:
    """Read one column of a table, as a hierarchy needs it."""
    return read_roles(source, Roles(quasi=(name,), others="drop"), reading, {}).column(name)


def hierarchies_of(
    table: Table, given: Mapping[str, str | Hierarchy], folder: str | None = None
) -> dict[str, str | Hierarchy]:
    """For each column its hierarchy, builder or file, including the files found in a folder for quasi-identifiers.

    A hierarchy that is given for its column takes precedence over one that is found in the folder.
    """
    folder, wanted = folder_and_columns(given, folder)
    if folder is None:
        return wanted
    from shoal.io.hierarchies.load import hierarchy_files

    quasi = [column.name for column in table.every_column if column.role is Role.QUASI]
    files = hierarchy_files(folder, quasi)
    return {name: str(path) for name, path in files.items()} | wanted


def folder_and_columns(
    given: Mapping[str, str | Hierarchy], folder: str | None
) -> tuple[str | None, dict[str, str | Hierarchy]]:
    """The folder of hierarchy files, and the hierarchies of single columns."""
    named = {name: spec for name, spec in given.items() if not names_folder(name, spec)}
    old = next((str(spec) for name, spec in given.items() if name not in named), None)
    return folder or old, named


def with_hierarchies(table: Table, given: Mapping[str, str | Hierarchy]) -> Table:
    """Give columns their hierarchies: objects, builders (``intervals:5,10``) or files.

    Raises `WrongUse` if a hierarchy has no effect: quasi-identifiers are generalized along theirs, and one of a
    sensitive column can define the distances of t-closeness; other columns have no use for one.
    """
    found = hierarchies_of(table, given)
    if isinstance(table, Related):
        inside = {name: spec for name, spec in found.items() if name in table.records.names}
        own = {name: spec for name, spec in found.items() if name not in inside}
        persons, records = (
            with_hierarchies(Table(table.columns), own),
            with_hierarchies(table.records, inside),
        )
        return table.with_columns(persons.columns, records.columns)
    for name in found:
        role = table.column(name).role
        if role not in (Role.QUASI, Role.SENSITIVE, Role.ITEMS):
            raise WrongUse(
                f"The hierarchy of {name!r} has no effect: only quasi-identifiers are generalized, and the column is "
                f"{role}. Name it with --quasi, or omit its hierarchy."
            )
    columns = []
    for column in table.columns:
        spec = found.get(column.name)
        if spec is None:
            columns.append(column)
            continue
        path = spec if isinstance(spec, str) and is_hierarchy_file(spec) else None
        if column.role is Role.ITEMS:
            domain = nominal(label_sets(column).vocabulary)
            tree = hierarchy_of(replace(column, domain=domain, codes=column.codes[:0]), spec)
            columns.append(replace(column, hierarchy=tree.covering(domain, column.name, path)))
            continue
        hierarchy = hierarchy_of(column, spec)
        columns.append(replace(column, hierarchy=hierarchy.covering(column.domain, column.name, path)))
    return Table(tuple(columns))


def hierarchy_of(column: Column, spec: str | Hierarchy) -> Hierarchy:
    """The hierarchy of a column, from an object, a builder or a file."""
    from shoal.data._hierarchy_builders import build
    from shoal.io.hierarchies.load import read_hierarchy

    if isinstance(spec, Hierarchy):
        return spec
    if is_hierarchy_file(spec):
        return read_hierarchy(spec, column.domain)
    return build(spec, column.domain, column.name)
