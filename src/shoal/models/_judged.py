"""What a judgment was about: which columns or items, and what nobody looked at."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from shoal.data._plain_text import counted
from shoal.data._spellings import items_spelled_twice, values_alike
from shoal.data.baskets import Baskets
from shoal.data.clustered_table import ClusteredTable
from shoal.data.clusters import Clusters
from shoal.data.groups import Groups
from shoal.data.linked import Linked
from shoal.data.release import Published
from shoal.data.role import Role
from shoal.data.summary import Summary
from shoal.data.table import Table
from shoal.data.verdict import Verdict
from shoal.models.model import LineModel, Model


@dataclass(frozen=True, slots=True)
class Judged:
    """By what published data was judged."""

    form: str  # ``table``, ``baskets``, ``groups``, ``clusters``, ``linked`` or ``summary``
    quasi: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    insensitive: tuple[str, ...] = ()
    entity: str | None = None
    unjudged: tuple[str, ...] = ()
    """`quasi`, `sensitive`, `insensitive`, `entity`, `unjudged`: the columns of a table by their roles; those that
    were given none are not judged. Of cross-tables, `quasi` are those that rows are counted by."""
    sets: str | None = None  # the column of items of a table
    items: int | None = None
    sensitive_items: int | None = None
    insensitive_items: int | None = None
    """`items`, `sensitive_items`, `insensitive_items`: how many published items there are, of each kind; None for
    tables, and where a form has no such kind."""
    remarks: tuple[str, ...] = ()
    """What else a reader should know, in sentences: secrets that differ in spelling alone."""

    def __str__(self) -> str:
        """In a sentence, with the remarks.

        >>> print(Judged("table", ("age", "sex"), ("ill",), unjudged=("name",)))
        Judged by age, sex (quasi-identifiers); sensitive: ill; not judged: name.
        >>> print(Judged("baskets", items=7, sensitive_items=2, insensitive_items=0))
        Judged by 5 public items; sensitive: 2; insensitive: 0.
        """
        return " ".join([self._sentence(), *self.remarks])

    def _sentence(self) -> str:
        if self.form == "linked":
            return f"Judged by groups of rows, whose public cells are exact; sensitive: {', '.join(self.sensitive)}."
        if self.form == "table":
            noun = "quasi-identifier" if len(self.quasi) == 1 else "quasi-identifiers"
            parts = [f"Judged by {', '.join(self.quasi)} ({noun})"]
            if self.entity is not None:
                parts.append(f"persons identified by {self.entity}")
            if self.sets is not None:
                parts.append(f"items: {self.sets}")
            others = {
                "sensitive": self.sensitive,
                "insensitive": self.insensitive,
                "not judged": self.unjudged,
            }
            parts += [f"{role}: {', '.join(names)}" for role, names in others.items() if names]
            return "; ".join(parts) + "."
        if self.form == "summary":
            return f"Judged by all cells and totals of {', '.join(self.quasi)}."
        secret, neutral = self.sensitive_items or 0, self.insensitive_items or 0
        public = counted((self.items or 0) - secret - neutral, "public items")
        insensitive = "" if self.insensitive_items is None else f"; insensitive: {neutral:,}"
        return f"Judged by {public}; sensitive: {secret:,}{insensitive}."

    def as_dict(self) -> dict[str, Any]:
        """As plain data: what there is to say of this form."""
        table = self.form in ("table", "linked", "summary")
        names = ("quasi", "sensitive", "insensitive", "entity", "unjudged", "sets")
        kept = {name: value for name, value in asdict(self).items() if (name in names) == table}
        kept.pop("remarks", None)
        if kept.get("sets", "") is None:
            del kept["sets"]
        return {"form": self.form, **kept, **({"remarks": self.remarks} if self.remarks else {})}


class Verdicts(tuple[Verdict, ...]):
    """The verdicts on published data; `judged` says what they are about.

    `verdicts`: one for each promise. `judged`: None where nothing was looked at, because the release is not whole.
    """

    judged: Judged | None

    def __new__(cls, verdicts: Iterable[Verdict], judged: Judged | None) -> "Verdicts":
        """A tuple of verdicts that knows what they are about."""
        made = super().__new__(cls, tuple(verdicts))
        made.judged = judged
        return made

    def __str__(self) -> str:
        """The verdicts, and what they are about, as the terminal shows them."""
        return "\n".join(map(str, self if self.judged is None else (*self, self.judged)))


def judged_table(
    table: Table, named: Iterable[str] | None = None, values: Mapping[str, Iterable[str]] | None = None
) -> Judged:
    """By which columns a table was judged.

    `named`: the columns that somebody gave a role; all of them by default. `values`: the texts of sensitive columns,
    where the table does not hold them itself.
    """
    texts = values or {column.name: column.domain.labels for column in table.every_column}
    chosen = set([column.name for column in table.every_column] if named is None else named)
    roles: dict[Role, list[str]] = {role: [] for role in Role}
    unjudged: list[str] = []
    for column in table.every_column:
        (roles[column.role] if column.name in chosen else unjudged).append(column.name)
    return Judged(
        "table",
        tuple(roles[Role.QUASI]),
        tuple(roles[Role.SENSITIVE]),
        tuple(roles[Role.INSENSITIVE]),
        next(iter(roles[Role.ENTITY]), None),
        tuple(unjudged),
        table.items if isinstance(table, ClusteredTable) else next(iter(roles[Role.ITEMS]), None),
        remarks=tuple(line for name in roles[Role.SENSITIVE] for line in values_alike(name, texts[name])),
    )


def judged_linked(data: Linked) -> Judged:
    """By which columns linked tables were judged."""
    public, secret = judged_table(data.public), judged_table(data.secrets)
    insensitive = tuple(name for name in public.insensitive if name != data.link)
    return Judged("linked", public.quasi, secret.sensitive, insensitive, remarks=secret.remarks)


def judged_sets(data: Published, models: Sequence[Model], items: int) -> Judged:
    """By how many items baskets, groups or clusters were judged.

    Of groups and clusters the promises name the sensitive items, or groups count them.

    `items`: how many there are.
    """
    form = type(data).__name__.lower()
    if isinstance(data, Summary):
        return Judged(form, tuple(axis.name for axis in data.axes))
    if isinstance(data, Baskets):
        secret, neither = len(data.sensitive), len(data.insensitive)
        remarks = items_spelled_twice(data)
        return Judged(form, items=items, sensitive_items=secret, insensitive_items=neither, remarks=remarks)
    assert isinstance(data, Groups | Clusters)
    lines = (model for model in models if isinstance(model, LineModel))
    secrets = frozenset[str]().union(*(model.published_secrets(data) for model in lines))
    remarks = values_alike("the sensitive items", secrets)
    return Judged(form, items=items, sensitive_items=len(secrets), remarks=remarks)
