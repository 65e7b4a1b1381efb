"""What a full-domain search says of its choice, in sentences: the levels, and how good they are known to be."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from shoal.data._plural import counted
from shoal.methods._full_domain._problem import Problem
from shoal.methods._full_domain._recoding import Recoding, vectors_of
from shoal.methods._full_domain._search import Progress

HIGHER = ("granularity", "precision")
"""Measures of what is kept: higher is better, and what is lost is minimized."""


def levels_sentence(problem: Problem, parts: Recoding) -> str:
    """The level of each column beside the highest of its hierarchy, or how many vectors there are."""
    vectors = vectors_of(problem, parts)
    if len(vectors) > 1:
        return (
            f"Levels: {len(vectors):,} parts of the rows, each on levels of its own; release.json lists them."
        )
    lattice = problem.lattice
    words = [
        f"{name} {level} of {len(sizes) - 1}"
        for name, level, sizes in zip(lattice.names, vectors[0][0], lattice.sizes, strict=True)
    ]
    return f"Levels: {', '.join(words)}."


def proof_sentence(measure: str, problem: Problem, progress: Progress, told: Mapping[str, Any]) -> str:
    """Whether the optimum is proven, by which measure, and its value; otherwise the bound.

    `told`: every measure of the vector that was found.
    """
    higher = measure in HIGHER and not problem.weights
    name = f"weighted loss by {measure}" if problem.weights else measure
    value, bound = progress.value, progress.bound
    if not problem.weights:
        value, bound = told.get(measure, value), 1 - bound if higher else bound
    if progress.proven:
        return (
            f"Optimum proven: none of {counted(len(problem.lattice), 'vectors of levels')} has a "
            f"{'higher' if higher else 'lower'} {name} than {value:.4g}."
        )
    limit = (
        f"none can be {'above' if higher else 'below'} {bound:.4g}"
        if isfinite(bound)
        else "no bound is known"
    )
    return f"Best found in the time: {name} {value:.4g}; {limit}."


def local_sentence(measure: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """What local recoding changed."""
    return f"Local recoding: {measure} {after.get(measure, 0):.4g} instead of {before.get(measure, 0):.4g}."


def choice_sentence(
    measure: str, solutions: Sequence[Mapping[str, Any]], chosen: Mapping[str, Any], *, minimal: bool
) -> str:
    """How one of the solutions of heights was chosen."""
    heights = [int(told["height"]) for told in solutions]
    value = f" ({chosen[measure]:.4g})" if measure in chosen else ""
    by = "as the first" if measure == "first" else f"by {measure}{value}"
    if minimal:
        return (
            f"Chosen {by} among {counted(len(solutions), 'minimal vectors of levels')}, of "
            f"{_heights(min(heights), max(heights))}; its height is {chosen['height']}."
        )
    among = counted(len(solutions), "vectors")
    return f"Height {chosen['height']} is the least that there is; chosen {by} among {among} of it."


def _heights(least: int, most: int) -> str:
    return f"height {least}" if least == most else f"heights {least} to {most}"
