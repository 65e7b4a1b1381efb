"""Baskets on the command line: the method coherence, its steps, drawn roles, and convert."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Answer

Shoal = Callable[..., Answer]

ROWS = "0 2 6\n0 2 5\n1 2\n0 1 5\n0 1 2\n0 1 2 3 4 5\n"
PROMISE = ("--h", 0.5, "--k", 3, "--p", 3)


@pytest.fixture
def baskets(folder: Path) -> Path:
    path = folder / "baskets.dat"
    path.write_text(ROWS)
    return path


def test_the_example_of_the_seed_with_its_steps(shoal: Shoal, baskets: Path, folder: Path) -> None:
    answer = shoal(
        "anonymize", "coherence", baskets, *PROMISE, "--sensitive", "3,4", "--explain", "-o", "out"
    )
    assert answer.code == 0, answer.err
    assert "OK      hkp-coherence" in answer.out
    assert answer.out.index("to remove (max MM/IL): 5") < answer.out.index("to remove (max MM/IL): 1")
    assert (folder / "out/release/data.dat").read_text() == "0\n0 2\n0 2\n0 2\n0 2 3 4\n2\n"
    assert "explain" not in (folder / "out/release/release.json").read_text()
    assert json.loads((folder / "out/run.json").read_text())["notes"]["suppressed"] == ["6", "5", "1"]
    assert shoal("verify", "out").code == 0


def test_steps_are_not_shown_unasked(shoal: Shoal, baskets: Path) -> None:
    plain = shoal("anonymize", "coherence", baskets, *PROMISE, "--sensitive", "3,4", "-o", "out")
    assert "score table" not in plain.out


@pytest.mark.parametrize(
    ("parameters", "code", "said"),
    [
        (("--h", 0.1, "--k", 3, "--p", 3), 1, "The least h is 0.1667"),
        (("--h", 0.5, "--k", 7, "--p", 3), 1, "The largest k is 6"),
        (("--h", 40, "--k", 3, "--p", 3), 2, "h must be at most 1"),
        (("--h", 0, "--k", 3, "--p", 3), 2, "h must be above 0"),
        (("--h", 0.5, "--k", 1, "--p", 3), 2, "k must be at least 2"),
        (("--h", 0.5, "--k", 3, "--p", 0), 2, "p must be at least 1"),
    ],
)
def test_wrong_and_impossible_promises(
    shoal: Shoal, baskets: Path, folder: Path, parameters: tuple[object, ...], code: int, said: str
) -> None:
    answer = shoal("anonymize", "coherence", baskets, *parameters, "--sensitive", "3,4", "-o", "out")
    assert answer.code == code
    assert said in answer.err
    assert not (folder / "out").exists()


def test_drawn_roles_are_drawn_again_for_measuring(shoal: Shoal, baskets: Path, folder: Path) -> None:
    drawn = ("--public-share", 0.6, "--seed", 7, "--private", "rest", "--private-below", 0.5)
    made = shoal(
        "anonymize", "coherence", baskets, "--h", 1, "--k", 2, "--p", 2, *drawn, "-o", "out", "--json"
    )
    assert made.code == 0, made.err
    facts = json.loads((folder / "out/release/release.json").read_text())
    assert "seed" not in facts["parameters"]
    measured = shoal("measure", "out", "--original", baskets, "--json")
    assert measured.code == 0, measured.err
    loss = json.loads(measured.out)["information_loss"]
    assert loss == json.loads(made.out)["scores"]["information_loss"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--public-share", 0.5), "say --seed"),
        (("--private", "top", "--seed", 1), "say --public-share"),
        (("--public-share", 1.5, "--seed", 1), "public_share must be"),
    ],
)
def test_a_draw_needs_its_parts(shoal: Shoal, baskets: Path, given: tuple[object, ...], said: str) -> None:
    answer = shoal("anonymize", "coherence", baskets, *PROMISE, *given, "-o", "out")
    assert answer.code == 2
    assert said in answer.err


def test_tables_have_no_drawn_roles(shoal: Shoal, people: Path, roles: tuple[str, ...]) -> None:
    answer = shoal("anonymize", "mondrian", people, "--k", 3, *roles, "--public-share", 0.5, "-o", "out")
    assert answer.code == 2


def test_convert(shoal: Shoal, baskets: Path, folder: Path) -> None:
    answer = shoal("convert", baskets, "matrix.csv", "--to", "matrix", "--least-support", 2)
    assert (answer.code, answer.out) == (0, "6 of 6 baskets with 4 of 7 items in matrix.csv\n")
    assert (folder / "matrix.csv").read_text().splitlines()[:2] == ["0,1,2,5", "1,0,1,0"]
    assert shoal("convert", "matrix.csv", "back.dat", "--quiet").out == ""
    assert (folder / "back.dat").read_text() == "0 2\n0 2 5\n1 2\n0 1 5\n0 1 2\n0 1 2 5\n"
    assert shoal("convert", baskets, "matrix.csv", "--to", "matrix").code == 2
    assert shoal("convert", baskets, "other.csv").code == 2


def test_baskets_of_secrets_alone_are_left_out(shoal: Shoal, folder: Path) -> None:
    """The warning says what to type, and what was typed leaves nothing to warn of."""
    (folder / "t.dat").write_text("milk\nmilk tea\ntea\nsecret\nmilk\ntea secret\nmilk tea\nmilk\n" * 2)
    call = ("--p", 4, "--sensitive", "secret", "--no-report", "--force", "-o", "out")
    answer = shoal("anonymize", "cahd", "t.dat", *call)
    assert (
        "leave out the baskets that hold nothing else: `shoal convert INPUT KEPT --drop-only ITEMS`"
        in answer.out
    )
    answer = shoal("convert", "t.dat", "kept.dat", "--drop-only", "secret")
    assert answer.out == "14 of 16 baskets with 3 of 3 items in kept.dat\n"
    assert "without a public item" not in shoal("anonymize", "cahd", "kept.dat", *call).out
