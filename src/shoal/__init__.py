"""Shoal publishes data about people so that each of them stays one fish in the shoal.

Everything public stands here; it is loaded when it is first used, so that ``import shoal`` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "AlphaKAnonymity": "shoal.models.alpha_k_anonymity",
    "BadData": "shoal.errors",
    "BasketRuleHiding": "shoal.methods.basket_rule_hiding.method",
    "Baskets": "shoal.data.baskets",
    "BasketsProfile": "shoal.data.profile",
    "BetaLikeness": "shoal.models.beta_likeness",
    "BrokenPromise": "shoal.errors",
    "Cahd": "shoal.methods.cahd.method",
    "CannotWrite": "shoal.errors",
    "Clusters": "shoal.data.clusters",
    "Coherence": "shoal.methods.coherence.method",
    "ConfidenceBounding": "shoal.models.confidence_bounding",
    "DeltaDisclosure": "shoal.models.delta_disclosure",
    "DeltaPresence": "shoal.models.delta_presence",
    "Disassociated": "shoal.models.disassociation",
    "Disassociation": "shoal.methods.disassociation.method",
    "DistinctDiversity": "shoal.models.distinct_diversity",
    "EngineFailed": "shoal.errors",
    "EntropyDiversity": "shoal.models.entropy_diversity",
    "Groups": "shoal.data.groups",
    "HiddenAssociations": "shoal.models.hidden_associations",
    "HiddenRules": "shoal.models.hidden_rules",
    "Hierarchy": "shoal.data.hierarchy",
    "HkpCoherence": "shoal.models.hkp_coherence",
    "Infeasible": "shoal.errors",
    "KAnonymity": "shoal.models.k_anonymity",
    "KMap": "shoal.models.k_map",
    "KmAnonymity": "shoal.models.km_anonymity",
    "KmGeneralization": "shoal.methods.km_generalization.method",
    "Lattice": "shoal.methods.lattice",
    "MissingExtra": "shoal.errors",
    "Mondrian": "shoal.methods.mondrian.method",
    "PermutationMondrian": "shoal.methods.permutation_mondrian",
    "PrivacyDegree": "shoal.models.privacy_degree",
    "Reading": "shoal.io.reading",
    "Recipe": "shoal.recipe",
    "RecursiveDiversity": "shoal.models.recursive_diversity",
    "ReidentificationRisk": "shoal.models.reidentification_risk",
    "Release": "shoal.data.release",
    "Run": "shoal.outcome",
    "Samarati": "shoal.methods.samarati",
    "Score": "shoal.measures.measure",
    "ShoalError": "shoal.errors",
    "ShoalWarning": "shoal.errors",
    "Spark": "shoal.engines.spark",
    "Stream": "shoal.engines.stream",
    "TCloseness": "shoal.models.t_closeness",
    "Table": "shoal.data.table",
    "TableProfile": "shoal.data.profile",
    "TableRuleHiding": "shoal.methods.table_rule_hiding.method",
    "Trace": "shoal.data.trace",
    "UnknownName": "shoal.errors",
    "Verdict": "shoal.data.verdict",
    "WrongUse": "shoal.errors",
    "anonymize": "shoal.pipeline",
    "attack": "shoal.attacking",
    "find": "shoal.finding",
    "inspect": "shoal.verification",
    "measure": "shoal.measuring",
    "read_baskets": "shoal.io.baskets.load",
    "read_hierarchy": "shoal.io.hierarchies.load",
    "read_release": "shoal.io.releases.folder",
    "read_table": "shoal.io.tables.load",
    "risk": "shoal.assessing",
    "run": "shoal.pipeline",
    "verify": "shoal.verification",
}

__all__ = sorted([*_HOME, "__version__"])

if TYPE_CHECKING:
    from shoal.assessing import risk as risk
    from shoal.attacking import attack as attack
    from shoal.data.baskets import Baskets as Baskets
    from shoal.data.clusters import Clusters as Clusters
    from shoal.data.groups import Groups as Groups
    from shoal.data.hierarchy import Hierarchy as Hierarchy
    from shoal.data.profile import BasketsProfile as BasketsProfile
    from shoal.data.profile import TableProfile as TableProfile
    from shoal.data.release import Release as Release
    from shoal.data.table import Table as Table
    from shoal.data.trace import Trace as Trace
    from shoal.data.verdict import Verdict as Verdict
    from shoal.engines.spark import Spark as Spark
    from shoal.engines.stream import Stream as Stream
    from shoal.errors import BadData as BadData
    from shoal.errors import BrokenPromise as BrokenPromise
    from shoal.errors import CannotWrite as CannotWrite
    from shoal.errors import EngineFailed as EngineFailed
    from shoal.errors import Infeasible as Infeasible
    from shoal.errors import MissingExtra as MissingExtra
    from shoal.errors import ShoalError as ShoalError
    from shoal.errors import ShoalWarning as ShoalWarning
    from shoal.errors import UnknownName as UnknownName
    from shoal.errors import WrongUse as WrongUse
    from shoal.finding import find as find
    from shoal.io.baskets.load import read_baskets as read_baskets
    from shoal.io.hierarchies.load import read_hierarchy as read_hierarchy
    from shoal.io.reading import Reading as Reading
    from shoal.io.releases.folder import read_release as read_release
    from shoal.io.tables.load import read_table as read_table
    from shoal.measures.measure import Score as Score
    from shoal.measuring import measure as measure
    from shoal.methods.basket_rule_hiding.method import BasketRuleHiding as BasketRuleHiding
    from shoal.methods.cahd.method import Cahd as Cahd
    from shoal.methods.coherence.method import Coherence as Coherence
    from shoal.methods.disassociation.method import Disassociation as Disassociation
    from shoal.methods.km_generalization.method import KmGeneralization as KmGeneralization
    from shoal.methods.lattice import Lattice as Lattice
    from shoal.methods.mondrian.method import Mondrian as Mondrian
    from shoal.methods.permutation_mondrian import PermutationMondrian as PermutationMondrian
    from shoal.methods.samarati import Samarati as Samarati
    from shoal.methods.table_rule_hiding.method import TableRuleHiding as TableRuleHiding
    from shoal.models.alpha_k_anonymity import AlphaKAnonymity as AlphaKAnonymity
    from shoal.models.beta_likeness import BetaLikeness as BetaLikeness
    from shoal.models.confidence_bounding import ConfidenceBounding as ConfidenceBounding
    from shoal.models.delta_disclosure import DeltaDisclosure as DeltaDisclosure
    from shoal.models.delta_presence import DeltaPresence as DeltaPresence
    from shoal.models.disassociation import Disassociated as Disassociated
    from shoal.models.distinct_diversity import DistinctDiversity as DistinctDiversity
    from shoal.models.entropy_diversity import EntropyDiversity as EntropyDiversity
    from shoal.models.hidden_associations import HiddenAssociations as HiddenAssociations
    from shoal.models.hidden_rules import HiddenRules as HiddenRules
    from shoal.models.hkp_coherence import HkpCoherence as HkpCoherence
    from shoal.models.k_anonymity import KAnonymity as KAnonymity
    from shoal.models.k_map import KMap as KMap
    from shoal.models.km_anonymity import KmAnonymity as KmAnonymity
    from shoal.models.privacy_degree import PrivacyDegree as PrivacyDegree
    from shoal.models.recursive_diversity import RecursiveDiversity as RecursiveDiversity
    from shoal.models.reidentification_risk import ReidentificationRisk as ReidentificationRisk
    from shoal.models.t_closeness import TCloseness as TCloseness
    from shoal.outcome import Run as Run
    from shoal.pipeline import anonymize as anonymize
    from shoal.pipeline import run as run
    from shoal.recipe import Recipe as Recipe
    from shoal.verification import inspect as inspect
    from shoal.verification import verify as verify


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'shoal' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return list(__all__)
