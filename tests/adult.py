"""Adult, the census sample, whose file has no header."""

import gzip
from pathlib import Path

NAMES = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,"
    "capital-gain,capital-loss,hours-per-week,native-country,class"
)


def complete_lines(archive: Path) -> list[str]:
    """The 30,162 lines without a missing value."""
    lines = gzip.decompress(archive.read_bytes()).decode().splitlines()
    return [line.replace(", ", ",") for line in lines if line.strip() and "?" not in line]


def write_complete(archive: Path, path: Path) -> None:
    """Write the complete lines below a header."""
    path.write_text("\n".join([NAMES, *complete_lines(archive)]) + "\n")
