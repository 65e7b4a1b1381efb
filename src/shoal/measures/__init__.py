"""Measures: what a release costs in utility.

A class stands here under its name, ``shoal.measures.Loss``, and is loaded when it is first used; those of other
packages too.
"""

from typing import TYPE_CHECKING, Any

from shoal import registry

if TYPE_CHECKING:
    from shoal.measures.associations import Associations as Associations
    from shoal.measures.chunks import Chunks as Chunks
    from shoal.measures.classes import Classes as Classes
    from shoal.measures.distributions import Distributions as Distributions
    from shoal.measures.entropy import Entropy as Entropy
    from shoal.measures.generalized_items import GeneralizedItems as GeneralizedItems
    from shoal.measures.hidden_rules import HiddenRules as HiddenRules
    from shoal.measures.item_loss import ItemLoss as ItemLoss
    from shoal.measures.itemsets import FrequentItemsets as FrequentItemsets
    from shoal.measures.learning import Learning as Learning
    from shoal.measures.loss import Loss as Loss
    from shoal.measures.ordering import Ordering as Ordering
    from shoal.measures.overlap import Overlap as Overlap
    from shoal.measures.pair_supports import PairSupports as PairSupports
    from shoal.measures.perturbation import Perturbation as Perturbation
    from shoal.measures.pivot import Pivot as Pivot
    from shoal.measures.precision import Precision as Precision
    from shoal.measures.queries import Queries as Queries
    from shoal.measures.reconstruction import Reconstruction as Reconstruction
    from shoal.measures.record_loss import RecordLoss as RecordLoss
    from shoal.measures.suppression import Suppression as Suppression


def __getattr__(name: str) -> Any:
    return registry.class_called("measure", name)


def __dir__() -> list[str]:
    return sorted(registry.class_names("measure"))
