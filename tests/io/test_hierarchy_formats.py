"""Every format of a hierarchy gives the same one."""

import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.io.hierarchy_texts import AMNESIA, MARITAL, RANGES, Files, rows

from shoal.data.domain import Domain, Kind, nominal
from shoal.errors import BadData, WrongUse
from shoal.io.hierarchies.check import check
from shoal.io.hierarchies.load import (
    read_hierarchy,
)


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
