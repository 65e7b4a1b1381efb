"""Attacks on a release: what an adversary still learns.

A class stands here under its name, ``shoal.attacks.Linkage``, and is loaded when it is first used; those of other
packages too.
"""

from typing import TYPE_CHECKING, Any

from shoal import registry

if TYPE_CHECKING:
    from shoal.attacks.certainty import Certainty as Certainty
    from shoal.attacks.cover import Cover as Cover
    from shoal.attacks.definetti import DeFinetti as DeFinetti
    from shoal.attacks.downcoding import Downcoding as Downcoding
    from shoal.attacks.inference import Inference as Inference
    from shoal.attacks.intersection import Intersection as Intersection
    from shoal.attacks.linkage import Linkage as Linkage
    from shoal.attacks.membership import Membership as Membership
    from shoal.attacks.order import Order as Order
    from shoal.attacks.replay import Replay as Replay
    from shoal.attacks.stars import Stars as Stars


def __getattr__(name: str) -> Any:
    return registry.class_called("attack", name)


def __dir__() -> list[str]:
    return sorted(registry.class_names("attack"))
