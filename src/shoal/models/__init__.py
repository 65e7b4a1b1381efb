"""Models: promises that published data keeps or breaks.

A class stands here under its name, ``shoal.models.KAnonymity``, and is loaded when it is first used; those of other
packages too.
"""

from typing import TYPE_CHECKING, Any

from shoal import registry

if TYPE_CHECKING:
    from shoal.models.alpha_k_anonymity import AlphaKAnonymity as AlphaKAnonymity
    from shoal.models.amplification import Amplification as Amplification
    from shoal.models.beta_likeness import BetaLikeness as BetaLikeness
    from shoal.models.confidence_bounding import ConfidenceBounding as ConfidenceBounding
    from shoal.models.d_gamma_privacy import DGammaPrivacy as DGammaPrivacy
    from shoal.models.delta_disclosure import DeltaDisclosure as DeltaDisclosure
    from shoal.models.delta_presence import DeltaPresence as DeltaPresence
    from shoal.models.differential_privacy import DifferentialPrivacy as DifferentialPrivacy
    from shoal.models.disassociation import Disassociated as Disassociated
    from shoal.models.distinct_diversity import DistinctDiversity as DistinctDiversity
    from shoal.models.em_anonymity import EmAnonymity as EmAnonymity
    from shoal.models.entropy_diversity import EntropyDiversity as EntropyDiversity
    from shoal.models.hidden_associations import HiddenAssociations as HiddenAssociations
    from shoal.models.hidden_rules import HiddenRules as HiddenRules
    from shoal.models.hkp_coherence import HkpCoherence as HkpCoherence
    from shoal.models.k_anonymity import KAnonymity as KAnonymity
    from shoal.models.k_km_anonymity import KKmAnonymity as KKmAnonymity
    from shoal.models.k_map import KMap as KMap
    from shoal.models.ke_anonymity import KeAnonymity as KeAnonymity
    from shoal.models.km_anonymity import KmAnonymity as KmAnonymity
    from shoal.models.m_invariance import MInvariance as MInvariance
    from shoal.models.personalized_privacy import PersonalizedPrivacy as PersonalizedPrivacy
    from shoal.models.privacy_degree import PrivacyDegree as PrivacyDegree
    from shoal.models.protected_counts import ProtectedCounts as ProtectedCounts
    from shoal.models.protected_sums import ProtectedSums as ProtectedSums
    from shoal.models.recursive_diversity import RecursiveDiversity as RecursiveDiversity
    from shoal.models.reidentification_risk import ReidentificationRisk as ReidentificationRisk
    from shoal.models.rho_privacy import RhoPrivacy as RhoPrivacy
    from shoal.models.t_closeness import TCloseness as TCloseness
    from shoal.models.xy_privacy import XyPrivacy as XyPrivacy


def __getattr__(name: str) -> Any:
    return registry.class_called("model", name)


def __dir__() -> list[str]:
    return sorted(registry.class_names("model"))
