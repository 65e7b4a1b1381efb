"""Mistakes of use: what is said, and whether it leads to what was meant."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

OUT = ("--no-report", "-o", "out")


@pytest.fixture
def anonymize(shoal: Callable[..., Any], people: Path, roles: tuple[str, ...]) -> Callable[..., Any]:
    def call(method: str, *options: object) -> Any:
        return shoal("anonymize", method, people, *roles, *options, *OUT)

    return call


@pytest.mark.parametrize(
    ("method", "option", "meant"),
    [
        ("mondrian", "--suppression-limit=0.1", "Unknown option: --suppression-limit."),
        ("mondrian", "--max-suppressed", "It is an option of samarati, lattice."),
        ("mondrian", "--kk", "Did you mean --k?"),
        ("mondrian", "--items", "Unknown option: --items. It is an option of relational-transaction. See"),
        ("mondrian", "--link", "Unknown option: --link. It is an option of multirelational. See"),
        (
            "mondrian",
            "--model",
            "It is an option of verify. A method is given a model in the promises of a recipe. See",
        ),
    ],
)
def test_an_unknown_option(method: str, option: str, meant: str, anonymize: Callable[..., Any]) -> None:
    answer = anonymize(method, "--k", 3, option, *([] if "=" in option else [3]))
    assert (answer.code, answer.out) == (2, "")
    assert meant in answer.err
    assert answer.err.endswith(f"See: shoal anonymize {method} --help\n")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (("anonymize", "mondrian", "--kk", 3, "people.csv"), "Unknown option: --kk. Did you mean --k?"),
        (
            ("recommend", "--max-suppressed", 3, "people.csv"),
            "Did you mean --suppression-limit (largest share of the rows",
        ),
        (("verify", "--kk", 3, "out"), "Did you mean --k?"),
        (("recommend", "--rsk", 3, "people.csv"), "Did you mean --risk?"),
        (("inspect", "--quazi", "age", "people.csv"), "Did you mean --quasi?"),
    ],
)
def test_an_unknown_option_before_the_input(
    call: tuple[object, ...], said: str, shoal: Callable[..., Any], people: Path
) -> None:
    answer = shoal(*call)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
    assert answer.err.endswith("--help\n")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            ("anonymize", "table-rule-hiding", "people.csv"),
            "shoal: --confidence is missing: largest confidence of a",
        ),
        (("anonymize", "table-rule-hiding", "people.csv", "--confidenc", 0.5), "(there is no --confidenc)"),
        (("anonymize", "mondrian"), "shoal: INPUT is missing: a file"),
        (("anonymize", "mondrian", "people.csv", "--k"), "shoal: --k needs a value: least number of rows"),
        (("measure", "out"), "shoal: --original is missing: the data that the release was made from."),
    ],
)
def test_what_is_missing(
    call: tuple[object, ...], said: str, shoal: Callable[..., Any], people: Path
) -> None:
    answer = shoal(*call)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err


def test_rules_are_hidden_after_a_promise(anonymize: Callable[..., Any]) -> None:
    answer = anonymize("table-rule-hiding", "--confidence", 0.5)
    assert answer.code == 2
    assert answer.err.startswith("shoal: table-rule-hiding anonymizes the table first, by mondrian")
    assert "--anonymize-with none" in answer.err


def test_too_many_suppressed_rows_are_told_as_a_share(shoal: Callable[..., Any], folder: Path) -> None:
    (folder / "ages.csv").write_text("age\n" + "30\n" * 5 + "40\n")
    tree = ("--hierarchy", "age=suppress", "--raw", "age")
    call = ("anonymize", "lattice", "ages.csv", "--quasi", "age", "--k", 3, *tree, *OUT)
    answer = shoal(*call)
    assert answer.code == 1
    assert "with at most 0 suppressed rows" in answer.err
    assert "suppresses 1 of 6. Allow that (--suppression-limit 0.166667)" in answer.err
    assert shoal(*call, "--suppression-limit", 0.166667).code == 0


def test_presence_does_not_go_with_local(shoal: Callable[..., Any], people: Path) -> None:
    trees = ("--hierarchy", "age=intervals:10,20", "--hierarchy", "education=suppress")
    call = ("anonymize", "lattice", people, "--quasi", "age,education", "--others", "drop", *trees, "--local")
    answer = shoal(*call, "--presence", 0.9, "--population", people, *OUT)
    assert answer.code == 2
    assert "--local does not go with delta-presence" in answer.err
    assert shoal(*call, "--k-map", 2, "--population", people, *OUT).code == 0


def test_presence_does_not_go_with_joined_classes(shoal: Callable[..., Any], people: Path) -> None:
    columns = ("--quasi", "age,education", "--sensitive", "occupation", "--others", "drop")
    promise = ("--confidence", 1, "--k", 2, "--presence", 1, "--population", people)
    call = ("anonymize", "table-rule-hiding", people, *columns, *promise, *OUT)
    answer = shoal(*call, "--strategy", "merge")
    assert answer.code == 2
    assert "--strategy merge does not go with delta-presence" in answer.err
    assert shoal(*call).code == 0


def test_one_row_has_no_k(shoal: Callable[..., Any], folder: Path) -> None:
    (folder / "one.csv").write_text("age,ill\n30,flu\n")
    answer = shoal("anonymize", "mondrian", "one.csv", "--quasi", "age", "--sensitive", "ill", "--k", 2, *OUT)
    assert answer.code == 1
    assert "k = 2 cannot be kept: there is only 1 row. No k can be." in answer.err


def test_a_table_that_reaches_no_k_is_to_be_anonymized(anonymize: Callable[..., Any]) -> None:
    answer = anonymize("table-rule-hiding", "--confidence", 0.5, "--k", 3, "--anonymize-with", "none")
    assert answer.code == 1
    assert "it reaches 1. Anonymize it with --anonymize-with mondrian." in answer.err


def test_a_release_of_no_use_is_warned_of(anonymize: Callable[..., Any]) -> None:
    answer = anonymize("mondrian", "--k", 120)
    assert answer.code == 0
    assert "WARNING All rows are published alike (age [18,77], education " in answer.out
    assert "smaller k" in answer.out


def test_a_rule_that_is_none(shoal: Callable[..., Any], folder: Path) -> None:
    (folder / "b.dat").write_text("a b\nb\n")
    call = ("anonymize", "basket-rule-hiding", "b.dat", "--support", 0.1, "--confidence", 0.5, *OUT)
    answer = shoal(*call, "--rules", "a -> b")
    assert answer.code == 2
    assert answer.err == (
        "shoal: basket-rule-hiding: rules: A rule is written with spaces as 'beer + nuts => wine', not 'a -> b'.\n"
    )


def test_a_size_without_effect(anonymize: Callable[..., Any]) -> None:
    call = ("table-rule-hiding", "--k", 3, "--confidence", 0.5, "--size", 2)
    answer = anonymize(*call)
    assert answer.code == 2
    assert "add --antecedent any" in answer.err
    assert "parameters" not in answer.err
    assert anonymize(*call, "--antecedent", "any").code == 0


def test_every_column_without_a_hierarchy_is_named(anonymize: Callable[..., Any]) -> None:
    answer = anonymize("lattice", "--k", 3, "--hierarchy", "age=suppress")
    assert answer.code == 2
    assert "The columns 'education', 'zip' have no hierarchy" in answer.err
    answer = anonymize("samarati", "--k", 3, "--hierarchy", "age=suppress", "--hierarchy", "zip=mask")
    assert "The column 'education' has no hierarchy" in answer.err


def test_options_of_step_one_as_on_the_command_line(anonymize: Callable[..., Any], folder: Path) -> None:
    trees = (
        "--hierarchy",
        "age=suppress",
        "--hierarchy",
        "zip=suppress",
        "--hierarchy",
        "education=suppress",
    )
    call = ("table-rule-hiding", "--k", 3, "--confidence", 0.5, "--anonymize-with", "samarati", *trees)
    assert anonymize(*call, "--option", "max-suppressed=3").code == 0
    answer = anonymize(*call, "--option", "max-suppresed=3", "--force")
    assert answer.code == 2
    assert "'max_suppressed'" in answer.err


HEADLESS = "39,State-gov,baker\n" + "".join(f"{20 + row % 5},Private,smith\n" for row in range(20))


def test_a_file_without_a_header(shoal: Callable[..., Any], folder: Path) -> None:
    (folder / "raw.csv").write_text(HEADLESS)
    call = ("anonymize", "mondrian", "raw.csv", "--k", 2, *OUT)
    hint = "The first line looks like data ('39'): if there is no header, name the columns with --names."
    assert hint in shoal(*call, "--quasi", "age").err
    assert hint in shoal(*call, "--quasi", "State-gov").err
    said = "looks like data: if there is no header, name the columns with --names."
    assert said in shoal("inspect", "raw.csv").out
    assert hint in shoal("verify", "raw.csv", "--quasi", "age", "--k", 2).err
    names = ("--names", "age,work,job", "--quasi", "age", "--others", "drop")
    assert shoal(*call, *names).code == 0
    assert hint not in shoal(*call, "--names", "age,work,job", "--quasi", "agee").err
    (folder / "twice.csv").write_text("1,1\n2,3\n")
    assert "if there is no header" in shoal("inspect", "twice.csv").err


def test_a_header_with_a_wrong_name_is_no_missing_header(shoal: Callable[..., Any], people: Path) -> None:
    answer = shoal("anonymize", "mondrian", people, "--k", 2, "--quasi", "agee", *OUT)
    assert "'age'" in answer.err
    assert "--names" not in answer.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--k", 3, "--distance", "equal"), "distance belongs to t-closeness and needs t"),
        (("--k", 3, "--population", "people.csv"), "The population has no effect"),
    ],
)
def test_options_without_effect_are_refused(
    options: tuple[object, ...], said: str, people: Path, roles: tuple[str, ...], shoal: Callable[..., Any]
) -> None:
    answer = shoal("anonymize", "mondrian", people, *roles, *options, "-o", "out")
    assert answer.code == 2
    assert said in answer.err
    answer = shoal("anonymize", "mondrian", people, *roles, "--k", 3, "-o", "out", "--no-report")
    assert answer.code == 0
    answer = shoal("verify", "out", *options)
    assert answer.code == 2
    assert said in answer.err


@pytest.mark.parametrize("engine", [(), ("--engine", "stream")])
def test_a_population_that_no_promise_of_a_release_is_about(
    engine: tuple[str, ...], people: Path, roles: tuple[str, ...], shoal: Callable[..., Any]
) -> None:
    shoal("anonymize", "mondrian", people, *roles, "--k", 3, "-o", "out", "--no-report")
    answer = shoal("verify", "out", "--population", people, *engine)
    assert answer.code == 2
    assert "The population has no effect" in answer.err


@pytest.mark.parametrize(
    "command",
    [
        ("generate", "baskets", "--rows", 10, "--seed", -1, "-o", "x.dat"),
        ("anonymize", "mondrian", "people.csv", "--k", 3, "--quasi", "age", "--seed", -1, "-o", "x"),
        ("reconstruct", "out", "--seed", -1, "-o", "x"),
    ],
    ids=lambda command: command[0],
)
def test_a_seed_is_not_negative(shoal: Callable[..., object], command: tuple[object, ...]) -> None:
    answer = shoal(*command)
    assert (answer.code, answer.out) == (2, "")
    assert "seed must be at least 0, not -1" in answer.err


@pytest.mark.parametrize("share", ["nan", "inf", "-1"])
def test_a_support_is_a_number(shoal: Callable[..., object], tmp_path: Path, share: str) -> None:
    (tmp_path / "baskets.dat").write_text("a b\n")
    answer = shoal("convert", tmp_path / "baskets.dat", "x.dat", "--least-support", share)
    assert (answer.code, answer.out) == (2, "")
    assert "at least 0" in answer.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--memory", "4GB"), "--memory requires --engine stream or spark"),
        (("--engine", "stream", "--master", "local[2]"), "--master is for --engine spark"),
    ],
)
def test_engines_are_not_told_what_they_do_not_heed(
    shoal: Callable[..., object], people: Path, options: tuple[str, ...], said: str
) -> None:
    roles = ("--quasi", "age", "--others", "drop")
    for command in (
        ("anonymize", "mondrian", people, *roles, "--k", 3, "-o", "x"),
        ("verify", people, *roles[:2], "--k", 2),
    ):
        answer = shoal(*command, *options)
        assert (answer.code, answer.out) == (2, "")
        assert said in answer.err
