"""Samarati's algorithm: the lowest height of the lattice on which k-anonymity can be reached (Samarati 2001)."""

import time
from typing import Any, ClassVar, Literal

from pydantic import Field

from shoal.errors import WrongUse
from shoal.methods._candidates import Aim, Candidate, Goal
from shoal.methods._full_domain._heights import Heights
from shoal.methods._full_domain._improved import Solution
from shoal.methods._full_domain._recoding import Part, loss_of, published_classes, scores
from shoal.methods._full_domain._suppressed_classes import Outcome
from shoal.methods._full_domain._table_to_generalize import Judge, Problem
from shoal.methods._full_domain.method import FullDomain, choice_sentence

LARGEST = 2_000_000
"""With more vectors than this, there are too many to evaluate whole heights."""

Choice = Literal["lm", "discernibility", "c_avg", "entropy", "precision", "first"]


class Samarati(FullDomain):
    """Find the least height of the lattice at which a vector keeps the promises, by binary search, and choose one.

    The height of a vector is the sum of its levels. If a vector keeps the promises, all vectors above it do, so that
    heights can be searched by bisection (section 5 of the paper). With promises for which that is not true, such as
    t-closeness with suppression, they are searched one after another. All solutions of the least height are listed with
    every measure, and one is chosen.
    """

    name: ClassVar[str] = "samarati"
    example: ClassVar[dict[str, Any]] = {"k": 3, "max_suppressed": 10}
    by_share: ClassVar[bool] = False
    paper: ClassVar[str] = (
        "Samarati: Protecting respondents' identities in microdata release. IEEE TKDE 13(6), 2001"
    )

    objective: Choice = Field(
        default="lm", description="the measure by which one of the solutions is chosen, or the first in order"
    )
    among: Literal["least", "minimal"] = Field(
        default="least",
        description="choose among the solutions of the least height, or among all that no solution lies below",
    )

    @classmethod
    def candidates(cls, goal: Goal) -> list[Candidate]:
        """One candidate, with the least share of suppressed rows; tried last, because it evaluates whole heights."""
        if goal.aim is not Aim.CLASSES:
            return []
        few = {"suppression_limit": goal.limits[0]} if goal.limits else {}
        return [Candidate(cls.name, {"name": cls.name, **goal.promise, **few}, trees=True, turn=2)]

    def solve(self, problem: Problem, begin: float, seed: int) -> Solution:
        """Search the heights, and choose a solution."""
        limit = self.limit(problem.tuples.rows)
        if len(problem.lattice) > LARGEST:
            raise WrongUse(
                f"The lattice has {len(problem.lattice):,} vectors, too many to evaluate whole heights; use the "
                "method lattice, which searches such lattices for a given time."
            )
        if self.objective == "c_avg" and problem.k is None:
            raise WrongUse("C_AVG is a multiple of k; promise a k, or choose by another measure.")
        prepared = time.perf_counter()
        judge = Judge(problem, limit)
        heights = Heights(judge)
        found = heights.least() if self.among == "least" else heights.minimal()
        if not found:
            self.refuse(problem, heights.nearest)
        searched = time.perf_counter()
        parts = [_part(judge.evaluate([levels])[0]) for levels in found]
        solutions = [(part, _solution_note(problem, part)) for part in parts]
        chosen, chosen_note = min(solutions, key=lambda one: (self._rank(problem, *one), one[0].levels))
        listed = [note for _, note in solutions]
        notes = {
            "height": sum(chosen.levels),
            "least_height": min(sum(levels) for levels in found),
            "vectors": len(problem.lattice),
            "evaluated": heights.evaluated,
            "pruned": len(problem.lattice) - heights.evaluated,
            "seconds_per_vector": (searched - prepared) / max(heights.evaluated, 1),
            "binary_search": heights.halving,
            "tuples": len(problem.tuples),
            "objective": self.objective,
            "solutions": listed,
            "summary": [
                choice_sentence(self.objective, listed, chosen_note, minimal=self.among == "minimal")
            ],
        }
        timings = {"prepare": prepared - begin, "search": searched - prepared}
        return Solution((chosen,), timings, notes)

    def _rank(self, problem: Problem, part: Part, note: dict[str, Any]) -> float:
        """The value by which a solution is chosen, the lower the better; weights count if the measure sums columns."""
        if self.objective == "first":
            return 0.0
        if self.objective == "discernibility" or self.objective == "c_avg":
            return float(note[self.objective])
        published = published_classes(problem, (part,))
        return loss_of(problem, self.objective, published, weighted=True)


def _part(outcome: Outcome) -> Part:
    return Part(outcome.levels, outcome.kept[outcome.number])


def _solution_note(problem: Problem, part: Part) -> dict[str, Any]:
    levels = problem.lattice.named(part.levels)
    return {"levels": levels, "height": sum(part.levels), **scores(problem, (part,))}
