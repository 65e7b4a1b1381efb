"""The optimal full-domain generalisation, proven: best-first branch and bound over the lattice of levels."""

import time
from typing import Any, ClassVar

from pydantic import Field

from shoal.data.baskets import Baskets
from shoal.data.release import Release
from shoal.data.table import Table
from shoal.data.trace import Trace
from shoal.engines.local import Local
from shoal.methods.full_domain.descent import Descent
from shoal.methods.full_domain.local import LocalRecoding
from shoal.methods.full_domain.method import FullDomain, refuse, share_of
from shoal.methods.full_domain.objective import Minimized, Objective
from shoal.methods.full_domain.parts import Part, scores
from shoal.methods.full_domain.problem import Judge, Problem
from shoal.methods.full_domain.search import Progress, branch_and_bound

LARGE = 50_000
"""Vectors from which on good ones are looked for first, because the proof may not come in time."""


class Lattice(FullDomain):
    """Find the vector of levels that loses least of all that keep the promises, and prove that none loses less.

    All vectors are searched by boxes: the coarsest vector of a box is evaluated, and since the rows that are suppressed
    there stay suppressed on every finer one, it tells how little any vector of the box can lose. Boxes that cannot
    hold anything better are never opened. With promises for which that does not follow, such as t-closeness, only what
    does follow is used, and more vectors are evaluated.
    """

    name: ClassVar[str] = "lattice"
    example: ClassVar[dict[str, Any]] = {"k": 3, "suppression_limit": 0.1}
    paper: ClassVar[str] = (
        "Samarati: Protecting respondents' identities in microdata release. IEEE TKDE 13(6), 2001; the search is like "
        "Kohlmayer et al.: Flash: efficient, stable and optimal k-anonymity. PASSAT 2012, but by branch and bound"
    )

    minimize: Minimized = Field(default="lm", description="the measure whose loss is minimised")
    suppression_limit: float = Field(
        default=0.0, ge=0, le=1, description="largest share of the rows that may be suppressed"
    )
    time_limit: float = Field(
        default=60.0,
        gt=0,
        description="seconds after which the best vector found so far is taken, with the bound that was reached",
    )
    local: bool = Field(
        default=False,
        description="publish suppressed rows on other levels, and go on until none are left or none can be published",
    )

    def anonymize(
        self, data: Table | Baskets, engine: Local | None = None, seed: int | None = None
    ) -> tuple[Release, Trace]:
        """Search, publish the best vector, and put the rows in canonical order."""
        self.accept(data)
        assert isinstance(data, Table)
        models = self.models_for(data)
        begin = time.perf_counter()
        problem = self.problem(data, models, engine)
        limit = share_of(self.suppression_limit, data.rows)
        prepared = time.perf_counter()
        judge = Judge(problem, limit)
        progress = Progress()
        self._search(judge, judge.objective(self.minimize), progress, prepared, seed or 0)
        if progress.levels is None:
            assert progress.nearest is not None
            refuse(problem, progress.nearest, limit)
        searched = time.perf_counter()
        outcome = judge.evaluate([progress.levels])[0]
        parts: tuple[Part, ...] = (Part(outcome.levels, outcome.kept[outcome.number]),)
        notes = self._notes(problem, progress, parts, searched - prepared)
        if self.local:
            recoding = LocalRecoding(problem, self.minimize, limit, prepared + self.time_limit, seed or 0)
            parts = recoding.best(outcome)
            notes["local"] = {"plans": recoding.plans, "evaluated": recoding.evaluated}
            notes["solutions"] = [{**_told(problem, parts), "parts": len(parts)}, *notes["solutions"]]
        recoded = time.perf_counter()
        timings = {"prepare": prepared - begin, "search": searched - prepared, "local": recoded - searched}
        return self.release(problem, parts, timings, notes)

    def _search(
        self, judge: Judge, objective: Objective, progress: Progress, begin: float, seed: int
    ) -> None:
        """Look for good vectors first where the lattice is large, then for the proof."""
        lattice = judge.problem.lattice
        share = 0.3 if self.local else 1.0
        deadline = begin + share * self.time_limit
        if len(lattice) > LARGE:
            early = begin + 0.6 * share * self.time_limit
            Descent(lattice, objective, judge.evaluate, progress, early, seed).run(kicks=20)
        branch_and_bound(lattice, objective, judge.evaluate, progress, deadline)

    def _notes(
        self, problem: Problem, progress: Progress, parts: tuple[Part, ...], seconds: float
    ) -> dict[str, Any]:
        return {
            "minimized": self.minimize,
            "value": progress.value,
            "bound": progress.bound,
            "proven": progress.proven,
            "vectors": len(problem.lattice),
            "evaluated": progress.evaluated,
            "pruned": progress.pruned,
            "seconds_per_vector": seconds / max(progress.evaluated, 1),
            "tuples": len(problem.tuples),
            "solutions": [_told(problem, parts)],
        }


def _told(problem: Problem, parts: tuple[Part, ...]) -> dict[str, Any]:
    return {"levels": problem.lattice.named(parts[0].levels), **scores(problem, parts)}
