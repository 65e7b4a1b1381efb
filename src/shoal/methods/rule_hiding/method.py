"""Association-rule hiding after k-anonymity (Zielinski)."""

import time
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, ValidationError, field_validator

from shoal import registry
from shoal.arrays import Counts
from shoal.data.baskets import Baskets
from shoal.data.release import Release
from shoal.data.statistics import group_statistics
from shoal.data.table import Column, Table
from shoal.data.trace import Trace
from shoal.engines.local import Local
from shoal.errors import Infeasible, UnknownName, WrongUse
from shoal.methods.rule_hiding.cells import joined_column, places_of
from shoal.methods.rule_hiding.classes import Classes, Values, maxima, summed
from shoal.methods.rule_hiding.cover import shared_stars
from shoal.methods.rule_hiding.merge import Ends, merged
from shoal.methods.rule_hiding.publish import as_it_is, chosen_cells, rearranged, starred
from shoal.methods.rule_hiding.stars import Bound, least_stars, rules, vanishing_stars, with_decoys
from shoal.methods.table_method import TableMethod
from shoal.models.exact import fraction, rounded_up
from shoal.models.hidden_rules import HiddenRules
from shoal.models.k_anonymity import KAnonymity
from shoal.models.model import TableModel

NONE = "none"


class RuleHiding(TableMethod):
    """Anonymise a table, find the rules "class ⇒ sensitive value" that are too sure, and hide them.

    Step 1 is any method of tables, which keeps k and all other promises. Step 2 finds the rules with a confidence above
    c. Step 3 hides them: `star` publishes ``*`` for the least number of sensitive cells that brings every rule to c or
    below; `decoy` stars cells with other values too, so that no value has a share above c among the stars of a class;
    `merge` joins classes and stars nothing. Which rows of a class are starred is drawn at random; whoever gives a seed
    keeps it as secret as the data.
    """

    name: ClassVar[str] = "rule-hiding"
    example: ClassVar[dict[str, Any]] = {"k": 3, "confidence": 0.5}
    paper: ClassVar[str] = HiddenRules.paper

    confidence: float = Field(gt=0, le=1, description="largest confidence of a rule, as published")
    fewer_than: int | None = Field(
        default=None,
        ge=1,
        description="rules above the confidence in the worst case are shown by fewer rows than this",
    )
    strategy: Literal["star", "decoy", "merge"] = Field(
        default="star",
        description="star the rule's cells, or decoys too, or merge classes and star nothing",
    )
    antecedent: Literal["class", "any"] = Field(
        default="class", description="what a reader may know: a whole class, or any cells of it"
    )
    size: int | None = Field(
        default=None, ge=1, description="with antecedent any: the largest number of cells; all unless told"
    )
    column: str | None = Field(
        default=None, description="the sensitive column whose rules are hidden; every one unless told"
    )
    values: tuple[str, ...] = Field(
        default=(), description="the sensitive values whose rules are hidden; all unless told"
    )
    anonymize_with: str = Field(
        default="mondrian",
        description="the method of step 1, or none for a table that is anonymous already (see --published)",
    )
    options: dict[str, Any] = Field(
        default_factory=dict, description="a parameter of the method of step 1, such as partitioning=relaxed"
    )

    @field_validator("anonymize_with")
    @classmethod
    def _known(cls, name: str) -> str:
        if name != NONE and (name not in registry.METHODS or name == cls.name):
            raise WrongUse(f"a method of tables, such as mondrian, or {NONE}")
        return name

    def goes_on(self) -> bool:
        """Whether there is no step 1."""
        return self.anonymize_with == NONE

    def hidden(self) -> HiddenRules:
        """The promise about rules."""
        names = ("confidence", "fewer_than", "antecedent", "size", "column", "values")
        return HiddenRules(**{name: getattr(self, name) for name in names})

    def models(self) -> tuple[TableModel, ...]:
        """The promises of step 1, and that the rules are hidden."""
        return (*super().models(), self.hidden())

    def anonymize(
        self, data: Table | Baskets, engine: Local | None = None, seed: int | None = None
    ) -> tuple[Release, Trace]:
        """Anonymise, find the rules, hide them."""
        self.accept(data)
        assert isinstance(data, Table)
        hidden, begin = self.hidden(), time.perf_counter()
        hidden.judged(data)
        if self.strategy == "decoy" and self.antecedent == "any" and self.fewer_than is not None:
            raise WrongUse(
                "Decoys keep fewer-than for whole classes only; leave --antecedent any away, or use star."
            )
        first, trace = self._step_one(data, engine, seed)
        assert isinstance(first.data, Table)
        timings = {"anonymize": time.perf_counter() - begin}
        begin = time.perf_counter()
        table, rows, notes = self._hide(data, first.data, trace, hidden, np.random.default_rng(seed))
        timings["hide"] = time.perf_counter() - begin
        self._refuse_lost_promises(data, table)
        release = Release(
            data=table,
            method=self.name,
            parameters=self.model_dump(mode="json", exclude={"promises"}),
            promises=(*first.promises, hidden.as_promise()),
            suppressed=first.suppressed,
            details={} if notes.get("classes_joined") else first.details,
        )
        return release, Trace(rows, timings, {**trace.notes, **notes})

    def _step_one(self, data: Table, engine: Local | None, seed: int | None) -> tuple[Release, Trace]:
        """The table as the method of step 1 publishes it, or as it stands."""
        if self.anonymize_with != NONE:
            return self._inner().anonymize(data, engine, seed)
        if self.options:
            raise WrongUse("Options are for the method of step 1, and there is none.")
        if not data.quasi:
            raise WrongUse(
                "No column is a quasi-identifier; name those that an adversary may know with --quasi."
            )
        table, trace = as_it_is(data)
        models = self._first_models(data)
        for model in models:
            verdict = model.verify(table)
            if not verdict.holds:
                best = (
                    verdict.value
                    if verdict.value is None or isinstance(verdict.value, int)
                    else float(verdict.value)
                )
                raise Infeasible(
                    f"The table as it stands does not keep {model.name} ({verdict.promise}); it reaches {best}. Ask "
                    "for that, or anonymise it with --anonymize-with mondrian.",
                    best,
                )
        return Release(table, self.name, {}, tuple(model.as_promise() for model in models)), trace

    def _inner(self) -> TableMethod:
        """The method of step 1, with all promises that are not about rules."""
        kind = registry.load("method", self.anonymize_with)
        if not issubclass(kind, TableMethod):
            raise WrongUse(
                f"{self.anonymize_with} is no method of tables, and so no first step of {self.name}."
            )
        own = [name for name in kind.model_fields if name not in TableMethod.model_fields]
        for name in self.options:
            if name not in own:
                raise UnknownName(f"parameter of {self.anonymize_with}", name, own)
        promised = {name: getattr(self, name) for name in TableMethod.model_fields}
        try:
            inner: TableMethod = kind(**promised, **self.options)
        except ValidationError as error:
            wrong = error.errors()[0]
            where = ".".join(map(str, wrong["loc"])) or "parameters"
            raise WrongUse(
                f"{self.anonymize_with}: {where}: {wrong['msg']}, not {wrong['input']!r}."
            ) from error
        return inner

    def _first_models(self, data: Table) -> tuple[TableModel, ...]:
        """The promises of step 1, made definite for the table."""
        plain = TableMethod(**{name: getattr(self, name) for name in TableMethod.model_fields})
        return plain.definite(data)

    def _refuse_lost_promises(self, data: Table, table: Table) -> None:
        """Refuse a release in which a star, or a join, has broken another promise."""
        for model in self._first_models(data):
            if not isinstance(model, KAnonymity) and not model.verify(table).holds:
                raise Infeasible(
                    f"Hiding the rules breaks {model.name}, which is about the values that a class still shows. "
                    "Promise less, raise the confidence, or use another strategy (merge stars nothing)."
                )

    def _hide(
        self, data: Table, table: Table, trace: Trace, hidden: HiddenRules, random: np.random.Generator
    ) -> tuple[Table, Any, dict[str, Any]]:
        """The table without rules, its original rows, and what the owner may know."""
        classes, bound = Classes.of(table), Bound(fraction(self.confidence), self.fewer_than)
        judged = hidden.judged(data)
        known = {label for column in judged for label in column.domain.labels}
        for value in self.values:
            if value not in known:
                where = ", ".join(column.name for column in judged)
                raise UnknownName(f"value of {where} called", value, sorted(known - {""}))
        columns = [Values.of(column, classes, self.values) for column in hidden.judged(table)]
        notes: dict[str, Any] = {}
        if self.strategy == "merge":
            changed, classes_left = self._merge(data, table, classes, columns, bound, hidden)
            notes["classes_joined"] = len(classes) - classes_left
            for values in columns:
                notes[f"rules.{values.column.name}"] = _facts(values, classes, bound)
        else:
            changed = {}
            hiding = [self._stars(classes, values, bound) for values in columns]
            stars = [found for found, _ in hiding]
            if len(columns) == len(table.sensitive):
                self._star_blank_class(table, classes, columns, stars, bound)
            for values, found, (_, facts) in zip(columns, stars, hiding, strict=True):
                cells = chosen_cells(values, classes, found, random)
                changed[values.column.name] = starred(values.column, cells)
                facts |= {"stars": int(found.sum()), **_after(values, classes, found)}
                notes[f"rules.{values.column.name}"] = facts
        if not any(column is not table.column(name) for name, column in changed.items()):
            return table, trace.rows, notes
        made, rows = rearranged(data, table, changed, trace.rows)
        return made, rows, notes

    def _stars(self, classes: Classes, values: Values, bound: Bound) -> tuple[Counts, dict[str, Any]]:
        """The stars of each class and value, and what the owner may know about them."""
        width = classes.cells.shape[1]
        size = width if self.size is None else min(self.size, width)
        facts = _facts(values, classes, bound)
        whole = np.zeros(len(classes), dtype=np.bool_)
        if self.strategy == "decoy":
            stars, whole = with_decoys(values, classes, bound)
            self._refuse_bare_classes(values, bool(whole.any()), bound.c)
            facts |= {"decoys": int((stars - least_stars(values, classes, bound)).sum())}
            facts |= {"classes_starred_whole": int(whole.sum())}
        elif self.antecedent == "class" or (size == width and self.fewer_than is None):
            stars = least_stars(values, classes, bound)
            facts["least_stars"] = int(stars.sum())
        else:
            cover = shared_stars(classes, values, bound, size)
            stars = cover.stars
            facts |= {"rules": len(cover.found), "least_stars": cover.least}
        return stars, facts

    def _star_blank_class(
        self, table: Table, classes: Classes, columns: list[Values], stars: list[Counts], bound: Bound
    ) -> None:
        """Star the class that is ``*`` in every quasi-identifier as a whole, where it needs stars.

        Its rows belong to no class any more when all their sensitive cells are starred, so that stars do not thin out
        what the others show. With one sensitive column and whole classes it is still possible to show some rows, as
        long as there are k.
        """
        for place in np.flatnonzero(np.logical_and.reduce(classes.blank, axis=1)).tolist():
            inside = [values.classes == place for values in columns]
            if not any(found[here].any() for found, here in zip(stars, inside, strict=True)):
                continue
            plain = self.strategy == "star" and self.antecedent == "class" and self.fewer_than is None
            for values, found, here in zip(columns, stars, inside, strict=True):
                counts = values.counts[here]
                found[here] = counts
                if plain and len(columns) == 1 and table.entity is None and not values.stars[place]:
                    least = vanishing_stars(counts, values.guarded[here], bound.c)
                    if int((counts - least).sum()) >= max(self.k or 1, 1):
                        found[here] = least

    def _refuse_bare_classes(self, values: Values, any_whole: bool, c: Fraction) -> None:
        """Refuse a class of stars only where a blind guess among the values is better than c."""
        if any_whole and Fraction(1, max(values.distinct, 1)) > c:
            best = rounded_up(Fraction(1, max(values.distinct, 1)))
            raise Infeasible(
                f"Decoys cannot keep confidence = {self.confidence:g}: whole classes must be starred, and a blind "
                f"guess among the {values.distinct} values of {values.column.name} is better. The least confidence is "
                f"{best:g}.",
                best,
            )

    def _merge(
        self,
        data: Table,
        table: Table,
        classes: Classes,
        columns: list[Values],
        bound: Bound,
        hidden: HiddenRules,
    ) -> tuple[dict[str, Column], int]:
        """The quasi-identifiers of joined classes, and the number of classes that are left.

        Suppressed rows, which show nothing, are left as they are: joined to others they would hide rules as stars do.
        """
        told = np.flatnonzero(np.any([values.stars < classes.sizes for values in columns], axis=0))
        some, parts = classes.only(told), [values.only(told) for values in columns]
        rows = int(some.sizes.sum())
        for values in parts:
            keys, place = np.unique(values.codes[values.guarded], return_inverse=True)
            shown = summed(place, values.counts[values.guarded], len(keys))
            if bound.broken(shown, np.full(len(keys), values.stars.sum()), np.full(len(keys), rows)).any():
                group = np.where(some.of_row >= 0, 0, -1)
                whole = group_statistics(table, group, 1, (values.column.name,))
                raise _refused(hidden.model_copy(update={"column": values.column.name}).refusal(whole))
        places = [places_of(column, data.column(column.name)) for column in table.quasi]
        ends = [
            (low[some.cells[:, place]], high[some.cells[:, place]])
            for place, (low, high) in enumerate(one.ends() for one in places)
        ]
        low, high = (np.stack([pair[side] for pair in ends], axis=1) for side in (0, 1))
        joined = merged(some, parts, bound, Ends(low, high))
        count = int(joined.max()) + 1
        group = np.full(len(classes), -1, dtype=np.int64)
        group[told] = joined
        group[group < 0] = count + np.arange(len(classes) - len(told))
        changed = {}
        for column, cells, one in zip(table.quasi, classes.cells.T, places, strict=True):
            fresh, codes = joined_column(column, one, cells, group)
            changed[column.name] = replace(fresh, codes=codes[group[classes.of_row]])
        return changed, int(group.max()) + 1


def _refused(refusal: Infeasible) -> Infeasible:
    return Infeasible(str(refusal), refusal.best)


def _facts(values: Values, classes: Classes, bound: Bound) -> dict[str, Any]:
    """The rules before anything is hidden."""
    return {"rules": int(rules(values, classes, bound).sum()), "confidence_before": _largest(values, classes)}


def _after(values: Values, classes: Classes, stars: Counts) -> dict[str, Any]:
    """The confidences when cells are starred: as published, in the worst case, and of values among the stars.

    The last is the share of the most frequent value among the stars of a class: what a reader is right with who knows
    of every class which values its stars hide, but not which star hides which. Classes of stars only are left aside.
    """
    count = len(classes)
    guarded = values.guarded
    hidden: Counts = summed(values.classes, stars, count)
    shown = maxima(values.classes[guarded], (values.counts - stars)[guarded], count)
    most = maxima(values.classes[guarded], stars[guarded], count)
    some = (hidden > 0) & (hidden < classes.sizes)
    return {
        "confidence_after": float((shown / np.maximum(classes.sizes, 1)).max()),
        "confidence_worst": float(((shown + hidden + values.stars) / np.maximum(classes.sizes, 1)).max()),
        "confidence_among_stars": float((most[some] / hidden[some]).max()) if some.any() else 0.0,
    }


def _largest(values: Values, classes: Classes) -> float:
    guarded = values.guarded
    shown = maxima(values.classes[guarded], values.counts[guarded], len(classes))
    return float((shown / np.maximum(classes.sizes, 1)).max())
