"""The problem of a recommendation: data and a promise, ready for trying candidates."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from shoal.addresses import without_passwords
from shoal.comparison.grid import Cell
from shoal.comparison.results import row_of
from shoal.comparison.workers import Answer
from shoal.data._hierarchy_builders import build
from shoal.data._plain_text import counted
from shoal.data.baskets import Baskets
from shoal.data.domain import Domain, Kind
from shoal.data.table import Column, Table
from shoal.errors import ShoalError, WrongUse
from shoal.io.reading import Reading
from shoal.methods._candidates import Aim, Candidate
from shoal.recipe import Recipe, Roles, Source
from shoal.recommendation.candidate_list import Tried
from shoal.recommendation.goal import Stated
from shoal.recommendation.scale import Scale
from shoal.report.marginals import round_step
from shoal.sources import Request, load_baskets, load_table, looks_like_baskets

FEW = 3
"""With at most so many values, a column gets no level between its values and ``*``."""

CHILDREN, MANY_CHILDREN, MANY = 3, 5, 60
"""Names are grouped by threes, or by fives if there are more than sixty."""

FINEST = 16
"""The approximate number of bins on the finest level of a column of numbers."""

CODE = 3
"""The smallest length of codes: names of equal length with a digit at their beginning or end."""


def builder_for(column: Column) -> str:
    """Choose a builder for a sensible hierarchy, in the form that `shoal anonymize --hierarchy COLUMN=…` takes.

    Numbers: bins of a round width, doubled on each level. Dates: months to decades. Codes such as postcodes: characters
    masked from the right. Other names: groups of neighbors in their order, because their meaning is unknown.
    """
    for spec in (*_wanted(column.domain), "suppress"):
        try:
            build(spec, column.domain, column.name)
        except ShoalError:
            continue
        return spec
    return "suppress"


def _wanted(domain: Domain) -> list[str]:
    if domain.present <= FEW:
        return []
    if domain.kind is Kind.DATE:
        return ["dates"]
    if domain.kind is Kind.NUMERIC:
        return _widths(domain)
    if domain.kind is Kind.NOMINAL and _are_codes(domain):
        return ["mask"]
    return [f"balanced:{CHILDREN if domain.present <= MANY else MANY_CHILDREN}"]


def _widths(domain: Domain) -> list[str]:
    """Round widths, each twice the one before, as long as there are at least two bins.

    >>> import numpy as np
    >>> ages = np.arange(17.0, 91.0)
    >>> _widths(Domain(Kind.NUMERIC, tuple(map(str, ages)), ages))
    ['intervals:5,10,20,40']
    """
    low, high = domain.bounds
    if not high > low:
        return []
    assert domain.values is not None
    present = domain.values[: domain.present]
    width = round_step((high - low) / FINEST)
    if bool((present == present.astype("int64")).all()):
        width = max(width, 2.0)
    widths = []
    while width < (high - low):
        widths.append(width)
        width *= 2
    return [f"intervals:{','.join(f'{one:.12g}' for one in widths)}"] if widths else []


def _are_codes(domain: Domain) -> bool:
    """Whether all names have the same length and look like codes."""
    labels = domain.labels[: domain.present]
    length = len(labels[0])
    return length >= CODE and all(
        len(label) == length and (label[0].isdigit() or label[-1].isdigit()) for label in labels
    )


SWEEP = "tried"
ITEM_TREE = "balanced:5"
"""The hierarchy for items without one, for methods that need it."""


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """The data and the promise that candidates are tried on."""

    aim: Aim
    stated: Stated
    path: str
    roles: Roles
    reading: Reading
    layout: str | None
    hierarchies: Mapping[str, str]
    trees: Mapping[str, str]
    """`hierarchies`, `trees`: the given hierarchies, and those that are built for columns without one."""
    quasi: int
    sensitive: int
    """`quasi`, `sensitive`: the number of quasi-identifiers and of sensitive columns."""
    profile: str
    names: tuple[str, ...] = ()  # quasi-identifiers without order or hierarchy

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
        """Read the data, and check that the promise fits it.

        Raises `WrongUse` if the promise is about something that the data does not have. Raises `Infeasible` if no
        release of this data can keep it, however much is suppressed.
        """
        path = str(source)
        if layout is not None or looks_like_baskets(source, reading):
            stated = stated.tuned()
            aim = stated.aim(baskets=True)
            sets: Baskets = load_baskets(Request(source, roles, reading, hierarchies, layout=layout)).data
            if not len(sets.sensitive) and (aim is Aim.DEGREE or (aim is Aim.COHERENCE and stated.h != 1)):
                raise WrongUse("The promise is about sensitive items: name them with --sensitive.")
            trees = {"items": ITEM_TREE} if sets.hierarchy is None else {}
            facts = _facts_of_baskets(sets)
            return cls(aim, stated, path, roles, reading, layout, dict(hierarchies), trees, 0, 0, facts)
        aim = stated.aim(baskets=False, items=bool(roles.items or roles.items_from))
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
        names = tuple(name for name in trees if table.column(name).domain.kind is Kind.NOMINAL)
        given, counts = dict(intake.hierarchies), (len(table.quasi), len(table.sensitive))
        facts = _facts_of_table(table)
        return cls(aim, stated, path, roles, reading, None, given, trees, *counts, facts, names)

    def hierarchies_for(self, candidate: Candidate) -> dict[str, str]:
        """The hierarchies for a candidate: those that are given and, if its method needs more, those that are built."""
        return {**(self.trees if candidate.trees else {}), **self.hierarchies}

    def chosen(self, candidate: Candidate) -> Recipe:
        """The recipe that makes the release of a candidate."""
        return Recipe(
            source=Source(path=self.path, reading=self.reading, baskets=self.layout),
            roles=self.roles,
            hierarchies=self.hierarchies_for(candidate),
            method=dict(candidate.method),
        )

    def cell(self, candidate: Candidate, scale: Scale, limit: float) -> Cell:
        """The run of a comparison that tries a candidate."""
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
        """A candidate with the result of its run."""
        row = row_of(cell, answer)
        done = answer["status"] == "done"
        loss = scale.loss_of(row, self.quasi, self.sensitive) if done else None
        privacy = scale.privacy_of(row, candidate.method) if done else None
        row |= {"loss": loss, "privacy": privacy}
        status, error = answer["status"], answer.get("error") or ""
        meets = done and scale.meets(privacy)
        return Tried(candidate, status, error, loss, privacy, row.get("seconds"), meets, False, row)


def _facts_of_table(table: Table) -> str:
    from shoal.data.profile import profile_table

    found = profile_table(table)
    names = ", ".join(found.quasi)
    return (
        f"{counted(found.rows, 'rows')}; {found.unique:.1%} of rows are unique in {names}, and the "
        f"smallest of {counted(found.classes, 'classes')} has {found.smallest:,}."
    )


def _facts_of_baskets(baskets: Baskets) -> str:
    mean = len(baskets.items) / max(len(baskets), 1)
    return (
        f"{counted(len(baskets), 'baskets')} of {counted(len(baskets.vocabulary), 'items')}, {mean:.1f} in a basket; "
        f"{counted(len(baskets.sensitive), 'items')} named sensitive."
    )
