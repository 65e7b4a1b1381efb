"""(h,k,p)-coherence by global suppression (Xu, Wang, Fu and Yu 2008)."""

import time
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from shoal.arrays import Counts, Mask
from shoal.data.baskets import Baskets
from shoal.data.dataset import Dataset
from shoal.data.trace import Trace
from shoal.engines.distributed import Distributed
from shoal.engines.local import Local
from shoal.engines.protocol import Engine
from shoal.methods._candidates import Aim, Candidate, Goal
from shoal.methods.coherence._explain import explanation
from shoal.methods.coherence._moles import Moles, find_moles
from shoal.methods.coherence._pick import GREEDY, Hits, greedy
from shoal.methods.coherence._thresholds import Promise
from shoal.methods.method import Anonymized, Data, Method
from shoal.models._exact import fraction
from shoal.models.hkp_coherence import HkpCoherence

NOTHING_SECRET = (
    "No item of the baskets is sensitive, so h has no effect: the promise is only that whoever knows up to p "
    "items finds k baskets. Name the items that must not be learned with --sensitive."
)


class Coherence(Method):
    """Suppress public items until no small group of baskets can be singled out, and none reveals a sensitive item.

    An adversary knows at most p public items of a person. Whatever they know, at least k baskets fit, and no
    sensitive item is in more than a share h of those. Sets of items that would reveal more — moles — are found, and
    items are deleted from all baskets until no mole is left. Nothing is added, sensitive items stay, and the support
    of every set of remaining items is exactly what it was.

    Items are picked by how many moles they are in (MM) and how many occurrences they cost (IL). `optimal` searches for
    the least possible loss, and says how far from it the result can be.
    """

    name: ClassVar[str] = "coherence"
    accepts: ClassVar[type] = Baskets
    engines: ClassVar[tuple[str, ...]] = ("local", "spark", "stream")
    tells_insensitive: ClassVar[bool] = True
    example: ClassVar[dict[str, Any]] = {"h": 0.6, "k": 3, "p": 2}
    paper: ClassVar[str] = "Xu, Wang, Fu, Yu: Anonymizing transaction databases for publication. KDD 2008"

    h: float = Field(
        gt=0,
        le=1,
        description="largest share of a sensitive item among the baskets that fit; 1 bounds nothing",
    )
    k: int = Field(ge=2, description="least number of baskets that fit what an adversary knows")
    p: int = Field(ge=1, description="most public items that an adversary knows of a basket")
    pick: Literal["mm/il", "1/il", "mm", "all", "optimal"] = Field(
        default="mm/il",
        description="which items to suppress: by moles per loss, by loss, by moles, all public ones, or for the least "
        "loss overall",
    )
    time_limit: float = Field(
        default=30.0,
        ge=0,
        exclude=True,
        description="seconds that `optimal` may look for a proof that nothing is better",
    )
    explain: bool = Field(
        default=False, exclude=True, description="explain every step: mole tree, score table, item to remove"
    )

    @classmethod
    def candidates(cls, goal: Goal) -> list[Candidate]:
        """One candidate for each way to pick, the proven optimum last."""
        if goal.aim is not Aim.COHERENCE:
            return []
        plain = {"name": cls.name, "h": goal.h, "k": goal.k, "p": goal.p}
        optimal = plain | {"pick": "optimal", "time_limit": round(goal.seconds, 1)}
        found = [Candidate(f"{cls.name}, {pick}", plain | {"pick": pick}) for pick in ("mm/il", "1/il", "mm")]
        return [*found, Candidate(f"{cls.name}, optimal", optimal)]

    def models(self) -> tuple[HkpCoherence, ...]:
        """The promise."""
        return (HkpCoherence(h=self.h, k=self.k, p=self.p),)

    def unused_parameters(self) -> tuple[str, ...]:
        """The time limit, unless the optimum is searched."""
        if self.pick == "optimal" or not self.given("time_limit"):
            return ()
        return (f"--time-limit has no effect with --pick {self.pick}: only optimal looks for a proof.",)

    def anonymize(self, data: Data, engine: Engine | None = None, seed: int | None = None) -> Anonymized:
        """Find the minimal moles, pick items until no mole is left, and publish the baskets without these items."""
        self.accept(data)
        if isinstance(data, Dataset):
            return self._distributed(data, Distributed.of(engine), seed)
        assert isinstance(data, Baskets)
        begin = time.perf_counter()
        losses = data.supports
        moles = find_moles(data, self._promise(data, len(data), losses), Local.of(engine))
        found = time.perf_counter()
        kept, notes = self._picked(data, moles, losses)
        picked = time.perf_counter()
        baskets = data.keep(kept)
        rows = baskets.canonical_order()
        timings = {"moles": found - begin, "pick": picked - found, "publish": time.perf_counter() - picked}
        return self.released(baskets.take(rows), _details(baskets)), Trace(rows, timings, notes)

    def _distributed(self, data: Dataset, engine: Distributed, seed: int | None) -> Anonymized:
        """Do the same for baskets in parts: supports are counted in each part and added up."""
        from shoal.data._basket_frames import supports_in
        from shoal.io.baskets.distributed import published_baskets
        from shoal.methods.coherence._distributed import find_moles, suppressed

        begin = time.perf_counter()
        data = replace(data, parts=data.parts.keep())
        losses = supports_in(data)
        moles = find_moles(data, self._promise(data.schema, data.rows, losses), losses)
        found = time.perf_counter()
        kept, notes = self._picked(data.schema, moles, losses)
        timings = {"moles": found - begin, "pick": time.perf_counter() - found}
        schema = data.schema.keep(kept)
        published = published_baskets(schema, suppressed(data, kept), data.rows)
        return self.released(published, _details(schema)), Trace(np.empty(0, dtype=np.int64), timings, notes)

    def _promise(self, data: Baskets, baskets: int, losses: Counts) -> Promise:
        """The promise as exact numbers; refuses one that cannot be kept."""
        promise = Promise(fraction(self.h), self.k, self.p)
        private = losses[data.sensitive]
        peak = int(private.max(initial=0))
        promise.check(baskets, peak, data.vocabulary[data.sensitive[private.argmax()]] if peak else "")
        return promise

    def _picked(self, data: Baskets, moles: Moles, losses: Counts) -> tuple[Mask, dict[str, Any]]:
        """Which items stay, and notes for the data's owner."""
        notes: dict[str, Any] = {}
        singles = int(losses[moles.singles].sum())
        if self.pick == "all":
            chosen = np.setdiff1d(data.public[losses[data.public] > 0], moles.singles).tolist()
        elif self.pick in GREEDY:
            chosen = greedy(Hits(moles, len(losses)), losses, self.pick)
        else:
            from shoal.methods.coherence._optimal import least_loss

            best = least_loss(Hits(moles, len(losses)), losses, self.time_limit)
            chosen = list(best.items)
            least, all_losses = best.loss + singles, best.bound + singles
            notes = {
                "lower_bound": all_losses,
                "gap": (least - all_losses) / least if least else 0.0,
                "programs": best.rounds,
            }
        kept = losses > 0
        kept[moles.singles] = False
        kept[chosen] = False
        suppressed = [data.vocabulary[item] for item in [*moles.singles.tolist(), *chosen]]
        loss, occurrences = singles + int(losses[chosen].sum()), int(losses.sum())
        notes = {
            "moles": moles.sizes(),
            "sets_judged": moles.tried,
            "public_items": len(data.public),
            "sensitive_items": len(data.sensitive),
            "suppressed": suppressed,
            "loss": loss,
            "occurrences": occurrences,
            "information_loss": loss / occurrences if occurrences else 0.0,
            **notes,
        }
        if "gap" in notes:
            proof = (
                "no release loses less" if not notes["gap"] else f"at most {notes['gap']:.2%} above the least"
            )
            notes["summary"] = [f"Occurrences suppressed: {loss:,}, {proof}."]
        if not losses[data.sensitive].any():
            notes["warnings"] = [NOTHING_SECRET]
        if self.explain:
            notes["explanation"] = explanation(moles, chosen, self.pick, data.vocabulary, losses.tolist())
        return kept, notes


def _details(published: Baskets) -> dict[str, int]:
    """If no public item is left, say so in the release: readers then know that the other items were not relabeled."""
    return {} if len(published.public) else {"public_items": 0}
