"""Pseudonyms: keyed hashes instead of numbers of persons."""

import base64
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from shoal.data._promise_words import joined
from shoal.data.domain import Kind
from shoal.data.role import Roles
from shoal.errors import WrongUse
from shoal.preparation._key import KeyedStep, digest, key_of
from shoal.preparation.transform import Values

if TYPE_CHECKING:
    import polars


class Pseudonym(KeyedStep):
    """Publish a keyed hash (HMAC with SHA-256) instead of each value: without the key, nobody can undo or guess it.

    With the same key, a value has the same pseudonym in every column and table, so that tables can still be joined.
    """

    name: ClassVar[str] = "pseudonym"
    hides: ClassVar[bool] = True
    public: ClassVar[str] = "keyed hashes of the values"
    help: ClassVar[str] = "publish keyed hashes instead of values (--key FILE)"

    columns: tuple[str, ...] = Field(min_length=1, description="columns that are published as pseudonyms")
    length: int = Field(default=16, ge=8, le=52, description="characters of a pseudonym")

    def among(self, roles: Roles) -> "Pseudonym":
        """Refuse columns that are dropped."""
        if dropped := [name for name in self.columns if name in roles.identifying]:
            raise WrongUse(
                f"{dropped[0]!r} is named as identifying and dropped, so that it has no pseudonym: name it with "
                "--pseudonym alone, or with --insensitive."
            )
        return self

    def sentence(self) -> str:
        """The columns, in words."""
        return f"pseudonyms by a secret key: {joined(self.columns)}"

    def apply(self, values: Values) -> "tuple[polars.Series, Kind]":
        """Replace values by pseudonyms."""
        import polars as pl

        key = key_of(self.key, "--pseudonym")
        texts = [None if text is None else self._of(key, text) for text in values.texts.to_list()]
        if len(set(texts)) < len(set(values.texts.to_list())):
            raise WrongUse(
                f"Two values of {values.name!r} have the same pseudonym of {self.length} characters; take more."
            )
        return pl.Series(texts, dtype=pl.String), Kind.NOMINAL

    def _of(self, key: bytes, text: str) -> str:
        return base64.b32encode(digest(key, "pseudonym", text)).decode().lower()[: self.length]
