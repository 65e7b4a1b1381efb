"""``shoal methods``: list and describe methods, models, measures and attacks."""

import inspect
from collections.abc import Sequence
from typing import Annotated, Any

from cyclopts import App, Parameter

from shoal import registry
from shoal.cli import show
from shoal.cli.command_anonymize import Json
from shoal.cli.options import fields_of, prose, single
from shoal.data._plain_text import written
from shoal.errors import UnknownName

EXAMPLE = """Example:
  shoal methods
  shoal methods mondrian"""

HIDDEN = {
    "methods": ("promises", "not_distributable", "paper"),
    "models": ("paper",),
    "measures": (),
    "attacks": (),
}
"""Facts that the list leaves out; the JSON object and the description of one name have them."""

Found = dict[str, list[dict[str, Any]]]
"""Facts about methods, models, measures and attacks, by family."""


def program(tokens: Sequence[str]) -> App:
    """The command."""
    return single("methods", methods, EXAMPLE, usage="shoal methods [OPTIONS] [NAME]")


Name = Annotated[str, Parameter(help="a method, model, measure, score or attack, to show in full")]


def methods(name: Name | None = None, /, *, json: Json = False) -> None:
    """List methods, models, measures and attacks, or describe one.

    `shoal anonymize METHOD --help` lists the options of a method together with those of reading and writing.
    """
    found = everything()
    if name is not None:
        found = entries_of(name, found)
    if json:
        show.as_json(found)
        return
    if name is not None:
        for family, entries in found.items():
            for entry in entries:
                tell(family, entry)
        return
    listed(found)


def listed(found: Found) -> None:
    """List everything, family by family."""
    for family, entries in found.items():
        heads = [head for head in entries[0] if head not in HIDDEN[family]]
        show.line(family.capitalize(), "bold")
        show.grid([[_listed(entry[head]) for head in heads] for entry in entries], heads)
        for entry in entries:
            if entry.get("not_distributable"):
                show.line(f"{entry['name']} runs in memory alone: {entry['not_distributable']}.")
        show.line()


def entries_of(name: str, found: Found) -> Found:
    """The entries with a name: a method and its model may share one, and a score leads to its measures."""
    named = {
        family: [
            entry | {"parameters": parameters_of(family, name)} for entry in entries if entry["name"] == name
        ]
        for family, entries in found.items()
    }
    if not any(named.values()):
        scored = [entry["name"] for entry in found["measures"] if name in entry["scores"]]
        if scored:
            return {"measures": [one for measure in scored for one in entries_of(measure, found)["measures"]]}
        known = dict.fromkeys(entry["name"] for entries in found.values() for entry in entries)
        raise UnknownName("method, model or measure", name, known)
    return {family: entries for family, entries in named.items() if entries}


def parameters_of(family: str, name: str) -> list[dict[str, Any]]:
    """The parameters of a method, model or measure."""
    return [
        {
            "parameter": field.name,
            "default": "required"
            if type(field.default).__name__ == "PydanticUndefinedType"
            else field.default,
            "meaning": field.help,
        }
        for field in fields_of(registry.load(family.removesuffix("s"), name))
    ]


def tell(family: str, entry: dict[str, Any]) -> None:
    """Describe a method, model or measure: what it does, facts about it, its parameters."""
    kind = registry.load(family.removesuffix("s"), entry["name"])
    show.line(f"{entry['name']}: a {family.removesuffix('s')}", "bold")
    for text in (inspect.getdoc(kind) or "").partition("\nParameters\n")[0].strip().splitlines():
        show.line(text.replace("``", "`"))
    show.line()
    left = ("name", "summary", "parameters")
    show.grid([[head, _listed(cell)] for head, cell in entry.items() if head not in left and cell])
    if entry["parameters"]:
        show.line()
        rows = [[_listed(cell) for cell in row.values()] for row in entry["parameters"]]
        show.grid(rows, list(entry["parameters"][0]))
    show.line()


def _of_method(kind: Any) -> dict[str, Any]:
    return {
        "name": kind.name,
        "data": kind.accepts.__name__.lower(),
        "engines": list(kind.engines),
        "not_distributable": None if kind.is_distributable() else kind.not_distributable,
        "summary": summary(kind),
        "promises": promises_of(kind),
        "paper": kind.paper,
    }


def _of_measure(kind: Any) -> dict[str, Any]:
    runs = "on request" if kind.on_request else "by default"
    return {"name": kind.name, "data": forms_of(kind), "runs": runs, "scores": list(kind.scores_named)}


def _of_attack(kind: Any) -> dict[str, Any]:
    return {"name": kind.name, "data": forms_of(kind), "summary": summary(kind)}


def everything() -> Found:
    """All methods with their promises, models, measures with their scores, and attacks, with the forms they take."""
    kinds = {family: registry.load_all(family.removesuffix("s")).values() for family in HIDDEN}
    return {
        "methods": [_of_method(kind) for kind in kinds["methods"]],
        "models": [{**_of_attack(kind), "paper": kind.paper} for kind in kinds["models"]],
        "measures": [_of_measure(kind) for kind in kinds["measures"]],
        "attacks": [_of_attack(kind) for kind in kinds["attacks"]],
    }


def forms_of(kind: Any) -> list[str]:
    """The published forms that a model, measure or attack accepts."""
    return [form.__name__.lower() for form in kind.accepts]


def promises_of(kind: Any) -> list[str]:
    """The names of the models that a method can promise: all models of tables, or those that it always promises."""
    from shoal.methods.table_method import TableMethod
    from shoal.models.model import TableModel

    if issubclass(kind, TableMethod):
        return [name for name, model in registry.load_all("model").items() if issubclass(model, TableModel)]
    return [model.name for model in kind(**kind.example).models()]


def summary(kind: type) -> str:
    """The first paragraph of the docstring of a class."""
    return prose(kind.__doc__).partition("\n")[0]


def _listed(cell: Any) -> str:
    if isinstance(cell, list | tuple):
        return ", ".join(map(str, cell))
    return written(cell or None) if isinstance(cell, dict) else written(cell)
