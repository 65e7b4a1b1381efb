"""Membership: tell the people of a release from others of the same population."""

from typing import Any, ClassVar

import numpy as np

from shoal.arrays import Floats
from shoal.attacks._class_view import class_view, dressed
from shoal.attacks.attack import Attack, Attacked, Target
from shoal.data.table import Table

FEWEST = 4
"""People outside of the release without whom nothing is tried."""


class Membership(Attack):
    """Say that somebody is in the release where rows that fit her are more frequent than people like her outside.

    One half of the control people tells how frequent they are, the other half and as many people of the release are
    tried. The success is the mean share of right answers on both sides, so that a coin has one half.
    """

    name: ClassVar[str] = "membership"
    accepts: ClassVar[tuple[type, ...]] = (Table,)

    def run(self, target: Target) -> Attacked | None:
        """Try people of both sides; None without people outside of the release."""
        published, original, control = target.release.data, target.original, target.control
        assert isinstance(published, Table)
        if control is None or control.rows < FEWEST or not original.rows:
            return None
        outside = dressed(control, original)
        order = np.random.default_rng(self.seed).permutation(outside.rows)
        half = outside.rows // 2
        around = class_view(published, outside.take(np.sort(order[:half])))
        asked = outside.take(np.sort(order[half:])[: self.people])
        inside = original.take(self.drawn(original.rows))
        rows = max(int(around.sizes.sum()), 1)
        excess = around.sizes / rows - np.asarray((around.fits != 0).sum(axis=0)).ravel() / half
        found = _says_in(class_view(published, inside).fits, excess).mean()
        spared = 1 - _says_in(class_view(published, asked).fits, excess).mean()
        success = float((found + spared) / 2)
        tried = inside.rows + asked.rows
        words = (
            f"Whether somebody is in the release is told right in {success:.1%} of all cases, half of {tried:,} people "
            f"being in it ({found:.1%} of those who are, {spared:.1%} of those who are not); a coin has 50 %."
        )
        parts = {"found": float(found), "spared": float(spared)}
        return Attacked(self.name, success, 0.5, 0.5, tried, words, parts)


def _says_in(fits: Any, excess: Floats) -> Floats:
    """1 for people whose classes together hold more rows of the release than people like them outside, else 0."""
    return np.asarray((fits @ excess > 0).astype(np.float64))
