"""Datasets drawn from a release, from the command line."""

from pathlib import Path

import pytest

from shoal.cli import main
from shoal.io.baskets.load import read_baskets


@pytest.fixture
def out(tmp_path: Path) -> Path:
    source = tmp_path / "baskets.csv"
    lines = ["person,item"] + [
        f"{person},{item}"
        for person in range(30)
        for item in ("red wine", "meat", f"kind {person % 7}")[: 2 + person % 2]
    ]
    source.write_text("\n".join(lines) + "\n")
    layout = ("--baskets", "long:person,item")
    folder = tmp_path / "out"
    code = main(
        ["anonymize", "disassociation", str(source), *layout, "--k", "3", "--quiet", "-o", str(folder)]
    )
    assert code == 0
    return folder


def test_datasets_are_written(out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "copies"
    assert main(["reconstruct", str(out), "--count", "2", "--seed", "4", "-o", str(target)]) == 0
    assert "2 datasets" in capsys.readouterr().out
    assert sorted(path.name for path in target.iterdir()) == ["1.csv", "2.csv"]
    for path in target.iterdir():
        drawn = read_baskets(path)
        assert len(drawn) == 30
        assert {"red wine", "meat"} <= set(drawn.vocabulary)


def test_a_larger_count_begins_with_the_same(out: Path, tmp_path: Path) -> None:
    for count in ("1", "3"):
        assert main(["reconstruct", str(out), "--count", count, "-o", str(tmp_path / count), "--quiet"]) == 0
    assert (tmp_path / "1" / "1.csv").read_text() == (tmp_path / "3" / "1.csv").read_text()
    assert (tmp_path / "3" / "1.csv").read_text() != (tmp_path / "3" / "2.csv").read_text()


def test_nothing_is_overwritten(out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reconstruct", str(out), "-o", str(tmp_path)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert main(["reconstruct", str(out), "--count", "0", "-o", str(tmp_path / "new")]) == 2
    assert main(["reconstruct", str(tmp_path / "nowhere"), "-o", str(tmp_path / "new")]) == 3
    assert not (tmp_path / "new").exists()


def test_only_clusters_are_reconstructed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "people.csv"
    source.write_text("age\n" + "20\n30\n" * 5)
    arguments = [str(source), "--quasi", "age", "--k", "2", "--quiet", "-o", str(tmp_path / "out")]
    assert main(["anonymize", "mondrian", *arguments]) == 0
    assert main(["reconstruct", str(tmp_path / "out"), "-o", str(tmp_path / "copies")]) == 2
    assert "holds table" in capsys.readouterr().err
