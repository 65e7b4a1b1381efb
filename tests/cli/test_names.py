"""Names of columns on the command line."""

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def odd(folder: Path) -> Path:
    rows = [f"{20 + row % 30},{row % 3},{('flu', 'cold', 'hiv')[row % 3]}" for row in range(60)]
    path = folder / "odd.csv"
    path.write_text("\n".join(["a=b,c,s", *rows]) + "\n")
    return path


def test_an_equals_sign_inside_a_name(shoal: Callable[..., object], odd: Path, folder: Path) -> None:
    roles = ("--quasi", "a=b,c", "--sensitive", "s")
    trees = ("--hierarchy", "a=b=intervals:10,20", "--hierarchy", "c=suppress")
    more = ("--weight", "a=b=2", "--kind", "c=nominal")
    answer = shoal("anonymize", "lattice", odd, "--k", "5", *roles, *trees, *more, "-o", "out")
    assert answer.code == 0, answer.err
    assert shoal("verify", "out").code == 0
    assert shoal("hierarchy", "build", odd, "a=b=mask", "-o", "tree.csv").code == 0
    trees = ("--hierarchy", "a=b=tree.csv", "--hierarchy", "c=suppress")
    answer = shoal("anonymize", "lattice", odd, "--k", "5", *roles, *trees, "-o", "again")
    assert answer.code == 0, answer.err


def test_a_name_with_a_separator(shoal: Callable[..., object], folder: Path) -> None:
    path = folder / "one.csv"
    path.write_text("a;b;c\n" + "1;1;1\n2;2;2\n" * 5)
    for engine in ("local", "stream"):
        roles = ("--separator", ",", "--quasi", "a;b;c", "--engine", engine)
        answer = shoal("anonymize", "mondrian", path, "--k", "5", *roles, "-o", engine)
        assert answer.code == 0, answer.err
        for where in ("local", "stream"):
            answer = shoal("verify", engine, "--engine", where)
            assert answer.code == 0, answer.err


def test_a_sensitive_column_called_like_a_pattern(shoal: Callable[..., object], folder: Path) -> None:
    path = folder / "pattern.csv"
    path.write_text("a,^b$\n" + "1,flu\n2,cold\n" * 5)
    roles = ("--quasi", "a", "--sensitive", "^b$")
    assert shoal("anonymize", "mondrian", path, "--k", "5", *roles, "-o", "out").code == 0
    for engine in ("local", "stream"):
        answer = shoal("verify", "out", "--engine", engine)
        assert answer.code == 0, answer.err
