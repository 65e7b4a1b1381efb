"""Stars: read what a starred cell hides."""

from typing import ClassVar

from shoal.attacks._class_view import dressed
from shoal.attacks._starred_cells import Starred, starred_columns
from shoal.attacks.attack import Attack, Attacked, Target
from shoal.data.table import Table


class Stars(Attack):
    """Name the sensitive value under each star.

    One reader names the value that the class shows most, because hiding a rule stars what is too frequent. Another
    knows how frequent each value is in all (from the control people, where some are given) and names the one of which
    most is missing: stars on one value only are read at once. The better of both counts. The baseline names the most
    frequent published value; the control is the likeliest value of the class under a star that fell on any row.
    """

    name: ClassVar[str] = "stars"
    accepts: ClassVar[tuple[type, ...]] = (Table,)

    def run(self, target: Target) -> Attacked | None:
        """Read each sensitive column; None where no cell of theirs is starred."""
        published, original = target.release.data, target.original
        assert isinstance(published, Table)
        others = original if target.control is None else dressed(target.control, original)
        found = [
            self._read(one) for one in starred_columns(published, original, others, self.people, self.seed)
        ]
        return max(found, key=lambda one: (one.residual, one.success), default=None)

    def _read(self, read: Starred) -> Attacked:
        ways = {
            "most shown in the class": read.right(read.most_shown()),
            "most missing in all": read.right(read.most_missing()),
        }
        best = max(ways, key=lambda way: ways[way])
        baseline, control, count = read.right(read.most_frequent()), read.by_chance(), int(read.stars.sum())
        words = (
            f"Who names the value that is {best} is right for {ways[best]:.1%} of {count:,} stars in "
            f"{read.column.name}; the most frequent value is right for {baseline:.1%}, and the likeliest value of the "
            f"class under stars by chance for {control:.1%}."
        )
        shown = read.right(read.most_shown(), read.partly)
        parts = {**ways, "most shown, where the class shows any": shown}
        return Attacked(self.name, ways[best], baseline, control, count, words, parts)
