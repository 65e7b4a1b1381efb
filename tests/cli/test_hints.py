"""What is suggested can be done: options, commands, and hierarchies that change something."""

import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from shoal import registry
from shoal.data.baskets import Baskets


def test_rows_are_suggested_for_baskets(shoal: Callable[..., object], folder: Path) -> None:
    answer = shoal("generate", "baskets", "--baskets", "300", "-o", "baskets.dat")
    assert answer.code == 2
    assert "--rows" in answer.err
    assert "--skew" not in answer.err


METHODS = [
    name
    for name in registry.METHODS
    if (kind := registry.load("method", name)).accepts is Baskets and not kind.needs_sensitive
]


@pytest.mark.parametrize("name", METHODS)
def test_blank_lines_are_refused(shoal: Callable[..., object], folder: Path, name: str) -> None:
    (folder / "blank.dat").write_text("\n \n\n")
    kind = registry.load("method", name)
    options = [word for field, value in kind.example.items() for word in (f"--{field}", value)]
    for engine in ("local", *kind.engines[1:]):
        if engine == "spark":
            continue
        answer = shoal("anonymize", name, "blank.dat", *options, "--engine", engine, "-o", "out")
        assert answer.code == 3, answer.err
        assert not (folder / "out").exists()


def test_hierarchies_in_this_folder(shoal: Callable[..., object], people: Path, folder: Path) -> None:
    for name in ("age", "education", "zip"):
        assert shoal("hierarchy", "build", people, f"{name}=suppress", "-o", f"{name}.csv").code == 0
    given = [word for name in ("age", "education", "zip") for word in ("--hierarchy", f"{name}={name}.csv")]
    roles = ("--quasi", "age,education,zip", "--sensitive", "occupation", "--others", "drop")
    answer = shoal("anonymize", "lattice", people, "--k", "5", *roles, *given, "-o", "out")
    assert answer.code == 0, answer.err
    assert "age, education, zip from this folder" in answer.out


def test_a_column_called_folder(shoal: Callable[..., object], folder: Path) -> None:
    (folder / "some.csv").write_text("folder,s\n" + "1,x\n2,y\n3,x\n4,y\n" * 3)
    roles = ("--quasi", "folder", "--sensitive", "s", "--k", "3")
    (folder / "folder.csv").write_text("".join(f"{value};low;*\n" for value in range(1, 5)))
    (folder / "folder").mkdir()
    (folder / "folder.csv").rename(folder / "folder" / "folder.csv")
    for number, tree in enumerate(("suppress", "folder/folder.csv", "intervals:2")):
        out = ("--save-recipe", f"{number}.toml", "-o", f"out{number}")
        answer = shoal("anonymize", "lattice", "some.csv", *roles, "--hierarchy", f"folder={tree}", *out)
        assert answer.code == 0, answer.err
        assert "folder " in next(line for line in answer.out.splitlines() if line.startswith("Hierarchies"))
        assert shoal("run", f"{number}.toml", "-o", f"again{number}").code == 0
    answer = shoal("anonymize", "lattice", "some.csv", *roles, "--hierarchies", "folder", "-o", "files")
    assert answer.code == 0, answer.err


def test_the_hierarchy_of_a_secret(shoal: Callable[..., object], people: Path) -> None:
    roles = ("--quasi", "age,education,zip", "--sensitive", "occupation", "--others", "drop", "--k", "5")
    tree = ("--hierarchy", "occupation=suppress")
    answer = shoal("anonymize", "mondrian", people, *roles, *tree, "-o", "idle")
    assert answer.code == 0, answer.err
    assert "WARNING The hierarchy of the sensitive column 'occupation' has no effect" in answer.out
    assert "occupation suppress (t-closeness alone)" in answer.out
    stream = ("--engine", "stream")
    assert "has no effect" in shoal("anonymize", "mondrian", people, *roles, *tree, *stream, "-o", "cut").out
    answer = shoal("anonymize", "mondrian", people, *roles, *tree, "--t", "0.5", "-o", "used")
    assert answer.code == 0, answer.err
    assert "has no effect" not in answer.out


def drawn_table(seed: int) -> pl.DataFrame:
    """A table with flags, numbers, names and dates under names that speak of persons or do not."""
    random = np.random.default_rng(seed)
    rows = int(random.choice([2, 3, 9, 12, 80, 300]))
    columns = {
        "0/1": lambda: random.integers(0, 2, rows),
        "few": lambda: random.integers(0, 5, rows),
        "many": lambda: random.integers(0, 1000, rows),
        "own": lambda: np.arange(rows),
        "texts": lambda: random.choice(["a", "b c", "d,e", "f'g", ""], rows),
        "decimals": lambda: random.normal(size=rows).round(2),
        "one": lambda: np.zeros(rows, dtype=np.int64),
    }
    names = ["patient", "insured_id", "customer", "case_no", "id", "national", "age", "zip code", "diagnosis"]
    names += ["name", "-flag", "a=b", "a,b", "it's", "income", "x", "user_key", "visit date", "ssn", "*"]
    chosen = random.choice(names, int(random.integers(1, 7)), replace=False)
    kinds = random.choice(list(columns), len(chosen))
    return pl.DataFrame({str(name): columns[kind]() for name, kind in zip(chosen, kinds, strict=True)})


def begun(shoal: Callable[..., object], *arguments: object) -> str | None:
    """Run the command that a look at data proposes, and give it; None where none is proposed."""
    answer = shoal("inspect", *arguments)
    assert answer.code == 0, answer.err
    found = [line for line in answer.out.splitlines() if line.startswith("  shoal anonymize")]
    for number, line in enumerate(found):
        _, *words = shlex.split(line)
        words[-1] = f"out{number}"
        answer = shoal(*words, "--no-report", "--force")
        assert answer.code == 0, (line, answer.err)
    return found[0] if found else None


def test_proposed_commands_run(shoal: Callable[..., object], folder: Path) -> None:
    proposed = 0
    for seed in range(40):
        table = drawn_table(seed)
        table.write_csv(folder / "drawn.csv", quote_style="always")
        proposed += begun(shoal, "drawn.csv") is not None
    assert proposed > 15


def test_a_flag_numbers_nobody(shoal: Callable[..., object], folder: Path) -> None:
    rows = "".join(f"{row % 2},{20 + row % 30}\n" for row in range(60))
    (folder / "flags.csv").write_text("patient_id,age\n" + rows)
    command = begun(shoal, "flags.csv")
    assert command is not None
    assert "--entity" not in command


@pytest.mark.parametrize("lines", ["a\n", "a b\nb\n", "a b\n" * 5, "\na\n"])
def test_proposed_commands_for_baskets_run(shoal: Callable[..., object], folder: Path, lines: str) -> None:
    (folder / "baskets.dat").write_text(lines)
    begun(shoal, "baskets.dat")
