"""Association rules that nobody finds (Atallah et al. 1999; Verykios, Elmagarmid, Bertino, Saygin, Dasseni 2004)."""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import ceil
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field, field_validator

from shoal.arrays import Rows, owners
from shoal.data._promise_words import percent
from shoal.data.baskets import Baskets
from shoal.data.release import Published
from shoal.data.verdict import SHOWN, Offender, Verdict
from shoal.errors import UnknownName, WrongUse
from shoal.mining.association_rules import parse_rule, rule_text
from shoal.models._exact import fraction
from shoal.models.model import Model

Sides = tuple[tuple[str, ...], tuple[str, ...]]


class HiddenAssociations(Model):
    """No sensitive rule has both the support and the confidence that a miner would ask for.

    A rule X => Y has the support of X and Y together, as a share of all baskets, and the confidence sup(X and Y) /
    sup(X). It is hidden where one of the two is below its threshold. Sensitive are the given rules; without any, the
    rules whose right side holds a sensitive item, or all rules. Of these, only rules with one item on the right need to
    be looked at, because more items there lower both numbers.

    Who mines with lower thresholds may find the rules: they are hidden, not gone.
    """

    name: ClassVar[str] = "hidden-associations"
    accepts: ClassVar[tuple[type, ...]] = (Baskets,)
    paper: ClassVar[str] = (
        "Verykios, Elmagarmid, Bertino, Saygin, Dasseni: Association rule hiding. IEEE TKDE 16(4), 2004"
    )

    support: float = Field(gt=0, le=1, description="share of baskets that a rule must stay below")
    confidence: float = Field(gt=0, le=1, description="or confidence that it must stay below")
    rules: tuple[str, ...] = Field(default=(), description="rules to hide, such as 'beer + nuts => wine'")
    scope: Literal["sensitive", "all"] = Field(
        default="sensitive",
        description="without rules: those with a sensitive item on the right side are to be hidden, or all rules",
    )
    antecedent: int = Field(
        default=2, ge=1, description="without rules: most items on the left side of a rule to hide"
    )

    def sentence(self, of: str, known: str) -> str:
        """The promise for readers who know no model by its name."""
        return (
            f"No sensitive rule reaches both a support of {percent(self.support)} and a confidence of "
            f"{percent(self.confidence)}."
        )

    @field_validator("rules")
    @classmethod
    def _readable(cls, rules: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(rule_text(*parse_rule(rule)) for rule in rules))

    def verify(self, published: Published) -> Verdict:
        """Count the baskets of every sensitive rule."""
        self.accept(published)
        assert isinstance(published, Baskets)
        least = self.least(len(published))
        return self.conclude_rules(self._counted(published, max(least, 1)), least, published)

    def ask(self, published: Published) -> None:
        """Refuse to be asked about no rule at all."""
        super().ask(published)
        assert isinstance(published, Baskets)
        if not self.rules and self.scope == "sensitive" and not len(published.sensitive):
            raise WrongUse(
                f"{self.name} is asked about no rule: give --rules, name sensitive items with --sensitive, or say "
                "--scope all."
            )

    def refuse_unknown(self, data: Published) -> None:
        """Refuse rules of items that are not there."""
        if isinstance(data, Baskets) and (absent := self._absent(data.vocabulary)):
            raise UnknownName("item", absent[0], data.vocabulary)

    def _absent(self, vocabulary: tuple[str, ...]) -> list[str]:
        """The items of the given rules that are not there."""
        known = set(vocabulary)
        return [item for item in self._named() if item not in known]

    def _named(self) -> list[str]:
        """The items of the given rules."""
        return list(dict.fromkeys(item for rule in self.rules for side in parse_rule(rule) for item in side))

    def least(self, baskets: int) -> int:
        """The baskets below which a rule is hidden by its support."""
        return ceil(fraction(self.support) * baskets)

    def conclude_rules(
        self, counted: Iterable[tuple[Sides, int, int]], least: int, published: Baskets
    ) -> Verdict:
        """The verdict that follows from sensitive rules of enough support: baskets of both sides, and of the left.

        `published`: the items and their roles; the baskets may be elsewhere.
        """
        share = fraction(self.confidence)
        every = "no rule" if self.scope == "all" else "no sensitive rule"
        promise = (
            f"{'none of the given rules' if self.rules else every} has support {self.support:g} and confidence "
            f"{self.confidence:g}"
        )
        found: list[tuple[Fraction, str, str]] = []
        worst: Fraction | None = None
        for sides, both, one in counted:
            confidence = Fraction(both, one)
            worst = confidence if worst is None else max(worst, confidence)
            if confidence >= share:
                why = f"held by {both} of {one} baskets; below {least} or a share below {self.confidence:g} is promised"
                found.append((confidence, rule_text(*sides), why))
        found.sort(key=lambda one: (-one[0], one[1]))
        offenders = tuple(Offender(where, why) for _, where, why in found[:SHOWN])
        absent = self._absent(published.vocabulary)
        # Rules are hidden by taking some of their items out of baskets, and never all of them.
        gone = self._everything and bool(absent) and len(absent) == len(self._named())
        if gone:
            offenders = (Offender("everything", "none of the items of the given rules is published"),)
        nothing = not self.rules and self.scope == "sensitive" and not len(published.sensitive)
        remark = "no published item is named sensitive, so no rule is" if nothing else ""
        if absent:
            remark = f"no published basket holds {' or '.join(absent[:SHOWN])}"
        return Verdict(
            self.name, promise, not found and not gone, worst, share, offenders, len(found) + gone, remark
        )

    def _counted(self, baskets: Baskets, least: int) -> Iterator[tuple[Sides, int, int]]:
        """The sensitive rules that have enough support: baskets of both sides, and of the left side."""
        holders = _holders(baskets)
        if self.rules:
            for rule in self.rules:
                before, after = parse_rule(rule)
                left = _all_of(holders, before, len(baskets))
                both = np.intersect1d(left, _all_of(holders, after, len(baskets)), assume_unique=True)
                if len(both) >= least:
                    yield (before, after), len(both), len(left)
            return
        whole = np.arange(len(baskets.vocabulary)) if self.scope == "all" else baskets.sensitive
        for item in (baskets.vocabulary[code] for code in whole.tolist()):
            yield from self._below(holders, item, least)

    def _below(self, holders: dict[str, Rows], item: str, least: int) -> Iterator[tuple[Sides, int, int]]:
        """The rules with an item on the right side, left sides grown item by item while both have enough support."""
        names = sorted(name for name, rows in holders.items() if name != item and len(rows) >= least)
        stack: list[tuple[tuple[str, ...], int, Rows | None, Rows]] = [((), 0, None, holders[item])]
        while stack:
            before, first, left, both = stack.pop()
            for place in range(first, len(names)):
                rows = holders[names[place]]
                more = np.intersect1d(both, rows, assume_unique=True)
                if len(more) < least:
                    continue
                wider = rows if left is None else np.intersect1d(left, rows, assume_unique=True)
                longer = (*before, names[place])
                yield (longer, (item,)), len(more), len(wider)
                if len(longer) < self.antecedent:
                    stack.append((longer, place + 1, wider, more))


def _holders(baskets: Baskets) -> dict[str, Rows]:
    """The baskets that hold each item."""
    rows = owners(baskets.indptr)
    order = np.argsort(baskets.items, kind="stable")
    ends = np.cumsum(baskets.supports)
    parts = np.split(rows[order], ends[:-1]) if len(ends) else []
    return dict(zip(baskets.vocabulary, parts, strict=True))


def _all_of(holders: dict[str, Rows], items: tuple[str, ...], count: int) -> Rows:
    """The baskets that hold all of some items."""
    rows = np.arange(count)
    for item in items:
        rows = np.intersect1d(rows, holders.get(item, np.empty(0, dtype=np.int64)), assume_unique=True)
    return rows
