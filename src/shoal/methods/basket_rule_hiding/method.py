"""Association-rule hiding on baskets (Verykios et al. 2004)."""

import time
from collections.abc import Callable
from math import ceil
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from pydantic import Field, field_validator

from shoal.data._plain_text import counted
from shoal.data._ties import public_order, tie_key
from shoal.data.baskets import Baskets
from shoal.data.trace import Trace
from shoal.engines.protocol import Engine
from shoal.errors import WrongUse
from shoal.methods.basket_rule_hiding._greedy import Plan, Strategy, hide
from shoal.methods.basket_rule_hiding._integer_program import Kinds, Solution, solve
from shoal.methods.basket_rule_hiding._item_index import Border, ItemIndex, Rule, open_rules
from shoal.methods.basket_rule_hiding._victims import Protected
from shoal.methods.method import Anonymized, Data, Method
from shoal.mining.association_rules import association_rules, parse_rule, rule_text
from shoal.mining.frequent_itemsets import frequent_itemsets
from shoal.models._exact import fraction
from shoal.models.hidden_associations import HiddenAssociations
from shoal.models.model import Model

Search: TypeAlias = Callable[[Baskets], list[Rule]]
"""A function that finds the sensitive rules in baskets."""


class BasketRuleHiding(Method):
    """Remove items from as few baskets as possible, until no sensitive rule can be found at the thresholds.

    A rule is weakened by removing an item of its right side from baskets that support it (dsr), or an item of its left
    side (dsl), or by adding its left side to baskets without the right side (isl, which makes things up). The baskets
    are chosen by what else would be lost: frequent itemsets near the threshold are kept where others can be spared.
    `exact` finds the fewest occurrences to remove, with proof.
    """

    name: ClassVar[str] = "basket-rule-hiding"
    accepts: ClassVar[type] = Baskets
    not_distributable: ClassVar[str] = (
        "which baskets lose an item is decided over all baskets at once, and anew after every item"
    )
    example: ClassVar[dict[str, Any]] = {"support": 0.03, "confidence": 0.2, "scope": "all"}
    paper: ClassVar[str] = (
        "Verykios, Elmagarmid, Bertino, Saygin, Dasseni: Association rule hiding. IEEE TKDE 16(4), 2004"
    )

    support: float = Field(gt=0, le=1, description="share of baskets from which a rule counts as found")
    confidence: float = Field(gt=0, le=1, description="confidence from which a rule counts as found")
    rules: tuple[str, ...] = Field(
        default=(),
        description="rules to hide, such as 'beer + nuts => wine'; a space stands on both sides of + and =>",
    )
    scope: Literal["sensitive", "all"] = Field(
        default="sensitive",
        description="without rules: hide those with a sensitive item on the right side, or all rules",
    )
    antecedent: int = Field(
        default=2, ge=1, description="without rules: most items on the left side of a rule to hide"
    )
    strategy: Strategy = Field(
        default="dsr",
        description="dsr and dsl remove items of the right or left side, isl adds items of the left side, exact "
        "removes the fewest occurrences, random is dsr with baskets chosen at random",
    )
    time_limit: float = Field(default=60, gt=0, description="with exact: seconds for one solution")

    @field_validator("rules")
    @classmethod
    def _readable(cls, rules: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(rule_text(*parse_rule(rule)) for rule in rules))

    @property
    def splits_ties(self) -> bool:
        """Always: of several equal baskets, some may lose an item and others not."""
        return True

    def models(self) -> tuple[Model, ...]:
        """The promise that the rules are hidden."""
        return (
            HiddenAssociations(
                support=self.support,
                confidence=self.confidence,
                rules=self.rules,
                scope=self.scope,
                antecedent=self.antecedent,
            ),
        )

    def unused_parameters(self) -> tuple[str, ...]:
        """Parameters of the search for rules, if rules are named; and the time limit, except with exact."""
        found = [
            f"--{field} has no effect: --rules names the rules to hide."
            for field in ("scope", "antecedent")
            if self.rules and self.given(field)
        ]
        if self.strategy != "exact" and self.given("time_limit"):
            found.append(
                f"--time-limit has no effect with --strategy {self.strategy}: only exact has a time limit."
            )
        return tuple(found)

    def anonymize(self, data: Data, engine: Engine | None = None, seed: int | None = None) -> Anonymized:
        """Find the rules, hide them, and search again until none is found."""
        self.accept(data)
        assert isinstance(data, Baskets)
        begin = time.perf_counter()
        seed = tie_key(seed)
        original_rows = public_order(data, seed)
        baskets = data.take(original_rows)
        border = Border(max(1, ceil(fraction(self.support) * len(baskets))), fraction(self.confidence))
        search = self._search(baskets, border)
        random = np.random.default_rng(seed)
        act = self._by_program if self.strategy == "exact" else self._by_greed
        changed, notes = act(baskets, border, search, random)
        hidden = time.perf_counter()
        order = changed.canonical_order()
        published = changed.take(order)
        release = self.released(published.keep(published.supports > 0))
        timings = {"hide": hidden - begin, "publish": time.perf_counter() - hidden}
        notes |= _changes(baskets, changed)
        return release, Trace(original_rows[order], timings, {**notes, "summary": [_sentence(notes)]})

    def _search(self, baskets: Baskets, border: Border) -> Search:
        """The function that finds the sensitive rules that a miner would find in changed baskets."""
        if self.rules:
            given = []
            for text in self.rules:
                before, after = parse_rule(text)
                given.append(Rule(tuple(map(baskets.code, before)), tuple(map(baskets.code, after))))
            return lambda now: list(open_rules(ItemIndex(now), given, border))
        secret = set(
            baskets.sensitive.tolist() if self.scope == "sensitive" else range(len(baskets.vocabulary))
        )
        if not secret and self.scope == "sensitive":
            raise WrongUse("Nothing to hide: give --rules, or --sensitive items, or --scope all.")

        def mined(now: Baskets) -> list[Rule]:
            found = frequent_itemsets(now, border.least, self.antecedent + 1)
            rules = association_rules(found, border.share, consequent=1)
            after = found.lasts[rules.consequents].tolist()
            places = [place for place, item in enumerate(after) if item in secret]
            indptr, items = found.members(rules.antecedents[places])
            before = np.split(items, indptr[1:-1])
            return [
                Rule(tuple(one.tolist()), (after[place],)) for one, place in zip(before, places, strict=False)
            ]

        return mined

    def _by_greed(
        self, baskets: Baskets, border: Border, search: Search, random: np.random.Generator
    ) -> tuple[Baskets, dict[str, Any]]:
        """Hide the rules that are found, and then those that appeared because of the changes."""
        rules = search(baskets)
        notes: dict[str, Any] = {"sensitive_rules": len(rules), "rounds": 0}
        while rules:
            by_chance = self.strategy == "random"
            protected = None if by_chance else Protected.of(baskets, rules, border)
            plan = Plan(border, protected, random if by_chance else None)
            index = ItemIndex(baskets)
            index.prepare(item for rule in rules for item in rule.items)
            # Added items can create new rules; these are hidden by removing items, which certainly ends.
            strategy = "dsr" if self.strategy == "isl" and notes["rounds"] else self.strategy
            given_up = hide(index, rules, plan, strategy)
            if self.strategy == "isl":
                notes["rules_without_room"] = notes.get("rules_without_room", 0) + given_up
            baskets = index.changed()
            rules = search(baskets)
            notes["rounds"] += 1
        return baskets, notes

    def _by_program(
        self, baskets: Baskets, border: Border, search: Search, random: np.random.Generator
    ) -> tuple[Baskets, dict[str, Any]]:
        """Solve for the rules found so far, add those that appeared, and solve again from the original."""
        rules = search(baskets)
        notes: dict[str, Any] = {"sensitive_rules": len(rules), "rounds": 0}
        changed, more = baskets, rules
        while more:
            index = ItemIndex(baskets)
            kinds = Kinds.of(index, rules)
            solution = solve(kinds, rules, border, self.time_limit)
            _apply(index, kinds, solution, Protected.of(baskets, rules, border))
            changed = index.changed()
            more = [rule for rule in search(changed) if rule not in rules]
            rules = sorted({*rules, *more})
            notes |= {"rounds": notes["rounds"] + 1, "least_removals": solution.bound}
        return changed, notes


def _apply(index: ItemIndex, kinds: Kinds, solution: Solution, protected: Protected) -> None:
    """Choose the baskets of each kind that lose items: those that are needed least."""
    free = np.ones(len(kinds.of_row), dtype=np.bool_)
    for kind, lost, count in solution.removals:
        rows = np.flatnonzero((kinds.of_row == kind) & free)
        weights = np.zeros(len(rows))
        for item in sorted(lost):
            weights += protected.weights(index, item, rows, count)
        chosen = rows[np.lexsort((np.arange(len(rows)), index.baskets.lengths[rows], weights))[:count]]
        free[chosen] = False
        for item in lost:
            index.column(item)[chosen] = False


def _sentence(notes: dict[str, Any]) -> str:
    """A sentence on what was found and done."""
    rules, proven = notes["sensitive_rules"], notes.get("least_removals")
    added = f", {notes['added']:,} put in" if notes["added"] else ""
    least = f" (at least {proven:,.0f} were needed)" if proven is not None else ""
    return (
        f"Sensitive rules found and hidden: {rules:,}; {counted(notes['removed'], 'occurrences')} taken out"
        f"{least}{added}, {counted(notes['baskets_changed'], 'baskets')} changed."
    )


def _changes(before: Baskets, after: Baskets) -> dict[str, int]:
    """How many occurrences were removed and added, and how many baskets changed."""
    width = len(before.vocabulary)
    one, other = (
        np.repeat(np.arange(len(side)), side.lengths) * width + side.items for side in (before, after)
    )
    removed, added = np.setdiff1d(one, other, True), np.setdiff1d(other, one, True)
    touched = len(np.unique(np.concatenate([removed, added]) // max(width, 1)))
    return {"removed": len(removed), "added": len(added), "baskets_changed": touched}
