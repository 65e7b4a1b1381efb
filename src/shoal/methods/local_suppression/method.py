"""Local suppression: the fewest starred cells that keep the promises."""

from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from shoal.arrays import Mask, Rows
from shoal.data._plain_text import counted
from shoal.data._ties import tie_order
from shoal.data.group_statistics import group_statistics
from shoal.data.table import Table
from shoal.data.trace import Trace
from shoal.engines.protocol import Engine
from shoal.errors import Infeasible, WrongUse
from shoal.methods._candidates import Candidate, Goal
from shoal.methods.local_suppression._exact_stars import optimal_masks
from shoal.methods.local_suppression._fewest_stars import Cells, Search, fewest, starred_columns, stars_of
from shoal.methods.local_suppression._weaker_promises import combination_masks, enough_rows, wildcard_masks
from shoal.methods.method import Anonymized, Data
from shoal.methods.table_method import TableMethod, published
from shoal.methods.table_rule_hiding._starring import starred
from shoal.models._matching import PopulationModel
from shoal.models.k_anonymity import KAnonymity
from shoal.models.model import TableModel, columns_of, kept_by

COLUMNS = 16
"""The most quasi-identifiers: with more, there are too many combinations of columns."""


class LocalSuppression(TableMethod):
    """Star single cells of quasi-identifiers, as few as possible, and publish all others as they are.

    A star is a value like any other: a class is the rows whose published cells, including stars, are equal, and every
    class keeps the promises. So rows are protected even from those who know what a star hides.

    With `stars_match_all` a star matches every value, and every value a star, as sdcMicro counts. That takes fewer
    stars, and promises little: whoever knows what a star hides may find a single row, and k - 1 rows of nothing but
    stars would be enough for everybody. Only rows that match fewer than k rows are starred then.

    The greedy strategy stars one cell per row wherever that completes classes, then two, and so on; it borrows rows
    from large classes where that is cheaper, and finally moves rows to classes with fewer stars. The optimal strategy
    solves an integer program, for small tables. Both report a lower bound on the number of stars of any release.
    """

    name: ClassVar[str] = "local-suppression"
    example: ClassVar[dict[str, Any]] = {"k": 3}
    paper: ClassVar[str] = (
        "Meyerson and Williams: On the complexity of optimal k-anonymity. PODS 2004; as statistical offices use it: "
        "Templ, Kowarik and Meindl: Statistical disclosure control for micro-data using the R package sdcMicro. "
        "Journal of Statistical Software 67(4), 2015"
    )

    strategy: Literal["greedy", "optimal"] = Field(
        default="greedy",
        description="greedy is fast; optimal solves an integer program, for k alone and small tables",
    )
    stars_match_all: bool = Field(
        default=False,
        description="a star matches every value, instead of being a value of its own: fewer stars, a weaker promise",
    )
    m: int | None = Field(
        default=None,
        ge=1,
        description="promise k for every choice of this many quasi-identifiers; by default, for all together",
    )
    time_limit: float = Field(
        default=60,
        gt=0,
        description="with strategy optimal: seconds, after which the best solution found is taken",
    )

    @classmethod
    def candidates(cls, goal: Goal) -> list[Candidate]:
        """None: stars alone suit tables with few categories, and a goal does not say whether that is so."""
        return []

    @property
    def splits_ties(self) -> bool:
        """Always: some of several equal rows may be starred."""
        return True

    def unused_parameters(self) -> tuple[str, ...]:
        """The time limit, unless an integer program is solved."""
        unused = self.strategy == "greedy" and self.given("time_limit")
        return ("--time-limit has no effect without --strategy optimal.",) if unused else ()

    def models(self) -> tuple[Any, ...]:
        """The promises; k-anonymity with `stars_match_all` and `m`, where these were given."""
        weaker: dict[str, Any] = {
            **({"stars_match_all": True} if self.stars_match_all else {}),
            **({"m": self.m} if self.m is not None else {}),
        }
        return tuple(
            model.model_copy(update=weaker) if isinstance(model, KAnonymity) else model
            for model in super().models()
        )

    def anonymize(self, data: Data, engine: Engine | None = None, seed: int | None = None) -> Anonymized:
        """Star, and put the rows into canonical order."""
        self.accept(data)
        assert isinstance(data, Table)
        models = self.models_for(data)
        self._refuse(data, models)
        # Rows in the order of their public values, ties in random order.
        ties = tie_order(data.rows, seed)
        order = ties[np.lexsort([column.codes[ties] for column in reversed(data.quasi)])]
        cells = Cells(
            np.stack([column.codes[order] for column in data.quasi], axis=1).astype(np.int64),
            tuple(max(len(column.domain), 1) for column in data.quasi),
        )

        def holds(rows: Rows, groups: Rows, count: int) -> Mask:
            # The other rows are one more group, because some promises compare groups with all rows.
            rest = len(rows) < data.rows
            of_all = np.full(data.rows, count, dtype=np.int64)
            of_all[order[rows]] = groups
            return kept_by(models, group_statistics(data, of_all, count + rest, columns_of(models)))[:count]

        size_alone = data.entity is None and all(isinstance(model, KAnonymity) for model in models)
        least = max(model.k if isinstance(model, KAnonymity) else model.least_size() for model in models)
        wildcard = size_alone and all(getattr(model, "stars_match_all", False) for model in models)
        chosen = (
            max(getattr(model, "m", None) or cells.width for model in models) if size_alone else cells.width
        )
        if chosen < cells.width:
            masks, bound = combination_masks(cells, chosen, least, wildcard)
        elif wildcard:
            masks, bound = wildcard_masks(cells, least), 0
        else:
            search = Search(cells, enough_rows(least) if size_alone else holds, least, size_alone)
            masks, bound = self._searched(search)
        by_row = np.empty(data.rows, dtype=np.int64)
        by_row[order] = masks
        stars = {
            column.name: starred(column, starred_columns(by_row, place))
            for place, column in enumerate(data.quasi)
        }
        table, rows = published(data, stars)
        self._refuse_broken(table, models)
        total = int(stars_of(masks).sum())
        note = {"stars": total, "bound": bound, "summary": [_sentence(total, bound, data, wildcard)]}
        parameters = self.model_dump(mode="json", exclude={"promises", "population"})
        return self.released(table, models=models, parameters=parameters), Trace(rows, notes=note)

    def _searched(self, search: Search) -> tuple[Rows, int]:
        """The stars of all rows, and a lower bound on the stars of any release."""
        open_rows = search.open.copy()
        search.run()
        masks, bound = search.masks, fewest(search.cells, open_rows, search.least)
        if self.strategy == "optimal":
            found, lower = optimal_masks(search.cells, search.least, self.time_limit)
            bound = max(bound, lower)
            if found is not None and stars_of(found).sum() < stars_of(masks).sum():
                masks = found
        return masks, bound

    def _refuse(self, data: Table, models: tuple[TableModel, ...]) -> None:
        """Refuse data and promises that this method cannot handle.

        Raises `WrongUse`, which says what to do instead.
        """
        if len(data.quasi) > COLUMNS:
            raise WrongUse(
                f"{self.name} takes at most {COLUMNS} quasi-identifiers, and there are {len(data.quasi)}: name fewer "
                "with --quasi, or take mondrian."
            )
        for model in models:
            if isinstance(model, PopulationModel):
                raise WrongUse(f"{self.name} cannot promise {model.name}: use lattice or mondrian.")
        alone = data.entity is None and all(isinstance(model, KAnonymity) for model in models)
        asked = {
            "--strategy optimal": self.strategy == "optimal",
            "--stars-match-all": self.stars_match_all,
            "--m": self.m is not None,
        }
        if any(asked.values()) and not alone:
            option = next(name for name, given in asked.items() if given)
            raise WrongUse(f"{option} is for --k alone, with one row per person; omit it.")
        if self.m is not None and self.strategy == "optimal":
            raise WrongUse(
                "The optimal strategy is for all quasi-identifiers together; omit --m, or use --strategy greedy."
            )
        if self.stars_match_all and self.strategy == "optimal":
            raise WrongUse(
                "If a star matches every value, k - 1 rows of stars alone are enough for everybody: an optimum is of "
                "no use. Omit --strategy optimal, or --stars-match-all."
            )

    def _refuse_broken(self, table: Table, models: tuple[TableModel, ...]) -> None:
        """Refuse a table that breaks a promise which unions of classes need not keep."""
        for model in models:
            if not (verdict := model.verify(table)).holds:
                worst = verdict.offenders[0]
                raise Infeasible(
                    f"No stars were found that keep {model.name}; in the class {worst.where}: {worst.why}. Promise "
                    "less, or let the method lattice suppress rows."
                )


def _sentence(stars: int, bound: int, data: Table, wildcard: bool) -> str:
    """A sentence on how many cells were starred, and how few would be possible."""
    cells = data.rows * len(data.quasi)
    share = stars / cells if cells else 0
    done = f"{counted(stars, 'cells')} starred ({share:.2%} of the quasi-identifiers)"
    if wildcard:
        return f"{done}, each of which matches every value."
    return (
        f"{done}: no release has fewer."
        if stars == bound
        else f"{done}; no release has fewer than {bound:,}."
    )
