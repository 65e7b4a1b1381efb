"""Association-rule hiding after k-anonymity (Zielinski)."""

import time
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self, TypeVar

import numpy as np
from pydantic import Field, field_validator, model_validator

from shoal import registry
from shoal.arrays import summed
from shoal.data._ties import tie_key
from shoal.data.dataset import Dataset
from shoal.data.group_statistics import group_statistics
from shoal.data.published_syntax import SUPPRESSED
from shoal.data.release import Release
from shoal.data.table import Column, Table
from shoal.data.trace import Trace
from shoal.data.verdict import Verdict
from shoal.engines.distributed import Distributed
from shoal.engines.protocol import Engine
from shoal.errors import Infeasible, UnknownName, WrongUse
from shoal.methods._candidates import Aim, Candidate, Goal
from shoal.methods.method import Anonymized, Data
from shoal.methods.table_method import TableMethod, published
from shoal.methods.table_rule_hiding._class_counts import Classes, Values
from shoal.methods.table_rule_hiding._joined_cells import joined_column, places_of
from shoal.methods.table_rule_hiding._merge import Ends, merged
from shoal.methods.table_rule_hiding._star_counts import Bound
from shoal.methods.table_rule_hiding._starring import Starring, facts, sentences
from shoal.models._exact import fraction
from shoal.models.hidden_rules import HiddenRules
from shoal.models.k_anonymity import KAnonymity
from shoal.models.model import TableModel

NONE = "none"
Made = TypeVar("Made", Table, Dataset)


class TableRuleHiding(TableMethod):
    """Anonymize a table, find the rules "class ⇒ sensitive value" with too much confidence, and hide them.

    Step 1 is any method for tables, which keeps k and all other promises. Step 2 finds the rules with a confidence
    above c. Step 3 hides them: `star` publishes ``*`` for the fewest sensitive cells that bring every rule to c or
    below; `decoy` also stars cells with other values, so that no value has a share above c among the stars of a class;
    `merge` joins classes and stars nothing. Which rows of a class are starred is drawn at random; a seed that is given
    must be kept as secret as the data.
    """

    name: ClassVar[str] = "table-rule-hiding"
    engines: ClassVar[tuple[str, ...]] = ("local", "spark", "stream")
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
        default=None, ge=1, description="with antecedent any: the largest number of cells; all by default"
    )
    column: str | None = Field(
        default=None, description="the sensitive column whose rules are hidden; every one by default"
    )
    values: tuple[str, ...] = Field(
        default=(), description="the sensitive values whose rules are hidden; all by default"
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

    @field_validator("options")
    @classmethod
    def _as_fields(cls, options: dict[str, Any]) -> dict[str, Any]:
        """Accept names as on the command line too: ``max-suppressed`` for ``max_suppressed``."""
        return {name.replace("-", "_"): value for name, value in options.items()}

    @model_validator(mode="after")
    def _size_has_effect(self) -> Self:
        if self.size is not None and self.antecedent != "any":
            raise WrongUse(
                "Size bounds the cells that a reader may know, and has no effect on whole classes: add --antecedent "
                "any, or omit --size"
            )
        return self

    @classmethod
    def candidates(cls, goal: Goal) -> list[Candidate]:
        """For a confidence, all strategies; for a risk, several confidences and class sizes."""
        if goal.aim is not Aim.RULES:
            return []
        shown = ("k", "confidence")
        if goal.risk is None:
            hidden = {"name": cls.name, "k": 2, **goal.promise, "confidence": goal.confidence}
            relaxed = hidden | {"options": {"partitioning": "relaxed"}}
            ways = [(f", {one}", hidden | {"strategy": one}) for one in ("star", "decoy", "merge")]
            ways += [(f", {one}, relaxed", relaxed | {"strategy": one}) for one in ("star", "decoy", "merge")]
            ways.append((", star, fewer than 2", hidden | {"strategy": "star", "fewer_than": 2}))
            return [
                Candidate(f"{cls.name}{label}", method, shown=shown, lists=True) for label, method in ways
            ]
        top = goal.risk if goal.confidence is None else min(goal.risk, goal.confidence)
        least = goal.k or 2
        found = []
        for part in (1.0, 0.8, 0.6):
            for k in dict.fromkeys([least, *(size for size in (3, 5, 10, 25, 50) if size > least)]):
                hidden = {"name": cls.name, **goal.promise, "k": k, "confidence": float(f"{top * part:.4g}")}
                joined = hidden | {"strategy": "merge"}
                found.append(
                    Candidate(f"{cls.name}, merge", joined, shown=shown, worst_case=True, lists=True)
                )
                if part == 1:
                    starred = hidden | {"strategy": "star"}
                    few = starred | {"fewer_than": 2}
                    found.append(Candidate(f"{cls.name}, star", starred, shown=shown, lists=True))
                    found.append(Candidate(f"{cls.name}, star, fewer than 2", few, shown=shown, lists=True))
        return found

    def accepts_generalized(self) -> bool:
        """Whether there is no step 1."""
        return self.anonymize_with == NONE

    def overlapping(self) -> str:
        """Merging, since joined classes may cover cells of others; or an option of the method of step 1."""
        if self.strategy == "merge":
            return "--strategy merge"
        return "" if self.accepts_generalized() else self._inner().overlapping()

    @property
    def splits_ties(self) -> bool:
        """Whether the method of step 1 separates equal rows."""
        return not self.accepts_generalized() and self._inner().splits_ties

    def hidden(self) -> HiddenRules:
        """The promise that the rules are hidden."""
        names = ("confidence", "fewer_than", "antecedent", "size", "column", "values")
        return HiddenRules(**{name: getattr(self, name) for name in names})

    def models(self) -> tuple[TableModel, ...]:
        """The promises of step 1, and that the rules are hidden."""
        return (*super().models(), self.hidden())

    def anonymize(self, data: Data, engine: Engine | None = None, seed: int | None = None) -> Anonymized:
        """Anonymize, find the rules, hide them."""
        self.accept(data)
        if isinstance(data, Dataset):
            return self._distributed(data, Distributed.of(engine), seed)
        assert isinstance(data, Table)
        hidden, begin = self.hidden(), time.perf_counter()
        hidden.judged(data)
        self.refuse_misfits()
        self._refuse_decoys()
        if self.strategy == "merge" and self._wildcards():
            raise WrongUse(
                "Joining classes puts missing cells and others under one text, so that they no longer match every "
                "value: --strategy merge does not go with missing-matches-all. Use star, or let missing be a value "
                "of its own."
            )
        first, trace = self._step_one(data, engine, seed)
        assert isinstance(first.data, Table)
        timings = {"anonymize": time.perf_counter() - begin}
        begin = time.perf_counter()
        table, rows, notes = self._hide(data, first.data, trace, hidden, tie_key(seed))
        timings["hide"] = time.perf_counter() - begin
        for model in self._first_models(data):
            if not isinstance(model, KAnonymity):
                self._refuse_lost_promise(model, model.verify(table))
        release = self._release(table, first, hidden, notes)
        summary = [
            *(() if notes.get("classes_joined") else trace.notes.get("summary", ())),
            *sentences(notes),
        ]
        return release, Trace(rows, timings, {**trace.notes, **notes, "summary": summary})

    def _distributed(self, data: Dataset, engine: Distributed, seed: int | None) -> Anonymized:
        """Anonymize in parts, and hide the rules of whole classes, one class at a time."""
        from shoal.methods.table_rule_hiding._distributed import hide_in_parts
        from shoal.models._distributed import verify_table

        hidden, begin = self.hidden(), time.perf_counter()
        judged = hidden.judged(data.schema)
        self._refuse_decoys()
        self._refuse_unknown_values(judged)
        if self.strategy == "merge" or not self._starring().separable(len(data.schema.quasi)):
            raise WrongUse(
                "Rules that join classes are not hidden on stream or spark, which look at whole classes alone. Use "
                "star or decoy with --antecedent class, or --engine local."
            )
        first, trace = self._step_one_in_parts(data, engine, seed)
        timings = {"anonymize": time.perf_counter() - begin}
        begin = time.perf_counter()
        names = [column.name for column in judged]
        made, found = hide_in_parts(first.data, data, self._starring(), names, seed, engine.memory)
        others = [model for model in self._first_models(data.schema) if not isinstance(model, KAnonymity)]
        for model, verdict in zip(others, verify_table(others, made, engine.memory), strict=True):
            self._refuse_lost_promise(model, verdict)
        timings["hide"] = time.perf_counter() - begin
        rules = {f"rules.{name}": facts for name, facts in found.items()}
        summary = [*trace.notes.get("summary", ()), *sentences(rules)]
        notes = {**trace.notes, **rules, "summary": summary}
        return self._release(made, first, hidden, {}), Trace(trace.rows, timings, notes)

    def _step_one_in_parts(self, data: Dataset, engine: Distributed, seed: int | None) -> Anonymized:
        """The table in parts as published by the method of step 1, or as it is if there is no step 1."""
        from shoal.methods.table_rule_hiding._distributed import texts_of
        from shoal.models._distributed import verify_table

        if self.anonymize_with != NONE:
            return self._inner().anonymize(data, engine, seed)
        self._refuse_as_it_is(data.schema)
        published, models = texts_of(data), self._first_models(data.schema)
        for model, verdict in zip(models, verify_table(models, published, engine.memory), strict=True):
            _refuse_unkept(model, verdict)
        promises = tuple(model.as_promise() for model in models)
        return Release(published, self.name, {}, promises), Trace(np.empty(0, dtype=np.int64))

    def _refuse_decoys(self) -> None:
        if self.strategy == "decoy" and self.antecedent == "any" and self.fewer_than is not None:
            raise WrongUse(
                "Decoys keep fewer-than for whole classes only; omit --antecedent any, or use star."
            )

    def _wildcards(self) -> bool:
        """Whether a missing cell matches every value in the promises of step 1."""
        models = super().models() if self.accepts_generalized() else self._inner().models()
        return any(isinstance(model, KAnonymity) and model.missing_matches_all for model in models)

    def _step_one(self, data: Table, engine: Engine | None, seed: int | None) -> Anonymized:
        """The table as published by the method of step 1, or as it is if there is no step 1."""
        if self.anonymize_with != NONE:
            return self._inner().anonymize(data, engine, seed)
        self._refuse_as_it_is(data)
        table, order = published(data, {})
        models = self._first_models(data)
        for model in models:
            _refuse_unkept(model, model.verify(table))
        promises = tuple(model.as_promise() for model in models)
        return Release(table, self.name, {}, promises), Trace(order)

    def _refuse_as_it_is(self, data: Table) -> None:
        """Refuse parameters that do not work without a step 1."""
        if self.options:
            raise WrongUse("Options are for the method of step 1, and there is none.")
        data.refuse_without_quasi()
        if self.strategy == "decoy" and any(
            SUPPRESSED in column.domain.labels for column in self.hidden().judged(data)
        ):
            raise WrongUse(
                "Decoys are drawn by the values that stars hide, and the stars of this table hide theirs already: use "
                "--strategy star or merge, or hide the rules of the table that it was made from."
            )

    def _inner(self) -> TableMethod:
        """The method of step 1, with all promises except the one about rules."""
        kind = registry.load("method", self.anonymize_with)
        if not issubclass(kind, TableMethod) or kind.publishes is not None:
            raise WrongUse(
                f"{self.anonymize_with} publishes no table of classes, so it cannot be the first step of {self.name}."
            )
        own = [name for name in kind.model_fields if name not in TableMethod.model_fields]
        for name in self.options:
            if name not in own:
                raise UnknownName(f"parameter of {self.anonymize_with}", name, own)
        if not super().models():
            raise WrongUse(
                f"{self.name} anonymizes the table first, by {self.anonymize_with}, and has nothing to promise there; "
                f"give --k, for example --k 10, or --anonymize-with {NONE} for a table that is anonymous already."
            )
        promised = {name: getattr(self, name) for name in TableMethod.model_fields}
        inner: TableMethod = kind(**promised, **self.options)
        return inner

    def _first_models(self, data: Table) -> tuple[TableModel, ...]:
        """The promises of step 1, made definite for the table."""
        plain = TableMethod(**{name: getattr(self, name) for name in TableMethod.model_fields})
        return plain.definite(data)

    def _release(
        self, data: Made, first: Release[Any], hidden: HiddenRules, notes: dict[str, Any]
    ) -> Release[Made]:
        return Release(
            data=data,
            method=self.name,
            parameters=self.model_dump(mode="json", exclude={"promises"}),
            promises=(*first.promises, hidden.as_promise()),
            suppressed=first.suppressed,
            details={} if notes.get("classes_joined") else first.details,
        )

    def _refuse_lost_promise(self, model: TableModel, verdict: Verdict) -> None:
        """Refuse a release in which stars or joined classes have broken another promise."""
        if not verdict.holds:
            raise Infeasible(
                f"Hiding the rules breaks {model.name}, which is about the values that a class still shows. "
                "Promise less, raise the confidence, or use another strategy (merge stars nothing)."
            )

    def _hide(
        self, data: Table, table: Table, trace: Trace, hidden: HiddenRules, key: int
    ) -> tuple[Table, Any, dict[str, Any]]:
        """The table with its rules hidden, the original row of each row, and notes for the data's owner."""
        self._refuse_unknown_values(hidden.judged(data))
        notes: dict[str, Any] = {}
        if self.strategy == "merge":
            classes, bound = Classes.of(table), Bound(fraction(self.confidence), self.fewer_than)
            columns = [Values.of(column, classes, self.values) for column in hidden.judged(table)]
            changed, classes_left = self._merge(data, table, classes, columns, bound, hidden)
            notes["classes_joined"] = len(classes) - classes_left
            for values in columns:
                notes[f"rules.{values.column.name}"] = facts(values, classes, bound)
        else:
            random = np.random.default_rng(key)
            changed, notes = self._starring().columns(table, hidden.judged(table), random, key)
        if not any(column is not table.column(name) for name, column in changed.items()):
            return table, trace.rows, notes
        # Rows are sorted anew: their previous order would reveal the rank of a starred value.
        made, order = published(table, changed)
        return made, trace.rows[order], notes

    def _refuse_unknown_values(self, judged: tuple[Column, ...]) -> None:
        """Refuse values that no judged column has."""
        known = {label for column in judged for label in column.domain.labels}
        for value in self.values:
            if value not in known:
                where = ", ".join(column.name for column in judged)
                raise UnknownName(f"value of {where} called", value, sorted(known - {""}))

    def _starring(self) -> Starring:
        """The parameters of starring, for the strategies that hide rules by stars."""
        assert self.strategy != "merge"
        rules = (self.strategy, self.antecedent, self.size, self.confidence, self.fewer_than, self.values)
        # The promise of k, from the parameter k or from a model in the list of promises.
        promised = (model.k for model in super().models() if isinstance(model, KAnonymity))
        return Starring(*rules, max(promised, default=1))

    def _merge(
        self,
        data: Table,
        table: Table,
        classes: Classes,
        columns: list[Values],
        bound: Bound,
        hidden: HiddenRules,
    ) -> tuple[dict[str, Column], int]:
        """The quasi-identifiers of joined classes, and the number of classes that remain.

        Classes that show no sensitive value, such as suppressed rows, are left alone: joined to others they would hide
        rules as stars do.
        """
        filled = np.flatnonzero(np.any([values.stars < classes.sizes for values in columns], axis=0))
        some, parts = classes.only(filled), [values.only(filled) for values in columns]
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
        group[filled] = joined
        group[group < 0] = count + np.arange(len(classes) - len(filled))
        changed = {}
        for column, cells, one in zip(table.quasi, classes.cells.T, places, strict=True):
            fresh, codes = joined_column(column, one, cells, group)
            changed[column.name] = replace(fresh, codes=codes[group[classes.of_row]])
        return changed, int(group.max()) + 1


def _refuse_unkept(model: TableModel, verdict: Verdict) -> None:
    """Refuse a table that, as it is, does not keep what is promised."""
    if not verdict.holds:
        value = verdict.value
        best = value if value is None or isinstance(value, int) else float(value)
        raise Infeasible(
            f"The table as it stands does not keep {model.name} ({verdict.promise}); it reaches {best}. "
            f"{'Ask for that, or anonymize' if _can_be_asked(model, best) else 'Anonymize'} it with --anonymize-with "
            "mondrian.",
            best,
        )


def _can_be_asked(model: TableModel, best: float | None) -> bool:
    """Whether the value that a table reaches could be promised; k-anonymity with k = 1 promises nothing."""
    return best is not None and (best > 1 or not isinstance(model, KAnonymity))


def _refused(refusal: Infeasible) -> Infeasible:
    return Infeasible(str(refusal), refusal.best)
