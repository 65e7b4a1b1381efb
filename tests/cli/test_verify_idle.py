"""A promise that is about nothing in the published data proves nothing, and is not told to be kept: on every engine."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.papers import without_papers

import shoal as library

STREAM = ("--engine", "stream", "--memory", "1GB")
SOLD = "a b hiv\na b\na b\na c\na c flu\na c\nb c\nb c\n"
NONE = "none of the named sensitive items is published"
ROWS = "age,illness,job\n" + "20,hiv,clerk\n20,flu,nurse\n40,flu,clerk\n40,cold,nurse\n" * 2


def made(shoal: Callable[..., Any], text: str, *options: Any) -> Path:
    name = "in.csv" if text.startswith("age,") else "in.dat"
    Path(name).write_text(text)
    method, *others = options
    answer = shoal("anonymize", method, name, *others, "--no-report", "-o", "o")
    assert answer.code == 0, answer.err
    return Path("o/release")


def edit(release: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    path = release / "release.json"
    facts = json.loads(path.read_text())
    change(facts)
    path.write_text(json.dumps(facts))
    without_papers(release)


def both(shoal: Callable[..., Any], *call: Any) -> list[Any]:
    return [shoal("verify", *call), shoal("verify", *call, *STREAM)]


def name_sensitive(*names: str) -> Callable[[dict[str, Any]], Any]:
    return lambda facts: facts["promises"][0].update(sensitive=list(names))


def test_groups_whose_sensitive_items_are_renamed(shoal: Callable[..., Any], folder: Path) -> None:
    release = made(shoal, SOLD, "cahd", "--p", 3, "--sensitive", "hiv,flu")
    for answer in both(shoal, "o"):
        assert answer.code == 0
        assert answer.out.endswith("Judged by 3 public items; sensitive: 2.\n")
    edit(release, name_sensitive("hiv", "flu", "nothere"))
    for answer in both(shoal, "o"):
        assert (answer.code, "'nothere': is named as sensitive, and not published" in answer.out) == (1, True)
        assert answer.out.endswith("Judged by 3 public items; sensitive: 2.\n")
    groups = [json.loads(line) for line in (release / "data.jsonl").read_text().splitlines()]
    for group in groups:
        # As if they were public.
        for place, item in enumerate(group["sensitive"]):
            group["baskets"][place] = sorted([*group["baskets"][place], item])
        group["baskets"].sort()
        group["sensitive"] = {}
    groups.sort(key=lambda group: group["baskets"])
    lines = [json.dumps(group, separators=(",", ":")) for group in groups]
    (release / "data.jsonl").write_text("".join(f"{line}\n" for line in lines))
    edit(release, name_sensitive("nothere"))
    for answer in both(shoal, "o"):
        assert (answer.code, NONE in answer.out) == (1, True)
        assert answer.out.endswith("Judged by 5 public items; sensitive: 0.\n")


def test_clusters_whose_sensitive_items_are_renamed(shoal: Callable[..., Any], folder: Path) -> None:
    release = made(
        shoal, "a b\na b c\n" * 6, "disassociation", "--k", 2, "--m", 2, "--sensitive", "c", "--safe", 0.9
    )
    assert [answer.code for answer in both(shoal, "o")] == [0, 0]
    edit(release, name_sensitive("nothere"))
    for answer in both(shoal, "o"):
        assert (answer.code, NONE in answer.out) == (1, True)
        assert answer.out.endswith("Judged by 3 public items; sensitive: 0.\n")


def test_groups_in_which_nothing_is_sensitive(shoal: Callable[..., Any], folder: Path) -> None:
    lines = '{"baskets":[["a"],["b"],["hiv"]],"sensitive":{}}\n'
    (folder / "data.jsonl").write_text(lines)
    call = ("data.jsonl", "--model", "privacy-degree", "--p", 3)
    for answer in both(shoal, *call):
        assert (answer.code, answer.out) == (2, "")
        assert "no group counts one; name them with --sensitive" in answer.err
    for answer in both(shoal, *call, "--sensitive", "hiv"):
        assert answer.code == 1
        assert answer.out.endswith("Judged by 2 public items; sensitive: 1.\n")
    for answer in both(shoal, *call, "--sensitive", "HIV"):
        assert (answer.code, "no item 'HIV'" in answer.err) == (2, True)
    (folder / "data.jsonl").write_text(
        lines.replace('[["a"],["b"],["hiv"]]', '[[],["a"],["b"]]').replace("{}", '{"hiv":1}')
    )
    for answer in both(shoal, *call):
        assert answer.code == 0
        assert answer.out.endswith("Judged by 2 public items; sensitive: 1.\n")


COHERENCE = ("--h", 0.5, "--k", 3, "--p", 2, "--sensitive", "hiv")


def test_baskets_without_a_public_item(shoal: Callable[..., Any], folder: Path) -> None:
    (folder / "u.dat").write_text("john hiv\nmary\npaul\n")
    call = ("u.dat", "--model", "hkp-coherence", *COHERENCE)
    for answer in both(shoal, *call, "--insensitive", "john,mary,paul"):
        assert (answer.code, "No item is public" in answer.err) == (2, True)
    answer = shoal(
        "anonymize", "coherence", "u.dat", *COHERENCE, "--insensitive", "john,mary,paul", "-o", "x"
    )
    assert (answer.code, "No item is public" in answer.err) == (2, True)
    release = made(shoal, "milk hiv\nmilk\nmilk\n" * 2, "coherence", *COHERENCE)
    assert [answer.code for answer in both(shoal, "o")] == [0, 0]
    edit(release, lambda facts: facts.update(insensitive=["milk"]))
    for answer in both(shoal, "o"):
        assert (answer.code, "no published item is public" in answer.err) == (3, True)


@pytest.mark.parametrize("more", [(), ("--insensitive", "milk")])
@pytest.mark.parametrize("engine", [(), STREAM])
def test_coherence_may_suppress_every_public_item(
    more: tuple[str, ...], engine: tuple[str, ...], shoal: Callable[..., Any], folder: Path
) -> None:
    items = "milk" if more else ""
    text = "".join(f"{who} {items} {ill}\n" for who, ill in zip("abcdef", ["hiv", "", ""] * 2, strict=True))
    made(shoal, text, "coherence", *COHERENCE, *more, *engine)
    for answer in both(shoal, "o"):
        assert answer.code == 0, answer.err
        assert answer.out.startswith("OK")


@pytest.mark.parametrize(
    ("model", "others"),
    [
        ("confidence-bounding", {"bounds": {"HIV": 0.1}}),
        ("alpha-k-anonymity", {"alpha": 0.1, "k": 2, "values": ["HIV"]}),
        ("hidden-rules", {"confidence": 0.1, "values": ["HIV"]}),
    ],
)
def test_tables_whose_named_values_are_not_there(
    model: str, others: dict[str, Any], shoal: Callable[..., Any], folder: Path
) -> None:
    roles = ("--quasi", "age", "--sensitive", "illness,job")
    release = made(shoal, ROWS, "mondrian", "--k", 2, *roles)
    promise = {"model": model, "column": "illness", **others}
    edit(release, lambda facts: facts.update(promises=[promise]))
    said = "illness: none of the named values is published, and nothing was suppressed that could hold one"
    for answer in both(shoal, "o"):
        assert (answer.code, said in answer.out) == (1, True)
    # Whoever left out rows may have left out the value.
    edit(release, lambda facts: facts.update(suppressed=1))
    for answer in both(shoal, "o"):
        assert (answer.code, "no published cell is HIV" in answer.out) == (0, True)
    data = (release / "data.csv").read_text().replace("cold", "*")
    lines = data.splitlines()
    (release / "data.csv").write_text("\n".join([lines[0], *sorted(lines[1:])]) + "\n")
    edit(release, lambda facts: facts.update(suppressed=0))
    for answer in both(shoal, "o"):
        assert "none of the named values" not in answer.out


@pytest.mark.parametrize("engine", [None, "stream"])
def test_a_named_value_is_promised_where_it_is(
    engine: str | None, shoal: Callable[..., Any], folder: Path
) -> None:
    (folder / "in.csv").write_text(ROWS)
    promise = {"model": "confidence-bounding", "bounds": {"hiv": 0.6}}
    run = library.anonymize(
        "in.csv",
        "mondrian",
        promises=[promise],
        k=2,
        quasi="age",
        sensitive=["illness", "job"],
        engine=engine and library.engines.Stream("1GB"),
    )
    assert [promise.get("column") for promise in run.release.promises] == [None, "illness"]
    run.write("o")
    assert [answer.code for answer in both(shoal, "o")] == [0, 0]


def test_rules_none_of_whose_items_is_there(shoal: Callable[..., Any], folder: Path) -> None:
    hide = ("--support", 0.4, "--confidence", 0.5, "--rules", "a => b")
    release = made(shoal, "a b\n" * 4 + "a c\n" * 4, "basket-rule-hiding", *hide)
    assert [answer.code for answer in both(shoal, "o")] == [0, 0]
    edit(release, lambda facts: facts["promises"][0].update(rules=["foo => bar"]))
    for answer in both(shoal, "o"):
        assert (answer.code, "none of the items of the given rules is published" in answer.out) == (1, True)


def test_a_column_that_is_no_longer_sensitive(shoal: Callable[..., Any], folder: Path) -> None:
    roles = ("--quasi", "age", "--sensitive", "illness")
    release = made(shoal, ROWS, "mondrian", "--k", 2, "--l", 2, *roles, "--insensitive", "job")

    def demote(facts: dict[str, Any]) -> None:
        for column in facts["columns"]:
            if column["name"] == "illness":
                column["role"] = "insensitive"

    edit(release, demote)
    for answer in both(shoal, "o"):
        assert answer.code == 3
        assert "is about the column 'illness', and sensitive by its role is none" in answer.err


def test_what_release_json_says_of_itself(shoal: Callable[..., Any], folder: Path) -> None:
    release = made(shoal, ROWS, "mondrian", "--k", 2, "--quasi", "age", "--insensitive", "illness,job")
    whole = (release / "release.json").read_text()
    for change, said in (
        ({"format": True}, "is damaged"),
        ({"tool": {"name": "shoal", "version": "1", "who": "Ann"}}, "'tool' has a name and a version"),
        ({"tool": {"name": "shoal", "version": ["Ann"]}}, "'tool' has a name and a version"),
    ):
        (release / "release.json").write_text(json.dumps({**json.loads(whole), **change}))
        for answer in both(shoal, "o"):
            assert (answer.code, said in answer.err) == (3, True)
            assert "Update" not in answer.err


def test_stars_alone(shoal: Callable[..., Any], folder: Path) -> None:
    (folder / "a.csv").write_text("x,s\n1,*\n1,*\n")
    answer = shoal("verify", "a.csv", "--quasi", "x", "--sensitive", "s", "--t", 0.2)
    assert "distances" not in answer.out
    (folder / "a.csv").write_text("x\n*\n*\n")
    answer = shoal("verify", "a.csv", "--quasi", "x", "--k", 2)
    assert "BROKEN  nothing-published: every cell is *, or there is no row.\n" in answer.out
