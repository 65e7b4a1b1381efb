"""The base class of preparation steps, which change columns before the method, by value or by row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from shoal.arrays import Counts
from shoal.data.domain import Kind
from shoal.data.role import Roles
from shoal.errors import BadData, WrongUse
from shoal.option_names import STEPS
from shoal.parameters import Parameters

if TYPE_CHECKING:
    import polars

    from shoal.data._cell_kinds import Distinct


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """The distinct values of a column before a step."""

    name: str
    texts: "polars.Series"  # null for a missing value; texts may repeat
    kind: Kind
    counts: Counts  # the number of rows with each value

    def refuse_unless(self, kind: Kind, what: str) -> None:
        """Refuse a column of another kind; `what` names the step, for the message."""
        if self.kind is not kind:
            noun = {Kind.NUMERIC: "numbers", Kind.DATE: "dates"}[kind]
            raise BadData(
                f"{what} is for {noun}, and the column is {self.kind}; name cells that are none as missing "
                "(--missing), or omit it.",
                column=self.name,
            )


class Transform(Parameters):
    """A step of the preparation. It changes values one by one, unless it depends on whole rows (`by_rows`)."""

    name: ClassVar[str]
    option: ClassVar[str]  # the command-line option, without its hyphens
    metavar: ClassVar[str] = "COLUMN=VALUE"
    help: ClassVar[str]
    public: ClassVar[str]  # what recipients are told about a column; never a value of the original
    by_rows: ClassVar[bool] = False
    """Whether a cell depends on other cells of its row; such steps come before all others."""
    whole_table: ClassVar[bool] = False
    """Whether the step needs all rows at once, in memory."""
    hides: ClassVar[bool] = False
    """Whether only the holder of a key can tell which value a published one stands for."""
    counts_rows: ClassVar[bool] = False
    """Whether the step depends on the number of rows with each value."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        name = getattr(cls, "name", "")
        cls.option = STEPS.get(name, name)

    @classmethod
    def typed(cls, texts: Sequence[str], shared: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The steps typed as values of the option, as plain data. `shared`: options that several steps share."""
        raise NotImplementedError

    @property
    def columns_changed(self) -> tuple[str, ...]:
        """The columns that the step changes."""
        raise NotImplementedError

    @property
    def columns_read(self) -> tuple[str, ...]:
        """Further columns that the step reads, whatever their role."""
        return ()

    @property
    def key_file(self) -> str | None:
        """The file of the step's secret key, if it has one."""
        return None

    def refuse_key_inside(self, folder: str | Path, source: str | None = None) -> None:
        """Refuse a key file that is inside the release folder, or is the data itself."""
        if self.key_file is not None:
            from shoal.preparation._key import refuse_inside

            refuse_inside(self.key_file, folder, source)

    def among(self, roles: Roles) -> Self:
        """The step, adapted to the roles of columns. Raises `WrongUse` if it cannot be done with these roles."""
        return self

    def sentence(self) -> str:
        """What the step does, in words for reports."""
        raise NotImplementedError

    def apply(self, values: Values) -> tuple["polars.Series", Kind]:
        """Transform the values of a column: the new text of each, and the new kind of the column."""
        raise NotImplementedError

    def apply_to_rows(self, cells: "Mapping[str, Distinct]") -> "dict[str, Distinct]":
        """Transform rows: the changed columns, from the cells of all columns that the step reads."""
        raise NotImplementedError


class ColumnStep(Transform):
    """A step that treats each column by itself, with a parameter for each in a single mapping field."""

    by_column: ClassVar[str]  # the name of that field

    @classmethod
    def parsed(cls, column: str, text: str) -> Any:
        """Parse the typed parameter of a column to a value of the field."""
        return text

    @classmethod
    def typed(cls, texts: Sequence[str], shared: Mapping[str, Any]) -> list[dict[str, Any]]:
        """One step for all columns."""
        found = {column: cls.parsed(column, text) for column, text in pairs(texts, cls.option).items()}
        return [{"name": cls.name, cls.by_column: found}] if found else []

    @property
    def columns_changed(self) -> tuple[str, ...]:
        """The columns in the mapping field."""
        return tuple(getattr(self, self.by_column))


def prepared(steps: Sequence[Transform]) -> dict[str, str]:
    """What recipients are told about each column that was changed."""
    done: dict[str, list[str]] = {}
    for step in steps:
        for name in step.columns_changed:
            done.setdefault(name, []).append(step.public)
    return {name: ", ".join(words) for name, words in done.items()}


def pairs(texts: Sequence[str], option: str) -> dict[str, str]:
    """Parse pairs of a column and a text, as they are typed: ``age=90``.

    Raises `WrongUse` if a text is not a pair, or a column is named twice.
    """
    found: dict[str, str] = {}
    for text in texts:
        column, sign, value = text.replace("\\=", "\0").partition("=")
        column, value = column.strip().replace("\0", "="), value.strip().replace("\0", "=")
        if not (sign and column and value):
            raise WrongUse(f"--{option} takes COLUMN=VALUE, not {text!r}.")
        if column in found:
            raise WrongUse(f"--{option} is given twice for {column!r}.")
        found[column] = value
    return found


def typed_number(text: str, option: str) -> int | float:
    """Parse a number as it is typed. Raises `WrongUse` for other texts."""
    try:
        return float(text) if any(sign in text for sign in ".eE") else int(text)
    except ValueError:
        raise WrongUse(f"--{option} takes a number, not {text!r}.") from None
