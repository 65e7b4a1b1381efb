"""Replay: compute again what the method did, and conclude what it must have seen."""

from typing import ClassVar

import numpy as np

from shoal.attacks._known_baskets import BasketsView
from shoal.attacks._minimality import minimality
from shoal.attacks._repeated_method import learned_success
from shoal.attacks._starred_cells import starred_columns
from shoal.attacks.attack import Attack, Attacked, Target
from shoal.data.baskets import Baskets
from shoal.data.groups import Groups
from shoal.data.table import Table
from shoal.measures.pivot import Pivot
from shoal.mining.association_rules import parse_rule


class Replay(Attack):
    """Conclude from the method and from what is published what the method has seen.

    Of groups: try every member for the part of the sensitive one, as the measure `pivot` does it; and learn by what
    holders differ from runs of the same method on the published baskets, with public items in the part of secrets. The
    control names the member with most public items, which no grouping hides. Of tables with a promise about secrets:
    minimality, cuts that secrets must have forbidden; the control is the belief that the class gives. Of tables with
    stars: the value that the class shows as often as it may. Of baskets with hidden rules: who holds all but one item
    of a named rule held the whole; the control is the confidence as published.
    """

    name: ClassVar[str] = "replay"
    accepts: ClassVar[tuple[type, ...]] = (Table, Baskets, Groups)

    def run(self, target: Target) -> Attacked | None:
        """Replay what can be replayed; None where the release does not say how."""
        data = target.release.data
        if isinstance(data, Groups):
            return self._groups(target, data)
        if isinstance(data, Baskets):
            return self._rules(target, data)
        found = [*minimality(self.name, target.release, target.original, self.people, self.seed)]
        found += self._stars(target)
        return max(found, key=lambda one: (one.residual, one.success), default=None)

    def _groups(self, target: Target, groups: Groups) -> Attacked | None:
        """Attack every group that has a secret."""
        found = {score.name: float(score.value) for score in Pivot().scores(target.original, target.release)}
        if not found:
            return None
        learned = learned_success(target.release, target.original, self.seed)
        if learned is not None:
            found["pivot_learned"] = learned
        attacked = int(np.count_nonzero(np.diff(groups.sensitive_indptr)))
        ways = {
            "pivot_replay": "replays the method",
            "pivot_central": "names the most central member",
            "pivot_learned": "has learned from other runs of the method",
        }
        best = max(ways, key=lambda name: found.get(name, -1.0))
        success, guess, plain = found[best], found["pivot_guess"], found["pivot_largest"]
        words = (
            f"Who {ways[best]} names a holder of a secret in {success:.1%} of {attacked:,} groups; any member is one "
            f"in {guess:.1%}, and the member with most items in {plain:.1%}."
        )
        parts = {name.removeprefix("pivot_"): value for name, value in found.items()}
        return Attacked(self.name, success, guess, plain, attacked, words, parts)

    def _stars(self, target: Target) -> list[Attacked]:
        """The value under the stars of a class whose rules were hidden."""
        release, original = target.release, target.original
        assert isinstance(release.data, Table)
        if not any(promise.get("model") == "hidden-rules" for promise in release.promises):
            return []
        found = []
        for read in starred_columns(release.data, original, original, self.people, self.seed):
            right, baseline, chance = (
                read.right(read.most_shown()),
                read.right(read.most_frequent()),
                read.by_chance(),
            )
            count = int(read.stars.sum())
            words = (
                f"Who knows that stars hide rules names the {read.column.name} under {right:.1%} of {count:,} stars; "
                f"the most frequent value is right for {baseline:.1%}, and the likeliest of the class under stars by "
                f"chance for {chance:.1%}."
            )
            found.append(Attacked(self.name, right, baseline, chance, count, words))
        return found

    def _rules(self, target: Target, data: Baskets) -> Attacked | None:
        """Baskets that hold all items of a named rule but one, for baskets that held them all."""
        rules = [
            parse_rule(rule)
            for promise in target.release.promises
            if promise.get("model") == "hidden-associations"
            for rule in promise.get("rules", ())
        ]
        here, there = BasketsView(data, data), BasketsView(target.original, target.original)
        tried = right = believed = plain = 0.0
        for left, side in rules:
            items = sorted({*left, *side})
            if any(item not in data.vocabulary for item in items):
                continue
            near = {item: _count(here, [one for one in items if one != item]) for item in items}
            whole = _count(here, items)
            candidates = sum(near.values()) - len(items) * whole
            lost = max(_count(there, items) - whole, 0)
            tried, right = tried + candidates, right + min(lost, candidates)
            believed += candidates * whole / max(_count(here, list(left)), 1)
            plain += candidates * _count(here, list(side)) / max(len(data), 1)
        if not tried:
            return None
        success, control, baseline = right / tried, believed / tried, plain / tried
        words = (
            f"Who takes a basket that lacks one item of a hidden rule for one that held it is right for {success:.1%} "
            f"of {int(tried):,} baskets; the rules have a confidence of {control:.1%} as published."
        )
        return Attacked(self.name, success, baseline, control, int(tried), words)


def _count(view: BasketsView, items: list[str]) -> int:
    found = view.cohort(items)
    return len(view.published) if found is None else len(found)
