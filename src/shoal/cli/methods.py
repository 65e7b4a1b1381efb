"""``shoal methods``: what there is."""

from collections.abc import Sequence
from typing import Any

from cyclopts import App

from shoal import registry
from shoal.cli import show
from shoal.cli.anonymize import Json
from shoal.cli.options import prose, single

EXAMPLE = """Example:
  shoal methods"""

HIDDEN = {"methods": ("promises", "uncut"), "models": ("paper",), "measures": ()}
"""What only the JSON object tells."""


def program(tokens: Sequence[str]) -> App:
    """The command."""
    return single("methods", methods, EXAMPLE)


def methods(*, json: Json = False) -> None:
    """List what there is: methods, models and measures.

    `shoal anonymize METHOD --help` lists the options of a method.
    """
    found = {"methods": methods_found(), "models": models_found(), "measures": measures_found()}
    if json:
        show.as_json(found)
        return
    for family, entries in found.items():
        heads = [head for head in entries[0] if head not in HIDDEN[family]]
        show.line(family.capitalize(), "bold")
        show.grid([[_listed(entry[head]) for head in heads] for entry in entries], heads)
        for entry in entries:
            if entry.get("uncut"):
                show.line(f"{entry['name']} runs in memory alone: {entry['uncut']}.")
        show.line()


def methods_found() -> list[dict[str, Any]]:
    """The methods: their data, engines, promises and papers."""
    kinds = [registry.load("method", name) for name in registry.METHODS]
    return [
        {
            "name": kind.name,
            "data": kind.accepts.__name__.lower(),
            "engines": list(kind.engines),
            "uncut": None if "spark" in kind.engines else kind.uncut,
            "summary": summary(kind),
            "promises": promises_of(kind),
            "paper": kind.paper,
        }
        for kind in kinds
    ]


def models_found() -> list[dict[str, Any]]:
    """The models: what they promise, about which published forms."""
    kinds = [registry.load("model", name) for name in registry.MODELS]
    return [
        {
            "name": kind.name,
            "data": [form.__name__.lower() for form in kind.accepts],
            "summary": summary(kind),
            "paper": kind.paper,
        }
        for kind in kinds
    ]


def measures_found() -> list[dict[str, Any]]:
    """The measures: their scores."""
    kinds = [registry.load("measure", name) for name in registry.MEASURES]
    return [
        {
            "name": kind.name,
            "data": [form.__name__.lower() for form in kind.accepts],
            "runs": "on request" if kind.on_request else "by default",
            "scores": list(kind.scores_named),
        }
        for kind in kinds
    ]


def promises_of(kind: Any) -> list[str]:
    """The names of the models that a method can keep: all models of tables, or those that it always keeps."""
    from shoal.methods.table_method import TableMethod
    from shoal.models.model import TableModel

    if issubclass(kind, TableMethod):
        return [name for name in registry.MODELS if issubclass(registry.load("model", name), TableModel)]
    return [model.name for model in kind(**kind.example).models()]


def summary(kind: type) -> str:
    """The first paragraph of what a class says about itself."""
    return prose(kind.__doc__).partition("\n")[0]


def _listed(cell: Any) -> str:
    return ", ".join(cell) if isinstance(cell, list) else str(cell)
