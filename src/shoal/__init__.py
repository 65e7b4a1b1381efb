"""Shoal publishes data about people so that each of them stays one fish in the shoal.

The functions and data types that users need are available here. Methods, models, measures and engines are in packages
of their own, for example ``shoal.methods.Mondrian``. Everything is loaded on first use, so that ``import shoal`` is
quick.
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
    "Reading": "shoal.io.reading",
    "Recipe": "shoal.recipe",
    "Release": "shoal.data.release",
    "Roles": "shoal.data.role",
    "Run": "shoal.outcome",
    "Score": "shoal.measures.measure",
    "ShoalError": "shoal.errors",
    "ShoalWarning": "shoal.errors",
    "Table": "shoal.data.table",
    "Verdict": "shoal.data.verdict",
    "WrongUse": "shoal.errors",
    "anonymize": "shoal.pipeline",
    "attack": "shoal.attacking",
    "compare": "shoal.comparison.runner",
    "find": "shoal.attacking",
    "inspect": "shoal.verification",
    "measure": "shoal.measuring",
    "read_baskets": "shoal.io.baskets.load",
    "read_hierarchy": "shoal.io.hierarchies.load",
    "read_release": "shoal.io.releases.folder",
    "read_table": "shoal.io.tables.load",
    "recommend": "shoal.recommendation.propose",
    "risk": "shoal.assessing",
    "run": "shoal.pipeline",
    "summarize": "shoal.summarizing",
    "verify": "shoal.verification",
}

_SPACES = ("attacks", "engines", "measures", "methods", "models", "preparation")
"""Packages whose classes are public."""

_PLACES = ("errors", *_SPACES)
"""Those packages and the module of all errors."""

__all__ = sorted([*_HOME, *_PLACES, "__version__"])

if TYPE_CHECKING:
    from shoal import attacks as attacks
    from shoal import engines as engines
    from shoal import errors as errors
    from shoal import measures as measures
    from shoal import methods as methods
    from shoal import models as models
    from shoal import preparation as preparation
    from shoal.assessing import risk as risk
    from shoal.attacking import attack as attack
    from shoal.attacking import find as find
    from shoal.comparison.runner import compare as compare
    from shoal.data.baskets import Baskets as Baskets
    from shoal.data.hierarchy import Hierarchy as Hierarchy
    from shoal.data.release import Release as Release
    from shoal.data.role import Roles as Roles
    from shoal.data.table import Table as Table
    from shoal.data.verdict import Verdict as Verdict
    from shoal.errors import BadData as BadData
    from shoal.errors import BrokenPromise as BrokenPromise
    from shoal.errors import Infeasible as Infeasible
    from shoal.errors import ShoalError as ShoalError
    from shoal.errors import ShoalWarning as ShoalWarning
    from shoal.errors import WrongUse as WrongUse
    from shoal.io.baskets.load import read_baskets as read_baskets
    from shoal.io.hierarchies.load import read_hierarchy as read_hierarchy
    from shoal.io.reading import Reading as Reading
    from shoal.io.releases.folder import read_release as read_release
    from shoal.io.tables.load import read_table as read_table
    from shoal.measures.measure import Score as Score
    from shoal.measuring import measure as measure
    from shoal.outcome import Run as Run
    from shoal.pipeline import anonymize as anonymize
    from shoal.pipeline import run as run
    from shoal.recipe import Recipe as Recipe
    from shoal.recommendation.propose import recommend as recommend
    from shoal.summarizing import summarize as summarize
    from shoal.verification import inspect as inspect
    from shoal.verification import verify as verify


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return import_module(f"shoal.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'shoal' has no attribute {name!r}{_moved(name)}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return list(__all__)


def _moved(name: str) -> str:
    """The end of an error message: where a class is now that used to be in this package."""
    if not name[:1].isupper():
        return ""
    from shoal import registry

    kept = {"Trace": "data.trace", "TableProfile": "data.profile", "BasketsProfile": "data.profile"}
    kept |= {"Groups": "data.groups", "Clusters": "data.clusters", "Linked": "data.linked"}
    kept |= dict.fromkeys(("CannotWrite", "EngineFailed", "MissingExtra", "UnknownName"), "errors")
    spaces = [kept[name]] if name in kept else []
    families = {
        space: "transform" if space == "preparation" else space.removesuffix("s") for space in _SPACES
    }
    spaces += [space for space, family in families.items() if name in registry.class_names(family)]
    places = " or ".join(f"shoal.{space}.{name}" for space in spaces)
    return f"; it is {places}" if places else ""
