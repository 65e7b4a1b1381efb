"""What a judgment is about is told, and what nobody judges is told or refused: on every engine."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.parts import MemoryEngine

import shoal as library
from shoal.errors import BadData
from shoal.io.baskets.load import read_baskets
from shoal.models.km_anonymity import KmAnonymity
from shoal.verification import Asked, verify_as_asked

STREAM = ("--engine", "stream", "--memory", "1GB")
BASKETS = [["beer", "wine"], ["beer", "wine"], ["beer", "pills", "wine"], ["beer", "wine"]] * 3


def layouts(folder: Path) -> dict[str, Path]:
    """Releases of the same baskets in each layout of a table, with the path of the data."""
    found = {}
    for name, layout in {"long": "long:who,item", "column": "column:bought", "matrix": "matrix"}.items():
        file = folder / f"{name}.txt"
        if name == "long":
            rows = [f"{place},{item}" for place, items in enumerate(BASKETS) for item in items]
            file.write_text("\n".join(["who,item", *rows]) + "\n")
        elif name == "column":
            file.write_text("\n".join(["bought", *("|".join(items) for items in BASKETS)]) + "\n")
        else:
            rows = [
                ",".join(str(int(item in items)) for item in ("beer", "pills", "wine")) for items in BASKETS
            ]
            file.write_text("\n".join(["beer,pills,wine", *rows]) + "\n")
        baskets = read_baskets(file, baskets=layout, sensitive=["pills"])
        library.anonymize(baskets, "coherence", h=0.5, k=2, p=2).write(folder / name, report=False)
        found[name] = folder / name / "release" / "data.csv"
    return found


def with_column(data: Path, head: str) -> None:
    lines = data.read_text().splitlines()
    data.write_text(
        "".join(f"{line},{head if not place else f'Ann {place}'}\n" for place, line in enumerate(lines))
    )


@pytest.mark.parametrize("layout", ["long", "column"])
@pytest.mark.parametrize("parts", [False, True])
def test_further_columns_of_a_release_of_baskets(
    layout: str, parts: bool, shoal: Callable[..., Any], folder: Path
) -> None:
    data = layouts(folder)[layout]
    assert shoal("verify", layout).code == shoal("verify", layout, *STREAM).code == 0
    with_column(data, "ssn")
    if parts:
        content = data.read_text()
        data.unlink()
        data.mkdir()
        (data / "part-0.csv").write_text(content)
    local = shoal("verify", layout)
    assert (local.code, local.out) == (3, "")
    assert "there are columns that nobody judges: ssn. Take them out." in local.err
    assert "columns that nobody judges: ssn" in shoal("verify", layout, *STREAM).err
    with pytest.raises(BadData, match="nobody judges: ssn"):
        verify_as_asked(folder / layout, Asked(), MemoryEngine())


@pytest.mark.parametrize("layout", ["long:who,item", "long", "column:bought"])
def test_further_columns_of_any_file_of_baskets(layout: str, shoal: Callable[..., Any], folder: Path) -> None:
    data = layouts(folder)[layout.partition(":")[0]]
    call = ("verify", data, "--model", "km-anonymity", "--k", 2, "--m", 2, "--baskets", layout)
    assert shoal(*call).code == shoal(*call, *STREAM).code == 0
    with_column(data, "name")
    for answer in (shoal(*call), shoal(*call, *STREAM)):
        assert (answer.code, "columns that nobody judges: name" in answer.err) == (3, True)


def test_further_columns_of_parquet(shoal: Callable[..., Any], folder: Path) -> None:
    frame = pl.DataFrame(
        {"who": [1, 1, 2, 2], "item": ["a", "b", "a", "b"], "name": ["Ann"] * 2 + ["Bob"] * 2}
    )
    call = (
        "verify",
        "a.parquet",
        "--model",
        "km-anonymity",
        "--k",
        2,
        "--m",
        2,
        "--baskets",
        "long:who,item",
    )
    frame.write_parquet(folder / "a.parquet")
    for answer in (shoal(*call), shoal(*call, *STREAM)):
        assert (answer.code, "columns that nobody judges: name" in answer.err) == (3, True)
    frame.drop("name").write_parquet(folder / "a.parquet")
    assert shoal(*call).out == shoal(*call, *STREAM).out


def test_labels_and_idle_items_of_a_matrix(shoal: Callable[..., Any], folder: Path) -> None:
    data = layouts(folder)["matrix"]
    assert shoal("verify", "matrix").code == 0
    whole = data.read_text().splitlines()
    data.write_text("".join(f"{'' if not place else 'Ann'},{line}\n" for place, line in enumerate(whole)))
    answer = shoal("verify", "matrix")
    assert (answer.code, "published baskets have no labels" in answer.err) == (3, True)
    data.write_text("".join(f"{line},{'Ann' if not place else 0}\n" for place, line in enumerate(whole)))
    answer = shoal("verify", "matrix")
    assert (answer.code, "column 'Ann': no basket holds this item" in answer.err) == (3, True)


def test_comments_of_spmf(shoal: Callable[..., Any], folder: Path) -> None:
    (folder / "a.spmf").write_text("1 -1 2 -1 -2\n" * 4)
    call = ("verify", "a.spmf", "--model", "km-anonymity", "--k", 2, "--m", 2)
    assert shoal(*call).code == shoal(*call, *STREAM).code == 0
    (folder / "a.spmf").write_text("1 -1 2 -1 -2\n" * 4 + "# Ann has item 2\n")
    for answer in (shoal(*call), shoal(*call, *STREAM)):
        assert (answer.code, "published baskets have no comments" in answer.err) == (3, True)


def test_the_columns_of_a_release(shoal: Callable[..., Any], people: Path, folder: Path) -> None:
    roles = (
        "--quasi",
        "age,zip",
        "--sensitive",
        "occupation",
        "--insensitive",
        "education",
        "--identifying",
        "name",
    )
    assert shoal("anonymize", "mondrian", people, "--k", 5, *roles, "--no-report", "-o", "out").code == 0
    said = "Judged by age, zip (quasi-identifiers); sensitive: occupation; insensitive: education.\n"
    for more in ((), STREAM):
        assert shoal("verify", "out", *more).out.endswith(said)
        assert json.loads(shoal("verify", "out", "--json", *more).out)["judged"] == {
            "form": "table",
            "quasi": ["age", "zip"],
            "sensitive": ["occupation"],
            "insensitive": ["education"],
            "entity": None,
            "unjudged": [],
        }
        answer = shoal("verify", "out", "--quasi", "age", "--k", 5, *more)
        assert answer.out.endswith("by age (quasi-identifier); not judged: education, zip, occupation.\n")
        assert shoal("verify", "out", "--quiet", *more).out == ""
    verdicts = library.verify(folder / "out")
    assert isinstance(verdicts, tuple)
    assert verdicts.judged is not None
    assert verdicts.judged.quasi == ("age", "zip")


def test_the_columns_of_any_file(shoal: Callable[..., Any], folder: Path) -> None:
    (folder / "any.csv").write_text("name,age,ill,who\nAnn,3,flu,1\nBob,3,flu,2\n")
    for more in ((), STREAM):
        answer = shoal("verify", "any.csv", "--quasi", "age", "--k", 2, *more)
        assert answer.code == 0
        assert answer.out.endswith("Judged by age (quasi-identifier); not judged: name, ill, who.\n")
    roles = ("--quasi", "age", "--sensitive", "ill", "--entity", "who")
    answer = shoal("verify", "any.csv", "--k", 2, *roles)
    assert (
        "by age (quasi-identifier); persons identified by who; sensitive: ill; not judged: name."
        in answer.out
    )


def test_the_items_of_releases(shoal: Callable[..., Any], folder: Path) -> None:
    layouts(folder)
    for more in ((), STREAM):
        assert shoal("verify", "long", *more).out.endswith(
            "Judged by 2 public items; sensitive: 1; insensitive: 0.\n"
        )
    (folder / "a.dat").write_text("a b\na b c\n" * 6)
    call = (
        "anonymize",
        "disassociation",
        "a.dat",
        "--k",
        2,
        "--m",
        2,
        "--sensitive",
        "c",
        "--no-report",
        "-o",
        "out",
    )
    assert shoal(*call).code == 0
    local = shoal("verify", "out")
    assert local.out.endswith("Judged by 2 public items; sensitive: 1.\n")
    assert shoal("verify", "out", *STREAM) == local
    judged = library.verify(folder / "a.dat", promises=[KmAnonymity(k=2, m=2)]).judged
    assert judged is not None
    assert judged.as_dict() == {"form": "baskets", "items": 3, "sensitive_items": 0, "insensitive_items": 0}


def test_secrets_that_differ_in_spelling_alone_are_told(shoal: Callable[..., Any], folder: Path) -> None:
    (folder / "v.csv").write_text("q,s\n1,Flu\n1,flu\n")
    said = "Values of s differ in spelling alone, such as 'Flu' and 'flu': they were judged as different secrets."
    call = ("verify", "v.csv", "--quasi", "q", "--sensitive", "s", "--k", 2, "--l", 2)
    roles = ("--quasi", "q", "--sensitive", "s", "--k", 2, "--l", 2)
    assert shoal("anonymize", "mondrian", "v.csv", *roles, "--no-report", "-o", "out").code == 0
    for more in ((), STREAM):
        for answer in (shoal(*call, *more), shoal("verify", "out", *more)):
            assert (answer.code, answer.out.endswith(f"(quasi-identifier); sensitive: s. {said}\n")) == (
                0,
                True,
            )
        assert json.loads(shoal(*call, "--json", *more).out)["judged"]["remarks"] == [said]


def test_items_that_differ_in_spelling_alone_are_told(shoal: Callable[..., Any], folder: Path) -> None:
    (folder / "a.dat").write_text("Flu beer\nflu beer\nbeer\nbeer\n")
    call = (
        "verify",
        "a.dat",
        "--model",
        "hkp-coherence",
        "--h",
        0.5,
        "--k",
        2,
        "--p",
        1,
        "--sensitive",
        "Flu",
    )
    for more in ((), STREAM):
        assert "in several spellings, such as 'Flu' and 'flu'" in shoal(*call, *more).out
