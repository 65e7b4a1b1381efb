"""Hierarchies: coarser and coarser values of a column, set by sliders, by hand, or from a file, with a preview."""

import shutil
from pathlib import Path
from typing import Any

from shoal.data._calendar import CALENDAR
from shoal.errors import WrongUse
from shoal.recipe import Recipe, is_hierarchy_file
from shoal.studio import queries
from shoal.studio.method_offers import of_baskets
from shoal.studio.second_table import source_of
from shoal.studio.tree_editor import Tree
from shoal.studio.walk import Act, Handler, Walk

WIDTHS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 25, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 50_000, 100_000)
"""Widths of the finest bins that the slider offers."""

BUILT = {
    "intervals": "bins of {}",
    "balanced": "neighbors joined by {}",
    "mask": "characters hidden from the right",
    "suppress": "all or nothing",
    "dates": "{}",
    "prefix": "the first {} characters",
}
"""Builders in words, with a place for their parameters."""

WHOLE = ("mask", "suppress")
"""Builders that need no parameters."""

EDITED = 300
"""Most values that can be put in a tree by hand."""


async def facts(walk: Walk) -> dict[str, Any]:
    """What the step shows."""
    recipe = walk.recipe
    found, source = await walk.studio.seen(walk.sitting, recipe)
    names = ["items"] if of_baskets(recipe) else list(recipe.roles.quasi)
    column = walk.view.get("column")
    column = column if column in names else next(iter(names), None)
    shown: dict[str, Any] = {
        "found": found,
        "names": names,
        "column": column,
        "specs": {name: _words(recipe.hierarchies.get(name)) for name in names},
        "widths": WIDTHS,
        "calendar": CALENDAR[1:],
        "spec": "",
        "tree": None,
        "kind": "nominal",
        "editing": None,
        "suggestion": None,
        "usual": "",
        "built": {},
    }
    if column is None:
        return shown
    spec = recipe.hierarchies.get(column, "")
    known = {one["name"]: one for one in found.get("columns", ())}
    source = source_of(found, source, column)
    shown |= {
        "spec": spec,
        "kind": known[column]["kind"] if column in known else "nominal",
        "distinct": known[column]["distinct"] if column in known else found.get("items", 0),
        "suggestion": walk.later("suggestion", queries.suggested_trees, source, [column]),
        "tree": walk.later("tree", queries.tree, source, column, spec) if spec else {},
        "built": _built(spec),
    }
    if isinstance(shown["suggestion"], dict) and column in shown["suggestion"]:
        shown["usual"] = _words(shown["suggestion"][column])
    if walk.view.get("editing") == column and spec:
        paths = walk.later("paths", queries.tree_paths, source, column, spec)
        shown["editing"] = Tree.of_paths(paths).as_list() if isinstance(paths, list) else None
    return shown


def _words(spec: str | None) -> str:
    """A hierarchy in a few words.

    >>> _words("intervals:5,10"), _words("mask"), _words(None)
    ('bins of 5, 10', 'characters hidden from the right', 'none')
    """
    if not spec:
        return "none"
    if is_hierarchy_file(spec):
        return "by hand" if Path(spec).name.startswith("tree-") else f"file {Path(spec).name}"
    name, _, rest = spec.partition(":")
    return BUILT.get(name, spec).format(rest.replace(",", ", ")) if rest or name in WHOLE else spec


def _built(spec: str) -> dict[str, Any]:
    """The settings of a builder, as the sliders show them."""
    name, _, rest = spec.partition(":")
    parts = [one for one in rest.split(",") if one]
    built: dict[str, Any] = {"name": "" if is_hierarchy_file(spec) else name, "parts": parts}
    if name == "intervals" and parts:
        width = float(parts[0])
        nearest = min(range(len(WIDTHS)), key=lambda place: abs(WIDTHS[place] - width))
        built |= {"width": nearest, "levels": len(parts)}
    return built


async def _source_of(walk: Walk, column: str) -> dict[str, Any]:
    found, source = await walk.studio.seen(walk.sitting, walk.recipe)
    return source_of(found, source, column)


async def _set(walk: Walk, column: str, spec: str, said: str) -> None:
    """Give a column a hierarchy that can be built and covers its values."""
    if is_hierarchy_file(spec):
        walk.studio.refuse_foreign(walk.sitting, spec)
    source = await _source_of(walk, column)
    await walk.studio.queries.ask(queries.tree, source, column, spec)
    walk.change(said, hierarchies={**walk.recipe.hierarchies, column: spec})


def _column(walk: Walk, act: Act) -> str:
    return str(act["data"].get("column") or walk.view.get("column"))


async def _choose(walk: Walk, act: Act) -> None:
    walk.view["column"] = str(act["data"]["column"])
    walk.view.pop("editing", None)


async def _intervals(walk: Walk, act: Act) -> None:
    """Build bins of numbers from the finest width and the number of levels, at each of which it doubles."""
    column, given = _column(walk, act), act["form"]
    width, levels = WIDTHS[int(given["width"])], int(given["levels"])
    widths = ",".join(f"{width * 2**place:.12g}" for place in range(levels))
    await _set(walk, column, f"intervals:{widths}", f"Bins of {column}")


async def _build(walk: Walk, act: Act) -> None:
    """Build a hierarchy from a specification, such as ``intervals:5,10``."""
    column = _column(walk, act)
    spec = str(act["data"].get("spec") or act["form"].get("spec", "")).strip()
    if not spec:
        raise WrongUse("Type how to build it, such as intervals:5,10,20, mask, prefix:1,3 or balanced:4.")
    await _set(walk, column, spec, f"Hierarchy of {column}: {spec}")


async def _dates(walk: Walk, act: Act) -> None:
    """Build a hierarchy of dates from parts of the calendar."""
    column = _column(walk, act)
    parts = [part for part in CALENDAR if part in act["form"].get("part", ())]
    if not parts:
        raise WrongUse("Choose at least one part of the calendar.")
    await _set(walk, column, f"dates:{','.join(parts)}", f"Calendar of {column}")


async def _balanced(walk: Walk, act: Act) -> None:
    """Build a hierarchy that joins neighboring values."""
    column = _column(walk, act)
    await _set(walk, column, f"balanced:{int(act['form']['joined'])}", f"Groups of {column}")


async def usual_trees(walk: Walk, recipe: Recipe, columns: list[str]) -> dict[str, str]:
    """A default hierarchy for each of some columns, or for the items."""
    found, source = await walk.studio.seen(walk.sitting, recipe)
    built: dict[str, str] = {}
    for column in columns:
        asked = source_of(found, source, column)
        built |= await walk.studio.queries.ask(queries.suggested_trees, asked, [column])
    return built


async def _remove(walk: Walk, act: Act) -> None:
    column = _column(walk, act)
    trees = {name: spec for name, spec in walk.recipe.hierarchies.items() if name != column}
    walk.change(f"No hierarchy of {column}", hierarchies=trees)


async def _all(walk: Walk, act: Act) -> None:
    """Build a default hierarchy for every column that has none."""
    names = ["items"] if of_baskets(walk.recipe) else list(walk.recipe.roles.quasi)
    lacking = [name for name in names if name not in walk.recipe.hierarchies]
    built = await usual_trees(walk, walk.recipe, lacking)
    walk.change("Default hierarchies", hierarchies={**walk.recipe.hierarchies, **built})


async def _uploaded(walk: Walk, act: Act) -> None:
    """Take a file as the hierarchy of a column."""
    column, path = _column(walk, act), Path(act["value"]["path"])
    if not path.resolve().is_relative_to(walk.sitting.folder.resolve()):
        raise WrongUse(f"{path.name} was not uploaded.")
    kept = path.with_name(f"imported-{path.name}")
    shutil.move(path, kept)
    if not is_hierarchy_file(str(kept)):
        raise WrongUse(
            f"{path.name} is not a hierarchy: choose a file that ends in .csv, .txt, .tsv or .json."
        )
    await _set(walk, column, str(kept), f"Hierarchy of {column} from {path.name}")


async def _edit(walk: Walk, act: Act) -> None:
    """Open the tree of a column to change it by hand; a column without one begins with all values below the root."""
    column = _column(walk, act)
    source = await _source_of(walk, column)
    spec = walk.recipe.hierarchies.get(column)
    if spec is None:
        spec = "suppress"
        await _set(walk, column, spec, f"Hierarchy of {column}")
    found = await walk.studio.queries.ask(queries.tree, source, column, spec)
    if found["values"] > EDITED:
        raise WrongUse(
            f"{column} has {found['values']:,} values, too many to put in a tree by hand; import a file."
        )
    walk.view["editing"] = column


async def _group(walk: Walk, act: Act) -> None:
    """Put nodes under a new node."""
    await _edited(
        walk, act, lambda tree: tree.group(act["form"].get("node", ()), str(act["form"].get("name", "")))
    )


async def _ungroup(walk: Walk, act: Act) -> None:
    """Dissolve a group of nodes."""
    await _edited(walk, act, lambda tree: tree.ungroup(str(act["data"]["node"])))


async def _edited(walk: Walk, act: Act, change: Any) -> None:
    column = _column(walk, act)
    source = await _source_of(walk, column)
    paths = await walk.studio.queries.ask(queries.tree_paths, source, column, walk.recipe.hierarchies[column])
    tree = change(Tree.of_paths(paths))
    number = len(list(walk.sitting.files.glob("tree-*.csv")))
    path = walk.sitting.files / f"tree-{number:03}.csv"
    tree.write(path)
    await _set(walk, column, str(path), f"Tree of {column}")


async def _close(walk: Walk, act: Act) -> None:
    walk.view.pop("editing", None)


ACTIONS: dict[str, Handler] = {
    "column": _choose,
    "intervals": _intervals,
    "build": _build,
    "dates": _dates,
    "balanced": _balanced,
    "remove": _remove,
    "build-all": _all,
    "uploaded": _uploaded,
    "edit": _edit,
    "group": _group,
    "ungroup": _ungroup,
    "close": _close,
}
