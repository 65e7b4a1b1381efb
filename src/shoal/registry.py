"""The registry: the names of all methods, models, measures and so on, and where their classes are.

The command line, the documentation, the contract tests and the benchmarks iterate over these tables and never name a
method themselves. A new method is one file and one line here, or one entry point of another package. The tables hold
only strings, so that reading them imports nothing. The type checker cannot follow strings: the ``__init__`` of each
package imports its classes for it.
"""

import warnings
from collections import UserDict
from collections.abc import Collection, Iterator, Mapping
from importlib import import_module
from typing import Any

from shoal.errors import BrokenPackage, LeftOut, UnknownName


class Names(UserDict[str, str]):
    """The names of one family, and where their classes are.

    Names that other packages add are looked up only when a name is not one of Shoal's own, or when all are asked for.

    `family`: other packages add to it by entry points of the group ``shoal.<family>s``; if it is empty, nothing can be
    added. `base`: the class from which the classes of other packages must derive.
    """

    def __init__(self, ours: Mapping[str, str], family: str = "", base: str = "") -> None:
        self.family, self.base = family, base
        self.packages: dict[str, str] = {}
        """For each name that is not Shoal's own, the package that adds it."""
        self._looked = not family
        super().__init__(ours)

    def __contains__(self, name: object) -> bool:
        return name in self.data or name in self._whole()

    def __missing__(self, name: str) -> str:
        return self._whole()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole())

    def __len__(self) -> int:
        return len(self._whole())

    def _whole(self) -> dict[str, str]:
        """All names, including those of other packages."""
        if self._looked:
            return self.data
        from importlib.metadata import entry_points

        added: dict[str, str] = {}
        packages: dict[str, str] = {}
        for point in entry_points(group=f"shoal.{self.family}s"):
            package = point.dist.name if point.dist else "without a name"
            if point.name in self.data or point.name in added:
                owner = packages.get(point.name, "Shoal")
                raise BrokenPackage(package, f"{self.family} {point.name!r}", f"{owner} has one of that name")
            added[point.name], packages[point.name] = point.value, package
        self.data |= added
        self.packages, self._looked = packages, True
        return self.data


METHODS = Names(
    {
        "mondrian": "shoal.methods.mondrian.method:Mondrian",
        "samarati": "shoal.methods.samarati:Samarati",
        "lattice": "shoal.methods.lattice:Lattice",
        "local-suppression": "shoal.methods.local_suppression.method:LocalSuppression",
        "disassociation": "shoal.methods.disassociation.method:Disassociation",
        "cahd": "shoal.methods.cahd.method:Cahd",
        "permutation-mondrian": "shoal.methods.permutation_mondrian:PermutationMondrian",
        "coherence": "shoal.methods.coherence.method:Coherence",
        "basket-rule-hiding": "shoal.methods.basket_rule_hiding.method:BasketRuleHiding",
        "table-rule-hiding": "shoal.methods.table_rule_hiding.method:TableRuleHiding",
        "km-generalization": "shoal.methods.km_generalization.method:KmGeneralization",
        "anatomy": "shoal.methods.anatomy:Anatomy",
        "relational-transaction": "shoal.methods.relational_transaction.method:RelationalTransaction",
        "multirelational": "shoal.methods.multirelational.method:Multirelational",
        "pram": "shoal.methods.pram:Pram",
    },
    family="method",
    base="shoal.methods.method:Method",
)

MODELS = Names(
    {
        "k-anonymity": "shoal.models.k_anonymity:KAnonymity",
        "distinct-diversity": "shoal.models.distinct_diversity:DistinctDiversity",
        "entropy-diversity": "shoal.models.entropy_diversity:EntropyDiversity",
        "recursive-diversity": "shoal.models.recursive_diversity:RecursiveDiversity",
        "t-closeness": "shoal.models.t_closeness:TCloseness",
        "alpha-k-anonymity": "shoal.models.alpha_k_anonymity:AlphaKAnonymity",
        "confidence-bounding": "shoal.models.confidence_bounding:ConfidenceBounding",
        "beta-likeness": "shoal.models.beta_likeness:BetaLikeness",
        "delta-disclosure": "shoal.models.delta_disclosure:DeltaDisclosure",
        "ke-anonymity": "shoal.models.ke_anonymity:KeAnonymity",
        "em-anonymity": "shoal.models.em_anonymity:EmAnonymity",
        "personalized-privacy": "shoal.models.personalized_privacy:PersonalizedPrivacy",
        "xy-privacy": "shoal.models.xy_privacy:XyPrivacy",
        "m-invariance": "shoal.models.m_invariance:MInvariance",
        "amplification": "shoal.models.amplification:Amplification",
        "rho-privacy": "shoal.models.rho_privacy:RhoPrivacy",
        "d-gamma-privacy": "shoal.models.d_gamma_privacy:DGammaPrivacy",
        "reidentification-risk": "shoal.models.reidentification_risk:ReidentificationRisk",
        "k-map": "shoal.models.k_map:KMap",
        "delta-presence": "shoal.models.delta_presence:DeltaPresence",
        "privacy-degree": "shoal.models.privacy_degree:PrivacyDegree",
        "hkp-coherence": "shoal.models.hkp_coherence:HkpCoherence",
        "hidden-rules": "shoal.models.hidden_rules:HiddenRules",
        "hidden-associations": "shoal.models.hidden_associations:HiddenAssociations",
        "km-anonymity": "shoal.models.km_anonymity:KmAnonymity",
        "k-km-anonymity": "shoal.models.k_km_anonymity:KKmAnonymity",
        "disassociation": "shoal.models.disassociation:Disassociated",
        "protected-counts": "shoal.models.protected_counts:ProtectedCounts",
        "protected-sums": "shoal.models.protected_sums:ProtectedSums",
        "differential-privacy": "shoal.models.differential_privacy:DifferentialPrivacy",
    },
    family="model",
    base="shoal.models.model:Model",
)

MEASURES = Names(
    {
        "loss": "shoal.measures.loss:Loss",
        "classes": "shoal.measures.classes:Classes",
        "precision": "shoal.measures.precision:Precision",
        "suppression": "shoal.measures.suppression:Suppression",
        "reconstruction": "shoal.measures.reconstruction:Reconstruction",
        "pivot": "shoal.measures.pivot:Pivot",
        "ordering": "shoal.measures.ordering:Ordering",
        "entropy": "shoal.measures.entropy:Entropy",
        "itemsets": "shoal.measures.itemsets:FrequentItemsets",
        "associations": "shoal.measures.associations:Associations",
        "item-loss": "shoal.measures.item_loss:ItemLoss",
        "record-loss": "shoal.measures.record_loss:RecordLoss",
        "generalized-items": "shoal.measures.generalized_items:GeneralizedItems",
        "hidden-rules": "shoal.measures.hidden_rules:HiddenRules",
        "chunks": "shoal.measures.chunks:Chunks",
        "distributions": "shoal.measures.distributions:Distributions",
        "queries": "shoal.measures.queries:Queries",
        "learning": "shoal.measures.learning:Learning",
        "overlap": "shoal.measures.overlap:Overlap",
        "perturbation": "shoal.measures.perturbation:Perturbation",
        "pair-supports": "shoal.measures.pair_supports:PairSupports",
    },
    family="measure",
    base="shoal.measures.measure:Measure",
)

ATTACKS = Names(
    {
        "linkage": "shoal.attacks.linkage:Linkage",
        "inference": "shoal.attacks.inference:Inference",
        "certainty": "shoal.attacks.certainty:Certainty",
        "order": "shoal.attacks.order:Order",
        "intersection": "shoal.attacks.intersection:Intersection",
        "membership": "shoal.attacks.membership:Membership",
        "definetti": "shoal.attacks.definetti:DeFinetti",
        "replay": "shoal.attacks.replay:Replay",
        "downcoding": "shoal.attacks.downcoding:Downcoding",
        "cover": "shoal.attacks.cover:Cover",
        "stars": "shoal.attacks.stars:Stars",
    },
    family="attack",
    base="shoal.attacks.attack:Attack",
)

TRANSFORMS = Names(
    {
        "recode": "shoal.preparation.recode:Recode",
        "drop-values": "shoal.preparation.drop_values:DropValues",
        "shift-dates": "shoal.preparation.shift_dates:ShiftDates",
        "date-part": "shoal.preparation.date_part:DatePart",
        "top-coding": "shoal.preparation.top_coding:TopCoding",
        "bottom-coding": "shoal.preparation.bottom_coding:BottomCoding",
        "rounding": "shoal.preparation.rounding:Rounding",
        "microaggregation": "shoal.preparation.microaggregation:Microaggregation",
        "pseudonym": "shoal.preparation.pseudonym:Pseudonym",
    }
)
"""The preparation steps, in the order in which the command line applies them."""

ENGINES = Names(
    {
        "local": "shoal.engines.local:Local",
        "spark": "shoal.engines.spark:Spark",
        "stream": "shoal.engines.stream:Stream",
    }
)

DATASETS = Names(
    {
        "people": "shoal.datasets.people:People",
        "baskets": "shoal.datasets.shopping:Shopping",
        "mixed": "shoal.datasets.shoppers:Shoppers",
        "visits": "shoal.datasets.visits:Visits",
    }
)

FAMILIES = {
    "method": METHODS,
    "model": MODELS,
    "measure": MEASURES,
    "attack": ATTACKS,
    "transform": TRANSFORMS,
    "engine": ENGINES,
    "dataset": DATASETS,
}


def others_add() -> bool:
    """Whether any other package adds to a family."""
    from importlib.metadata import entry_points

    groups = {f"shoal.{table.family}s" for table in FAMILIES.values() if table.family}
    return not groups.isdisjoint(entry_points().groups)


def load(family: str, name: str) -> Any:
    """Import and return the class registered under a name.

    >>> load("model", "k-anonymity").__name__
    'KAnonymity'

    Raises `UnknownName` if there is no such name. Raises `BrokenPackage` if another package adds the name and its class
    cannot be used.
    """
    table = FAMILIES[family]
    if name not in table:
        raise UnknownName(family, name, sorted(table))
    if name not in table.packages:
        return _found(table[name])
    try:
        kind = _found(table[name])
        fault = _fault(kind, name, table.base)
    except Exception as error:
        fault = f"{type(error).__name__}: {error}"
    if fault:
        raise BrokenPackage(table.packages[name], f"{family} {name!r}", fault)
    return kind


def load_all(family: str, without: Collection[str] = ()) -> dict[str, Any]:
    """All classes of a family by name; those of other packages that cannot be used are left out with a warning.

    `without`: names of Shoal's own that are not wanted and not imported.

    >>> list(load_all("engine"))
    ['local', 'spark', 'stream']
    """
    kinds = {}
    for name in FAMILIES[family]:
        if name in without:
            continue
        try:
            kinds[name] = load(family, name)
        except BrokenPackage as error:
            warnings.warn(str(error), LeftOut, stacklevel=1)  # always the same line, so that it is shown once
    return kinds


def class_names(family: str) -> dict[str, str]:
    """The names of a family by the names of their classes; Shoal's own take precedence over those of other packages.

    >>> class_names("engine")
    {'Local': 'local', 'Spark': 'spark', 'Stream': 'stream'}
    """
    found: dict[str, str] = {}
    for name, place in FAMILIES[family].items():
        found.setdefault(place.partition(":")[2].strip(), name)
    return found


def class_called(family: str, name: str) -> Any:
    """The class of a family with a given Python name.

    >>> class_called("model", "KMap").name
    'k-map'

    Raises `AttributeError` if there is none.
    """
    known = class_names(family) if name[:1].isupper() else {}
    if name not in known:
        package = ".".join(next(iter(FAMILIES[family].values())).split(".")[:2])
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    return load(family, known[name])


def _found(place: str) -> Any:
    """The class at ``module:Class``."""
    module, _, attribute = place.partition(":")
    return getattr(import_module(module.strip()), attribute.strip())


def _fault(kind: Any, name: str, base: str) -> str | None:
    """What is wrong with a class of another package; None if it can be used."""
    wanted = _found(base)
    if wanted not in getattr(kind, "__mro__", ()):
        return f"it does not derive from {wanted.__module__}.{wanted.__name__}"
    if absent := [fact for fact in sorted(kind.__class_vars__) if not hasattr(kind, fact)]:
        return f"its class does not define {' and '.join(absent)}"
    if kind.name != name:
        return f"its class has the name {kind.name!r}"
    return None
