"""Recoding: values are replaced by others."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from shoal.data._cell_kinds import find_kind
from shoal.data._promise_words import joined
from shoal.data.domain import Kind
from shoal.errors import WrongUse
from shoal.preparation.transform import ColumnStep, Values

if TYPE_CHECKING:
    import polars


class Recode(ColumnStep):
    """Publish values under other names; several may get the same. Values that are not listed stay as they are."""

    name: ClassVar[str] = "recode"
    metavar: ClassVar[str] = "COLUMN=OLD:NEW,…"
    public: ClassVar[str] = "values under other names"
    help: ClassVar[str] = "publish values under other names: sex=1:male,2:female"
    by_column: ClassVar[str] = "values"

    values: dict[str, dict[str, str]] = Field(min_length=1, description="column to old and new values")

    @classmethod
    def parsed(cls, column: str, text: str) -> dict[str, str]:
        """Parse the old and new values of a column."""
        halves = [part.partition(":") for part in text.split(",")]
        if not all(sign and old.strip() and new.strip() for old, sign, new in halves):
            raise WrongUse(f"--recode takes COLUMN=OLD:NEW,…, not {column}={text!r}.")
        return {old.strip(): new.strip() for old, _, new in halves}

    def sentence(self) -> str:
        """The columns with old and new values, in words."""
        said = [
            f"{name} ({', '.join(f'{old} as {new}' for old, new in names.items())})"
            for name, names in self.values.items()
        ]
        return f"recoding: {joined(said)}"

    def apply(self, values: Values) -> "tuple[polars.Series, Kind]":
        """Replace old values by new ones."""
        names = self.values[values.name]
        refuse_absent(names, values)
        texts = values.texts.replace(names)
        return texts, values.kind if values.kind is Kind.ORDINAL else find_kind(texts)


def refuse_absent(names: Sequence[str] | Mapping[str, str], values: Values) -> None:
    """Refuse values that no row has, because they are probably typing mistakes."""
    there = set(values.texts.drop_nulls().to_list())
    if absent := [name for name in names if name not in there]:
        raise WrongUse(
            f"The column {values.name!r} has no value {absent[0]!r} to recode or drop; values are written as in the "
            "file."
        )
