"""Faults of hierarchies are named with their lines."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.io.hierarchy_texts import MARITAL, Files
from tests.naive import hierarchy as naive

from shoal.data.domain import nominal
from shoal.errors import BadData, WrongUse
from shoal.io.hierarchies.check import check
from shoal.io.hierarchies.load import (
    read_hierarchy,
)


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
        ("range\n\n0,x has 0,5\n", 3, "'0,x' is not a range"),
        ("range\n\n0,10 has 0,5 5,12\n", 3, r"\[5,12\] is not inside \[0,10\]"),
        ("range\n\n0,10 has 0,5 4,10\n", 3, "overlap"),
        ('{"level1": {"a": ["b"], "a": ["c"]}}', None, "has 'a' twice"),
        ('{"level1": ["b"]}', None, "a list of children"),
        ('{"level1": \n', 2, "the JSON cannot be read"),
        ('{"tree": 1}', None, "not a hierarchy of a known format"),
        ('{"cat": "a", "subcats": [{"name": "b"}]}', None, 'must have a "cat"'),
        ("", None, "is empty"),
        (" \n\n", None, "is empty"),
        (b"a;x;*\nb\xff;x;*\n", 2, "not UTF-8"),
        (b"PK\x03\x04\0\0", None, "not a text file"),
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
    rooted = [*map(list, table)] if len({row[-1] for row in table}) == 1 else [[*row, "*"] for row in table]
    good = (
        len({row[0] for row in table}) == len(table)
        and naive.nests([[f"{level} {cell}" for level, cell in enumerate(row)] for row in table])
        and not naive.ambiguous(naive.apart(rooted))
    )
    assert (not check(table)) == good


SAUSAGES = (
    "sausage;sausage;meat;*\nham;sausage;meat;*\nbeef;beef;meat;*\ntea;drinks;drinks;*\nbun;bread;bread;*\n"
)
PARENTS = "sausage,sausage\nham,sausage\nsausage,meat\nbeef,meat\nmeat,*\ntea,drinks\ndrinks,*\n"


@pytest.mark.parametrize("text", [SAUSAGES, PARENTS, PARENTS.replace("ham,sausage\n", "") + "ham,sausage\n"])
def test_a_node_with_the_name_of_a_leaf_is_published_under_its_own(file: Files, text: str) -> None:
    tree = read_hierarchy(file(text))
    paths = {path[0]: path for path in tree.paths()}
    assert paths["sausage"][1:3] == paths["ham"][1:3] == ("sausage (group)", "meat")
    assert not tree.ambiguous()
    assert not check(file(text))
    assert paths["beef"][1] == "beef", "a leaf that is repeated is not renamed"
