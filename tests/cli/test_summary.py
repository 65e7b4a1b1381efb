"""What the terminal says of a finished run: what was chosen, what it cost, and nothing twice."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shoal import registry
from shoal.cli.run_summary import BESIDE_THE_POINT, SCORES
from shoal.data._notebook import release_html
from shoal.io.releases.folder import read_release

TREES = (
    *("--hierarchy", "age=intervals:10,20"),
    *("--hierarchy", "education=suppress"),
    *("--hierarchy", "zip=prefix:2"),
)


@pytest.fixture
def baskets(folder: Path) -> Path:
    """60 baskets of milk, bread and eggs; some hold a secret."""
    lines = [("milk bread", "bread eggs", "milk eggs tea", "milk")[row % 4] for row in range(60)]
    path = folder / "baskets.dat"
    path.write_text("".join(f"{line}{' secret' * (row % 7 == 0)}\n" for row, line in enumerate(lines)))
    return path


@pytest.fixture
def table(shoal: Callable[..., Any], people: Path, roles: tuple[str, ...]) -> Callable[..., Any]:
    """The people by a method."""

    def call(method: str, *options: object) -> Any:
        return shoal("anonymize", method, people, *roles, *options, "--no-report", "--force", "-o", "out")

    return call


def names_of_scores(out: str) -> list[str]:
    known = {score for name in registry.MEASURES for score in registry.load("measure", name).scores_named}
    return [line.split()[0] for line in out.splitlines() if line.split() and line.split()[0] in known]


def test_every_score_of_the_table_is_one_of_a_measure() -> None:
    for form, wanted in SCORES.items():
        kinds = [registry.load("measure", name) for name in registry.MEASURES]
        fitting = [kind for kind in kinds if form in {one.__name__ for one in kind.accepts}]
        known = {score for kind in fitting for score in kind.scores_named}
        assert set(wanted) <= known, form
    shown = {score for wanted in SCORES.values() for score in wanted}
    assert {score for pair in BESIDE_THE_POINT.items() for score in (pair[0], *pair[1])} <= shown


def test_the_lattice_tells_its_levels_and_its_proof(table: Callable[..., Any], folder: Path) -> None:
    answer = table("lattice", "--k", 5, "--suppression-limit", 0.1, *TREES)
    assert answer.code == 0
    levels = json.loads((folder / "out/release/release.json").read_text())["levels"]
    tops = {"age": 3, "education": 1, "zip": 2}
    words = ", ".join(f"{name} {level} of {tops[name]}" for name, level in levels.items())
    assert f"Levels: {words}." in answer.out
    reported = json.loads((folder / "out/run.json").read_text())
    lm = next(score["value"] for score in reported["scores"] if score["name"] == "lm")
    assert f"Optimum proven: none of 24 vectors of levels has a lower lm than {lm:.4g}." in answer.out
    assert len(answer.out.splitlines()) <= 18
    higher = table("lattice", "--k", 5, "--objective", "precision", *TREES)
    assert "has a higher precision than" in higher.out
    weighted = table("lattice", "--k", 5, "--weight", "age=3", *TREES)
    assert "has a lower weighted loss by lm than" in weighted.out


def test_a_search_out_of_time_tells_its_bound(table: Callable[..., Any]) -> None:
    answer = table("lattice", "--k", 5, "--time-limit", 1e-9, *TREES)
    assert answer.code == 0
    assert "Best found in the time: lm " in answer.out
    assert "none can be below" in answer.out or "no bound is known" in answer.out
    assert "proven" not in answer.out


def test_local_recoding_tells_what_it_gained(table: Callable[..., Any]) -> None:
    answer = table("lattice", "--k", 5, "--suppression-limit", 0.2, "--local", *TREES)
    assert "vectors of levels for all rows has a lower lm than" in answer.out
    assert "Local recoding, with levels for parts of the rows: lm " in answer.out
    assert "instead of" in answer.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), ("is the least possible; chosen by lm (", "of it.")),
        (("--objective", "first"), ("chosen as the first among",)),
        (
            ("--among", "minimal"),
            ("Chosen by lm (", "among 1 minimal vector of levels, of height ", "its height is"),
        ),
    ],
)
def test_samarati_tells_its_height_and_choice(
    options: tuple[str, ...], said: tuple[str, ...], table: Callable[..., Any]
) -> None:
    answer = table("samarati", "--k", 5, "--max-suppressed", 10, *options, *TREES)
    assert answer.code == 0
    assert "Levels: age " in answer.out
    for words in said:
        assert words in answer.out


def test_suppressed_rows_are_left_out_or_published_as_stars(table: Callable[..., Any], folder: Path) -> None:
    call = ("lattice", "--k", 5, "--suppression-limit", 0.3, "--max-level", "age=1", *TREES)
    left_out = table(*call)
    lost = json.loads((folder / "out/release/release.json").read_text())["suppressed"]
    assert lost
    assert f"{120 - lost} rows published; {lost} suppressed and left out." in left_out.out
    kept = table(*call, "--keep-suppressed")
    assert f"120 rows published, {lost} of them as *." in kept.out
    reported = json.loads(table(*call, "--keep-suppressed", "--json").out)
    assert (reported["published"], reported["suppressed"], reported["suppressed_published"]) == (
        120,
        lost,
        True,
    )
    reported = json.loads(table(*call, "--json").out)
    assert (reported["published"], reported["suppressed_published"]) == (120 - lost, False)
    assert "can guess that person's row with a chance of at most 1 in 5." in left_out.out
    assert reported["summary"][0].startswith("Taken: ")
    assert any(one.startswith("Levels: ") for one in reported["summary"])


def test_hierarchies_are_named_shortly(
    table: Callable[..., Any], folder: Path, tmp_path_factory: Any
) -> None:
    tree = "school;low;*\ncollege;high;*\nuniversity;high;*\n"
    away = tmp_path_factory.mktemp("away") / "education.csv"
    away.write_text(tree)
    (folder / "trees").mkdir()
    (folder / "trees/education.csv").write_text(tree)
    for place, shown in ((away, "education.csv"), (folder / "trees/education.csv", "trees/education.csv")):
        answer = table("mondrian", "--k", 5, "--hierarchy", f"education={place}")
        assert f"Hierarchies: education {shown}; none for age, zip." in answer.out


def test_stars_and_confidences_of_hidden_rules(table: Callable[..., Any], folder: Path) -> None:
    answer = table("table-rule-hiding", "--k", 5, "--confidence", 0.3, "--seed", 1)
    assert answer.code == 0
    names = names_of_scores(answer.out)
    assert names[-4:] == ["starred_cells", "confidence_before", "confidence_published", "confidence_worst"]
    assert "discernibility" not in names
    reported = json.loads((folder / "out/run.json").read_text())["notes"]["rules.occupation"]
    assert f"Rules hidden: {reported['rules']} of occupation (confidence " in answer.out
    assert reported["rules"]


def test_the_levels_of_step_one_are_told_unless_classes_were_joined(table: Callable[..., Any]) -> None:
    call = ("table-rule-hiding", "--k", 5, "--confidence", 0.5, "--anonymize-with", "lattice", *TREES)
    assert "Levels: age " in table(*call).out
    joined = table(*call, "--strategy", "merge", "--option", "objective=precision")
    assert joined.code == 0
    assert ("Levels: " in joined.out) != ("classes joined for it" in joined.out)


def test_groups_tell_loss_and_attack_beside_the_promise(shoal: Callable[..., Any], baskets: Path) -> None:
    for method in ("cahd", "permutation-mondrian"):
        call = ("anonymize", method, baskets, "--p", 3, "--sensitive", "secret", "--no-report")
        answer = shoal(*call, "-o", method)
        assert answer.code == 0
        assert "of 60 baskets." in answer.out
        assert {"kl", "pivot_guess", "pivot_central"} <= set(names_of_scores(answer.out))
        line = next(line for line in answer.out.splitlines() if line.startswith("pivot_central"))
        assert line.endswith("; 1/p is 0.3333")


def test_clusters_are_counted_as_in_release_json(
    shoal: Callable[..., Any], baskets: Path, folder: Path
) -> None:
    call = ("anonymize", "disassociation", baskets, "--k", 3, "--max-cluster-size", 6, "--no-report")
    for refine in (True, False):
        out = f"out-{refine}"
        answer = shoal(*call, *([] if refine else ["--no-refine"]), "-o", out)
        reported = json.loads((folder / out / "release/release.json").read_text())
        assert f"{reported['clusters']} clusters published, of 60 baskets" in answer.out
        assert ("are joint" in answer.out) == ('"joint"' in (folder / out / "release/data.jsonl").read_text())
        assert shoal(*call[:-1], *([] if refine else ["--no-refine"]), "--force", "-o", out).code == 0
        report = " ".join((folder / out / "report.html").read_text().split())
        counted = re.search(r"clusters published</\w+>\s*<\w+[^>]*>\s*([0-9,]+)", report)
        assert counted is not None
        assert int(counted[1]) == reported["clusters"]
        assert ("simple clusters in all" in report) == ("are joint" in answer.out)
        clusters = read_release(folder / out).data
        assert repr(clusters).startswith(f"<Clusters: {reported['clusters']} clusters of 60 baskets")
        assert f"{reported['clusters']} clusters of 60 baskets" in release_html(read_release(folder / out))
        notes = json.loads((folder / out / "run.json").read_text())["notes"]
        assert notes["clusters"] == reported["clusters"]
        if "are joint" in answer.out:
            (made,) = re.findall(r"(\d+) of them are joint, and all are made of (\d+) simple", answer.out)
            assert f", {made[0]} of them joint, made of {made[1]} simple ones" in repr(clusters)
        assert {"term_chunk_share", "certain_links", "tkd"} <= set(names_of_scores(answer.out))
        as_json = json.loads(shoal(*call, "--force", "--json", "-o", out).out)
        assert (
            as_json["published"]
            == json.loads((folder / out / "release/release.json").read_text())["clusters"]
        )


@pytest.mark.parametrize("aim", ["granularity", "entropy"])
def test_what_was_looked_for_is_among_the_scores(aim: str, table: Callable[..., Any]) -> None:
    assert names_of_scores(table("lattice", "--k", 5, *TREES).out)[0] == "lm"
    answer = table("lattice", "--k", 5, "--objective", aim, *TREES)
    assert names_of_scores(answer.out)[:2] == [aim, "lm"]


def test_generalized_items_are_not_called_suppressed(shoal: Callable[..., Any], baskets: Path) -> None:
    call = ("anonymize", "km-generalization", baskets, "--k", 16, "--m", 2, "--no-report", "-o", "out")
    names = names_of_scores(shoal(*call).out)
    assert names == ["item_ncp", "generalized_occurrences"]


def test_suppressed_items_and_hidden_rules_of_baskets(shoal: Callable[..., Any], baskets: Path) -> None:
    call = ("anonymize", "coherence", baskets, "--h", 0.9, "--k", 16, "--p", 1, "--sensitive", "secret")
    answer = shoal(*call, "--pick", "optimal", "--no-report", "-o", "one")
    assert names_of_scores(answer.out) == ["information_loss", "items_suppressed"]
    assert "Occurrences suppressed: 15, no release loses less." in answer.out
    call = ("anonymize", "basket-rule-hiding", baskets, "--support", 0.1, "--confidence", 0.5, "--no-report")
    answer = shoal(*call, "--rules", "tea => milk", "-o", "two")
    assert "Sensitive rules found and hidden: 1; 8 occurrences taken out, 8 baskets changed." in answer.out
    assert {"hiding_failure", "lost_rules", "ghost_rules"} <= set(names_of_scores(answer.out))


def test_warnings_of_a_method_are_warnings_of_the_run(
    shoal: Callable[..., Any], baskets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    kind = registry.load("method", "disassociation")
    plain = kind.anonymize

    def worried(self: Any, *given: Any, **more: Any) -> Any:
        release, trace = plain(self, *given, **more)
        notes = {**trace.notes, "warnings": ["This has no effect."], "summary": ["Chosen by lot."]}
        return release, replace(trace, notes=notes)

    monkeypatch.setattr(kind, "anonymize", worried)
    call = ("anonymize", "disassociation", baskets, "--k", 3, "--no-report", "--force", "-o", "out")
    lines = shoal(*call).out.splitlines()
    assert "WARNING This has no effect." in lines
    assert "Chosen by lot." in lines
    assert json.loads(shoal(*call, "--json").out)["warnings"] == ["This has no effect."]


def test_tables_of_scores_say_what_they_are_by(shoal: Callable[..., Any], baskets: Path) -> None:
    for method, more, head in (
        ("cahd", ("--p", 3, "--sensitive", "secret"), "item "),
        ("km-generalization", ("--k", 16), "support "),
    ):
        assert shoal("anonymize", method, baskets, *more, "--no-report", "-o", method).code == 0
        lines = shoal("measure", method, "--original", baskets).out.splitlines()
        assert [line for line in lines if line.startswith(head)]
        assert not [line for line in lines if line.startswith("column")]
