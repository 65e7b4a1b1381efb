"""What the methods of full-domain generalization have in common: parameters, limits, and what they report."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import isfinite
from typing import Any, ClassVar, NoReturn, Self, TypeVar

import numpy as np
from pydantic import Field, field_validator, model_validator

from shoal.arrays import Counts, Rows
from shoal.data._plain_text import counted
from shoal.data._ties import tie_key
from shoal.data.dataset import Dataset
from shoal.data.release import Release
from shoal.data.table import Table
from shoal.data.trace import Trace
from shoal.engines.distributed import Distributed
from shoal.engines.local import Local
from shoal.engines.protocol import Engine
from shoal.errors import Infeasible, UnknownName, WrongUse
from shoal.methods._full_domain._improved import Solution, improved
from shoal.methods._full_domain._levels import Levels, lattice_of, texts_of
from shoal.methods._full_domain._losses import column_losses
from shoal.methods._full_domain._recoding import Recoding, publish, vectors_of
from shoal.methods._full_domain._search import Progress
from shoal.methods._full_domain._table_to_generalize import Problem
from shoal.methods._full_domain._tuples import distinct_tuples
from shoal.methods._improvement.method import Improvable
from shoal.methods.method import Anonymized, Data
from shoal.models._exact import rounded_up
from shoal.models.k_anonymity import KAnonymity
from shoal.models.model import TableModel
from shoal.option_names import share_instead

HIGHER = ("granularity", "precision")
"""Measures for which higher is better; the search minimizes what they say is lost."""


def levels_sentence(problem: Problem, parts: Recoding) -> str:
    """A sentence on the level of each column and the height of its hierarchy, or on how many vectors there are."""
    vectors = vectors_of(problem, parts)
    if len(vectors) > 1:
        return (
            f"Levels: {len(vectors):,} parts of the rows, each on levels of its own; release.json lists them."
        )
    lattice = problem.lattice
    words = [
        f"{name} {level} of {len(sizes) - 1}"
        for (name, level), sizes in zip(lattice.named(vectors[0][0]).items(), lattice.sizes, strict=True)
    ]
    return f"Levels: {', '.join(words)}."


def proof_sentence(
    measure: str, problem: Problem, progress: Progress, solution: Mapping[str, Any], *, local: bool = False
) -> str:
    """A sentence on whether the optimum is proven, by which measure, and its value; otherwise on the bound.

    `solution`: every measure of the vector that was found. `local`: whether parts of the rows may then get other
    vectors.
    """
    vectors = counted(len(problem.lattice), "vectors of levels") + " for all rows" * local
    higher = measure in HIGHER and not problem.weights
    name = f"weighted loss by {measure}" if problem.weights else measure
    value, bound = progress.value, progress.bound
    if not problem.weights:
        value, bound = solution.get(measure, value), 1 - bound if higher else bound
    if progress.proven:
        return (
            f"Optimum proven: none of {vectors} has a "
            f"{'higher' if higher else 'lower'} {name} than {value:.4g}."
        )
    limit = (
        f"none can be {'above' if higher else 'below'} {bound:.4g}"
        if isfinite(bound)
        else "no bound is known"
    )
    return f"Best found in the time{', for all rows' * local}: {name} {value:.4g}; {limit}."


def local_sentence(measure: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """A sentence on what local recoding changed."""
    return (
        f"Local recoding, with levels for parts of the rows: {measure} {after.get(measure, 0):.4g} instead of "
        f"{before.get(measure, 0):.4g}."
    )


def choice_sentence(
    measure: str, solutions: Sequence[Mapping[str, Any]], chosen: Mapping[str, Any], *, minimal: bool
) -> str:
    """A sentence on how one of several solutions was chosen."""
    heights = [int(solution["height"]) for solution in solutions]
    value = f" ({chosen[measure]:.4g})" if measure in chosen else ""
    by = "as the first" if measure == "first" else f"by {measure}{value}"
    if minimal:
        return (
            f"Chosen {by} among {counted(len(solutions), 'minimal vectors of levels')}, of "
            f"{_heights(min(heights), max(heights))}; its height is {chosen['height']}."
        )
    among = counted(len(solutions), "vectors")
    return f"Height {chosen['height']} is the least possible; chosen {by} among {among} of it."


def _heights(least: int, most: int) -> str:
    return f"height {least}" if least == most else f"heights {least} to {most}"


Form = TypeVar("Form")

HEAVIEST = 1e9
"""The largest weight of a column: beyond it, the losses of the other columns vanish in rounding."""

WILDCARDS = (
    "A missing quasi-identifier matches every value. A row with missing cells is then safe only from those who do not "
    "know what is missing: whoever knows the true value finds fewer rows that match it than were counted."
)
CATEGORY = "A missing quasi-identifier is a value of its own: it matches other missing ones and nothing else."


class FullDomain(Improvable):
    """Generalize every value of a column to the same level of its hierarchy, and suppress the rows that remain rare."""

    suppresses: ClassVar[bool] = True
    along_hierarchies: ClassVar[bool] = True
    by_share: ClassVar[bool] = True
    """Whether a limit on suppressed rows is suggested as a share of them if none was given."""
    engines: ClassVar[tuple[str, ...]] = ("local", "spark", "stream")

    suppression_limit: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="largest share of the rows that may be suppressed: 0.01 is one in a hundred, and 1 all of them; "
        "default: 0",
    )
    max_suppressed: int | None = Field(
        default=None,
        ge=0,
        description="the most rows that may be suppressed, a whole number, instead of a share of them",
    )
    max_level: dict[str, int] = Field(
        default_factory=dict, description="the coarsest level that a column may be generalized to"
    )
    min_level: dict[str, int] = Field(
        default_factory=dict,
        description="the finest level that a column is published on: 1 publishes no exact value",
    )
    raw: tuple[str, ...] = Field(default=(), description="quasi-identifiers that must stay as they are")
    weights: dict[str, float] = Field(
        default_factory=dict,
        description="how much a column's loss counts: 3 makes it three times as important",
    )
    missing_matches_all: bool = Field(
        default=False,
        description="a missing quasi-identifier matches every value, instead of being a value of its own",
    )
    keep_suppressed: bool = Field(
        default=False,
        description="publish suppressed rows with * in their cells, instead of leaving them out",
    )

    @field_validator("suppression_limit", mode="before")
    @classmethod
    def _share(cls, given: Any) -> Any:
        if percent := as_share(given):
            raise WrongUse(f"a share from 0 to 1 ({percent}; for a number of rows, use max_suppressed)")
        return given

    @field_validator("max_suppressed", mode="before")
    @classmethod
    def _whole(cls, given: Any) -> Any:
        if hint := share_instead("max_suppressed", given):
            raise WrongUse(f"a whole number of rows ({hint})")
        return given

    @model_validator(mode="after")
    def _one_limit(self) -> Self:
        if self.suppression_limit is not None and self.max_suppressed is not None:
            raise WrongUse(
                "suppressed rows are limited by a share (suppression_limit) or by a number of rows (max_suppressed), "
                "not by both: omit one"
            )
        return self

    def overlapping(self) -> str:
        """Keeping suppressed rows: their stars fit everybody."""
        return "--keep-suppressed" if self.keep_suppressed else super().overlapping()

    def models(self) -> tuple[TableModel, ...]:
        """The promises; if missing values match all, k-anonymity counts the rows that match."""
        return tuple(
            model.model_copy(update={"missing_matches_all": True})
            if self.missing_matches_all and isinstance(model, KAnonymity)
            else model
            for model in super().models()
        )

    def anonymize(self, data: Data, engine: Engine | None = None, seed: int | None = None) -> Anonymized:
        """Find the levels, publish the rows on them, and put them in canonical order."""
        self.accept(data)
        if isinstance(data, Dataset):
            return self._distributed(data, Distributed.of(engine), seed)
        assert isinstance(data, Table)
        begin = time.perf_counter()
        problem = self.problem(data, self.models_for(data), Local.of(engine))
        solution = self.solve(problem, begin, seed or 0)
        if self.improving:
            problem, solution = improved(self, problem, solution, tie_key(seed))
        return self.release(problem, solution)

    def _distributed(self, data: Dataset, engine: Distributed, seed: int | None) -> Anonymized:
        """Count the distinct tuples where the rows are, find the levels here, and publish the rows there."""
        from shoal.methods._full_domain._distributed import counted_rows, publish_parts

        begin = time.perf_counter()
        models, _ = self.models_for_parts(data)
        table, times = counted_rows(data, models)
        problem = self.problem(table, models, None, times)
        solution = self.solve(problem, begin, seed or 0)
        assert isinstance(solution.parts, tuple)
        published, suppressed = publish_parts(
            data, problem, solution.parts, keep_suppressed=self.keep_suppressed
        )
        none = np.empty(0, dtype=np.int64)
        return self._release_of(problem, solution, published, suppressed), self._trace(
            problem, solution, none
        )

    def solve(self, problem: Problem, begin: float, seed: int) -> Solution:
        """Find the levels.

        `begin`: when the work began; time limits count from then. Raises `Infeasible` if no levels keep the promises.
        """
        raise NotImplementedError

    def limit(self, rows: int) -> int:
        """The most rows that may be suppressed, given the number of rows."""
        if self.max_suppressed is not None:
            return min(self.max_suppressed, rows)
        return share_of(self.suppression_limit or 0, rows)

    def refuse(self, problem: Problem, nearest: tuple[int, Levels]) -> NoReturn:
        """Explain why no vector will do, and give the fewest rows that one would have to suppress.

        Raises `Infeasible`: always.
        """
        lost, levels = nearest
        rows = problem.tuples.rows
        where = problem.lattice.words(levels)
        if lost >= rows:
            raise Infeasible(
                f"No vector of levels keeps the promises for any row: even {where} suppresses all "
                f"{counted(rows, 'rows')}. Promise less, or allow coarser levels.",
                rows,
            )
        share = self.suppression_limit is not None or (self.max_suppressed is None and self.by_share)
        option = allowing_share(lost, rows) if share else f"--max-suppressed {lost}"
        allowed = counted(self.limit(rows), "suppressed rows")
        raise Infeasible(
            f"No vector of levels keeps the promises with at most {allowed}; the nearest, {where}, suppresses {lost:,} "
            f"of {rows:,}. Allow that ({option}), allow coarser levels, or promise less.",
            lost,
        )

    def problem(
        self,
        table: Table,
        models: tuple[TableModel, ...],
        engine: Local | None,
        times: Counts | None = None,
    ) -> Problem:
        """The table with its lattice, and what is lost on each level.

        `times`: how many rows each row of the table stands for; one by default. Raises `WrongUse` if a parameter names
        a column that is not a quasi-identifier, or a weight is out of range.
        """
        names = [column.name for column in table.quasi]
        for name, weight in self.weights.items():
            if name not in names:
                raise UnknownName("quasi-identifier", name, names)
            if not 0 < weight <= HEAVIEST:
                raise WrongUse(
                    f"The weight of {name!r} must be above 0 and at most {HEAVIEST:g}, not {weight}."
                )
        wildcards = any(isinstance(model, KAnonymity) and model.missing_matches_all for model in models)
        if self.missing_matches_all and not wildcards:
            raise WrongUse(
                "--missing-matches-all is for k-anonymity alone, which is not promised: give --k too, or omit "
                "--missing-matches-all."
            )
        if self.min_level and (self.improving or self.bound):
            raise WrongUse(
                "--min-level does not go with --improve and --bound, which move rows to any level."
            )
        lattice = lattice_of(table.quasi, self.max_level, self.raw, self.min_level)
        texts = tuple(texts_of(*pair) for pair in zip(table.quasi, lattice.finest, strict=True))
        return Problem(
            table=table,
            tuples=distinct_tuples(table.quasi, table.rows, times),
            lattice=lattice,
            texts=texts,
            losses=column_losses(table.quasi, texts, times=times),
            models=models,
            weights=self.weights,
            wildcards=wildcards,
            threads=(engine or Local()).threads,
        )

    def release(self, problem: Problem, solution: Solution) -> Anonymized:
        """Publish the parts, and report the levels."""
        table, rows, suppressed = publish(problem, solution.parts, keep_suppressed=self.keep_suppressed)
        self.refuse_overlap(table, problem.models)
        best = self.best_possible(problem.table, table, problem.models, problem.lattice.highest)
        summary = [*solution.notes.get("summary", ()), *best.get("summary", ())]
        solution = replace(solution, notes={**solution.notes, **best, "summary": summary})
        return self._release_of(problem, solution, table, suppressed), self._trace(problem, solution, rows)

    def _release_of(self, problem: Problem, solution: Solution, data: Form, suppressed: int) -> Release[Form]:
        repeating = self.repeating(solution.notes.get("improve_steps"))
        parameters = repeating.model_dump(mode="json", exclude={"promises"})
        details = _details(problem, solution.parts)
        return self.released(data, details, problem.models, parameters, suppressed)

    def _trace(self, problem: Problem, solution: Solution, rows: Rows) -> Trace:
        notes = dict(solution.notes)
        notes["summary"] = [levels_sentence(problem, solution.parts), *notes.get("summary", ())]
        missing = any(column.domain.missing is not None for column in problem.table.quasi)
        if missing or problem.wildcards:
            notes["missing"] = WILDCARDS if problem.wildcards else CATEGORY
        return Trace(rows, solution.timings, notes)


def _details(problem: Problem, parts: Recoding) -> dict[str, Any]:
    """The levels of a release: one vector, or the parts with the vector and the rows of each."""
    vectors = vectors_of(problem, parts)
    if len(vectors) == 1:
        return {"levels": problem.lattice.named(vectors[0][0])}
    return {"parts": [{"levels": problem.lattice.named(levels), "rows": rows} for levels, rows in vectors]}


def share_of(share: float, rows: int) -> int:
    """A share of the rows, rounded down to a whole number and computed without rounding errors.

    >>> share_of(0.01, 1000), share_of(0.29, 100), share_of(1, 3)
    (10, 29, 3)
    """
    return int(Fraction(str(share)) * rows)


def allowing_share(lost: int, rows: int) -> str:
    """The option that allows suppressing that many rows, as a share.

    >>> allowing_share(1, 6)
    '--suppression-limit 0.166667'
    """
    return f"--suppression-limit {rounded_up(Fraction(lost, rows), 6):g}"


def as_share(given: object) -> str:
    """How to write a percentage as a share; empty if the value does not look like a percentage.

    >>> as_share(2), as_share("12.5"), as_share(0.02), as_share("many")
    ('2 % is 0.02', '12.5 % is 0.125', '', '')
    """
    try:
        percent = float(str(given))
    except ValueError:
        return ""
    return f"{percent:g} % is {percent / 100:g}" if 1 < percent <= 100 else ""
