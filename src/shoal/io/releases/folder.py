"""The release folder: what is published, and beside it what only the owner of the data may see.

::

    OUT/release/data.*         the published data
    OUT/release/release.json   how it was made and what it promises
    OUT/…                      private files, such as report.html and run.json

A folder is written under another name beside its place and renamed at the end, so that a crash leaves nothing
half-written.
"""

import json
import os
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars.exceptions

from shoal.data._remote import refuse_address
from shoal.data.hierarchy import Hierarchy
from shoal.data.release import Release
from shoal.errors import BadData, CannotWrite, WrongUse
from shoal.io.hierarchies.load import hierarchy_from_data
from shoal.io.releases.data_file import DATA_NAMES, read_data, write_data
from shoal.io.releases.linked_files import SECRET_NAMES
from shoal.io.releases.part_files import is_part
from shoal.io.releases.release_json import facts_text, read_facts

RELEASE, FACTS, RUN, REPORT = "release", "release.json", "run.json", "report.html"
NO_PART = "it is no part of the release"
OWN_NAMES = frozenset({RELEASE, RUN, REPORT})
"""What Shoal writes into OUT: all else there belongs to somebody else, and survives a replacement."""


def write_release(
    folder: str | Path,
    release: Release[Any],
    *,
    private: Mapping[str, bytes | str] | None = None,
    force: bool = False,
    table_format: str = "csv",
    safe_cells: bool = False,
    check: Callable[[Path], None] | None = None,
) -> Path:
    """Write a release into a new folder, completely or not at all.

    Parameters
    ----------
    folder
        The folder to make. Folders above it are made as well.
    release
        What to publish. Rows are put into canonical order if they are not.
    private
        Files for the owner of the data by name, such as ``report.html``; they lie beside the published folder.
    force
        Replace a folder of an earlier release, once the new one is complete. Files in it that Shoal did not write are
        carried over. A folder that is not empty and holds no release is never replaced.
    table_format
        ``csv`` or ``parquet``, for tables.
    safe_cells
        Put an apostrophe before cells of a table as csv that a spreadsheet would run as formulas.
    check
        Called with the complete folder before it gets its name; if it raises, nothing is left behind.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    WrongUse
        If the folder is there already, or is not one of ours.
    CannotWrite
        If the disk is full, for example. Nothing is left behind.
    """
    if table_format not in ("csv", "parquet"):
        raise WrongUse(f"A table is published as csv or parquet, not as {table_format!r}.")
    if safe_cells and table_format != "csv":
        raise WrongUse("Safe cells are for csv, which spreadsheets open; leave --safe-cells away.")
    refuse_address(folder, writing=True)
    place = Path(folder).absolute()
    if place.is_symlink():
        place = place.resolve()
    _check_place(place, folder, force)
    draft = place.with_name(f".{place.name}.{secrets.token_hex(4)}.partial")
    with _tidy(draft, folder):
        published = draft / RELEASE
        published.mkdir(parents=True)
        shape = write_data(release.data, published, table_format, safe_cells)
        (published / FACTS).write_text(facts_text(release, shape, _version()), encoding="utf-8")
        for name, content in (private or {}).items():
            _private_path(draft, name).write_bytes(content.encode() if isinstance(content, str) else content)
        if check is not None:
            check(draft)
        _put(draft, place)
    return Path(folder)


def read_release(folder: str | Path) -> Release:
    """Read a release back from the folder it was written to, or from the published folder inside.

    Cells are read raw: nothing is guessed, not even what is missing.

    Raises
    ------
    BadData
        If there is no release, a part of it is missing or damaged, or a newer version of Shoal wrote it.
    """
    published = published_folder(folder)
    facts = read_facts(published / FACTS)
    return facts.release(read_data(published, facts.shape))


def published_folder(folder: str | Path) -> Path:
    """The folder that is published: the one inside that a release was written to, or itself.

    Raises
    ------
    BadData
        If there is no release.
    """
    refuse_address(folder)
    place = Path(folder)
    published = place if (place / FACTS).is_file() else place / RELEASE
    if not (published / FACTS).is_file():
        there = (
            "there is no such folder" if not place.exists() else f"there is no {FACTS}, so it is no release"
        )
        raise BadData(
            f"{there}. Name the folder that `shoal anonymize … -o` made, or its folder {RELEASE}.", place
        )
    return published


def strays(folder: str | Path) -> list[tuple[str, str]]:
    """What lies in a published folder and is no part of the release, by its path inside, and why.

    A published folder holds release.json and one data file, or a folder of its name with part files of its ending
    alone, and of linked tables the file of the secrets: nothing hidden, no links, no folders.

    Parameters
    ----------
    folder
        The folder that a release was written to, or the published folder inside.
    """
    published = published_folder(folder)
    found: list[tuple[str, str]] = []
    known = (FACTS, *DATA_NAMES, *(SECRET_NAMES if _is_linked(published) else ()))
    for entry in sorted(published.iterdir()):
        if entry.name in known:
            if entry.is_symlink():
                found.append((entry.name, "it is a link"))
            elif entry.is_dir() and entry.name in DATA_NAMES:
                found += [
                    (f"{entry.name}/{part.name}", NO_PART)
                    for part in sorted(entry.iterdir())
                    if not is_part(part, entry.suffix)
                ]
        else:
            found.append((entry.name, NO_PART))
    return found


def _is_linked(published: Path) -> bool:
    """Whether release.json says that two linked tables are published."""
    try:
        return bool(read_facts(published / FACTS).shape["form"] == "linked")
    except BadData:
        return False


def is_release(folder: object) -> bool:
    """Whether a path is a folder that a release was written to, or the published folder inside."""
    if not isinstance(folder, str | Path):
        return False
    return any((Path(folder) / place / FACTS).is_file() for place in (".", RELEASE))


def read_run(folder: str | Path) -> tuple[dict[str, Any], dict[str, Hierarchy]]:
    """The recipe and the hierarchies of a run, by column, from the private run.json beside its release.

    Raises
    ------
    BadData
        If there is no run.json, or it is damaged.
    """
    path = Path(folder) / RUN
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        recipe, hierarchies = dict(kept["recipe"]), dict(kept["hierarchies"])
    except (FileNotFoundError, NotADirectoryError):
        raise BadData(
            "there is no such file. Name the folder that `shoal anonymize … -o` made, with its private files: run.json "
            "tells how the original is read, who is who, and the hierarchies.",
            path,
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadData("the file cannot be read; make the release again.", path) from error
    return recipe, {column: hierarchy_from_data(data) for column, data in hierarchies.items()}


def _check_place(place: Path, folder: str | Path, force: bool) -> None:
    if not place.name:
        raise WrongUse(f"{folder} is no name for a new folder.")
    if not place.exists():
        return
    if not place.is_dir():
        raise WrongUse(f"{folder} is a file; choose another name for the folder.")
    if not force:
        raise WrongUse(f"The folder {folder} is there already; use --force to replace it, or choose another.")
    if not (place / RELEASE / FACTS).is_file() and any(place.iterdir()):
        raise WrongUse(
            f"The folder {folder} is not empty and holds no release of Shoal, so it is not replaced; choose another."
        )


@contextmanager
def _tidy(draft: Path, folder: str | Path) -> Iterator[None]:
    """Remove the draft if anything goes wrong, and say what to do if the file system refuses."""
    try:
        yield
    except (OSError, polars.exceptions.PolarsError) as error:
        # Writers of single files say which file they could not write: that of the draft, which tells the user nothing.
        cause = error.__cause__ if isinstance(error, CannotWrite) else error
        assert isinstance(cause, Exception)
        raise CannotWrite(f"The release {folder}", cause) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _put(draft: Path, place: Path) -> None:
    """Put a complete draft in its place; what was there before goes only then."""
    if not place.exists():
        draft.rename(place)
        return
    old = place.with_name(f".{place.name}.{secrets.token_hex(4)}.old")
    place.rename(old)
    try:
        draft.rename(place)
    except BaseException:
        old.rename(place)
        raise
    for entry in sorted(old.iterdir()):
        if entry.name not in OWN_NAMES and not (place / entry.name).exists():
            entry.rename(place / entry.name)
    shutil.rmtree(old, ignore_errors=True)


def _private_path(draft: Path, name: str) -> Path:
    if name != os.path.basename(name) or name in ("", ".", "..", RELEASE):
        raise WrongUse(f"{name!r} is no name for a private file.")
    return draft / name


def _version() -> str:
    """The version of the package; it is its own front that says it, which is loaded before any part of it."""
    return str(sys.modules[__name__.partition(".")[0]].__version__)
