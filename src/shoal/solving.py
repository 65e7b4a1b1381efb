"""Linear and integer programs, solved by HiGHS without output on the terminal."""

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.arrays import Floats

UNBOUNDED = 3


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """The solution of a program."""

    values: Floats | None  # the best values found; None where there are none, or none were found in time
    bound: float  # no solution has a better objective than this; infinite where nothing is known
    unbounded: bool = False  # whether the objective has no limit


def solve(
    goal: Floats,
    matrix: Any,
    least: Floats | float,
    most: Floats | float,
    *,
    low: Floats | float = 0.0,
    high: Floats | float = np.inf,
    whole: Floats | None = None,
    seconds: float | None = None,
    gap: float = 0.0,
) -> Solution:
    """Find the values that minimize ``goal @ values`` under ``least <= matrix @ values <= most``.

    `low`, `high`: bounds of the values. `whole`: 1 for values that must be whole numbers; by default, none must.
    `seconds`: a time limit, after which the best values found so far are taken. `gap`: the relative distance from the
    optimum at which the search may stop.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    options = {} if whole is None else {"mip_rel_gap": gap}
    if seconds is not None:
        options["time_limit"] = seconds
    with _silence() if whole is not None else nullcontext():
        found = milp(
            goal,
            integrality=whole,
            bounds=Bounds(low, high),
            constraints=LinearConstraint(matrix, least, most),
            options=options,
        )
    bound = found.mip_dual_bound
    return Solution(
        found.x,
        float(-np.inf if bound is None else bound) if whole is not None else float(found.fun or 0),
        found.status == UNBOUNDED,
    )


@contextmanager
def _silence() -> Iterator[None]:
    """Keep the solver's messages, some of which cannot be switched off, away from standard output."""
    try:
        sys.stdout.flush()
        kept = os.dup(1)
    except (OSError, ValueError, AttributeError):
        yield
        return
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    try:
        yield
    finally:
        ctypes.CDLL(None).fflush(None)
        os.dup2(kept, 1)
        os.close(kept)
        os.close(sink)
