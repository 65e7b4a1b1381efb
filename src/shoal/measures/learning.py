"""How well a machine learns from a release what the original could teach it."""

import warnings
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from shoal.arrays import AnyArray, Codes, Counts, Floats, Mask, Rows, indptr_of
from shoal.data._equal_rows import row_classes
from shoal.data.domain import Kind
from shoal.data.published_syntax import SUPPRESSED, set_members
from shoal.data.table import Column, Table, canonical_order
from shoal.errors import MissingExtra, UnknownName, WrongUse
from shoal.measures._comparison import Comparison
from shoal.measures._coverage import Form
from shoal.measures._crosstabs import BINS, Axis, axis_of
from shoal.measures._interval_syntax import NodeTexts, day, number, read_range
from shoal.measures.measure import FACT, Score, TableMeasure

FITS = 300_000_000
"""Pairs of a class and a combination of original values that are tried at most."""

AT_ONCE = 20_000_000
"""Pairs that are looked at together."""


class Learning(TableMeasure):
    """Learn on the release, be examined on rows of the original that were held out.

    A logistic regression learns a column from the quasi-identifiers, once from the original and once from the release.
    A value is a one in its bin and zeros in all others; a published cell is the share of its values in each bin. Both
    are examined on the same held-out rows of the original. Needs the extra "learning", takes seconds, and is measured
    only on request.

    The held-out rows are left out of what is learned from. Where it is not certain which published row a row of the
    original became, the release teaches with as many rows drawn by chance, some of which may be those of the
    examination.

    accuracy_original, accuracy_release
        The share of held-out rows whose value was predicted right, having learned from the original or the release.
    accuracy_baseline
        The share that is right for who always tells the most frequent value.
    accuracy_lost
        What was lost: the first less the second.
    """

    name: ClassVar[str] = "learning"
    not_distributable: ClassVar[str | None] = "what learns sees its rows together"
    on_request: ClassVar[bool] = True
    scores_named: ClassVar[tuple[str, ...]] = (
        "accuracy_original",
        "accuracy_release",
        "accuracy_baseline",
        "accuracy_lost",
    )

    target: str | None = Field(
        default=None, description="the column to learn; the first sensitive one by default"
    )
    held_out: float = Field(
        default=0.3, gt=0, lt=1, description="share of the rows that both are examined on"
    )
    rows: int = Field(default=20_000, ge=10, description="rows that are looked at, at most")
    seed: int = Field(default=0, ge=0, description="draws the same rows again, whatever their order")

    def compare(self, both: Comparison) -> tuple[Score, ...]:
        """Learn twice, examine twice."""
        before, after = self.tables(both)
        make = _learner()
        name = self._target(before, after)
        before = before.take(canonical_order((*before.quasi, before.column(name))))
        goal = axis_of(before.column(name), after.column(name))
        axes = [axis_of(one, after.column(one.name), BINS) for one in before.quasi if one.name != name]
        if not axes or before.rows < 10:
            return ()
        generator = np.random.default_rng(self.seed)
        drawn = generator.permutation(before.rows)[: self.rows]
        cut = max(round(self.held_out * len(drawn)), 1)
        exam, lessons = np.sort(drawn[:cut]), np.sort(drawn[cut:])
        truth = goal.bins[goal.original.codes]
        features = _true_features(axes, exam)
        predicted = make().fit(_true_features(axes, lessons), truth[lessons]).predict(features)
        taught = _published_lessons(before, after, axes, goal, exam, len(lessons), generator)
        if taught is None or len(np.unique(taught[1])) < 1:
            return ()
        learned = make().fit(*taught).predict(features)
        best = float((predicted == truth[exam]).mean())
        left = float((learned == truth[exam]).mean())
        common = float((truth[exam] == np.bincount(truth[lessons]).argmax()).mean())
        what = f"Share of held-out rows whose {name} is predicted right, learned from"
        return (
            Score("accuracy_original", best, f"{what} the original.", FACT),
            Score("accuracy_release", left, f"{what} the release.", "higher"),
            Score(
                "accuracy_baseline", common, "The same for who always tells the most frequent value.", FACT
            ),
            Score("accuracy_lost", best - left, "Accuracy that the release costs."),
        )

    def _target(self, before: Table, after: Table) -> str:
        known = [column.name for column in before.columns if column.name in after.names]
        if self.target is not None:
            if self.target not in known:
                raise UnknownName("column", self.target, known)
            return self.target
        if not before.sensitive:
            raise WrongUse("learning needs a column to learn: name a sensitive one, or say which (target).")
        return before.sensitive[0].name


def fitting_rows(original: Table, published: Table, first: Rows, sizes: Counts) -> list[Rows] | None:
    """The rows of the original that each of some published classes holds.

    `first`, `sizes`: a published row and the number of rows of each class. Returns none where it is not certain: more
    or fewer rows fit a class than it has, a text cannot be read, or there are too many pairs to try.
    """
    if not len(first):
        return []
    kinds = row_classes(original.quasi, original.rows)
    combinations = np.stack([column.codes[kinds.first] for column in original.quasi], axis=1)
    if len(first) * len(combinations) > FITS:
        return None
    covers = []
    for column in original.quasi:
        there = published.column(column.name)
        used, place = np.unique(there.codes[first], return_inverse=True)
        covered = _covered(column, [there.domain.labels[code] for code in used.tolist()])
        if covered is None:
            return None
        covers.append((covered, place))
    order, starts = np.argsort(kinds.number, kind="stable"), indptr_of(kinds.sizes)
    found: list[Rows] = []
    step = max(AT_ONCE // len(combinations), 1)
    for begin in range(0, len(first), step):
        chunk = slice(begin, min(begin + step, len(first)))
        fits = np.ones((chunk.stop - chunk.start, len(combinations)), dtype=np.bool_)
        for values, (covered, label) in zip(combinations.T, covers, strict=True):
            fits &= covered[label[chunk]][:, values]
        if (fits @ kinds.sizes != sizes[chunk]).any():
            return None
        for row in fits:
            parts = [order[starts[one] : starts[one + 1]] for one in np.flatnonzero(row).tolist()]
            found.append(np.concatenate(parts))
    return found


def _covered(column: Column, texts: list[str]) -> Mask | None:
    """Which values of a column each text stands for; None where a text cannot be read."""
    domain = column.domain
    if len(texts) * len(domain) > FITS:
        return None
    places = {label: code for code, label in enumerate(domain.labels)}
    nodes = None if column.hierarchy is None else NodeTexts(column.hierarchy)
    leaves = None if column.hierarchy is None else column.hierarchy.leaf_of(domain)
    positions = np.arange(len(domain), dtype=np.float64) if domain.values is None else domain.values

    def coordinate(text: str) -> float | None:
        if text in places:
            return float(positions[places[text]])
        if domain.values is None:
            return None
        return day(text) if domain.kind is Kind.DATE else number(text)

    def read(text: str, mask: Mask) -> bool:
        if text == SUPPRESSED:
            mask[:] = True
        elif nodes is not None and leaves is not None and text in nodes:
            mask |= np.isin(leaves, nodes.leaves(text))
        elif text in places:
            mask[places[text]] = True
        elif (ends := read_range(text, coordinate, domain.values is None)) is not None:
            low = positions > ends.low if ends.low_open else positions >= ends.low
            mask |= low & (positions < ends.high if ends.high_open else positions <= ends.high)
        elif (members := set_members(text)) is not None:
            return all(read(member, mask) for member in members)
        else:
            return False
        return True

    covered = np.zeros((len(texts), len(domain)), dtype=np.bool_)
    return covered if all(read(text, covered[place]) for place, text in enumerate(texts)) else None


def _learner() -> Any:
    """What makes a machine that has not learned anything."""
    try:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression
    except ImportError:
        raise MissingExtra("The measure learning", "learning") from None

    class Learner:
        """A logistic regression that stops quietly; of a single value it learns that value."""

        def fit(self, features: Floats, values: Codes) -> "Learner":
            self._only = values[0] if (values == values[0]).all() else None
            if self._only is None:
                self._machine = LogisticRegression(max_iter=100, tol=1e-3)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    self._machine.fit(features, values)
            return self

        def predict(self, features: Floats) -> AnyArray:
            if self._only is not None:
                return np.full(len(features), self._only)
            return np.asarray(self._machine.predict(features))

    return Learner


def _true_features(axes: list[Axis], rows: Rows) -> Floats:
    return np.hstack([np.eye(axis.size)[axis.bins[axis.original.codes[rows]]] for axis in axes])


def _published_features(axes: list[Axis], rows: Rows) -> Floats:
    return np.hstack([axis.shares[axis.published.codes[rows]] for axis in axes])


def _published_lessons(
    before: Table,
    after: Table,
    axes: list[Axis],
    goal: Axis,
    exam: Rows,
    count: int,
    generator: np.random.Generator,
) -> tuple[Floats, Codes] | None:
    """What the release teaches: features and values of published rows whose value is shown."""
    shown: Mask = np.isin(goal.coverage.forms, [list(Form).index(Form.EXACT), list(Form).index(Form.MISSING)])
    if shown[goal.published.codes].all() and goal.original.role != "quasi":
        held = _without_exam(before, after, exam)
        if held is not None:
            kept = generator.permutation(len(held[0]))[:count]
            rows, members = held[0][kept], held[1][kept]
            values = goal.bins[goal.original.codes[members]]
            return (_published_features(axes, rows), values) if len(values) else None
    able = np.flatnonzero(shown[goal.published.codes])
    rows = generator.permutation(able)[:count]
    values = goal.shares[goal.published.codes[rows]].argmax(axis=1)
    return (_published_features(axes, rows), values) if len(values) else None


def _without_exam(before: Table, after: Table, exam: Rows) -> tuple[Rows, Rows] | None:
    """Published rows as their classes show them, and the rows of the original that they are; without held-out ones."""
    classes = row_classes(after.quasi, after.rows)
    members = fitting_rows(before, after, classes.first, classes.sizes)
    if members is None:
        return None
    shown = np.repeat(classes.first, [len(rows) for rows in members])
    rows = np.concatenate([np.empty(0, dtype=np.int64), *members])
    learned = ~np.isin(rows, exam)
    return shown[learned], rows[learned]
