"""Published files that a cluster wrote in parts: a folder of the file's name, with files part-… in it."""

from pathlib import Path

from shoal.errors import BadData


def is_part(path: Path, ending: str) -> bool:
    """Whether a file is one of the parts of a published file of an ending."""
    return (
        path.name.startswith("part-") and path.suffix == ending and path.is_file() and not path.is_symlink()
    )


def part_files(path: str | Path) -> list[Path]:
    """The files to read one after the other: the file itself, or the parts in a folder of its name.

    Parts are ordered by their names; empty ones are left out.

    Raises `BadData` if it is a folder without parts.
    """
    path = Path(path)
    if not path.is_dir():
        return [path]
    parts = sorted(part for part in path.glob("part-*") if part.is_file() and part.stat().st_size)
    if not parts:
        raise BadData("the folder holds no files part-…, so there is nothing to read.", path)
    return parts
