"""What travels with a release: names, and a release without them, for tests that change its other files."""

from pathlib import Path

PAPERS = ("README.md", "datapackage.json")
PUBLIC = (*PAPERS, "release.json")


def without_papers(release: Path) -> None:
    """Take datapackage.json and README.md away: they would tell that other files were changed."""
    for name in PAPERS:
        (release / name).unlink(missing_ok=True)
