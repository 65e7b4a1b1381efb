"""How sure a share is that was found in a number of trials."""

from math import sqrt

Z = 1.959963984540054
"""95 % of a normal distribution lie within so many standard deviations."""


def wilson(successes: float, trials: int) -> tuple[float, float]:
    """Wilson's interval of 95 % around a share of successes; all is possible where nothing was tried.

    >>> low, high = wilson(5, 10)
    >>> round(low, 4), round(high, 4)
    (0.2366, 0.7634)
    """
    if trials <= 0:
        return 0.0, 1.0
    share = successes / trials
    center = share + Z * Z / (2 * trials)
    spread = Z * sqrt(share * (1 - share) / trials + Z * Z / (4 * trials * trials))
    scale = 1 + Z * Z / trials
    low = (center - spread) / scale if successes > 0 else 0.0
    high = (center + spread) / scale if successes < trials else 1.0
    return max(0.0, low), min(1.0, high)
