"""Whatever is wrong with the input: a sentence with its place, an exit code, and nothing written."""

import gzip
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

HEAD = "age,education,occupation\n"
GOOD = HEAD + "".join(f"{20 + row % 7},{'ab'[row % 2]},{'xyz'[row % 3]}\n" for row in range(40))
QUASI = ("--quasi", "age,education", "--sensitive", "occupation")
CUT = gzip.compress(GOOD.encode())[:-20]
HIERARCHY = "a;any;*\n"


@dataclass(frozen=True)
class Case:
    name: str
    code: int
    said: tuple[str, ...]
    content: bytes | str | None = GOOD
    options: tuple[str, ...] = ("--k", "3", *QUASI)
    file: str = "data.csv"
    more: dict[str, str] = field(default_factory=dict)


CASES = [
    Case("missing file", 3, ("data.csv", "no such file"), content=None),
    Case(
        "near file",
        3,
        ("dat.csv", "Did you mean 'data.csv'"),
        content=None,
        file="dat.csv",
        more={"data.csv": GOOD},
    ),
    Case("folder", 3, ("data.csv", "folder"), content=None, more={"data.csv/inside.txt": "x"}),
    Case("empty", 3, ("data.csv", "empty"), content=""),
    Case("blank", 3, ("data.csv", "empty"), content="\n\n"),
    Case("header only", 3, ("data.csv", "rows"), content=HEAD),
    Case("ragged", 3, ("data.csv", "line 3"), content=HEAD + "20,a,x\n21,b\n22,a,y\n"),
    Case("too many cells", 3, ("data.csv", "line 3"), content=HEAD + "20,a,x\n21,b,x,y\n22,a,y\n"),
    Case("binary", 3, ("data.csv",), content=bytes(range(256)) * 4),
    Case("nul byte", 3, ("data.csv", "line 2"), content=HEAD + "20,a\0,x\n"),
    Case("wrong encoding", 3, ("data.csv", "line 2", "UTF-8"), content=(HEAD + "20,é,x\n").encode("latin-1")),
    Case(
        "truncated gzip",
        3,
        ("data.csv.gz", "cut off"),
        content=gzip.compress(GOOD.encode())[:-20],
        file="data.csv.gz",
    ),
    Case("not gzip", 3, ("data.csv.gz",), content=GOOD, file="data.csv.gz"),
    Case("not parquet", 3, ("data.parquet",), content=GOOD, file="data.parquet"),
    Case("open quote", 3, ("data.csv",), content=GOOD + '20,"a,x\n'),
    Case("duplicate names", 3, ("data.csv", "'age'"), content="age,age,occupation\n1,2,x\n"),
    Case(
        "published cells", 3, ("data.csv", "line 3", "'education'"), content=HEAD + "20,a,x\n21,*,x\n22,a,y\n"
    ),
    Case("k is 1", 2, ("k must be", "2"), options=("--k", "1", *QUASI)),
    Case("k is no number", 2, ("--k", "ten"), options=("--k", "ten", *QUASI)),
    Case("k is broken", 2, ("--k", "2.5"), options=("--k", "2.5", *QUASI)),
    Case("k above the rows", 1, ("41", "largest k is 40"), options=("--k", "41", *QUASI)),
    Case("nothing promised", 2, ("--k",), options=QUASI),
    Case(
        "no quasi-identifier",
        2,
        ("--quasi",),
        options=("--k", "3", "--insensitive", "age,education,occupation"),
    ),
    Case(
        "unknown column",
        2,
        ("'agee'", "Did you mean 'age'"),
        options=("--k", "3", "--quasi", "agee", "--others", "drop"),
    ),
    Case("two roles", 2, ("'age'", "one role"), options=("--k", "3", *QUASI, "--insensitive", "age")),
    Case("no role", 2, ("education", "occupation", "--others"), options=("--k", "3", "--quasi", "age")),
    Case("unknown method option", 2, ("--kk",), options=("--kk", "3", *QUASI)),
    Case("unknown choice", 2, ("--others", "drop"), options=("--k", "3", *QUASI, "--others", "hide")),
    Case("unknown weight", 2, ("'agee'",), options=("--k", "3", *QUASI, "--weight", "agee=2")),
    Case(
        "weight is no number",
        2,
        ("weights.age", "'much'"),
        options=("--k", "3", *QUASI, "--weight", "age=much"),
    ),
    Case("no such kind", 2, ("'number'", "numeric"), options=("--k", "3", *QUASI, "--kind", "age=number")),
    Case("query of a file", 2, ("query",), options=("--k", "3", *QUASI, "--query", "select 1")),
    Case(
        "hierarchy misses values",
        3,
        ("'education'", "'b'"),
        options=("--k", "3", *QUASI, "--hierarchy", "education=tree.csv"),
        more={"tree.csv": HIERARCHY},
    ),
    Case(
        "hierarchy does not nest",
        3,
        ("tree.csv", "line"),
        options=("--k", "3", *QUASI, "--hierarchy", "education=tree.csv"),
        more={"tree.csv": "a;x;y;*\nb;x;z;*\n"},
    ),
    Case(
        "no such hierarchy file",
        3,
        ("tree.csv",),
        options=("--k", "3", *QUASI, "--hierarchy", "education=tree.csv"),
    ),
    Case(
        "no such builder",
        2,
        ("'intervalls'", "intervals"),
        options=("--k", "3", *QUASI, "--hierarchy", "age=intervalls:5"),
    ),
    Case("no such folder", 3, ("trees",), options=("--k", "3", *QUASI, "--hierarchies", "trees")),
    Case("hierarchy of nothing", 2, ("'agee'",), options=("--k", "3", *QUASI, "--hierarchy", "agee=mask")),
    Case("no such target", 2, ("nowhere",), options=("--k", "3", *QUASI, "--to", "nowhere")),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_bad_input(case: Case, shoal: Callable[..., object], folder: Path) -> None:
    for name, text in case.more.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    if case.content is not None:
        content = case.content.encode() if isinstance(case.content, str) else case.content
        (folder / case.file).write_bytes(content)
    before = sorted(folder.rglob("*"))
    answer = shoal(
        "anonymize", "mondrian", case.file, *case.options, "-o", "out", "--save-recipe", "recipe.toml"
    )
    assert answer.code == case.code, answer.err
    assert answer.out == ""
    assert answer.err.startswith("shoal: ")
    assert "Traceback" not in answer.err
    assert answer.err.count("\n") == 1
    for words in case.said:
        assert words in answer.err
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ("anonymise mondrian x", 2, "anonymize"),
        ("anonymize mondrain x", 2, "mondrian"),
        ("anonymize mondrian", 2, "INPUT"),
        ("anonymize mondrian data.csv extra --k 3", 2, "extra"),
        ("verify nothing", 3, "nothing"),
        ("verify data.csv", 2, "--k"),
        ("verify data.csv --k 3", 2, "--quasi"),
        ("verify data.csv --k 1 --quasi age", 2, "2"),
        ("verify data.csv --k 3 --quasi agee", 2, "Did you mean 'age'"),
        ("verify .", 3, "release"),
        ("measure nothing --original data.csv", 3, "nothing"),
        ("measure .", 2, "--original"),
        ("run nothing.toml", 3, "nothing.toml"),
        ("run broken.toml", 3, "broken.toml"),
        ("run wrong.toml", 2, "color"),
        ("run nowhere.toml", 2, "-o"),
        ("inspect nothing.csv", 3, "nothing.csv"),
        ("hierarchy build data.csv age -o age.csv", 2, "COLUMN=BUILDER"),
        ("hierarchy build data.csv age=intervals -o age.csv", 2, "intervals"),
        ("hierarchy build data.csv age=mask -o data.csv", 2, "is where the data is read from"),
        ("hierarchy check nothing.csv", 3, "nothing.csv"),
        ("generate table --rows 0 -o new.csv", 2, "rows"),
        ("generate table --rows 5", 2, "--output"),
        ("generate table --rows 5 -o data.csv", 2, "--force"),
        ("generate table --rows 5 -o data.xyz", 2, ".xyz"),
    ],
)
def test_wrong_use(arguments: str, code: int, said: str, shoal: Callable[..., object], folder: Path) -> None:
    (folder / "data.csv").write_text(GOOD)
    (folder / "broken.toml").write_text("[source\n")
    (folder / "wrong.toml").write_text(
        "[source]\npath = 'data.csv'\ncolor = 'red'\n[method]\nname = 'mondrian'\n"
    )
    (folder / "nowhere.toml").write_text("[source]\npath = 'data.csv'\n[method]\nname = 'mondrian'\nk = 3\n")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    answer = shoal(*arguments.split())
    assert answer.code == code, answer.err
    assert answer.err.startswith("shoal: ")
    assert said in answer.err
    assert "Traceback" not in answer.err
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_an_existing_folder_is_kept(shoal: Callable[..., object], folder: Path) -> None:
    (folder / "data.csv").write_text(GOOD)
    call = ("anonymize", "mondrian", "data.csv", "--k", "3", *QUASI, "--no-report", "-o", "out")
    assert shoal(*call).code == 0
    first = (folder / "out" / "release" / "data.csv").read_bytes()
    answer = shoal(*call)
    assert (answer.code, "--force" in answer.err) == (2, True)
    assert (folder / "out" / "release" / "data.csv").read_bytes() == first
    assert shoal(*call, "--force").code == 0


def test_a_folder_of_somebody_else_is_kept_even_by_force(shoal: Callable[..., object], folder: Path) -> None:
    (folder / "data.csv").write_text(GOOD)
    (folder / "out").mkdir()
    (folder / "out" / "thesis.txt").write_text("years of work")
    answer = shoal("anonymize", "mondrian", "data.csv", "--k", "3", *QUASI, "--force", "-o", "out")
    assert answer.code == 2
    assert [path.name for path in (folder / "out").iterdir()] == ["thesis.txt"]


def test_a_full_disk_is_a_sentence(
    shoal: Callable[..., object], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    (folder / "data.csv").write_text(GOOD)
    monkeypatch.setattr(Path, "write_text", full)
    answer = shoal("anonymize", "mondrian", "data.csv", "--k", "3", *QUASI, "--no-report", "-o", "out")
    assert answer.code == 2
    assert "No space left on device" in answer.err
    assert [path.name for path in folder.iterdir()] == ["data.csv"]


def test_generalized_cells_are_for_methods_that_go_on(shoal: Callable[..., object], folder: Path) -> None:
    (folder / "done.csv").write_text(
        'age,ill\n"[20,30]",flu\n"[20,30]",cold\n"[40,50]",flu\n"[40,50]",cold\n'
    )
    roles = ("--published", "--quasi", "age", "--sensitive", "ill", "--k", 2, "-o", "out")
    answer = shoal("anonymize", "mondrian", "done.csv", *roles)
    assert answer.code == 2
    assert "--published is for methods that go on" in answer.err
    confident = ("--confidence", "0.5")
    assert shoal("anonymize", "table-rule-hiding", "done.csv", *roles, *confident).code == 2
    assert (
        shoal(
            "anonymize", "table-rule-hiding", "done.csv", *roles, *confident, "--anonymize-with", "none"
        ).code
        == 0
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("baskets.dat", "1 10 16\n2 3\n"),
        ("baskets.dat", "7\n2 3\n"),
        ("baskets.spmf", "1 -1 2 -1 -2\n3 -1 -2\n"),
        ("baskets.txt", "1 10\n2 3\n"),
        ("baskets.txt", "bread milk wine\nbread\n"),
    ],
)
def test_baskets_for_a_method_of_tables(
    name: str, text: str, shoal: Callable[..., object], folder: Path
) -> None:
    (folder / name).write_text(text)
    answer = shoal("anonymize", "mondrian", name, "--k", 2, "--quasi", "1", "-o", "out")
    assert answer.code == 2
    assert f"{name}: these look like baskets; mondrian takes tables (see `shoal methods`)." in answer.err


def test_a_table_does_not_look_like_baskets(shoal: Callable[..., object], people: Path, folder: Path) -> None:
    (folder / "one.csv").write_text("birth year\n1970\n1971\n")
    for name in ("one.csv", people):
        answer = shoal("anonymize", "mondrian", name, "--k", 2, "--quasi", "agee", "-o", "out")
        assert answer.code == 2
        assert "baskets" not in answer.err


def test_messages_name_the_file(shoal: Callable[..., object], people: Path, folder: Path) -> None:
    answer = shoal("anonymize", "mondrian", "people.csv", "--k", 2, "--quasi", "agee", "-o", "out")
    assert "There is no column 'agee' in people.csv. Did you mean 'age'?" in answer.err
    (folder / "trees").mkdir()
    (folder / "trees/age.csv").write_text("18,*\n")
    roles = ("--quasi", "age", "--others", "drop", "--k", 2, "-o", "out")
    answer = shoal("anonymize", "mondrian", "people.csv", *roles, "--hierarchy", "age=trees/age.csv")
    assert (answer.code, "trees/age.csv, column 'age': the hierarchy misses" in answer.err) == (3, True)
    answer = shoal("anonymize", "mondrian", "people.csv", *roles, "--hierarchies", "trees")
    assert (answer.code, "trees/age.csv, column 'age': the hierarchy misses" in answer.err) == (3, True)


def test_messages_say_nothing_twice(shoal: Callable[..., object], people: Path) -> None:
    begin = ("anonymize", "mondrian", people, "--k", 5, "--quasi", "age", "--others", "drop", "-o", "out")
    answer = shoal(*begin, "--c", 2)
    assert answer.code == 2
    assert "needs l" in answer.err
    assert "not {" not in answer.err
    answer = shoal(*begin, "--weight", "age=much")
    assert (answer.code, answer.err) == (
        2,
        "shoal: mondrian: weights.age must be a valid number, not 'much'.\n",
    )
    answer = shoal(*begin, "--weight", "age=-1")
    assert (answer.code, answer.err) == (
        2,
        "shoal: mondrian: weights.age must be above 0, not -1.0.\n",
    )
    answer = shoal("run", "recipe.tmol")
    assert (answer.code, answer.err) == (3, "shoal: recipe.tmol: there is no such file.\n")
