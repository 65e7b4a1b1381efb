"""Anatomy: exact quasi-identifiers and exact sensitive values in two tables, linked by groups (Xiao and Tao 2006)."""

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from shoal.arrays import Rows, indptr_of, ranges
from shoal.data._plain_text import counted
from shoal.data._ties import tie_key
from shoal.data.group_statistics import group_statistics
from shoal.data.linked import Linked, link_name, linked
from shoal.data.role import Role
from shoal.data.table import Column, Table, cell_ranks
from shoal.data.trace import Trace
from shoal.engines.protocol import Engine
from shoal.errors import Infeasible, WrongUse
from shoal.methods._candidates import Candidate, Goal
from shoal.methods.method import Anonymized, Data
from shoal.methods.table_method import TableMethod
from shoal.models._exact import fraction, rounded_up
from shoal.models.alpha_k_anonymity import AlphaKAnonymity
from shoal.models.ke_anonymity import KeAnonymity
from shoal.models.model import TableModel, columns_of, kept_by


class Anatomy(TableMethod):
    """Publish quasi-identifiers as they are, and sensitive values as counts for each group of rows.

    Nothing is generalized: counts over public columns are exact, and a group tells how often each secret occurs in it.
    Groups are formed by the paper's bucketization: as long as rows of at least l values are left, take one row of each
    of the l values with the most rows left as a group. The few rows that remain go to groups without their value. Which
    rows are taken, and which values when several tie, is drawn with the seed. So no secret has a share above 1/l in a
    group, which is promised too. Further promises are kept by merging groups that break one.

    With a promise of (k,e)-anonymity and no l, sensitive numbers are sorted and cut into groups of least error (Zhang
    et al. 2007, permutation): counts and sums of the numbers stay as exact as the promise allows.

    The release reveals who is in the table, and whoever reads all groups together can learn more than each one tells
    (deFinetti attack): the report says how much.
    """

    name: ClassVar[str] = "anatomy"
    publishes: ClassVar[type | None] = Linked
    example: ClassVar[dict[str, Any]] = {"l": 2}
    paper: ClassVar[str] = (
        "Xiao, Tao: Anatomy: simple and effective privacy preservation. VLDB 2006; Zhang, Koudas, Srivastava, Yu: "
        "Aggregate query answering on anonymized tables. ICDE 2007"
    )
    not_distributable: ClassVar[str] = "each group takes rows of all values, wherever they are"

    @property
    def splits_ties(self) -> bool:
        """Always: which rows with a value go into which group is drawn at random."""
        return True

    @classmethod
    def candidates(cls, goal: Goal) -> list[Candidate]:
        """None: its releases cannot be compared with generalized classes by information loss."""
        return []

    def models(self) -> tuple[Any, ...]:
        """The promises; l also promises that no secret has a share above 1/l in a group."""
        models = super().models()
        if self.l is None or self.c is not None or self.alpha is not None:
            return models
        return (*models, AlphaKAnonymity(alpha=rounded_up(Fraction(1, self.l), 6)))

    def anonymize(self, data: Data, engine: Engine | None = None, seed: int | None = None) -> Anonymized:
        """Form the groups, merge those that break a promise, and publish both tables."""
        self.accept(data)
        assert isinstance(data, Table)
        models = self._models_of(data)
        (secret,) = data.sensitive
        random = np.random.default_rng(tie_key(seed))
        # Rows in the order of their public cells, ties in random order, so that the order of the input has no effect.
        ties = random.permutation(data.rows)
        order = ties[np.argsort(cell_ranks(data.quasi)[ties], kind="stable")]
        numbers = next((one for one in models if isinstance(one, KeAnonymity)), None)
        codes = secret.codes[order]
        if numbers is not None and self._size(models, numbers) < 2:
            groups = _by_number(secret, codes, numbers, random)
        else:
            groups = self._buckets(secret, codes, max(self._size(models), 2), random)
        first = int(groups.max()) + 1
        groups = _united(data.take(order), groups, models, random)
        public = tuple(one for one in data.columns if one.role in (Role.QUASI, Role.INSENSITIVE))
        published, rows = linked(
            tuple(one.take(order) for one in public),
            groups,
            (secret.take(order),),
            groups,
            link_name(data.names),
        )
        sizes = published.sizes
        summary = [
            f"{counted(len(published), 'groups')} of {sizes.min():,} to {sizes.max():,} rows; each shows its public "
            f"cells and its values of {secret.name}, but not who has which."
        ]
        if first > len(published):
            summary.append(f"{first:,} groups were merged until every promise was kept.")
        given = {name: getattr(self, name) for name in ("l", "c", "entropy_l", "t", "alpha", "beta", "delta")}
        parameters = {name: value for name, value in given.items() if value is not None}
        release = self.released(published, models=models, parameters=parameters)
        return release, Trace(order[rows], notes={"summary": summary})

    def misfits(self) -> tuple[TableModel, ...]:
        """The promises that cannot be made about groups of secrets."""
        return tuple(model for model in self.models() if Linked not in model.accepts or not model.monotone)

    def refuse_misfits(self) -> None:
        """Refuse promises about public cells, before any data is read."""
        for model in self.misfits():
            raise WrongUse(
                f"{self.name} cannot promise {model.name}: public cells are published as they are, and only the "
                "secrets of groups are hidden. Promise --l, --entropy-l, --t, --alpha, or (k,e)-anonymity."
            )

    def _models_of(self, table: Table) -> tuple[TableModel, ...]:
        """The promises about this table; refuses those that groups cannot keep, and more than one secret per row."""
        self.refuse_misfits()
        if len(table.sensitive) != 1:
            named = ", ".join(column.name for column in table.sensitive) or "none"
            raise WrongUse(
                f"{self.name} links rows to groups of one sensitive column, and there is {named}. Name one with "
                "--sensitive, and leave others out."
            )
        if table.entity is not None:
            raise WrongUse(
                f"{self.name} takes one row per person: the rows of {table.entity.name} would end up in several groups."
            )
        self._definite_for(table)  # refuse wrong use before infeasible promises
        self._refuse_frequent(table.sensitive[0])
        return self.models_for(table)

    def _refuse_frequent(self, secret: Column) -> None:
        """Refuse an l for which the most frequent value has more than one in l of all rows."""
        counts = np.bincount(secret.codes)
        most, rows = int(counts.max()), len(secret.codes)
        if self.l is not None and self.c is None and most * self.l > rows:
            name = secret.domain.labels[int(counts.argmax())] or "(missing)"
            best = rows // most
            raise Infeasible(
                f"l = {self.l} cannot be kept: {name} is the value of {most:,} of {rows:,} rows, more than one "
                f"in {self.l}. The largest l is {best}.",
                best,
            )

    def _size(self, models: tuple[TableModel, ...], without: TableModel | None = None) -> int:
        """How many distinct values a group must have so that it is not too small for any promise."""
        return max((model.least_size() for model in models if model is not without), default=1)

    def _buckets(self, secret: Column, codes: Any, size: int, random: np.random.Generator) -> Rows:
        """Assign each row to a group by the paper's bucketization."""
        from shoal.kernels import buckets

        values = len(secret.domain)
        counts = np.bincount(codes, minlength=values).astype(np.int64)
        # A promise that is not about shares may be kept although one value has more than one in `size` of the rows.
        size = min(size, len(codes) // int(counts.max()))
        # The rows of each value in random order: a stack from which groups take.
        drawn = random.permutation(len(codes))
        stacks = drawn[np.argsort(codes[drawn], kind="stable")]
        begin = indptr_of(counts)[:-1]
        left, taken = counts.copy(), np.empty(len(codes), dtype=np.int64)
        count = buckets.bucketize(left, size, random.integers(0, 2**62, len(codes)), taken)
        taken = taken[: count * size]
        # A group takes the next row of the stack of each of its values.
        by_value = np.argsort(taken, kind="stable")
        groups = np.empty(len(codes), dtype=np.int64)
        used = counts - left
        groups[stacks[ranges(begin, used)[1]]] = by_value // size
        # At most one row of some values is left: each goes to a group that does not have its value.
        for value in np.flatnonzero(left).tolist():
            without = np.ones(count, dtype=np.bool_)
            without[groups[stacks[begin[value] : begin[value] + used[value]]]] = False
            rest = stacks[begin[value] + used[value] : begin[value] + counts[value]]
            groups[rest] = random.choice(np.flatnonzero(without), len(rest), replace=False)
        return groups


def _by_number(secret: Column, codes: Any, promise: KeAnonymity, random: np.random.Generator) -> Rows:
    """Assign each row to a group: sort the numbers and cut them where the error is least."""
    from shoal.kernels import buckets

    numbers = promise.numbers(secret.domain)
    places = numbers.ranks[codes]
    present = places >= 0
    weights = np.bincount(places[present], minlength=len(numbers.values)).astype(np.int64)
    held = np.flatnonzero(weights)
    values = [numbers.values[place] for place in held.tolist()]
    reach = np.searchsorted(held, numbers.from_below(lambda _: fraction(promise.e))[held]) + 1
    cuts = np.empty(len(held) + 1, dtype=np.int64)
    floats = np.array([float(value) for value in values])
    buckets.sorted_runs(weights[held], floats, reach.astype(np.int64), promise.k, cuts)
    run, end = np.empty(len(held), dtype=np.int64), len(held)
    while end:
        run[cuts[end] : end] = cuts[end]
        end = int(cuts[end])
    _, run = np.unique(run, return_inverse=True)
    groups = np.empty(len(codes), dtype=np.int64)
    groups[present] = run[np.searchsorted(held, places[present])]
    groups[~present] = random.integers(0, int(run.max()) + 1, int((~present).sum()))
    return groups


def _united(table: Table, groups: Rows, models: tuple[TableModel, ...], random: np.random.Generator) -> Rows:
    """Merge groups that break a promise, with each other or with any other group, until none does."""
    while True:
        count = int(groups.max()) + 1
        kept = kept_by(models, group_statistics(table, groups, count, columns_of(models)))
        broken = random.permutation(np.flatnonzero(~kept))
        if not len(broken):
            return groups
        if count == 1:
            raise Infeasible("The promises cannot be kept, even by one group of all rows. Promise less.")
        others = np.flatnonzero(kept)
        # One of each pair takes the number of the other; an odd one out goes to any group.
        partner = np.arange(count)
        half = len(broken) // 2
        partner[broken[:half]] = broken[half : 2 * half]
        if len(broken) % 2:
            pool = others if len(others) else broken[:-1]
            partner[broken[-1]] = partner[int(random.choice(pool))]
        _, number = np.unique(partner, return_inverse=True)
        groups = number[groups]
