"""The files that describe a release to recipients, and how to remove them in tests that change its other files."""

from pathlib import Path

PAPERS = ("README.md", "datapackage.json")
PUBLIC = (*PAPERS, "release.json")


def without_papers(release: Path) -> None:
    """Remove datapackage.json and README.md, which would show that other files were changed."""
    for name in PAPERS:
        (release / name).unlink(missing_ok=True)
