"""(h,k,p)-coherence by global suppression (Xu, Wang, Fu and Yu 2008)."""

import time
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from shoal.arrays import Counts
from shoal.data.baskets import Baskets
from shoal.data.release import Release
from shoal.data.table import Table
from shoal.data.trace import Trace
from shoal.engines.local import Local
from shoal.methods.coherence.explain import explanation
from shoal.methods.coherence.moles import Moles, find_moles
from shoal.methods.coherence.pick import GREEDY, Hits, greedy
from shoal.methods.coherence.promise import Promise
from shoal.methods.method import Method
from shoal.models.coherence import HkpCoherence
from shoal.models.exact import fraction


class Coherence(Method):
    """Suppress public items until no small group of baskets can be singled out, and none gives a private item away.

    An adversary knows at most p public items of a person. Whatever they know, at least k baskets fit, and no
    sensitive item is in more than a share h of those. Sets of items that would tell more — moles — are found, and
    items are deleted from every basket until none is left. Nothing is added, sensitive items stay, and the support
    of every set of remaining items is exactly what it was.

    The items are picked by how many moles they are in (MM) and how many occurrences they cost (IL). `optimal` looks
    for the least loss of all, and says how far from it the result can be.
    """

    name: ClassVar[str] = "coherence"
    accepts: ClassVar[type] = Baskets
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
        description="which items go: by moles per loss, by loss, by moles, all public ones, or the least loss in all",
    )
    time_limit: float = Field(
        default=30.0,
        ge=0,
        exclude=True,
        description="seconds that `optimal` may look for a proof that nothing is better",
    )
    explain: bool = Field(
        default=False, exclude=True, description="tell every step: mole tree, score table, item to remove"
    )

    def models(self) -> tuple[HkpCoherence, ...]:
        """The promise."""
        return (HkpCoherence(h=self.h, k=self.k, p=self.p),)

    def anonymize(
        self, data: Table | Baskets, engine: Local | None = None, seed: int | None = None
    ) -> tuple[Release, Trace]:
        """Find the minimal moles, pick items until none is left, and publish the baskets without them."""
        self.accept(data)
        assert isinstance(data, Baskets)
        begin = time.perf_counter()
        promise = Promise(fraction(self.h), self.k, self.p)
        losses = data.supports
        private = losses[data.sensitive]
        peak = int(private.max(initial=0))
        promise.check(len(data), peak, data.vocabulary[data.sensitive[private.argmax()]] if peak else "")
        moles = find_moles(data, promise, engine)
        found = time.perf_counter()
        chosen, notes = self._picked(data, moles, losses)
        picked = time.perf_counter()
        kept = losses > 0
        kept[moles.singles] = False
        kept[chosen] = False
        baskets = data.keep(kept)
        rows = baskets.canonical_order()
        timings = {"moles": found - begin, "pick": picked - found, "publish": time.perf_counter() - picked}
        release = Release(
            data=baskets.take(rows),
            method=self.name,
            parameters=self.model_dump(mode="json"),
            promises=tuple(model.as_promise() for model in self.models()),
        )
        return release, Trace(rows, timings, notes)

    def _picked(self, data: Baskets, moles: Moles, losses: Counts) -> tuple[list[int], dict[str, Any]]:
        """The items to suppress beside those that are moles themselves, and what to tell the owner."""
        notes: dict[str, Any] = {}
        singles = int(losses[moles.singles].sum())
        if self.pick == "all":
            chosen = np.setdiff1d(data.public[losses[data.public] > 0], moles.singles).tolist()
        elif self.pick in GREEDY:
            chosen = greedy(Hits(moles, len(losses)), losses, self.pick)
        else:
            from shoal.methods.coherence.optimal import least_loss

            best = least_loss(Hits(moles, len(losses)), losses, self.time_limit)
            chosen = list(best.items)
            least, all_losses = best.loss + singles, best.bound + singles
            notes = {
                "lower_bound": all_losses,
                "gap": (least - all_losses) / least if least else 0.0,
                "programs": best.rounds,
            }
        suppressed = [data.vocabulary[item] for item in [*moles.singles.tolist(), *chosen]]
        loss = singles + int(losses[chosen].sum())
        notes = {
            "moles": moles.sizes(),
            "sets_judged": moles.tried,
            "public_items": len(data.public),
            "sensitive_items": len(data.sensitive),
            "suppressed": suppressed,
            "loss": loss,
            "occurrences": len(data.items),
            "information_loss": loss / len(data.items) if len(data.items) else 0.0,
            **notes,
        }
        if self.explain:
            notes["explanation"] = explanation(moles, chosen, self.pick, data.vocabulary, losses.tolist())
        return chosen, notes
