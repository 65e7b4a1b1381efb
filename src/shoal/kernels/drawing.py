"""Random numbers inside kernels: splitmix64, with a state that is passed in."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shoal.kernels._jit import lean

Array: TypeAlias = NDArray[Any]
Whole: TypeAlias = int | np.int64


@lean
def draw(random: Array) -> np.uint64:
    """The next number of splitmix64."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    value = random[0]
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: np.uint64 = value ^ (value >> np.uint64(31))
    return mixed


@lean
def below(random: Array, limit: Whole) -> int:
    """A random integer from 0 up to, but not including, a limit."""
    return np.int64((draw(random) >> np.uint64(32)) * np.uint64(limit) >> np.uint64(32))  # type: ignore[return-value]


@lean
def chance(random: Array) -> float:
    """A random number from 0 up to, but not including, 1."""
    return float(draw(random) >> np.uint64(11)) * (1.0 / 9007199254740992.0)
