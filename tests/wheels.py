"""Packages built into wheels and installed into a folder, without a network."""

import subprocess
import sys
from pathlib import Path

import pytest


def installed(project: Path, folder: Path) -> Path:
    """Build the wheel of a project, install it alone, and return the folder to put on the path."""
    for tool in ("hatchling", "uv"):
        pytest.importorskip(tool, reason=f"{tool} is not installed: it is of the extra dev.")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "dist")]
    subprocess.run(build, check=True, cwd=project, capture_output=True)
    (wheel,) = (folder / "dist").glob("*.whl")
    install = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--offline", "--no-deps"]
    to = ["--python", sys.executable, "--target", str(folder / "site")]
    subprocess.run([*install, *to, str(wheel)], check=True)
    return folder / "site"
