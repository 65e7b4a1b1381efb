"""Data and a promise, ready for candidates to be tried."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from shoal.addresses import without_passwords
from shoal.comparison.grid import Cell
from shoal.comparison.results import row_of
from shoal.comparison.workers import Answer
from shoal.data._plural import counted
from shoal.data.baskets import Baskets
from shoal.data.table import Table
from shoal.errors import WrongUse
from shoal.io.reading import Reading
from shoal.methods._candidates import Aim, Candidate
from shoal.recipe import Recipe, Roles, Source
from shoal.recommendation.first_hierarchies import builder_for
from shoal.recommendation.goal import Stated
from shoal.recommendation.scale import Scale
from shoal.recommendation.trial import Tried
from shoal.sources import Request, load_baskets, load_table, looks_like_baskets

SWEEP = "tried"
ITEM_TREE = "balanced:5"
"""The hierarchy of items that have none, for methods that need one."""


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """The data and the promise as candidates see them.

    Parameters
    ----------
    hierarchies, trees
        Those that are given, and those that are built for columns without one.
    quasi, sensitive
        The number of such columns.
    """

    aim: Aim
    stated: Stated
    path: str
    roles: Roles
    reading: Reading
    layout: str | None
    hierarchies: Mapping[str, str]
    trees: Mapping[str, str]
    quasi: int
    sensitive: int
    profile: str

    @classmethod
    def of(
        cls,
        source: str | Path,
        stated: Stated,
        roles: Roles,
        reading: Reading,
        layout: str | None,
        hierarchies: Mapping[str, str],
        folder: str | None,
    ) -> "Problem":
        """Read the data, and see whether the promise fits it.

        Raises
        ------
        WrongUse
            If the promise is about something that the data does not have.
        Infeasible
            If no release of this data can keep it, whatever is left out.
        """
        path = str(source)
        if layout is not None or looks_like_baskets(source, reading):
            stated = stated.tuned()
            aim = stated.aim(baskets=True)
            sets: Baskets = load_baskets(Request(source, roles, reading, hierarchies, layout=layout)).data
            if not len(sets.sensitive) and (aim is Aim.DEGREE or (aim is Aim.COHERENCE and stated.h != 1)):
                raise WrongUse("The promise is about sensitive items: name them with --sensitive.")
            trees = {"items": ITEM_TREE} if sets.hierarchy is None else {}
            return cls(
                aim,
                stated,
                path,
                roles,
                reading,
                layout,
                dict(hierarchies),
                trees,
                0,
                0,
                _told_of_baskets(sets),
            )
        aim = stated.aim(baskets=False)
        intake = load_table(Request(source, roles, reading, hierarchies, folder))
        table: Table = intake.data
        if not table.quasi:
            raise WrongUse(
                "No column is a quasi-identifier; name those that an adversary may know with --quasi (`shoal inspect` "
                "suggests some)."
            )
        if aim is Aim.RULES and not table.sensitive:
            raise WrongUse("Rules are about a sensitive column: name it with --sensitive.")
        if stated.models():
            stated.models_for(table)
        trees = {column.name: builder_for(column) for column in table.quasi if column.hierarchy is None}
        return cls(
            aim,
            stated,
            path,
            roles,
            reading,
            None,
            dict(intake.hierarchies),
            trees,
            len(table.quasi),
            len(table.sensitive),
            _told_of_table(table),
        )

    def hierarchies_for(self, candidate: Candidate) -> dict[str, str]:
        """Those that are given, and for methods that need more those that are built."""
        return {**(self.trees if candidate.trees else {}), **self.hierarchies}

    def chosen(self, candidate: Candidate) -> Recipe:
        """What to run to have the release of a candidate."""
        return Recipe(
            source=Source(path=self.path, reading=self.reading, baskets=self.layout),
            roles=self.roles,
            hierarchies=self.hierarchies_for(candidate),
            method=dict(candidate.method),
        )

    def cell(self, candidate: Candidate, scale: Scale, limit: float) -> Cell:
        """A candidate as a run of a comparison."""
        method = dict(candidate.method)
        baskets = self.aim.of_baskets
        data = {
            "path": self.path,
            "rows": None,
            "shape": {},
            "reading": asdict(self.reading),
            "baskets": self.layout,
            "roles": self.roles.model_dump(),
            "hierarchies": self.hierarchies_for(candidate),
            "form": "baskets" if baskets else "table",
        }
        plan = {
            "data": data,
            "draw": {},
            "method": method,
            "seed": 1,
            "repeats": 1,
            "measures": [{"name": name} for name in scale.measures],
        }
        parameters = {name: value for name, value in method.items() if name != "name"}
        facts = {
            "sweep": SWEEP,
            "dataset": Path(without_passwords(self.path)).name,
            "source": "file",
            "method": method["name"],
            "label": candidate.label,
            "parameters": parameters,
            "seed": 1,
            "timed": False,
        }
        key = repr((candidate.label, sorted(method.items(), key=str), candidate.trees))
        return Cell(without_passwords(facts), plan, False, limit, key)

    def tried(self, candidate: Candidate, cell: Cell, answer: Answer, scale: Scale) -> Tried:
        """What came of a run."""
        row = row_of(cell, answer)
        done = answer["status"] == "done"
        loss = scale.loss_of(row, self.quasi, self.sensitive) if done else None
        privacy = scale.privacy_of(row, candidate.method) if done else None
        row |= {"loss": loss, "privacy": privacy}
        return Tried(
            candidate,
            answer["status"],
            answer.get("error") or "",
            loss,
            privacy,
            row.get("seconds"),
            done and scale.meets(privacy),
            False,
            row,
        )


def _told_of_table(table: Table) -> str:
    from shoal.data.profile import profile_table

    found = profile_table(table)
    names = ", ".join(found.quasi)
    return (
        f"{counted(found.rows, 'rows')}; {found.unique:.1%} of them are alone with their values of {names}, and the "
        f"smallest of {counted(found.classes, 'classes')} has {found.smallest:,}."
    )


def _told_of_baskets(baskets: Baskets) -> str:
    mean = len(baskets.items) / max(len(baskets), 1)
    return (
        f"{counted(len(baskets), 'baskets')} of {counted(len(baskets.vocabulary), 'items')}, {mean:.1f} in a basket; "
        f"{counted(len(baskets.sensitive), 'items')} named sensitive."
    )
