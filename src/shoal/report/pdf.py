"""The report as a PDF, printed by a browser without a window: Chromium, Chrome or Edge, where one is there."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from shoal.errors import WrongUse

BROWSERS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "msedge",
)
"""The programs of these browsers. The first has no windows at all, and is the fastest."""

SECONDS = 120


def find_browser() -> str:
    """The browser to print with. Raises `WrongUse`, which says what to install, if there is none."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise WrongUse(
            "A PDF is printed by Chromium, Chrome or Edge, and none is installed: install one (on Debian: apt install "
            "chromium), or omit --pdf and print report.html from any browser."
        )
    return found


def write_pdf(page: Path, target: Path) -> None:
    """Print a page as a PDF. Raises `WrongUse` if the browser does not do so."""
    with tempfile.TemporaryDirectory() as profile:
        command = [
            find_browser(),
            "--headless",
            "--disable-gpu",
            # Nothing is loaded: the page is our own and has no scripts.
            "--no-sandbox",
            f"--user-data-dir={profile}",
            "--no-pdf-header-footer",
            f"--print-to-pdf={target}",
            page.resolve().as_uri(),
        ]
        try:
            subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise WrongUse(
                f"The browser could not print the report: {error}. Omit --pdf and print report.html."
            ) from error
    if not target.is_file():
        raise WrongUse(
            "The browser did not print the report; omit --pdf and print report.html from any browser."
        )
