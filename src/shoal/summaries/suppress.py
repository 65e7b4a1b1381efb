"""Complementary (secondary) suppression: which cells to hide so that nobody can compute the sensitive ones.

Sensitive cells are hidden first. For a hidden cell that somebody can estimate too closely, an integer program finds the
cheapest further cells to hide; once no cell is left, cells that were hidden needlessly are published again. (After
Kelly, Golden and Assad 1992; moves of hidden cells that no published cell shows are from Fischetti and Salazar-González
2001.)
"""

import time
from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack, vstack

from shoal.arrays import Floats, Mask, Rows
from shoal.solving import solve
from shoal.summaries.attackers import Broken, Pool, Shield
from shoal.summaries.sensitivity import sensitive_cells

PROGRAM = 4_000
"""Where more cells than this could be hidden, linear programs choose them: integer programs would take too long."""


def hidden_cells(shield: Shield) -> Mask:
    """The cells to hide for one value, the count or a sum."""
    deadline = time.monotonic() + shield.protection.time_limit
    sensitive = sensitive_cells(shield.tallied, shield.protection)
    costs = _costs(shield)
    hidden = sensitive.copy()
    pool = Pool(len(hidden))
    while found := shield.broken(hidden, pool):
        for one in sorted(found, key=lambda one: (-_largest_need(one), one.cell)):
            if not shield.open(hidden, one, pool):
                hidden[_opening(shield, one, hidden, costs, deadline)] = True
    return _without_needless(shield, hidden, sensitive, costs, deadline, pool)


def _costs(shield: Shield) -> Floats:
    """The cost of hiding each cell: between 1 and 2, and higher for larger cells, so that totals are hidden last."""
    size = np.log1p(shield.tallied.values / shield.tallied.unit)
    return np.asarray(1 + size / max(float(size.max(initial=0)), 1e-9), dtype=np.float64)


def _largest_need(one: Broken) -> float:
    needs = one.attacker.needs
    return float(max(needs.up[one.cell], needs.down[one.cell], needs.width[one.cell]))


def _opening(shield: Shield, one: Broken, hidden: Mask, costs: Floats, deadline: float) -> Rows:
    """The cheapest further cells to hide to protect a cell: an integer program over two moves and their cells."""
    candidates = np.flatnonzero(shield.hideable & ~one.attacker.known)
    matrix = shield.relations[:, candidates]
    matrix = matrix[np.flatnonzero(np.diff(matrix.indptr))]
    size, free = len(candidates), ~hidden[candidates]
    need = _largest_need(one)
    room = np.minimum(shield.room(one.attacker)[candidates], need) / need
    nothing, identity = csr_array((size, size)), _diagonal(np.ones(size))
    chosen = _diagonal(free.astype(np.float64))
    down_chosen = _diagonal(room * free)
    here = int(np.searchsorted(candidates, one.cell))
    needs = one.attacker.needs
    pick = np.zeros((1, 3 * size))
    pick[0, here], pick[0, size + here] = 1, -1
    still = csr_array(matrix.shape)
    rows: list[tuple[csr_array, Any, Any]] = [
        (hstack([matrix, still, still]), 0, 0),
        (hstack([still, matrix, still]), 0, 0),
        # A cell moves up by the need at most, down to its lowest possible value at most, and only if it is hidden.
        (hstack([identity, nothing, -chosen]), -np.inf, np.where(free, 0, 1)),
        (hstack([nothing, identity, -chosen]), -np.inf, np.where(free, 0, 1)),
        (hstack([identity, nothing, down_chosen]), np.where(free, 0, -room), np.inf),
        (hstack([nothing, identity, down_chosen]), np.where(free, 0, -room), np.inf),
        (csr_array(pick), needs.width[one.cell] / need, np.inf),
    ]
    low = np.concatenate([-np.ones(2 * size), np.zeros(size)])
    high = np.ones(3 * size)
    low[here] = needs.up[one.cell] / need
    high[size + here] = -needs.down[one.cell] / need
    bounds_low = np.concatenate([np.broadcast_to(part[1], part[0].shape[0]) for part in rows])
    bounds_high = np.concatenate([np.broadcast_to(part[2], part[0].shape[0]) for part in rows])
    whole = np.concatenate([np.zeros(2 * size), np.ones(size)])
    goal = np.concatenate([np.zeros(2 * size), costs[candidates] * free])
    program = (goal, vstack([part[0] for part in rows]), bounds_low, bounds_high)
    found = None
    if size <= PROGRAM:
        seconds = max(0.1, min(2.0, (deadline - time.monotonic()) / 4))
        found = solve(*program, low=low, high=high, whole=whole, seconds=seconds, gap=0.01).values
    if found is None:
        found = solve(*program, low=low, high=high).values
    assert found is not None, "with all cells hidden, every cell is uncertain enough"
    used: Mask = (found[2 * size :] > 1e-6) & free
    return candidates[used]


def _diagonal(entries: Floats) -> csr_array:
    places = np.arange(len(entries))
    return csr_array((entries, (places, places)), shape=(len(entries),) * 2)


def _without_needless(
    shield: Shield, hidden: Mask, sensitive: Mask, costs: Floats, deadline: float, pool: Pool
) -> Mask:
    """Publish cells again that need not be hidden, the most costly first, as long as there is time."""
    extra = np.flatnonzero(hidden & ~sensitive)
    for cell in extra[np.argsort(-costs[extra], kind="stable")].tolist():
        if time.monotonic() > deadline:
            break
        fewer = hidden.copy()
        fewer[cell] = False
        if not shield.broken(fewer, pool, one=True):
            hidden = fewer
    return hidden
