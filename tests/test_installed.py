"""A wheel installed elsewhere works without the repository."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.wheels import installed

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with Shoal installed from its wheel."""
    return installed(ROOT, tmp_path_factory.mktemp("elsewhere"))


def test_the_program_publishes_proves_and_reports(site: Path, tmp_path: Path) -> None:
    def call(*command: object) -> str:
        environment = {**os.environ, "PYTHONPATH": str(site)}
        words = [sys.executable, *map(str, command)]
        done = subprocess.run(
            words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    shoal = site / "bin" / "shoal"
    place = call("-c", "import shoal; print(shoal.__file__)")
    assert Path(place.strip()).is_relative_to(site)
    call(shoal, "generate", "table", "--rows", "300", "--seed", "7", "-o", "people.csv")
    roles = ("--quasi", "age,sex", "--sensitive", "disease", "--others", "drop")
    call(shoal, "anonymize", "mondrian", "people.csv", "--k", "5", *roles, "-o", "out")
    assert "OK      k-anonymity" in call(shoal, "verify", "out")
    assert "</html>" in (tmp_path / "out" / "report.html").read_text()


def test_everything_in_the_package_is_in_the_wheel(site: Path) -> None:
    source = ROOT / "src"
    files = [path.relative_to(source) for path in (source / "shoal").rglob("*") if path.is_file()]
    files = [path for path in files if "__pycache__" not in path.parts]
    assert {path.suffix for path in files} >= {".py", ".j2", ".toml"}
    assert [path for path in files if not (site / path).exists()] == []
