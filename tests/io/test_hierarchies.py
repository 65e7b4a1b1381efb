import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.naive import hierarchy as naive

from shoal.data.builders import build
from shoal.data.cells import looks_published
from shoal.data.domain import Domain, Kind, nominal
from shoal.data.hierarchy import MISSING_MARKS, Hierarchy
from shoal.errors import BadData, CannotWrite, WrongUse
from shoal.io.hierarchies import (
    hierarchy_as_data,
    hierarchy_from_data,
    read_hierarchies,
    read_hierarchy,
    write_hierarchy,
)
from shoal.io.hierarchy_check import check

MARITAL = """\
Never-married,NM
Married-civ-spouse,Married
Married-AF-spouse,Married
Divorced,leave
Separated,leave
Widowed,alone
Married-spouse-absent,alone
NM,*
Married,*
leave,*
alone,*
"""

AMNESIA = """\
distinct
name animals
type string
height 3

mammal has cat dog
bird has tit (null)

any has mammal bird

"""

RANGES = """\
range
name age
type int
height 3

0.0,50.0 has 0.0,25.0 25.0,50.0
50.0,100.0 has 50.0,100.0

0.0,100.0 has 0.0,50.0 50.0,100.0

"""


@pytest.fixture
def file(tmp_path: Path) -> Callable[..., Path]:
    def write(text: str | bytes, name: str = "hierarchy.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


Files = Callable[..., Path]


def rows(hierarchy: Hierarchy) -> list[tuple[str, ...]]:
    return list(hierarchy.paths())


# Formats


@pytest.mark.parametrize(
    "text",
    [
        "cat;mammal;*\ndog;mammal;*\ntit;bird;*\n",
        "cat;mammal;*\r\ndog;mammal;*\r\ntit;bird;*",
        "\ufeffcat;mammal;*\n\ndog;mammal;*\ntit;bird;*\n\n",
        "cat,mammal,*\ndog,mammal,*\ntit,bird,*\n",
        'cat, "mammal", *\ndog, mammal , *\ntit,bird,*\n',
        "cat\tmammal\t*\ndog\tmammal\t*\ntit\tbird\t*\n",
        "cat;mammal;*;;\ndog;mammal;*;;\ntit;bird;*;;\n",
        "cat;mammal;any\ndog;mammal;any\ntit;bird;any\n",
        "cat;mammal\ndog;mammal\ntit;bird\n",
        "cat,mammal\ndog,mammal\ntit,bird\nmammal,*\nbird,*\n",
        "child,parent\ncat,mammal\ndog,mammal\ntit,bird\nmammal,any\nbird,any\n",
        "cat;mammal\ndog;mammal\ntit;bird\nmammal;*\nbird;*\n*;*\n",
        "distinct\nname x\ntype string\nheight 3\n\nmammal has cat dog \nbird has tit \n\nany has mammal bird \n\n",
        '{"name": "x", "type": "string", "height": 3, "hierType": "distinct", '
        '"level1": {"any": ["mammal", "bird"]}, "level2": {"mammal": ["cat", "dog"], "bird": ["tit"]}}',
        '{"cat": "any", "subcats": [{"cat": "mammal", "subcats": [{"cat": "cat"}, {"cat": "dog", "subcats": []}]}, '
        '{"cat": "bird", "subcats": [{"cat": "tit"}]}]}',
    ],
)
def test_every_format_gives_the_same_hierarchy(file: Files, text: str) -> None:
    hierarchy = read_hierarchy(file(text))
    assert sorted(rows(hierarchy)) == [("cat", "mammal", "*"), ("dog", "mammal", "*"), ("tit", "bird", "*")]
    assert not hierarchy.by_width


def test_seed_marital_status_has_three_levels(file: Files) -> None:
    hierarchy = read_hierarchy(file(MARITAL))
    assert hierarchy.height == 2
    assert hierarchy.labels[1:] == (("NM", "Married", "leave", "alone"), ("*",))
    assert rows(hierarchy)[4] == ("Separated", "leave", "*")
    assert hierarchy.leaf_counts(1).tolist() == [1, 2, 2, 2]


def test_two_columns_without_a_common_name_are_rows(file: Files) -> None:
    assert rows(read_hierarchy(file("Male,*\nFemale,*\n"))) == [("Male", "*"), ("Female", "*")]


def test_a_node_of_two_columns_may_repeat_its_leaf(file: Files) -> None:
    assert rows(read_hierarchy(file("a,x\nb,x\nc,c\n"))) == [
        ("a", "x", "*"),
        ("b", "x", "*"),
        ("c", "c", "*"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Rome,Italy\nItaly,Europe\nVatican,Europe\nEurope,*\nMoon,*\n",
        "Rome;Italy;Europe;*\nVatican;Europe;*;\nMoon;*;;\n",
    ],
)
def test_the_leaf_of_a_short_branch_is_repeated(file: Files, text: str) -> None:
    assert rows(read_hierarchy(file(text))) == [
        ("Rome", "Italy", "Europe", "*"),
        ("Vatican", "Vatican", "Europe", "*"),
        ("Moon", "Moon", "Moon", "*"),
    ]


def test_the_root_may_share_its_text_with_a_node(file: Files) -> None:
    assert rows(read_hierarchy(file("0;8;8\n1;9;8\n"))) == [("0", "8", "*"), ("1", "9", "*")]


def test_amnesias_missing_value_is_ours(file: Files) -> None:
    hierarchy = read_hierarchy(file(AMNESIA, "animals.txt"))
    domain = Domain(Kind.NOMINAL, ("cat", "dog", "tit", ""), missing=3)
    assert rows(hierarchy.covering(domain, "animal"))[3] == ("", "bird", "*")


@pytest.mark.parametrize("as_json", [False, True])
def test_ranges_take_the_values_of_the_data(file: Files, as_json: bool) -> None:
    text = RANGES
    if as_json:
        levels = {"level1": {"0-100": ["0-50", "50-100"]}, "level2": {"0-50": ["0-25", "25-50"]}}
        text = json.dumps({"name": "age", "type": "int", "height": 3, "hierType": "range", **levels})
    domain = Domain(Kind.NUMERIC, ("0", "24.5", "25", "50", "100"), np.array([0, 24.5, 25, 50, 100]))
    hierarchy = read_hierarchy(file(text), domain)
    assert hierarchy.by_width
    assert [path[:3] for path in rows(hierarchy)] == [
        ("0", "[0,25)", "[0,50)"),
        ("24.5", "[0,25)", "[0,50)"),
        ("25", "[25,50)", "[0,50)"),
        ("50", "[50,100]", "[50,100]"),
        ("100", "[50,100]", "[50,100]"),
    ]


def test_values_outside_of_all_ranges_are_missed(file: Files) -> None:
    domain = Domain(Kind.NUMERIC, ("-1", "5", "101"), np.array([-1.0, 5, 101]))
    path = file(RANGES)
    assert check(path, domain).missed == ("-1", "101")
    with pytest.raises(BadData, match="misses 2 of 3 values: '-1', '101'"):
        read_hierarchy(path, domain).covering(domain, "age")


def test_ranges_need_numbers(file: Files) -> None:
    with pytest.raises(BadData, match="give the data too"):
        read_hierarchy(file(RANGES))
    with pytest.raises(WrongUse, match="the column is nominal"):
        read_hierarchy(file(RANGES), nominal(("a",)))


# Faults


@pytest.mark.parametrize(
    ("text", "line", "complaint"),
    [
        ("a;x;*\nb;*\n", 2, "2 cells where most have 3"),
        ("a;x;*\nb;x;*;*\nc;x;*\n", 2, "4 cells where most have 3"),
        ("a;x;*\nb;;*\n", 2, "empty cell"),
        ("a;x;*\na;y;*\n", 2, "'a' stands on line 1 already"),
        ("a;x;p;*\nb;y;p;*\nc;x;q;*\n", 3, "'x' of level 1 stands below 'q' here and below 'p' on line 1"),
        ("a;x;p\nb;x;q\n", 2, "'x' of level 1 stands below 'q' here and below 'p' on line 1"),
        ("a;x;*\nb;y;z\n", 2, "'b' reaches no root"),
        ("a;b;*\nb;x;*\n", 1, "'b' means other values on level 1 than on level 0"),
        ("a;x;x;*\nb;y;x;*\n", 1, "'x' means other values on level 2 than on level 1"),
        ("a;x;*\nb;*;*\n", 2, r"'\*' means any value, but stands on level 1 for 'b' only"),
        ("*;*;*\na;x;*\n", 1, r"'\*' looks like a published cell"),
        ("a;x;*\n[1,2];x;*\n", 2, r"'\[1,2\]' looks like a published cell"),
        ('a;x;*\n"b;x;*\n', 2, "check its quotes"),
        ("a\nb\n", 1, "what stands above it"),
        ("a,b\nb,*\na,c\nc,*\n", 3, "'a' stands below 'c' here and below 'b' on line 1"),
        ("a,b\nb,c\nc,b\n", 2, "b → c → b runs in a circle"),
        ("a,b\nb,*\nc,d\nd,e\n", 4, "'e' stands below nothing, and so does the root '\\*'"),
        ("a,b\nb,r\nc,d\nd,q\ne,d\n", 2, "'r' stands below nothing, and so does the root 'q'"),
        ("a,b\nb,*\na,b\n", 3, "given on line 1 already"),
        ("a,b\nb,*\nc,\n", 3, "the parent of 'c' is empty"),
        ("a,b\nb,*\n*,c\n", 3, r"'\*' means any value: it is the root"),
        ('a,b\nb,*\n[1],b\n"[1,2]",b\n', 4, "looks like a published cell"),
        ("distinct\nname x\n\na b has c\n", 4, "PARENT has CHILD"),
        ("distinct\nname x\n", None, "names no value"),
        ("range\ntype date\n\n1,2 has 1,2\n", 2, "ranges of dates are not read"),
        ("range\n\n0,x has 0,5\n", 3, "'0,x' is no range"),
        ("range\n\n0,10 has 0,5 5,12\n", 3, r"\[5,12\] is not inside \[0,10\]"),
        ("range\n\n0,10 has 0,5 4,10\n", 3, "overlap"),
        ('{"level1": {"a": ["b"], "a": ["c"]}}', None, "has 'a' twice"),
        ('{"level1": ["b"]}', None, "a list of children"),
        ('{"level1": \n', 2, "the JSON cannot be read"),
        ('{"tree": 1}', None, "no hierarchy of a known format"),
        ('{"cat": "a", "subcats": [{"name": "b"}]}', None, 'must have a "cat"'),
        ("", None, "is empty"),
        (" \n\n", None, "is empty"),
        (b"a;x;*\nb\xff;x;*\n", 2, "not UTF-8"),
        (b"PK\x03\x04\0\0", None, "no text file"),
        (";;\n;;\n", 1, "empty cell"),
    ],
)
def test_a_fault_is_named_with_its_line(
    file: Files, text: str | bytes, line: int | None, complaint: str
) -> None:
    path = file(text)
    with pytest.raises(BadData, match=complaint) as caught:
        read_hierarchy(path)
    assert caught.value.path == path
    assert caught.value.line == line
    assert str(caught.value).startswith(str(path) if line is None else f"{path}, line {line}: ")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadData, match=r"nowhere\.csv: there is no such hierarchy file"):
        read_hierarchy(tmp_path / "nowhere.csv")
    with pytest.raises(BadData, match="cannot be read"):
        read_hierarchy(tmp_path)


def test_check_lists_every_fault_in_the_order_of_lines(file: Files) -> None:
    text = "a;x;p;*\nb;x;q;*\nb;x;p;*\nc;y\nd;a;p;*\ne;z;p;r\n"
    findings = check(file(text), nominal(("a", "f")))
    assert [(finding.fault, finding.line) for finding in findings] == [
        ("nesting", 2),
        ("duplicate", 3),
        ("uneven", 4),
        ("ambiguous", 5),
        ("nesting", 6),
        ("root", 6),
        ("missed", None),
    ]
    assert findings.missed == ("f",)
    assert str(findings[1]) == "line 3: the value 'b' stands on line 2 already."


def test_check_counts_every_circle_and_stray_root_of_edges(file: Files) -> None:
    findings = check(file("a,b\nb,a\nc,d\nd,e\ne,d\nf,*\ng,h\n"))
    assert [(finding.fault, finding.line) for finding in findings] == [
        ("cycle", 1),
        ("cycle", 4),
        ("root", 7),
    ]
    assert findings.leaves == 1


def test_check_of_a_good_hierarchy_finds_nothing(file: Files) -> None:
    findings = check(file(MARITAL), nominal(("Divorced", "Widowed")))
    assert not findings
    assert (findings.leaves, findings.levels) == (7, 3)
    assert findings.as_dict() == {"leaves": 7, "levels": 3, "missed": [], "found": []}


def test_check_takes_rows(file: Files) -> None:
    assert not check([["a", "x", "*"], ["b", "x", "*"]], nominal(("a",)))
    assert [finding.line for finding in check([["a", "x"], ["a", "y"]])] == [2]
    with pytest.raises(WrongUse):
        check([])


@given(st.lists(st.lists(st.sampled_from("abcxyz"), min_size=4, max_size=4), min_size=1, max_size=5))
def test_check_agrees_with_the_naive_twin(table: list[list[str]]) -> None:
    good = (
        len({row[0] for row in table}) == len(table)
        and naive.nests([[f"{level} {cell}" for level, cell in enumerate(row)] for row in table])
        and not naive.ambiguous(
            [*map(list, table)] if len({row[-1] for row in table}) == 1 else [[*row, "*"] for row in table]
        )
    )
    assert (not check(table)) == good


# Writing

texts = (
    st.text(st.sampled_from("ab ,;|\"'\t\n{é*"), min_size=1, max_size=5)
    .map(str.strip)
    .filter(lambda text: text and text not in MISSING_MARKS and not looks_published(text))
)


@st.composite
def trees(draw: st.DrawFn) -> list[tuple[str, str]]:
    """The edges of any tree, from the root down."""
    names = ["*", *draw(st.lists(texts, min_size=1, max_size=12, unique=True))]
    return [(names[node], names[draw(st.integers(0, node - 1))]) for node in range(1, len(names))]


@given(trees(), st.booleans())
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, tree: list[tuple[str, str]], missing: bool
) -> None:
    folder = tmp_path_factory.mktemp("hierarchies")
    edges = [*tree, ("", "*")] if missing else tree
    (folder / "tree.json").write_text(json.dumps({"level1": _children(edges)}))
    hierarchy = read_hierarchy(folder / "tree.json")
    assert naive.nests(rows(hierarchy))
    for format in ("arx", "edges", "amnesia-json", "amnesia"):
        if format == "amnesia" and any(len(child.split()) != 1 for child, _ in tree):
            continue
        write_hierarchy(hierarchy, folder / format, format)
        assert sorted(rows(read_hierarchy(folder / format))) == sorted(rows(hierarchy)), format
    write_hierarchy(hierarchy, folder / "arx")
    assert rows(read_hierarchy(folder / "arx")) == rows(hierarchy)


def _children(edges: list[tuple[str, str]]) -> dict[str, list[str]]:
    children: dict[str, list[str]] = {}
    for child, parent in edges:
        children.setdefault(parent, []).append(child)
    return children


@pytest.mark.parametrize(
    ("format", "expected"),
    [
        ("arx", "cat;mammal;*\ndog;mammal;*\nMoon;Moon;*\n"),
        ("edges", "cat,mammal\ndog,mammal\nMoon,*\nmammal,*\n"),
        (
            "amnesia",
            "distinct\nname out\ntype string\nheight 3\n\nmammal has cat dog \n\n* has Moon mammal \n",
        ),
    ],
)
def test_the_formats_look_as_their_readers_expect(
    tmp_path: Path, file: Files, format: str, expected: str
) -> None:
    hierarchy = read_hierarchy(file("cat,mammal\ndog,mammal\nMoon,*\nmammal,*\n"))
    write_hierarchy(hierarchy, tmp_path / "out.x", format)
    assert (tmp_path / "out.x").read_text() == expected


def test_amnesias_json_has_levels_from_the_root_down(tmp_path: Path, file: Files) -> None:
    write_hierarchy(read_hierarchy(file("a b,x\nc,x\nx,*\n")), tmp_path / "out.json", "amnesia-json")
    assert json.loads((tmp_path / "out.json").read_text()) == {
        "name": "out",
        "type": "string",
        "height": 3,
        "hierType": "distinct",
        "level1": {"*": ["x"]},
        "level2": {"x": ["a b", "c"]},
    }


def test_what_a_format_cannot_hold_is_refused_and_nothing_is_written(tmp_path: Path, file: Files) -> None:
    with pytest.raises(WrongUse, match="cannot hold 'a b'"):
        write_hierarchy(read_hierarchy(file("a b;x;*\n")), tmp_path / "out", "amnesia")
    with pytest.raises(WrongUse, match="only the format arx can hold"):
        write_hierarchy(read_hierarchy(file("a;x;a;*\nb;y;b;*\n")), tmp_path / "out", "edges")
    with pytest.raises(WrongUse, match="not as 'xml'"):
        write_hierarchy(read_hierarchy(file("a;x;*\n")), tmp_path / "out", "xml")  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written_to(tmp_path: Path, file: Files) -> None:
    with pytest.raises(CannotWrite, match="cannot be written"):
        write_hierarchy(read_hierarchy(file("a;*\n")), tmp_path / "none" / "out.csv")


# Plain data


@given(trees())
def test_plain_data_goes_both_ways(tree: list[tuple[str, str]]) -> None:
    domain = nominal(tuple(sorted({child for child, _ in tree})))
    hierarchy = build("balanced:2", domain, "x")
    again = hierarchy_from_data(json.loads(json.dumps(hierarchy_as_data(hierarchy))))
    assert rows(again) == rows(hierarchy)
    assert again.labels == hierarchy.labels
    assert again.by_width == hierarchy.by_width


def test_plain_data_keeps_that_bins_are_measured_by_width() -> None:
    domain = Domain(Kind.NUMERIC, ("1", "7"), np.array([1.0, 7.0]))
    assert hierarchy_from_data(hierarchy_as_data(build("intervals:5", domain, "x"))).by_width


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"labels": [["a"], ["*"]], "parents": [[1]], "by_width": False},
        {"labels": [["a"], ["*"]], "parents": [[-1]], "by_width": False},
        {"labels": [["a"], ["*"]], "parents": [[0, 0]], "by_width": False},
        {"labels": [["a"], ["x", "y"]], "parents": [[0]], "by_width": False},
        {"labels": [["a"]], "parents": [], "by_width": False},
        {"labels": [["a"], ["*"]], "parents": [["x"]], "by_width": False},
        {"labels": 5, "parents": [], "by_width": False},
    ],
)
def test_damaged_plain_data_is_refused(data: dict[str, object]) -> None:
    with pytest.raises(BadData, match="cannot be read"):
        hierarchy_from_data(data)


# Folders


def test_a_folder_gives_the_hierarchies_of_its_columns_alone(tmp_path: Path, file: Files) -> None:
    file("Male;*\nFemale;*\n", "sex.csv")
    file("White;*\n", "adult_hierarchy_race.csv")
    file(AMNESIA, "animal.txt")
    file("this is no hierarchy", "occupation.csv")
    file("nor is this", "age.md")
    found = read_hierarchies(tmp_path, ["sex", "race", "animal", "age"])
    assert {column: hierarchy.leaves for column, hierarchy in found.items()} == {
        "sex": ("Male", "Female"),
        "race": ("White",),
        "animal": ("cat", "dog", "tit", ""),
    }


def test_two_files_for_one_column_are_refused(tmp_path: Path, file: Files) -> None:
    file("Male;*\n", "sex.csv")
    file("Male;*\n", "adult_hierarchy_sex.csv")
    assert read_hierarchies(tmp_path, ["age"]) == {}
    with pytest.raises(BadData, match=r"column 'sex': adult_hierarchy_sex\.csv and sex\.csv are both"):
        read_hierarchies(tmp_path, ["sex"])


def test_a_folder_of_ranges_needs_the_domains(tmp_path: Path, file: Files) -> None:
    file(RANGES, "age.txt")
    domain = Domain(Kind.NUMERIC, ("7",), np.array([7.0]))
    assert rows(read_hierarchies(tmp_path, {"age": domain})["age"])[0][:2] == ("7", "[0,25)")


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="the folder of hierarchies cannot be read"):
        read_hierarchies(tmp_path / "none", ["age"])


# Public files


def test_arx_adult_hierarchies_are_read(public_data: Callable[[str], Path]) -> None:
    columns = (
        "age",
        "education",
        "marital-status",
        "native-country",
        "occupation",
        "race",
        "sex",
        "workclass",
    )
    found = read_hierarchies(public_data("arx-adult/hierarchies"), columns)
    heights = {column: (len(hierarchy.leaves), hierarchy.height) for column, hierarchy in found.items()}
    assert heights == {
        "age": (100, 4),
        "education": (16, 3),
        "marital-status": (7, 2),
        "native-country": (41, 2),
        "occupation": (14, 2),
        "race": (5, 1),
        "sex": (2, 1),
        "workclass": (8, 2),
    }
    assert rows(found["education"])[0] == ("Bachelors", "Undergraduate", "Higher education", "*")


def test_arx_benchmark_hierarchies_are_read_but_for_two_ambiguous_ones(
    public_data: Callable[[str], Path], tmp_path: Path
) -> None:
    with tarfile.open(public_data("arx-benchmark-int/hierarchies.tar.gz")) as archive:
        archive.extractall(tmp_path, filter="data")
    refused = {}
    files = sorted(tmp_path.rglob("*.csv"))
    for path in files:
        try:
            hierarchy = read_hierarchy(path)
        except BadData as error:
            refused[path.stem] = str(error)
        else:
            assert len(hierarchy.leaves) == len(path.read_text().splitlines())
            assert not hierarchy.ambiguous()
    assert len(files) == 97
    assert set(refused) == {"atus_int_hierarchy_Age", "atus_int_hierarchy_Highest level of school completed"}
    assert all("means other values on level" in message for message in refused.values())


def test_a_large_item_hierarchy_is_read(public_data: Callable[[str], Path]) -> None:
    hierarchy = read_hierarchy(public_data("bms-webview-2/bms-webview-2_hierarchy.csv"))
    assert len(hierarchy.leaves) == 3340
    assert hierarchy.height == 6
    assert rows(hierarchy)[0][1] == "55267,55283"
