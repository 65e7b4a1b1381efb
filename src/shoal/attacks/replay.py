"""Replay: compute the method's own order from what is published, and name whom a group was formed around."""

from typing import ClassVar

import numpy as np

from shoal.attacks.attack import Attack, Attacked, Target
from shoal.data.groups import Groups
from shoal.measures.pivot import Pivot


class Replay(Attack):
    """Try every member of a group for the part of the sensitive one, as the measure `pivot` does it.

    The baseline names any member; the control names the one with most public items, which no grouping hides.
    """

    name: ClassVar[str] = "replay"
    accepts: ClassVar[tuple[type, ...]] = (Groups,)

    def run(self, target: Target) -> Attacked | None:
        """Attack every group that has a secret."""
        groups = target.release.data
        assert isinstance(groups, Groups)
        found = {score.name: float(score.value) for score in Pivot().scores(target.original, target.release)}
        if not found:
            return None
        attacked = int(np.count_nonzero(np.diff(groups.sensitive_indptr)))
        best = max(("pivot_replay", "pivot_central"), key=lambda name: found.get(name, -1.0))
        success, guess, plain = found[best], found["pivot_guess"], found["pivot_largest"]
        how = "replays the method" if best == "pivot_replay" else "names the most central member"
        words = (
            f"Who {how} names a holder of a secret in {success:.1%} of {attacked:,} groups; any member is one in "
            f"{guess:.1%}, and the member with most items in {plain:.1%}."
        )
        parts = {name.removeprefix("pivot_"): value for name, value in found.items()}
        return Attacked(self.name, success, guess, plain, attacked, words, parts)
