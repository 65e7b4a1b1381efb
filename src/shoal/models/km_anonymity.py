"""k^m-anonymity: whoever knows up to m items of a basket finds at least k baskets."""

from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.data._plural import counted
from shoal.data.baskets import Baskets
from shoal.data.release import Published
from shoal.data.verdict import Offender, Verdict
from shoal.models._combinations import Rarity, rarest
from shoal.models.model import Model


class KmAnonymity(Model):
    """Every combination of 1 up to m items that some basket holds is held by at least k baskets.

    It protects who a basket belongs to against an adversary who knows up to m of its items. It says nothing about what
    the adversary learns of the other items once all those k baskets hold them. Sensitive items count like all others.
    """

    name: ClassVar[str] = "km-anonymity"
    accepts: ClassVar[tuple[type, ...]] = (Baskets,)
    paper: ClassVar[str] = (
        "Terrovitis, Mamoulis, Kalnis: Privacy-preserving anonymization of set-valued data. PVLDB 1(1), 2008"
    )

    k: int = Field(ge=2, description="how many baskets hold each combination at least")
    m: int = Field(ge=1, description="the most items of a combination")

    def verify(self, published: Published) -> Verdict:
        """Count all combinations of up to m items."""
        self.accept(published)
        assert isinstance(published, Baskets)
        groups = np.zeros(len(published), dtype=np.int64)
        found = rarest(groups, published.indptr, published.items, self.k, self.m)
        return self.conclude_sets(found, published.vocabulary)

    def conclude_sets(self, found: Rarity, vocabulary: tuple[str, ...]) -> Verdict:
        """The verdict that follows from the rarest combinations."""
        combinations = f"every combination of up to {counted(self.m, 'items')}"
        promise = f"{combinations} is held by at least {self.k} baskets, or by none"
        offenders = tuple(
            Offender(
                "{" + ", ".join(vocabulary[item] for item in one.items) + "}",
                f"{counted(one.support, 'baskets')} where {self.k} are promised",
            )
            for one in found.worst
        )
        return Verdict(self.name, promise, not found.count, found.least, self.k, offenders, found.count)
