"""What is done to columns before the method: small declared steps, each on the values of a column or on its rows."""

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
    """The distinct values of a column as they are now."""

    name: str
    texts: "polars.Series"  # null where a value is missing; texts may repeat
    kind: Kind
    counts: Counts  # the rows of each

    def refuse_unless(self, kind: Kind, what: str) -> None:
        """Refuse a column of another kind; `what` is done to it."""
        if self.kind is not kind:
            noun = {Kind.NUMERIC: "numbers", Kind.DATE: "dates"}[kind]
            raise BadData(
                f"{what} is for {noun}, and the column is {self.kind}; name cells that are none as missing "
                "(--missing), or omit it.",
                column=self.name,
            )


class Transform(Parameters):
    """A step of the preparation. Values are changed one by one; a step that looks at whole rows says so (`by_rows`)."""

    name: ClassVar[str]
    option: ClassVar[str]  # of the command line, without its hyphens
    metavar: ClassVar[str] = "COLUMN=VALUE"
    help: ClassVar[str]
    public: ClassVar[str]  # what recipients are told of a column: never a value of the original
    by_rows: ClassVar[bool] = False
    """Whether a cell depends on other cells of its row; such steps come before all others."""
    whole_table: ClassVar[bool] = False
    """Whether it needs all rows at once, in memory."""
    hides: ClassVar[bool] = False
    """Whether only the holder of a key can tell which value stands behind what is published."""
    counts_rows: ClassVar[bool] = False
    """Whether the rows of each value matter."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        name = getattr(cls, "name", "")
        cls.option = STEPS.get(name, name)

    @classmethod
    def typed(cls, texts: Sequence[str], shared: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The steps that the texts of the option stand for, as a recipe has them; `shared` are options of several."""
        raise NotImplementedError

    @property
    def columns_changed(self) -> tuple[str, ...]:
        """The columns that are changed."""
        raise NotImplementedError

    @property
    def columns_read(self) -> tuple[str, ...]:
        """The columns that are read for it, whatever their role."""
        return ()

    @property
    def key_file(self) -> str | None:
        """The file of its key, where it has one."""
        return None

    def refuse_key_inside(self, folder: str | Path, source: str | None = None) -> None:
        """Refuse a key that lies in the release folder, or is the data."""
        if self.key_file is not None:
            from shoal.preparation._key import refuse_inside

            refuse_inside(self.key_file, folder, source)

    def among(self, roles: Roles) -> Self:
        """The same step where the roles of columns are known. Raises `WrongUse` if it cannot be done with them."""
        return self

    def sentence(self) -> str:
        """What is done, for reports."""
        raise NotImplementedError

    def apply(self, values: Values) -> tuple["polars.Series", Kind]:
        """The texts that are published instead, and the kind of the column then."""
        raise NotImplementedError

    def apply_to_rows(self, cells: "Mapping[str, Distinct]") -> "dict[str, Distinct]":
        """The columns that are changed, from the cells of all that are read."""
        raise NotImplementedError


class ColumnStep(Transform):
    """A step that says of each column by itself what is done to it, in one field from columns to that."""

    by_column: ClassVar[str]  # the name of that field

    @classmethod
    def parsed(cls, column: str, text: str) -> Any:
        """What is typed of a column, as the field has it."""
        return text

    @classmethod
    def typed(cls, texts: Sequence[str], shared: Mapping[str, Any]) -> list[dict[str, Any]]:
        """One step for all columns."""
        found = {column: cls.parsed(column, text) for column, text in pairs(texts, cls.option).items()}
        return [{"name": cls.name, cls.by_column: found}] if found else []

    @property
    def columns_changed(self) -> tuple[str, ...]:
        """The columns that it names."""
        return tuple(getattr(self, self.by_column))


def prepared(steps: Sequence[Transform]) -> dict[str, str]:
    """What recipients are told of each column that was changed."""
    done: dict[str, list[str]] = {}
    for step in steps:
        for name in step.columns_changed:
            done.setdefault(name, []).append(step.public)
    return {name: ", ".join(words) for name, words in done.items()}


def pairs(texts: Sequence[str], option: str) -> dict[str, str]:
    """Pairs of a column and a text, as they are typed: ``age=90``.

    Raises `WrongUse` if a text is none, or names a column twice.
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
    """A number as it is typed. Raises `WrongUse` if it is none."""
    try:
        return float(text) if any(sign in text for sign in ".eE") else int(text)
    except ValueError:
        raise WrongUse(f"--{option} takes a number, not {text!r}.") from None
