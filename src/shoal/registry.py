"""What there is: names of methods, models, measures and so on, and where their classes live.

The command line, the documentation, the contract tests and the benchmarks iterate these tables and never name a
method themselves. A new method is one file and one line here. Only strings stand here, so that looking at the
tables imports nothing.
"""

from importlib import import_module
from typing import Any

from shoal.errors import UnknownName

METHODS = {
    "mondrian": "shoal.methods.mondrian.method:Mondrian",
    "samarati": "shoal.methods.samarati:Samarati",
    "lattice": "shoal.methods.lattice:Lattice",
    "disassociation": "shoal.methods.disassociation.method:Disassociation",
    "cahd": "shoal.methods.cahd.method:Cahd",
    "permutation-mondrian": "shoal.methods.permutation_mondrian:PermutationMondrian",
    "coherence": "shoal.methods.coherence.method:Coherence",
    "hide-rules": "shoal.methods.hide_rules.method:HideRules",
    "rule-hiding": "shoal.methods.rule_hiding.method:RuleHiding",
    "km-generalization": "shoal.methods.km_generalization.method:KmGeneralization",
}

MODELS = {
    "k-anonymity": "shoal.models.k_anonymity:KAnonymity",
    "distinct-diversity": "shoal.models.distinct_diversity:DistinctDiversity",
    "entropy-diversity": "shoal.models.entropy_diversity:EntropyDiversity",
    "recursive-diversity": "shoal.models.recursive_diversity:RecursiveDiversity",
    "t-closeness": "shoal.models.t_closeness:TCloseness",
    "alpha-k-anonymity": "shoal.models.alpha_k:AlphaKAnonymity",
    "confidence-bounding": "shoal.models.confidence_bounding:ConfidenceBounding",
    "beta-likeness": "shoal.models.beta_likeness:BetaLikeness",
    "delta-disclosure": "shoal.models.delta_disclosure:DeltaDisclosure",
    "reidentification-risk": "shoal.models.reidentification_risk:ReidentificationRisk",
    "k-map": "shoal.models.k_map:KMap",
    "delta-presence": "shoal.models.delta_presence:DeltaPresence",
    "privacy-degree": "shoal.models.privacy_degree:PrivacyDegree",
    "hkp-coherence": "shoal.models.coherence:HkpCoherence",
    "hidden-rules": "shoal.models.hidden_rules:HiddenRules",
    "hidden-associations": "shoal.models.hidden_associations:HiddenAssociations",
    "km-anonymity": "shoal.models.km_anonymity:KmAnonymity",
    "disassociation": "shoal.models.disassociation:Disassociated",
}

MEASURES = {
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
    "generalised-items": "shoal.measures.generalised_items:GeneralisedItems",
    "hidden-rules": "shoal.measures.hidden_rules:HiddenRules",
    "chunks": "shoal.measures.chunks:Chunks",
    "distributions": "shoal.measures.distributions:Distributions",
    "queries": "shoal.measures.queries:Queries",
    "learning": "shoal.measures.learning:Learning",
    "overlap": "shoal.measures.overlap:Overlap",
    "pair-supports": "shoal.measures.pairs:PairSupports",
}

ENGINES = {
    "local": "shoal.engines.local:Local",
    "spark": "shoal.engines.spark:Spark",
    "stream": "shoal.engines.stream:Stream",
}

DATASETS = {
    "people": "shoal.datasets.people:People",
    "baskets": "shoal.datasets.shopping:Shopping",
}

FAMILIES = {
    "method": METHODS,
    "model": MODELS,
    "measure": MEASURES,
    "engine": ENGINES,
    "dataset": DATASETS,
}


def load(family: str, name: str) -> Any:
    """Import and return the class registered under a name.

    >>> load("model", "k-anonymity").__name__
    'KAnonymity'
    """
    table = FAMILIES[family]
    if name not in table:
        raise UnknownName(family, name, sorted(table))
    module, _, attribute = table[name].partition(":")
    return getattr(import_module(module), attribute)
