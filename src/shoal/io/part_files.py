"""Published files that a cluster wrote in parts: a folder of the file's name, with files part-… in it."""

from pathlib import Path

from shoal.errors import BadData


def part_files(path: str | Path) -> list[Path]:
    """The files to read one after the other: the file itself, or the parts in a folder of its name.

    Parts are ordered by their names; empty ones are left out.

    Raises
    ------
    BadData
        If it is a folder without parts.
    """
    path = Path(path)
    if not path.is_dir():
        return [path]
    parts = sorted(part for part in path.glob("part-*") if part.is_file() and part.stat().st_size)
    if not parts:
        raise BadData("the folder holds no files part-…, so there is nothing to read.", path)
    return parts
