"""What every measure has in common."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex, final, overload

from shoal.data._plain_text import counted, grid_lines, written
from shoal.data.baskets import Baskets
from shoal.data.dataset import schema_of
from shoal.data.release import Release
from shoal.data.table import Table
from shoal.errors import BadData, UnknownName, WrongUse
from shoal.measures._comparison import Comparison as Comparison
from shoal.parameters import Parameters

if TYPE_CHECKING:
    import polars

LINES = 18
"""Scores that are shown where all are printed."""

FACT = ""
"""The `better` of a score that is neither good nor bad, such as the number of classes."""


@dataclass(frozen=True, slots=True)
class Score:
    """One number that a measure gives, with its parts.

    Parameters
    ----------
    name
        Lower-case, unique over all measures: ``lm``, ``c_avg``.
    value
        The number.
    meaning
        What the number says, in one sentence.
    better
        ``lower`` or ``higher``; empty for a plain fact, which is neither good nor bad.
    parts
        The number by column, item or support, where it has parts.
    by
        Which of these the parts are by.
    """

    name: str
    value: float
    meaning: str
    better: str = "lower"
    parts: Mapping[str, float] = field(default_factory=dict)
    by: str = "column"

    def __repr__(self) -> str:
        parts = f"{counted(len(self.parts), 'parts')} by {self.by}" if self.parts else ""
        return f"<Score: {', '.join(filter(None, (f'{self.name} {written(self.value)}', self.direction, parts)))}>"

    def __str__(self) -> str:
        """The number, and what it says.

        >>> print(Score("lm", 0.5, "Loss metric.", parts={"age": 0.5}))
        lm 0.5 (lower is better): Loss metric.
        """
        direction = f" ({self.direction})" if self.better else ""
        return f"{self.name} {written(self.value)}{direction}: {self.meaning}"

    @property
    def direction(self) -> str:
        """Which end is better, in words; empty for a plain fact."""
        return f"{self.better} is better" if self.better else ""

    def as_dict(self) -> dict[str, Any]:
        """The score as plain data."""
        return {
            "name": self.name,
            "value": self.value,
            "meaning": self.meaning,
            "better": self.better,
            "parts": dict(self.parts),
        }


class Scores(tuple[Score, ...]):
    """Several scores: a tuple that also knows them by their names.

    >>> scores = Scores([Score("lm", 0.5, "loss", parts={"age": 0.5}), Score("classes", 3, "number of classes")])
    >>> scores["lm"].value, scores[1].name, "lm" in scores
    (0.5, 'classes', True)
    >>> print(scores)
    score    value  direction
    lm         0.5  lower is better
    classes      3  lower is better
    """

    __slots__ = ()

    def __repr__(self) -> str:
        """Names, values and which end is better, a line each; what does not fit on a screen is counted."""
        if not self:
            return "<Scores: none>"
        rows = [(one.name, one.value, one.direction) for one in self[:LINES]]
        return "\n".join([*grid_lines(rows, ("score", "value", "direction")), *self._rest()])

    def _repr_html_(self) -> str:
        """What notebooks show: the same, with what each score says."""
        from shoal.data._notebook import card, grid

        rows = [[one.name, written(one.value), one.direction, one.meaning] for one in self[:LINES]]
        table = grid(("score", "value", "direction", "meaning"), rows, "".join(self._rest()))
        return card(counted(len(self), "scores"), table if rows else "")

    def _rest(self) -> list[str]:
        """How many scores are not shown."""
        hidden = len(self) - LINES
        return (
            [f"… and {hidden:,} more: to_frame() has all, with their parts and meanings"]
            if hidden > 0
            else []
        )

    @overload
    def __getitem__(self, name: str | SupportsIndex, /) -> Score: ...
    @overload
    def __getitem__(self, name: slice, /) -> tuple[Score, ...]: ...

    def __getitem__(self, name: Any, /) -> Any:
        if not isinstance(name, str):
            return super().__getitem__(name)
        for score in self:
            if score.name == name:
                return score
        raise UnknownName("score", name, [score.name for score in self])

    def __contains__(self, name: object) -> bool:
        return any(name in (score, score.name) for score in self)

    def to_frame(self) -> "polars.DataFrame":
        """A polars frame with a row for each score and for each of its parts.

        Its columns are ``score``, ``part``, ``value``, ``better`` and ``meaning``. ``part`` is the column, item or
        support that a value is of, and null for the score itself.
        """
        import polars as pl

        schema = {
            "score": pl.String,
            "part": pl.String,
            "value": pl.Float64,
            "better": pl.String,
            "meaning": pl.String,
        }
        rows = [
            (score.name, part, float(value), score.better or None, score.meaning)
            for score in self
            for part, value in ((None, score.value), *score.parts.items())
        ]
        return pl.DataFrame(rows, schema=schema, orient="row")


def flat(scores: Iterable[Score]) -> dict[str, float]:
    """Scores as one flat object: each under its name, its parts under the name, a dot and the column.

    >>> flat([Score("lm", 0.5, "loss", parts={"age": 0.5}), Score("classes", 3, "number of classes")])
    {'lm': 0.5, 'lm.age': 0.5, 'classes': 3}
    """
    plain: dict[str, float] = {}
    for score in scores:
        plain[score.name] = score.value
        plain |= {f"{score.name}.{part}": value for part, value in score.parts.items()}
    return plain


class Measure(Parameters):
    """A way to compare a release with its original."""

    name: ClassVar[str]
    """The name in the registry."""

    accepts: ClassVar[tuple[type, ...]]
    """The forms of published data it can measure."""

    scores_named: ClassVar[tuple[str, ...]]
    """The names of the scores it gives."""

    on_request: ClassVar[bool] = False
    """Whether it is measured only where it is asked for by its name, because it takes long."""

    not_distributable: ClassVar[str | None] = "it looks at all rows at once"
    """Why it is not measured on rows in parts; None where counts that are added up over them are enough."""

    def concerns(self, release: Release[Any]) -> bool:
        """Whether it has anything to say of a release of its form."""
        return True

    def lacking(self, both: Comparison) -> str | None:
        """Which of its scores are missing where rows are in parts, and why, in words; None where all are there."""
        return f"{self.name} ({self.not_distributable})" if self.not_distributable else None

    @final
    def scores(self, original: Table | Baskets, release: Release) -> tuple[Score, ...]:
        """Measure a release against its original.

        Nothing here needs the trace: what is measured can be measured again from the two files.
        """
        return self.compare(Comparison(original, release))

    def compare(self, both: Comparison) -> tuple[Score, ...]:
        """Measure a release beside its original; what other measures ask of them too is found out once."""
        raise NotImplementedError


class BasketMeasure(Measure):
    """A way to compare what is published of baskets, in one of the forms that it accepts, with the original ones."""

    def baskets(self, both: Comparison) -> tuple[Baskets, Any]:
        """The original, and what is published of it.

        Raises `WrongUse` if one of the two is of another form. Raises `BadData` if the original is empty.
        """
        original, published = both.original, schema_of(both.release.data)
        if not isinstance(original, Baskets) or not isinstance(published, self.accepts):
            odd = type(published if isinstance(original, Baskets) else original).__name__.lower()
            odd = "tables" if odd == "table" else odd
            forms = " or ".join(form.__name__.lower() for form in self.accepts)
            raise WrongUse(f"The measure {self.name} compares baskets with published {forms}, not {odd}.")
        if not (both.items.rows if self.not_distributable is None else len(original)):
            raise BadData("the original has no baskets to compare a release with.")
        return original, published

    def refuse_other_count(self, original: Baskets, published: int) -> None:
        """Refuse a release that has another number of baskets than its original."""
        if len(original) != published:
            raise BadData(
                f"the release has {published} baskets, but the original has {len(original)}; give the original that it "
                "was made from, read the same way."
            )


class TableMeasure(Measure):
    """A way to compare a published table with its original table."""

    accepts: ClassVar[tuple[type, ...]] = (Table,)

    def accept(self, both: Comparison) -> None:
        """Refuse what is no table beside a published table, or cannot belong together: see `tables`."""
        self.tables(both)

    def tables(self, both: Comparison) -> tuple[Table, Table]:
        """The original and the published table, checked to belong together.

        Raises `WrongUse` if one of the two is no table. Raises `BadData` if the original is empty, or the release
        cannot have been made from it.
        """
        original, published = both.original, schema_of(both.release.data)
        if not isinstance(original, Table) or not isinstance(published, Table):
            odd = type(published if isinstance(original, Table) else original).__name__.lower()
            raise WrongUse(f"The measure {self.name} compares a table with a published table, not {odd}.")
        return both.tables
