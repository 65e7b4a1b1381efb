"""Any published file by any model, with all the parameters that the model declares."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import shoal as library
from shoal import registry
from shoal.cli.program import program
from shoal.data.baskets import Baskets
from shoal.data.clustered_table import ClusteredTable
from shoal.data.clusters import Clusters
from shoal.data.groups import Groups
from shoal.data.linked import Linked
from shoal.data.summary import Summary
from shoal.data.table import Table
from shoal.errors import WrongUse
from shoal.io.baskets.load import read_baskets
from shoal.models.hidden_associations import HiddenAssociations
from shoal.models.km_anonymity import KmAnonymity

STARRED = "age,ill\n" + "30,flu\n" * 2 + "30,*\n" * 2 + "40,flu\n40,cold\n"
LINES = "milk bread\nmilk bread\nmilk\nmilk secret\nbread\n"
ROLES = ("--quasi", "age", "--sensitive", "ill")


@pytest.fixture
def files(folder: Path) -> Path:
    """A file of each form, without a release.json."""
    (folder / "table.csv").write_text(STARRED)
    (folder / "baskets.dat").write_text(LINES)
    (folder / "matrix.csv").write_text("milk,bread\n1,1\n1,1\n0,1\n1,0\n")
    groups = '{"baskets": [["a"], ["a", "b"], ["b"]], "sensitive": {"s": 1}}\n'
    (folder / "groups.jsonl").write_text(groups)
    cluster = '{"size": 3, "chunks": [[["a"], ["a"], ["a"]]], "terms": ["t"]}\n'
    (folder / "clusters.jsonl").write_text(cluster)
    return folder


def options_of(name: str) -> set[str]:
    """The options of `shoal verify` when a model is named."""
    app = program(["verify", "--model", name])["verify"]
    collection = app.assemble_argument_collection(default_parameter=None)
    return {option for argument in collection for option in argument.names}


@pytest.mark.parametrize("name", registry.MODELS)
def test_every_parameter_of_every_model_is_an_option(name: str, shoal: Callable[..., Any]) -> None:
    answer = shoal("verify", "--model", name, "--help")
    assert (answer.code, answer.err) == (0, "")
    kind = registry.load("model", name)
    for field, facts in kind.model_fields.items():
        option = f"--{field.replace('_', '-')}"
        singular = f"--{field.removesuffix('s').replace('_', '-')}"
        assert {option, singular} & set(answer.out.replace(",", " ").split()), (name, field)
        assert facts.description


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("table.csv", *ROLES, "--model", "hidden-rules", "--confidence", 0.5), 0),
        (("table.csv", *ROLES, "--model", "hidden-rules", "--confidence", 0.5, "--fewer-than", 2), 1),
        (("table.csv", *ROLES, "--model", "hidden-rules", "--confidence", 0.5, "--fewer-than", 3), 0),
        (("table.csv", *ROLES, "--model", "hidden-rules", "--confidence", 0.4), 1),
        (("table.csv", *ROLES, "--model", "hidden-rules", "--confidence", 0.5, "--k", 2), 0),
        (("table.csv", *ROLES, "--model", "hidden-rules", "--confidence", 0.5, "--k", 3), 1),
        (("table.csv", *ROLES, "--model=confidence-bounding", "--bound", "cold=0.5"), 0),
        (("table.csv", *ROLES, "--model=confidence-bounding", "--bound", "cold=0.4"), 1),
        (("baskets.dat", "--model", "km-anonymity", "--k", 2, "--m", 1), 1),
        (("matrix.csv", "--model", "km-anonymity", "--k", 2, "--m", 2, "--baskets", "matrix"), 0),
        (("matrix.csv", "--model", "km-anonymity", "--k", 3, "--m", 2, "--baskets", "matrix"), 1),
        (
            (
                "baskets.dat",
                "--model",
                "hkp-coherence",
                "--h",
                0.5,
                "--k",
                2,
                "--p",
                1,
                "--sensitive",
                "secret",
            ),
            0,
        ),
        (
            (
                "baskets.dat",
                "--model",
                "hkp-coherence",
                "--h",
                0.2,
                "--k",
                2,
                "--p",
                1,
                "--sensitive",
                "secret",
            ),
            1,
        ),
        (
            ("baskets.dat", "--model", "hidden-associations", "--support", 0.2, "--confidence", 0.5)
            + ("--rules", "bread => milk"),
            1,
        ),
        (
            ("baskets.dat", "--model", "hidden-associations", "--support", 0.2, "--confidence", 0.9)
            + ("--rules", "bread => milk"),
            0,
        ),
        (("groups.jsonl", "--model", "privacy-degree", "--p", 3), 0),
        (("groups.jsonl", "--model", "privacy-degree", "--p", 4), 1),
        (("clusters.jsonl", "--model", "disassociation", "--k", 3, "--m", 2), 0),
        (("clusters.jsonl", "--model", "disassociation", "--k", 4, "--m", 2), 1),
    ],
)
def test_a_bare_file_by_a_model(
    arguments: tuple[object, ...], code: int, files: Path, shoal: Callable[..., Any]
) -> None:
    answer = shoal("verify", *arguments)
    assert (answer.code, answer.err) == (code, "")
    assert answer.out.startswith("OK") if not code else "BROKEN" in answer.out


@pytest.mark.parametrize("engine", [(), ("--engine", "stream")])
def test_no_rule_is_asked_about(engine: tuple[str, ...], files: Path, shoal: Callable[..., Any]) -> None:
    call = ("verify", "baskets.dat", "--model", "hidden-associations", "--support", 0.2, "--confidence", 0.5)
    answer = shoal(*call, *engine)
    assert (answer.code, answer.out) == (2, "")
    assert "give --rules, name sensitive items with --sensitive, or say --scope all" in answer.err
    assert shoal(*call, *engine, "--sensitive", "secret").code == 0
    assert shoal(*call, *engine, "--scope", "all").code == 1


def test_a_size_that_has_no_effect(files: Path, shoal: Callable[..., Any]) -> None:
    call = ("verify", "table.csv", *ROLES, "--model", "hidden-rules", "--confidence", 0.5, "--size", 1)
    answer = shoal(*call)
    assert answer.code == 2
    assert "add --antecedent any" in answer.err
    assert shoal(*call, "--antecedent", "any").code == 0


def test_missing_cells_that_match_all(folder: Path, shoal: Callable[..., Any]) -> None:
    (folder / "gaps.csv").write_text("age,sex\n30,m\n30,m\n30,\n")
    call = ("verify", "gaps.csv", "--quasi", "age,sex", "--model", "k-anonymity", "--k", 3)
    assert shoal(*call).code == 1
    answer = shoal(*call, "--missing-matches-all")
    assert answer.code == 0
    assert "a missing cell matches every value" in answer.out


def test_a_population_beside_a_bare_file(folder: Path, shoal: Callable[..., Any]) -> None:
    (folder / "part.csv").write_text("age\n30\n40\n")
    (folder / "all.csv").write_text("age\n" + "30\n" * 3 + "40\n" * 2)
    call = ("verify", "part.csv", "--quasi", "age", "--model", "k-map", "--population", "all.csv")
    assert shoal(*call, "--k", 2).code == 0
    assert shoal(*call, "--k", 3).code == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("table.csv",), ("Nothing to prove", "--k 10", "--model NAME", "hidden-rules")),
        (("baskets.dat",), ("look like baskets", "--model hkp-coherence --h … --k … --p …", "km-anonymity")),
        (("baskets.dat", "--k", 3), ("look like baskets", "what is asked is about tables", "--model")),
        (("groups.jsonl",), ("look like groups", "--model privacy-degree --p …")),
        (("clusters.jsonl",), ("look like clusters", "--model disassociation --k … --m …")),
        (("baskets.dat", "--model", "km-anonimity"), ("no model 'km-anonimity'", "'km-anonymity'")),
        (
            ("baskets.dat", "--model", "km-anonymity", "--k", 1, "--m", 1),
            ("k must be at least",),
        ),
        (
            ("baskets.dat", "--model", "km-anonymity", "--k", 2, "--m", 1, "--sensitive", "tea"),
            ("no item 'tea'",),
        ),
        (
            ("table.csv", "--confidence", 0.5),
            ("Unknown option: --confidence.", "--model hidden-rules or hidden-associations"),
        ),
    ],
)
def test_wrong_use_says_how_to_ask(
    arguments: tuple[object, ...], said: tuple[str, ...], files: Path, shoal: Callable[..., Any]
) -> None:
    answer = shoal("verify", *arguments)
    assert (answer.code, answer.out) == (2, "")
    for words in said:
        assert words in answer.err


def test_a_file_of_a_release_points_to_its_promises(shoal: Callable[..., Any], files: Path) -> None:
    call = ("anonymize", "disassociation", "baskets.dat", "--k", 2, "--m", 1, "--no-report")
    assert shoal(*call, "-o", "out").code == 0
    answer = shoal("verify", "out/release/data.jsonl")
    assert answer.code == 2
    assert answer.err.strip().endswith("shoal verify out/release")
    assert shoal("verify", "out", "--model", "disassociation", "--k", 2, "--m", 1).code == 0
    assert shoal("verify", "out", "--model", "disassociation", "--k", 5, "--m", 1).code == 1
    answer = shoal("verify", "out", "--model", "km-anonymity", "--k", 2, "--m", 1)
    assert answer.code == 2
    assert "judges baskets, not clusters" in answer.err


def test_the_items_of_a_release_may_get_other_roles(shoal: Callable[..., Any], files: Path) -> None:
    call = ("anonymize", "coherence", "baskets.dat", "--h", 1, "--k", 2, "--p", 1, "--no-report", "-o", "out")
    assert shoal(*call, "--sensitive", "secret").code == 0
    again = ("verify", "out", "--model", "hkp-coherence", "--h", 0.5, "--k", 2, "--p", 1)
    assert shoal(*again).code == 0
    answer = shoal(*again, "--sensitive", "milk")
    assert answer.code == 1
    assert "milk in 2 of 3 baskets" in answer.out or "milk in" in answer.out


def test_from_python(files: Path) -> None:
    (held,) = library.verify(
        "baskets.dat", promises=[{"model": "km-anonymity", "k": 2, "m": 1}], sensitive="secret"
    )
    assert not held.holds
    (held,) = library.verify("matrix.csv", promises=[KmAnonymity(k=2, m=1)], baskets="matrix")
    assert held.holds
    with pytest.raises(WrongUse, match="prove them one by one"):
        library.verify("baskets.dat", promises=[KmAnonymity(k=2, m=1)], k=3)
    with pytest.raises(WrongUse, match="m is required"):
        library.verify("baskets.dat", promises=[{"model": "km-anonymity", "k": 2}])


def test_a_promise_about_nothing_is_remarked(files: Path) -> None:
    """A release may promise it: its items named sensitive are gone."""
    model = HiddenAssociations(support=0.2, confidence=0.5)
    assert "no published item is named sensitive" in model.verify(read_baskets("baskets.dat")).remark
    assert not model.verify(read_baskets("baskets.dat", sensitive=["secret"])).remark


def test_every_form_has_a_model_that_proves_it() -> None:
    judged = {form for name in registry.MODELS for form in registry.load("model", name).accepts}
    assert judged == {Table, ClusteredTable, Baskets, Groups, Clusters, Linked, Summary}


@pytest.fixture
def mapped(folder: Path, shoal: Callable[..., Any]) -> Path:
    """A release of half a population, by a hierarchy whose nodes say nothing of their leaves."""
    schools = {"primary": ("first", "second"), "secondary": ("third", "fourth")}
    people = [f"{20 + age},{school}" for age in range(8) for part in schools.values() for school in part]
    (folder / "all.csv").write_text("\n".join(["age,school", *people, "20,never"]) + "\n")
    (folder / "part.csv").write_text("\n".join(["age,school", *people[::2]]) + "\n")
    tree = [f"{school};{stage};*" for stage, part in schools.items() for school in part]
    (folder / "trees").mkdir()
    (folder / "trees" / "school.csv").write_text("\n".join(tree) + "\n")
    answer = shoal(
        *("anonymize", "lattice", "part.csv", "--quasi", "age,school", "-o", "out"),
        *("--hierarchies", "trees", "--hierarchy", "age=intervals:4", "--raw", "age"),
        *("--k-map", 2, "--presence", 0.5, "--population", "all.csv"),
    )
    assert answer.code == 0, answer.err
    assert "secondary" in (folder / "out/release/data.csv").read_text()
    return folder / "out"


@pytest.mark.parametrize(
    "shown",
    [
        ("out",),
        ("out/release", "--hierarchies", "trees"),
        ("out/release", "--hierarchy", "school=trees/school.csv"),
        ("out/release/data.csv", "--quasi", "age,school", "--k-map", 2, "--hierarchies", "trees"),
        ("out/release", "--hierarchies", "trees", "--engine", "stream"),
        ("out", "--engine", "stream"),
    ],
)
def test_a_population_whose_cells_are_nodes(
    shown: tuple[object, ...], mapped: Path, shoal: Callable[..., Any]
) -> None:
    answer = shoal("verify", *shown, "--population", "all.csv")
    assert (answer.code, answer.err) == (0, "")
    data = mapped / "release/data.csv"
    data.write_text(data.read_text().replace("secondary", "third"))
    assert shoal("verify", *shown, "--population", "all.csv").code == 1


def test_nodes_that_nobody_explains(mapped: Path, shoal: Callable[..., Any]) -> None:
    answer = shoal("verify", "out/release", "--population", "all.csv")
    assert answer.code == 1
    assert "--hierarchy or --hierarchies" in answer.out
    with pytest.raises(WrongUse, match="population"):
        library.verify(mapped, hierarchies={"school": "suppress"})
    trees = {"school": "trees/school.csv"}
    verdicts = library.verify(mapped / "release", population="all.csv", hierarchies=trees)
    assert all(verdict.holds for verdict in verdicts)
    answer = shoal("verify", "out", "--population", "all.csv", "--hierarchy", "shool=suppress")
    assert answer.code == 2
    assert "'school'" in answer.err
