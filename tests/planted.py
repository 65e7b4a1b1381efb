"""Made-up source files, for tests of the house rules to find fault with."""

from pathlib import Path


def plant(source: Path, path: str, text: str) -> None:
    """Write a file below a folder of sources."""
    file = source / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
