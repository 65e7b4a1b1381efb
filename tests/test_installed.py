"""A wheel that is installed elsewhere works without the repository."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

Call = Callable[..., str]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds Shoal as its wheel brings it."""
    for tool in ("hatchling", "uv"):
        pytest.importorskip(tool, reason=f"{tool} is not installed: it is of the extra dev.")
    folder = tmp_path_factory.mktemp("elsewhere")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "dist")]
    subprocess.run(build, check=True, cwd=ROOT, capture_output=True)
    (wheel,) = (folder / "dist").glob("*.whl")
    install = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--offline", "--no-deps"]
    to = ["--python", sys.executable, "--target", str(folder / "site")]
    subprocess.run([*install, *to, str(wheel)], check=True)
    return folder / "site"


@pytest.fixture
def call(site: Path, tmp_path: Path) -> Call:
    """Call the installed program away from the repository."""

    def called(*arguments: str, program: tuple[str, ...] = ("bin/shoal",)) -> str:
        environment = {**os.environ, "PYTHONPATH": str(site)}
        first, *others = program
        command = [sys.executable, str(site / first) if first.startswith("bin/") else first, *others]
        done = subprocess.run(
            [*command, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return called


def test_the_program_publishes_proves_and_reports(call: Call, site: Path, tmp_path: Path) -> None:
    place = call(program=("-c", "import shoal; print(shoal.__file__)"))
    assert Path(place.strip()).is_relative_to(site)
    call("generate", "table", "--rows", "300", "--seed", "7", "-o", "people.csv")
    roles = ("--quasi", "age,sex", "--sensitive", "disease", "--others", "drop")
    call("anonymize", "mondrian", "people.csv", "--k", "5", *roles, "-o", "out")
    assert "OK      k-anonymity" in call("verify", "out")
    assert "</html>" in (tmp_path / "out" / "report.html").read_text()


def test_everything_in_the_package_is_in_the_wheel(site: Path) -> None:
    source = ROOT / "src"
    kept = {path.relative_to(source) for path in source.rglob("*") if path.is_file()}
    kept = {path for path in kept if path.parts[0] == "shoal" and "__pycache__" not in path.parts}
    assert {path.suffix for path in kept} >= {".py", ".j2", ".toml"}
    assert sorted(path for path in kept if not (site / path).exists()) == []
