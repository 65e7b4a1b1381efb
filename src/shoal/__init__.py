"""Shoal publishes data about people so that each of them stays one fish in the shoal.

Everything public stands here; it is loaded when it is first used, so that ``import shoal`` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "BadData": "shoal.errors",
    "Baskets": "shoal.data.baskets",
    "BrokenPromise": "shoal.errors",
    "Hierarchy": "shoal.data.hierarchy",
    "Infeasible": "shoal.errors",
    "KAnonymity": "shoal.models.k_anonymity",
    "Mondrian": "shoal.methods.mondrian.method",
    "Recipe": "shoal.recipe",
    "Release": "shoal.data.release",
    "Run": "shoal.outcome",
    "ShoalError": "shoal.errors",
    "Table": "shoal.data.table",
    "Verdict": "shoal.models.verdict",
    "WrongUse": "shoal.errors",
    "anonymize": "shoal.pipeline",
    "read_baskets": "shoal.io.baskets",
    "read_hierarchy": "shoal.io.hierarchies",
    "read_release": "shoal.io.release_folder",
    "read_table": "shoal.io.tables",
    "run": "shoal.pipeline",
}

__all__ = sorted([*_HOME, "__version__"])

if TYPE_CHECKING:
    from shoal.data.baskets import Baskets as Baskets
    from shoal.data.hierarchy import Hierarchy as Hierarchy
    from shoal.data.release import Release as Release
    from shoal.data.table import Table as Table
    from shoal.errors import BadData as BadData
    from shoal.errors import BrokenPromise as BrokenPromise
    from shoal.errors import Infeasible as Infeasible
    from shoal.errors import ShoalError as ShoalError
    from shoal.errors import WrongUse as WrongUse
    from shoal.io.baskets import read_baskets as read_baskets
    from shoal.io.hierarchies import read_hierarchy as read_hierarchy
    from shoal.io.release_folder import read_release as read_release
    from shoal.io.tables import read_table as read_table
    from shoal.methods.mondrian.method import Mondrian as Mondrian
    from shoal.models.k_anonymity import KAnonymity as KAnonymity
    from shoal.models.verdict import Verdict as Verdict
    from shoal.outcome import Run as Run
    from shoal.pipeline import anonymize as anonymize
    from shoal.pipeline import run as run
    from shoal.recipe import Recipe as Recipe


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'shoal' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return list(__all__)
