"""Optimal full-domain generalization with a proof: best-first branch and bound over the lattice of levels."""

import time
from typing import Any, ClassVar

from pydantic import Field

from shoal.methods._candidates import Aim, Candidate, Goal
from shoal.methods._full_domain._improved import Solution
from shoal.methods._full_domain._local_recoding import LocalRecoding
from shoal.methods._full_domain._objective import Minimized
from shoal.methods._full_domain._recoding import Part, solution_note
from shoal.methods._full_domain._search import Descent, Progress, branch_and_bound
from shoal.methods._full_domain._table_to_generalize import Judge, Problem
from shoal.methods._full_domain.method import FullDomain, local_sentence, proof_sentence
from shoal.progress import part

LARGE = 50_000
"""In lattices of more vectors, good ones are looked for first, because the proof may not come in time."""

SECONDS_PER_CELL = 0.6e-6
"""Roughly how long it takes to measure and publish one cell."""


class Lattice(FullDomain):
    """Find the vector of levels with the least information loss that keeps the promises, and prove that it is optimal.

    The lattice is searched in boxes of vectors. The coarsest vector of a box is evaluated. The rows suppressed there
    stay suppressed on every finer vector, which gives a lower bound on the loss of every vector in the box. Boxes that
    cannot hold anything better are never opened. For promises without this property, such as t-closeness, weaker bounds
    are used, and more vectors are evaluated.
    """

    name: ClassVar[str] = "lattice"
    example: ClassVar[dict[str, Any]] = {"k": 3, "suppression_limit": 0.1}
    paper: ClassVar[str] = (
        "Samarati: Protecting respondents' identities in microdata release. IEEE TKDE 13(6), 2001; the search is like "
        "Kohlmayer et al.: Flash: efficient, stable and optimal k-anonymity. PASSAT 2012, but by branch and bound"
    )

    objective: Minimized = Field(default="lm", description="the measure whose loss is minimized")
    time_limit: float = Field(
        default=60.0,
        gt=0,
        description="seconds for all, from the table to the release; the best vector found in time is taken, with the "
        "bound that was reached",
    )
    local: bool = Field(
        default=False,
        description="publish suppressed rows on other levels, and go on until none are left or none can be published",
    )

    @classmethod
    def candidates(cls, goal: Goal) -> list[Candidate]:
        """One candidate for each share of rows that may be suppressed, and one with local recoding."""
        if goal.aim is not Aim.CLASSES:
            return []
        plain = {"name": cls.name, **goal.promise, "time_limit": round(goal.seconds, 1)}
        few = {"suppression_limit": goal.limits[0]} if goal.limits else {}
        return [
            Candidate(cls.name, plain, trees=True),
            *(
                Candidate(
                    f"lattice, {share:.0%} suppressed", plain | {"suppression_limit": share}, trees=True
                )
                for share in goal.limits
            ),
            Candidate(f"{cls.name}, local", plain | {"local": True} | few, trees=True),
        ]

    def overlapping(self) -> str:
        """Local recoding: rows on different levels may fit each other's cells."""
        return "--local" if self.local else super().overlapping()

    def solve(self, problem: Problem, begin: float, seed: int) -> Solution:
        """Search for the best vector, and then for others if rows may be published on levels of their own."""
        limit = self.limit(problem.tuples.rows)
        prepared = time.perf_counter()
        end = begin + self.time_limit - self._reserve(problem)
        judge = Judge(problem, limit)
        progress = Progress()
        share = 0.3 if self.local else 1.0
        with part("searching levels"):
            self._search(judge, progress, prepared, prepared + share * (end - prepared), seed)
        if progress.levels is None:
            assert progress.nearest is not None
            self.refuse(problem, progress.nearest)
        searched = time.perf_counter()
        outcome = judge.evaluate([progress.levels])[0]
        alone: tuple[Part, ...] = (Part(outcome.levels, outcome.kept[outcome.number]),)
        parts = alone
        notes = self._notes(problem, progress, parts, searched - prepared)
        if self.local:
            late = prepared + 0.9 * (end - prepared)
            recoding = LocalRecoding(problem, self.objective, limit, late, end, seed)
            with part("local recoding"):
                parts = recoding.best(alone)
            notes["local"] = {"plans": recoding.plans, "evaluated": recoding.evaluated}
            before, after = notes["solutions"][0], solution_note(problem, parts)
            if parts is not alone:
                notes["solutions"] = [after, before]
                notes["summary"].append(local_sentence(self.objective, before, after))
            else:
                notes["summary"].append("Local recoding found nothing better.")
            if (remark := recoding.remark(parts)) is not None:
                notes["local"]["remark"] = remark
                notes["summary"].append(remark)
        recoded = time.perf_counter()
        timings = {"prepare": prepared - begin, "search": searched - prepared, "local": recoded - searched}
        return Solution(parts, timings, notes)

    def _reserve(self, problem: Problem) -> float:
        """The seconds to reserve for measuring and publishing what is found."""
        cells = problem.tuples.rows * len(problem.lattice.names)
        return min(0.3 * self.time_limit, (2 if self.local else 1) * SECONDS_PER_CELL * cells)

    def _search(self, judge: Judge, progress: Progress, begin: float, deadline: float, seed: int) -> None:
        """If the lattice is large, look for good vectors first; then search for the proven optimum."""
        lattice, objective = judge.problem.lattice, judge.objective(self.objective)
        if len(lattice) > LARGE:
            early = begin + 0.6 * (deadline - begin)
            Descent(lattice, objective, judge.evaluate, progress, early, seed).run(kicks=20)
        branch_and_bound(lattice, objective, judge.evaluate, progress, deadline)

    def _notes(
        self, problem: Problem, progress: Progress, parts: tuple[Part, ...], seconds: float
    ) -> dict[str, Any]:
        solution, parted = solution_note(problem, parts), self.local or self.improving
        return {
            "objective": self.objective,
            "value": progress.value,
            "bound": progress.bound,
            "proven": progress.proven,
            "vectors": len(problem.lattice),
            "evaluated": progress.evaluated,
            "pruned": progress.pruned,
            "seconds_per_vector": seconds / max(progress.evaluated, 1),
            "tuples": len(problem.tuples),
            "solutions": [solution],
            "summary": [proof_sentence(self.objective, problem, progress, solution, local=parted)],
        }
