"""The runs of a comparison: every combination of data, method, parameters and seed."""

import hashlib
import itertools
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import ValidationError

from shoal import __version__, registry
from shoal.addresses import without_passwords
from shoal.comparison.run_data import generator_of
from shoal.comparison.sweep_recipe import Comparison, Dataset, Draw, Sweep
from shoal.errors import UnknownName, WrongUse, explain
from shoal.methods.method import Method
from shoal.methods.table_method import TableMethod
from shoal.recipe import (
    Roles,
    is_hierarchy_file,
    make_measure,
    make_method,
    names_folder,
    with_moved_files,
)

REPEATS = 3
"""How often a timed run is repeated, by default."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One run."""

    facts: Mapping[str, Any]  # the first columns of its results: sweep, dataset, method, parameters, seed
    plan: Mapping[str, Any]  # what a worker needs to know, as plain data
    timed: bool  # whether it runs alone, in a process of its own
    time_limit: float | None  # seconds after which it is given up
    key: str  # identifies the run, whatever else the recipe holds


def cells_of(comparison: Comparison, folder: Path) -> list[Cell]:
    """All runs of a comparison, in the order of its sweeps.

    `folder`: the folder of the recipe, where its relative paths begin. Raises `WrongUse` if a method does not know a
    parameter, or data is missing.
    """
    found = {name: _at_hand(name, dataset, folder) for name, dataset in comparison.datasets.items()}
    cells = [cell for sweep in comparison.sweep for cell in _cells_of_sweep(sweep, found)]
    return list({cell.key: cell for cell in cells}.values())


def _cells_of_sweep(sweep: Sweep, datasets: Mapping[str, tuple[str, dict[str, Any]]]) -> Iterator[Cell]:
    for dataset in sweep.datasets:
        source, data = datasets[dataset]
        for label, method in _methods(sweep, data):
            for values in itertools.product(*sweep.grid.values()):
                axes = dict(zip(sweep.grid, values, strict=True))
                for seed in sweep.seeds:
                    yield _cell(sweep, dataset, source, data, label, method, axes, seed)


def _cell(
    sweep: Sweep,
    dataset: str,
    source: str,
    data: dict[str, Any],
    label: str,
    method: dict[str, Any],
    axes: dict[str, Any],
    seed: int,
) -> Cell:
    given = {**sweep.parameters, **method}
    data, draw = dict(data), sweep.draw.model_dump() if sweep.draw else {}
    measures = _measures(sweep, axes)
    if sweep.roles is not None:
        data["roles"] = sweep.roles.model_dump()
    for axis, value in axes.items():
        room, _, field = axis.rpartition(".")
        if axis == "rows":
            data["rows"] = value
        elif room == "data":
            data["shape"] = {**data["shape"], field: value}
        elif room == "draw":
            draw[field] = value
        elif room == "roles":
            data["roles"] = {**data["roles"], field: value}
        elif not room.startswith("measures"):
            given[axis] = value
    try:
        if "generate" in data:
            generator_of(data)
        made = make_method(given)
        form = type_of_form(made.accepts)
        _refuse_misfit(dataset, data, draw, made)
    except WrongUse as error:
        raise WrongUse(f"sweep {sweep.name}: {error}") from error
    parameters = {name: value for name, value in given.items() if name != "name"}
    plan = {
        "data": {**data, "form": form},
        "draw": draw,
        "method": given,
        "seed": seed,
        "repeats": sweep.repeats or (REPEATS if sweep.timed else 1),
        **({} if measures is None else {"measures": measures}),
    }
    facts = {
        "sweep": sweep.name,
        "dataset": dataset,
        "source": source,
        "method": made.name,
        "label": label,
        "parameters": {**{axis: axes[axis] for axis in axes if axis != "rows"}, **parameters},
        "seed": seed,
        "timed": sweep.timed,
    }
    facts = without_passwords(facts)
    return Cell(facts, plan, sweep.timed, sweep.time_limit, _key(facts, without_passwords(plan)))


def _refuse_misfit(dataset: str, data: Mapping[str, Any], draw: Mapping[str, Any], method: Method) -> None:
    """Refuse data that a method does not accept, and roles or a draw that do not fit the data."""
    form = type_of_form(method.accepts)
    if (makes := data.get("makes", form)) != form:
        raise WrongUse(f"{method.name} takes {form}, and the dataset {dataset} is generated as {makes}.")
    if draw and form == "table":
        raise WrongUse("Only items of baskets can be drawn; omit `draw`.")
    for name, kind, fields in (("roles", Roles, data["roles"]), ("draw", Draw, draw)):
        try:
            kind.model_validate(fields) if fields else None
        except ValidationError as error:
            raise WrongUse(f"{name}: {explain(error, kind.model_fields)}") from error


def _measures(sweep: Sweep, axes: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The measures of a run with their options, checked; None for all that fit, with their defaults."""
    axes = {axis: value for axis, value in axes.items() if axis.startswith("measures.")}
    if sweep.measures is None and not axes:
        return None
    chosen = [{"name": one} if isinstance(one, str) else dict(one) for one in sweep.measures or ()]
    for axis, value in axes.items():
        _, _, rest = axis.partition(".")
        name, _, option = rest.rpartition(".")
        of_name = [one for one in chosen if one.get("name") == name]
        if not of_name:
            raise WrongUse(
                f"sweep {sweep.name}: {axis} needs {name or rest!r} among the measures of the sweep."
            )
        of_name[0][option] = value
    for one in chosen:
        try:
            make_measure(one)
        except WrongUse as error:
            raise WrongUse(f"sweep {sweep.name}: {error}") from error
    return chosen


def type_of_form(accepts: type) -> str:
    """The form of data that a method accepts, as a word: table or baskets."""
    return accepts.__name__.lower()


def _key(facts: Mapping[str, Any], plan: Mapping[str, Any]) -> str:
    """A hash of everything that can change the result of a run, which the folder of its data cannot."""
    data = {key: value for key, value in plan["data"].items() if key != "path"}
    whole = {"facts": facts, "plan": {**plan, "data": data}, "version": __version__}
    text = json.dumps(whole, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def _methods(sweep: Sweep, data: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The label, and the name with parameters, of each method of a sweep."""
    if sweep.methods == "all":
        names = [name for name in registry.load_all("method") if _fits(name, sweep, data)]
        if not names:
            raise WrongUse(f"sweep {sweep.name}: no method accepts the data and knows all its parameters.")
        return [(name, {"name": name}) for name in names]
    chosen = []
    for entry in sweep.methods:
        given = {"name": entry} if isinstance(entry, str) else dict(entry)
        label = given.pop("label", None) or given.get("name", "")
        chosen.append((str(label), given))
    return chosen


def _fits(name: str, sweep: Sweep, data: Mapping[str, Any]) -> bool:
    kind = registry.load("method", name)
    asked = {axis for axis in (*sweep.grid, *sweep.parameters) if axis != "rows" and "." not in axis}
    form = type_of_form(kind.accepts)
    roles = data.get("roles", {})
    if kind.needs_items != bool(roles.get("items") or roles.get("items_from")):
        return False
    if kind.needs_link != bool(roles.get("link")):
        return False
    needed = {field for field, facts in kind.model_fields.items() if facts.is_required()}
    if not needed <= asked <= set(kind.model_fields) or form != (data.get("makes") or form_of_file(data)):
        return False
    if not issubclass(kind, TableMethod):
        return True
    given = {**sweep.parameters, **{axis: values[0] for axis, values in sweep.grid.items()}}
    # Only methods that can make the promise at all: one that hides only secrets cannot promise k.
    return not kind(**{axis: given[axis] for axis in asked}).misfits()


def form_of_file(data: Mapping[str, Any]) -> str:
    """Whether a file holds a table or baskets, as far as its description says."""
    from shoal.io.source import format_of
    from shoal.sources import BASKET_ENDINGS

    baskets = data.get("baskets") is not None or format_of(data["path"]) in BASKET_ENDINGS
    return "baskets" if baskets else "table"


def _at_hand(name: str, dataset: Dataset, folder: Path) -> tuple[str, dict[str, Any]]:
    """The origin of a dataset in a word, and how to read or generate it."""
    if dataset.generate is not None:
        makes, generator = _generator(dataset.generate)
        made = {"generate": generator, "makes": makes, "shape": dataset.shape, "seed": dataset.seed}
        found = {**made, **_described(dataset, folder)}
        try:
            generator_of(found)
        except WrongUse as error:
            raise WrongUse(f"dataset {name}: {error}") from error
        return "generated", found
    path = _place(dataset, folder)
    if path is None or not path.exists():
        if dataset.otherwise is None:
            where = f"set SHOAL_DATA to the folder that holds {dataset.public}" if dataset.public else path
            raise WrongUse(f"The dataset {name} is not at hand: {where}, or say `otherwise` what to take.")
        inherited = {
            field: getattr(dataset, field)
            for field in ("roles", "hierarchies")
            if getattr(dataset.otherwise, field) is None
        }
        return _at_hand(name, dataset.otherwise.model_copy(update=inherited), folder)
    file = {"path": str(path), "size": path.stat().st_size if path.is_file() else 0, "shape": {}}
    return ("public" if dataset.public else "file"), {**file, **_described(dataset, folder)}


def _described(dataset: Dataset, folder: Path) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "rows": dataset.rows,
        "reading": asdict(dataset.reading),
        "baskets": dataset.baskets,
        **({} if dataset.items is None else {"items": dataset.items}),
        **({} if dataset.least_support is None else {"least_support": dataset.least_support}),
        "roles": with_moved_files(dataset.roles or Roles(), lambda path: str(folder / path)).model_dump(),
        "hierarchies": {
            column: _hierarchy(column, spec, folder) for column, spec in (dataset.hierarchies or {}).items()
        },
    }


def _hierarchy(column: str, spec: str, folder: Path) -> str:
    """The specification of a hierarchy; a file is looked for beside the recipe, and then among the public data."""
    if not names_folder(column, spec) and not is_hierarchy_file(spec):
        return spec
    public = os.environ.get("SHOAL_DATA")
    places = [folder / spec, *([Path(public) / spec] if public else [])]
    return str(next((place for place in places if place.exists()), places[-1]))


def _place(dataset: Dataset, folder: Path) -> Path | None:
    if dataset.path is not None:
        return folder / dataset.path
    public = os.environ.get("SHOAL_DATA")
    return Path(public) / str(dataset.public) if public else None


def _generator(name: str) -> tuple[str, str]:
    """The form that a generator makes, and its name in the registry; either finds it."""
    makes = {
        known: get_type_hints(registry.load("dataset", known).make)["return"].__name__.lower()
        for known in registry.DATASETS
    }
    makes = dict(sorted(makes.items(), key=lambda one: one[0] != name))  # names are looked up before forms
    for known, form in makes.items():
        if name in (known, form):
            return form, known
    raise UnknownName("generator", name, sorted({*makes, *makes.values()}))
