"""Secret keys, in files that only their owner can read and that are never inside a release."""

import hashlib
import hmac
import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field

from shoal.errors import BadData, CannotWrite, WrongUse
from shoal.preparation.transform import Transform

SIZE = 32
"""The number of random bytes in a new key."""

LEAST = 16
"""The smallest number of bytes in a key; a shorter one could be guessed."""


def key_of(path: str | None, option: str) -> bytes:
    """Read the key in a file. If the file does not exist, make it with a random key, readable by its owner alone.

    Raises `WrongUse` if no file is named. Raises `BadData` if others can read it, or the key is too short.
    """
    if path is None:
        raise WrongUse(f"{option} needs a key: name its file with --key FILE, outside of the release folder.")
    place = Path(path)
    if not place.exists():
        return _new_key(place)
    try:
        if place.stat().st_mode & 0o077:
            raise BadData("others can read the key; make it readable by you alone (chmod 600).", place)
        key = place.read_bytes().strip()
    except OSError as error:
        raise BadData(f"the key cannot be read: {error.strerror}.", place) from error
    if len(key) < LEAST:
        raise BadData(f"the key has {len(key)} bytes, and could be guessed; give it at least {LEAST}.", place)
    return key


def absent_keys(keys: Iterable[str | None]) -> tuple[str, ...]:
    """The key files that do not exist yet and will be made."""
    return tuple(dict.fromkeys(key for key in keys if key is not None and not os.path.exists(key)))


def made_keys(keys: Iterable[str]) -> tuple[str, ...]:
    """Messages for the owner of the data about keys that were made."""
    return tuple(
        f"A new key was made, which only you can read: {key}. Keep it secret, and keep it: the next release has the "
        "same pseudonyms and shifted dates only with it."
        for key in keys
    )


def _new_key(place: Path) -> bytes:
    key = secrets.token_hex(SIZE).encode()
    try:
        handle = os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(key + b"\n")
    except OSError as error:
        raise CannotWrite(f"The key {place}", error) from error
    return key


def digest(key: bytes, purpose: str, text: str) -> bytes:
    """The keyed hash of a text (HMAC with SHA-256), different for each purpose."""
    return hmac.new(key, f"{purpose}\0{text}".encode(), hashlib.sha256).digest()


def refuse_inside(key: str, folder: str | os.PathLike[str], source: str | None) -> None:
    """Refuse a key file that is inside the release folder, or is the data itself. Raises `WrongUse`."""
    place = os.path.realpath(key)
    whole = os.path.realpath(folder)
    if place == whole or place.startswith(whole + os.sep):
        raise WrongUse(
            f"The key {key} lies in the release folder {folder}, where it would be published: keep it elsewhere."
        )
    if source is not None and "://" not in source and source != "-" and place == os.path.realpath(source):
        raise WrongUse(f"The key {key} is the data itself; name another file with --key.")


class KeyedStep(Transform):
    """A step on some columns that only the holder of a secret key can repeat or undo."""

    metavar: ClassVar[str] = "COLUMN,…"

    columns: tuple[str, ...]
    key: str = Field(
        description="file of the key; made where there is none, and never inside the release folder"
    )

    @classmethod
    def typed(cls, texts: Sequence[str], shared: Mapping[str, Any]) -> list[dict[str, Any]]:
        """One step for all columns, with the shared options that it takes."""
        names = [name.strip() for text in texts for name in text.split(",")]
        if names and shared.get("key") is None:
            key_of(None, f"--{cls.option}")
        own = {name: shared[name] for name in cls.model_fields if shared.get(name) is not None}
        return [{"name": cls.name, "columns": names, **own}] if names else []

    @property
    def columns_changed(self) -> tuple[str, ...]:
        """The columns of the step."""
        return self.columns

    @property
    def key_file(self) -> str:
        """The file of the key."""
        return self.key
