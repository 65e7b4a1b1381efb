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
    "coherence": "shoal.methods.coherence.method:Coherence",
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
    "hkp-coherence": "shoal.models.coherence:HkpCoherence",
    "hidden-rules": "shoal.models.hidden_rules:HiddenRules",
}

MEASURES = {
    "loss": "shoal.measures.loss:Loss",
    "classes": "shoal.measures.classes:Classes",
    "precision": "shoal.measures.precision:Precision",
    "entropy": "shoal.measures.entropy:Entropy",
}

ENGINES = {
    "local": "shoal.engines.local:Local",
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
