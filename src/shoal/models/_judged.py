"""What a judgment was about: which columns or items, and what nobody looked at."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from shoal.data._plural import counted
from shoal.data._spellings import items_spelled_twice, values_alike
from shoal.data.baskets import Baskets
from shoal.data.release import Published
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.data.verdict import SHOWN, Offender, Verdict
from shoal.models.model import Model


@dataclass(frozen=True, slots=True)
class Judged:
    """By what published data was judged.

    Parameters
    ----------
    form
        ``table``, ``baskets``, ``groups`` or ``clusters``.
    quasi, sensitive, insensitive, entity, unjudged
        The columns of a table by their roles; those that were given none are not judged.
    items, sensitive_items, insensitive_items
        How many items of each kind there are; None where the promises do not name them.
    remarks
        What else a reader should know, in sentences: secrets that differ in spelling alone.
    """

    form: str
    quasi: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    insensitive: tuple[str, ...] = ()
    entity: str | None = None
    unjudged: tuple[str, ...] = ()
    items: int | None = None
    sensitive_items: int | None = None
    insensitive_items: int | None = None
    remarks: tuple[str, ...] = ()

    def __str__(self) -> str:
        """In a sentence, with the remarks.

        >>> print(Judged("table", ("age", "sex"), ("ill",), unjudged=("name",)))
        Judged by age, sex (quasi-identifiers); sensitive: ill; not judged: name.
        >>> print(Judged("baskets", items=7, sensitive_items=2, insensitive_items=0))
        Judged by 5 public items; sensitive: 2; insensitive: 0.
        """
        return " ".join([self._sentence(), *self.remarks])

    def _sentence(self) -> str:
        if self.form == "table":
            noun = "quasi-identifier" if len(self.quasi) == 1 else "quasi-identifiers"
            parts = [f"Judged by {', '.join(self.quasi)} ({noun})"]
            if self.entity is not None:
                parts.append(f"persons told by {self.entity}")
            others = {
                "sensitive": self.sensitive,
                "insensitive": self.insensitive,
                "not judged": self.unjudged,
            }
            parts += [f"{role}: {', '.join(names)}" for role, names in others.items() if names]
            return "; ".join(parts) + "."
        secret, neutral = self.sensitive_items, self.insensitive_items or 0
        if self.items is None or secret is None:
            every = "all items" if self.items is None else counted(self.items, "items")
            return f"Judged by {every} of the {self.form}."
        public = counted(max(self.items - secret - neutral, 0), "public items")
        told = "" if self.insensitive_items is None else f"; insensitive: {neutral:,}"
        return f"Judged by {public}; sensitive: {secret:,}{told}."

    def as_dict(self) -> dict[str, Any]:
        """As plain data: what there is to say of this form."""
        table = self.form == "table"
        names = ("quasi", "sensitive", "insensitive", "entity", "unjudged")
        kept = {name: value for name, value in asdict(self).items() if (name in names) == table}
        kept.pop("remarks", None)
        return {"form": self.form, **kept, **({"remarks": self.remarks} if self.remarks else {})}


class Verdicts(tuple[Verdict, ...]):
    """The verdicts on published data; `judged` says what they are about.

    Parameters
    ----------
    verdicts
        One for each promise.
    judged
        None where nothing was looked at, because the release is not whole.
    """

    judged: Judged | None

    def __new__(cls, verdicts: Iterable[Verdict], judged: Judged | None) -> "Verdicts":
        """A tuple of verdicts that knows what they are about."""
        made = super().__new__(cls, tuple(verdicts))
        made.judged = judged
        return made


def judged_table(
    table: Table, named: Iterable[str] | None = None, values: Mapping[str, Iterable[str]] | None = None
) -> Judged:
    """By which columns a table was judged.

    Parameters
    ----------
    named
        The columns that somebody gave a role; all of them unless told.
    values
        The texts of sensitive columns, where the table does not hold them itself.
    """
    texts = values or {column.name: column.domain.labels for column in table.columns}
    told = set(table.names if named is None else named)
    roles: dict[Role, list[str]] = {role: [] for role in Role}
    unjudged: list[str] = []
    for column in table.columns:
        (roles[column.role] if column.name in told else unjudged).append(column.name)
    return Judged(
        "table",
        tuple(roles[Role.QUASI]),
        tuple(roles[Role.SENSITIVE]),
        tuple(roles[Role.INSENSITIVE]),
        next(iter(roles[Role.ENTITY]), None),
        tuple(unjudged),
        remarks=tuple(line for name in roles[Role.SENSITIVE] for line in values_alike(name, texts[name])),
    )


def judged_sets(data: Published, models: Sequence[Model], items: int | None) -> Judged:
    """By how many items baskets, groups or clusters were judged.

    Of groups and clusters the promises name the sensitive items, wherever they do.

    Parameters
    ----------
    items
        How many there are; None where nobody has counted them.
    """
    form = type(data).__name__.lower()
    if isinstance(data, Baskets):
        return Judged(
            form,
            items=items,
            sensitive_items=len(data.sensitive),
            insensitive_items=len(data.insensitive),
            remarks=items_spelled_twice(data),
        )
    named = [set(model.sensitive or ()) for model in models if hasattr(model, "sensitive")]
    secret = set().union(*named)
    remarks = values_alike("the sensitive items", secret)
    return Judged(form, items=items, sensitive_items=len(secret) if named else None, remarks=remarks)


def broken_folder(found: Sequence[tuple[str, str]]) -> Verdict:
    """The verdict on a published folder that holds something else than the release."""
    return Verdict(
        model="release-folder",
        promise="the folder holds release.json and the published data, and nothing else",
        holds=False,
        value=len(found),
        threshold=0,
        offenders=tuple(Offender(name, f"{why}; remove it") for name, why in found[:SHOWN]),
        offender_count=len(found),
        remark="nothing else was judged",
    )
