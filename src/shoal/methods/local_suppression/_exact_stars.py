"""The fewest stars by an integer program, which decides how many rows of each kind are starred in which columns."""

import numpy as np

from shoal.arrays import Rows
from shoal.errors import WrongUse
from shoal.methods.local_suppression._fewest_stars import Cells, stars_of
from shoal.solving import solve

VARIABLES = 150_000
"""Programs with more variables are not tried."""


def optimal_masks(cells: Cells, k: int, seconds: float) -> tuple[Rows | None, int]:
    """Star the fewest cells so that every class has k rows.

    Returns the starred columns of each row, as bits, or None if nothing was found in time; and a lower bound on the
    stars of any release.

    Rows with the same quasi-identifiers are one kind. A variable for each kind and choice of columns says how many rows
    are starred this way. Another one for each class that can result says whether it is published; then it must have at
    least k rows.

    Raises `WrongUse` if the program is too large.
    """
    everybody = np.arange(len(cells.codes))
    kind = cells.groups(everybody, 0)
    kinds = np.bincount(kind)
    first = np.unique(kind, return_index=True)[1]
    goal: list[np.ndarray] = []
    masks: list[np.ndarray] = []
    variable_kind: list[np.ndarray] = []
    classes: list[np.ndarray] = []
    class_count = 0
    for stars in range(cells.width + 1):
        for mask in cells.masks(stars):
            group = cells.groups(first, mask)
            rows = np.bincount(group, weights=kinds).astype(np.int64)
            usable = np.flatnonzero(rows[group] >= k)
            if not len(usable):
                continue
            number = np.unique(group[usable], return_inverse=True)[1]
            goal.append(np.full(len(usable), float(stars)))
            masks.append(np.full(len(usable), mask))
            variable_kind.append(usable)
            classes.append(number + class_count)
            class_count += int(number.max()) + 1
    size = sum(map(len, goal))
    if size + class_count > VARIABLES:
        raise WrongUse(
            f"The optimal strategy is out of reach: {size + class_count:,} variables, at most {VARIABLES:,}; take "
            "--strategy greedy, whose bound says how far it may be from the best, or fewer quasi-identifiers."
        )
    from scipy.sparse import csr_array

    of_kind, of_class = np.concatenate(variable_kind), np.concatenate(classes)
    variable = np.arange(size)
    # Every row is somewhere; a published class has at least k rows; only published classes have rows.
    lines = [of_kind, len(kinds) + of_class, len(kinds) + np.arange(class_count)]
    columns = [variable, variable, size + np.arange(class_count)]
    signs = [np.ones(size), np.ones(size), np.full(class_count, -float(k))]
    begin = len(kinds) + class_count
    lines += [begin + variable, begin + variable]
    columns += [variable, size + of_class]
    signs += [np.ones(size), -kinds[of_kind].astype(np.float64)]
    shape = (begin + size, size + class_count)
    matrix = csr_array((np.concatenate(signs), (np.concatenate(lines), np.concatenate(columns))), shape=shape)
    least = np.concatenate([kinds, np.zeros(class_count), np.full(size, -np.inf)])
    most = np.concatenate([kinds, np.full(class_count, np.inf), np.zeros(size)])
    high = np.concatenate([kinds[of_kind], np.ones(class_count)])
    cost = np.concatenate([*goal, np.zeros(class_count)])
    found = solve(cost, matrix, least, most, high=high, whole=np.ones(size + class_count), seconds=seconds)
    bound = max(0, int(np.ceil(found.bound - 1e-6))) if np.isfinite(found.bound) else 0
    if found.values is None:
        return None, bound
    numbers = np.rint(found.values[:size]).astype(np.int64)
    chosen = np.concatenate(masks)
    order = np.argsort(of_kind, kind="stable")
    by_kind = np.repeat(chosen[order], numbers[order])
    result = np.zeros(len(everybody), dtype=np.int64)
    result[np.argsort(kind, kind="stable")] = by_kind
    assert int(stars_of(result).sum()) >= bound
    return result, bound
