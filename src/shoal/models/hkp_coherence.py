"""(h,k,p)-coherence (Xu, Wang, Fu and Yu 2008, definition 1)."""

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from shoal.data._plural import counted
from shoal.data.baskets import Baskets
from shoal.data.release import Published
from shoal.data.verdict import SHOWN, Offender, Verdict
from shoal.errors import BadData, WrongUse
from shoal.models._cohort_pairs import Broken, broken_sets
from shoal.models._exact import fraction
from shoal.models.model import Model


class HkpCoherence(Model):
    """Whoever knows at most p public items finds at least k baskets, and no sensitive item in more than h of them.

    For every set of at most p public items that some basket holds, at least k baskets hold it (its *cohort*), and
    no sensitive item is in more than a share h of the cohort. The empty set counts: there are at least k baskets in
    all, and no sensitive item is in more than a share h of them. Insensitive items are neither known nor secret.
    """

    name: ClassVar[str] = "hkp-coherence"
    accepts: ClassVar[tuple[type, ...]] = (Baskets,)
    paper: ClassVar[str] = "Xu, Wang, Fu, Yu: Anonymizing transaction databases for publication. KDD 2008"

    h: float = Field(gt=0, le=1, description="largest share of a sensitive item in a cohort")
    k: int = Field(ge=2, description="least number of baskets of a cohort")
    p: int = Field(ge=1, description="most public items that an adversary knows of a basket")

    def verify(self, published: Published) -> Verdict:
        """Count the cohort of every set of public items that occurs, and the sensitive items in it.

        Sets that hold a broken one are not looked at: the verdict counts broken sets of which no part is broken.
        Beyond some thousands of them the rest is not counted.
        """
        self.accept(published)
        assert isinstance(published, Baskets)
        return self.conclude_sets(*broken_sets(published, fraction(self.h), self.k, self.p), published)

    def refuse_unknown(self, data: Published) -> None:
        """Refuse baskets of which an adversary knows nothing, because every other item is insensitive."""
        if _without_public(data):
            raise WrongUse(
                f"No item is public: {self.name} is about what an adversary may know. Name fewer items with "
                "--insensitive."
            )

    def refuse_idle(self, published: Published, details: Mapping[str, Any]) -> None:
        """Refuse insensitive items alone, unless the method says that it suppressed every public one."""
        if _without_public(published) and details.get("public_items") != 0:
            raise BadData(
                "release.json: no published item is public, so that nothing can be proved of persons: every item is "
                "named sensitive or insensitive. Fetch the folder again."
            )

    def vacuous(self) -> str:
        """No share is larger than 1."""
        return "h = 1 promises nothing about sensitive items: no share is larger" if self.h >= 1 else ""

    def conclude_sets(self, least: int | None, broken: list[Broken], published: Baskets) -> Verdict:
        """The verdict that follows from the smallest cohort and the broken sets.

        `published`: the items and their roles; the baskets may be elsewhere.
        """
        share = fraction(self.h)
        broken.sort(key=lambda found: (len(found.items), found.cohort, found.items))
        few = any(found.cohort < self.k for found in broken)
        by_share = bool(broken) and not few
        return Verdict(
            self.name,
            f"every set of at most {self.p} public item{'s' * (self.p != 1)} that occurs is in at least {self.k} "
            f"baskets, and no sensitive item is in more than {self.h:g} of those",
            not broken,
            max(found.share for found in broken) if by_share else least,
            share if by_share else self.k,
            tuple(self._offender(found, published.vocabulary) for found in broken[:SHOWN]),
            len(broken),
            ""
            if len(published.sensitive)
            else "no published item is named sensitive, so that h bounds nothing",
        )

    def _offender(self, found: Broken, vocabulary: tuple[str, ...]) -> Offender:
        where = f"{{{', '.join(vocabulary[item] for item in found.items)}}}"
        if found.cohort < self.k:
            return Offender(where, f"{counted(found.cohort, 'baskets')} where {self.k} are promised")
        secret = vocabulary[found.secret]
        return Offender(
            where,
            f"{secret} in {found.count} of {counted(found.cohort, 'baskets')} where a share of {self.h:g} is promised",
        )


def _without_public(data: Published) -> bool:
    """Whether insensitive items are there, and no public one; beside sensitive ones alone, all others may be gone."""
    return isinstance(data, Baskets) and bool(len(data.insensitive)) and not len(data.public)
