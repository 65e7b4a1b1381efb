"""The names of the package's front, and how it behaves at a Python prompt."""

import ast
import logging
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import polars as pl
import pytest

import shoal
from shoal import registry
from shoal.data.verdict import Offender, Verdict
from shoal.errors import BadData, ShoalError, UnknownName, WrongUse
from shoal.measures.measure import LINES, Scores

FRONT = Path(shoal.__file__)
FRAME = pl.DataFrame({"age": [20, 21, 40, 41], "illness": ["leprosy", "plague", "leprosy", "plague"]})
ROLES = {"quasi": ["age"], "sensitive": ["illness"]}


SPACES = {space: space.removesuffix("s") for space in shoal._SPACES} | {"preparation": "transform"}


def for_the_type_checker(path: Path) -> dict[str, str]:
    """The names that the type checker sees, and their modules."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    return {alias.asname: node.module for node in block.body for alias in node.names}


def test_the_type_checker_is_told_what_there_is() -> None:
    assert for_the_type_checker(FRONT) == {**shoal._HOME, **dict.fromkeys(shoal._PLACES, "shoal")}


@pytest.mark.parametrize(("space", "family"), SPACES.items())
def test_the_type_checker_is_told_what_a_space_holds(space: str, family: str) -> None:
    places = (place.split(":") for place in registry.FAMILIES[family].data.values())
    assert for_the_type_checker(FRONT.parent / space / "__init__.py") == {
        name: module for module, name in places
    }


def test_the_names_are_sorted() -> None:
    assert list(shoal._HOME) == sorted(shoal._HOME)
    assert set(dir(shoal)) == {*shoal._HOME, *shoal._PLACES, "__version__"}
    assert len(shoal._HOME) <= 32


@pytest.mark.parametrize("name", shoal._HOME)
def test_every_name_leads_somewhere(name: str) -> None:
    assert getattr(shoal, name) is getattr(import_module(shoal._HOME[name]), name)


@pytest.mark.parametrize(("space", "family"), SPACES.items())
def test_every_space_holds_its_classes(space: str, family: str) -> None:
    room = getattr(shoal, space)
    assert room is import_module(f"shoal.{space}")
    kinds = registry.load_all(family).values()
    assert {getattr(room, kind.__name__) for kind in kinds} == set(kinds)
    assert set(dir(room)) == {kind.__name__ for kind in kinds}
    with pytest.raises(AttributeError, match=f"module 'shoal.{space}' has no attribute 'Nothing'"):
        _ = room.Nothing


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("Mondrian", "shoal.methods.Mondrian"),
        ("KAnonymity", "shoal.models.KAnonymity"),
        ("Stream", "shoal.engines.Stream"),
        ("HiddenRules", "shoal.measures.HiddenRules or shoal.models.HiddenRules"),
        ("Trace", "shoal.data.trace.Trace"),
        ("TableProfile", "shoal.data.profile.TableProfile"),
        ("Groups", "shoal.data.groups.Groups"),
        ("Linked", "shoal.data.linked.Linked"),
        ("UnknownName", "shoal.errors.UnknownName"),
        ("CannotWrite", "shoal.errors.CannotWrite"),
    ],
)
def test_a_name_that_stood_here_says_where_it_is(name: str, place: str) -> None:
    with pytest.raises(AttributeError) as error:
        getattr(shoal, name)
    assert str(error.value) == f"module 'shoal' has no attribute {name!r}; it is {place}"
    with pytest.raises(AttributeError, match=r"has no attribute 'Nothing'$"):
        _ = shoal.Nothing


def test_asking_for_a_class_loads_no_other() -> None:
    program = (
        "import sys, shoal; assert 'shoal.methods' not in sys.modules; shoal.methods.Mondrian; shoal.models.KMap;"
        "print([name for name in ('shoal.methods.lattice', 'shoal.engines.spark', 'pyspark') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda: shoal.methods.Disassociation(k=5, m=2, safe=0),
            "disassociation: safe must be above 0, not 0.",
        ),
        (lambda: shoal.methods.Mondrian(kk=5), "mondrian: kk is not a parameter here (did you mean k?)."),
        (lambda: shoal.methods.Mondrian(k="many"), "mondrian: k must be a valid integer, not 'many'."),
        (lambda: shoal.models.KAnonymity(k=1), "k-anonymity: k must be at least 2, not 1."),
        (
            lambda: shoal.models.RhoPrivacy(rho1=0.5, rho2=0.4),
            "rho-privacy: rho2 must be above rho1, for example",
        ),
        (lambda: shoal.models.KAnonymity(), "k-anonymity: k is required."),
        (lambda: shoal.measures.Queries(count="x"), "queries: count"),
        (lambda: shoal.Recipe(source={"path": "x"}), "method is required."),
        (lambda: shoal.Recipe(source={"path": 1}, method={}), "source.path must be a valid string, not 1."),
        (lambda: shoal.Roles(others="keep"), "others must be 'drop' or 'insensitive', not 'keep'."),
        (
            lambda: shoal.verify({"age": [1]}, k=2),
            "What is verified is a release, its folder or a published file",
        ),
    ],
)
def test_wrong_parameters_are_an_error_of_ours(make: Callable[[], object], said: str) -> None:
    with pytest.raises(WrongUse) as error:
        make()
    assert str(error.value).startswith(said)


def test_a_text_is_one_name() -> None:
    run = shoal.anonymize(FRAME, "mondrian", k=2, quasi="age", sensitive="illness")
    assert [column.name for column in run.original.quasi] == ["age"]
    assert [column.name for column in run.original.sensitive] == ["illness"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"others": "keep"}, "There is no treatment of other columns 'keep'. There are: drop, insensitive."),
        ({"quasi": [0]}, "quasi.0 must be a valid string, not 0"),
        ({"quasi": 3}, "quasi must be a list, such as [3], not 3"),
        ({"quasi": ["agee"]}, "There is no column 'agee'. Did you mean 'age'?"),
    ],
)
def test_wrong_roles_are_an_error_of_ours(given: dict[str, object], said: str) -> None:
    with pytest.raises(ShoalError) as error:
        shoal.anonymize(FRAME, "mondrian", k=2, **{**ROLES, **given})
    assert isinstance(error.value, WrongUse)
    assert said in str(error.value)


@pytest.mark.parametrize("weight", [-1, 0, float("nan"), float("inf"), "much"])
def test_weights_are_positive(weight: object) -> None:
    with pytest.raises(WrongUse, match=r"weights\.age must be"):
        shoal.anonymize(FRAME, "mondrian", k=2, weights={"age": weight}, **ROLES)


def test_a_whole_problem_does_not_repeat_all_parameters() -> None:
    with pytest.raises(WrongUse) as error:
        shoal.anonymize(FRAME, "mondrian", k=2, c=2.0, **ROLES)
    assert str(error.value).endswith("for example c=2, l=3.")


def test_what_is_printed_has_no_values() -> None:
    run = shoal.anonymize(FRAME, "mondrian", k=2, **ROLES)
    for shown in map(repr, (run, run.release, run.release.data, run.original, run.trace)):
        assert len(shown) < 300
        for value in ("leprosy", "plague", "41", "[20,21]", "array("):
            assert value not in shown
    assert repr(run.original) == "<Table: 4 rows; age (quasi), illness (sensitive)>"
    assert "k-anonymity" in repr(run.release)
    assert "all promises kept" in repr(run)


def test_a_run_and_its_parts_are_printed_in_a_few_lines() -> None:
    run = shoal.anonymize(FRAME, "mondrian", k=2, **ROLES)
    promise, release, promised, cost, *rest = str(run).split("\n")
    assert promise == str(run.verdicts[0]) == "OK      k-anonymity: every class has at least 2 rows; found 2."
    assert f"{release}\n{promised}" == str(run.release)
    assert release == "Release by mondrian: 4 rows of 2 columns"
    assert promised == "Promised: k-anonymity (k = 2)"
    assert cost.startswith("Cost: ")
    assert cost.isprintable()
    assert rest[: len(run.warnings)] == [f"WARNING {warning}" for warning in run.warnings]
    assert rest[-1] == f"{len(run.scores)} scores: print(run.scores) shows them"
    for value in ("leprosy", "plague", "41", "[20,21]"):
        assert value not in str(run)
    assert str(replace(run, verdicts=())).startswith("Not judged yet")
    assert str(shoal.verify(run.release)).split("\n") == [
        promise,
        "Judged by age (quasi-identifier); sensitive: illness.",
    ]


def test_nothing_that_is_given_is_passed_over() -> None:
    with pytest.raises(WrongUse, match=r"has its parameters already: give k, kk to Mondrian\(…\)"):
        shoal.anonymize(FRAME, shoal.methods.Mondrian(k=2), k=4, kk=1, **ROLES)
    with pytest.raises(WrongUse, match=r"There is no way to compare 'querys'\. Did you mean 'queries'"):
        shoal.recommend(FRAME, k=2, by=cast(Any, "querys"), **ROLES)
    with pytest.raises(WrongUse, match="A recipe is a path, a dictionary or"):
        shoal.run(cast(Any, 7))
    run = shoal.anonymize(FRAME, "mondrian", k=2, **ROLES)
    with pytest.raises(WrongUse, match=r"measured from the folder.*Release is none"):
        shoal.measure(cast(Any, run.release), FRAME)


def test_a_recipe_is_a_dictionary_too(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    FRAME.write_csv(path)
    plan = {"source": {"path": str(path)}, "roles": ROLES, "method": {"name": "mondrian", "k": 2}}
    assert shoal.run(plan).release.method == "mondrian"


def test_a_release_in_parts_says_how_much_there_is(tmp_path: Path) -> None:
    path = tmp_path / "shop.dat"
    path.write_text("a b s\na b\na c\nb c\n" * 5)
    engine = shoal.engines.Stream("1GB")
    lines = [
        str(shoal.anonymize(path, name, engine=engine, seed=1, **options).release).split("\n")[0]
        for name, options in (
            ("cahd", {"p": 2, "sensitive": "s"}),
            ("disassociation", {"k": 2, "m": 2}),
            ("coherence", {"h": 1, "k": 2, "p": 1, "sensitive": "s"}),
        )
    ]
    assert re.fullmatch(r"Release by cahd: 20 baskets in \d+ groups, in parts", lines[0])
    assert re.fullmatch(r"Release by disassociation: \d+ clusters? of 20 baskets, in parts", lines[1])
    assert re.fullmatch(r"Release by coherence: 20 baskets of \d items, in parts", lines[2])


def test_scores_are_printed_as_a_short_table() -> None:
    scores = shoal.anonymize(FRAME, "mondrian", k=2, **ROLES).scores
    head, *lines = str(scores).split("\n")
    assert head.split() == ["score", "value", "direction"]
    assert [line.split()[0] for line in lines[:LINES]] == [score.name for score in scores[:LINES]]
    assert len(lines) <= LINES + 1
    many = Scores(replace(scores[0], name=f"s{place}") for place in range(LINES + 5))
    assert repr(many).split("\n")[-1].startswith("… and 5 more: to_frame()")
    assert "… and 5 more" in many._repr_html_()
    assert str(Scores(())) == "<Scores: none>"
    lm = scores["lm"]
    assert repr(lm) == f"<Score: lm {lm.value:.4g}, lower is better, 1 part by column>"
    assert str(lm) == f"lm {lm.value:.4g} (lower is better): {lm.meaning}"


def test_a_broken_verdict_is_printed_with_its_places() -> None:
    places = (Offender("age \x1b[2J", "too many"),)
    verdict = Verdict("m", "no more than a third", False, Fraction(1, 2), Fraction(1, 3), places, 7, "Look.")
    assert str(verdict).split("\n") == [
        "BROKEN  m: no more than a third; found 0.5.",
        "        Look.",
        "        age \\x1b[2J: too many",
        "        … and 6 more",
    ]
    assert repr(verdict) == "<Verdict: m is broken: no more than a third, found 0.5, in 7 places>"


def test_sets_are_printed_by_their_numbers(tmp_path: Path) -> None:
    path = tmp_path / "baskets.dat"
    path.write_text("wine meat\nwine\nmeat viagra\nwine meat\n" * 10)
    baskets = shoal.read_baskets(path, sensitive=["viagra"])
    assert repr(baskets) == "<Baskets: 40 baskets of 3 items, 1 sensitive, 0 insensitive>"
    groups = shoal.anonymize(baskets, "cahd", p=2).release.data
    assert repr(groups).startswith("<Groups: ")
    assert repr(groups).endswith(" groups of 40 baskets, 3 items>")
    clusters = shoal.anonymize(shoal.read_baskets(path), "disassociation", k=2, m=2).release.data
    assert repr(clusters).startswith("<Clusters: ")
    assert repr(clusters).endswith(" of 40 baskets, 3 items>")


def test_a_release_is_verified(tmp_path: Path) -> None:
    run = shoal.anonymize(FRAME, "mondrian", k=2, **ROLES)
    run.write(tmp_path / "out", report=False)
    for release in (run.release, tmp_path / "out", str(tmp_path / "out" / "release")):
        (verdict,) = shoal.verify(release)
        assert (verdict.model, verdict.holds) == ("k-anonymity", True)
        (verdict,) = shoal.verify(release, k=3)
        assert not verdict.holds
        (verdict,) = shoal.verify(release, k=4, quasi="illness")
        assert (verdict.holds, verdict.value) == (False, 2)


def test_any_table_is_verified(tmp_path: Path) -> None:
    path = tmp_path / "any.csv"
    path.write_text("age\n30\n30\n")
    assert shoal.verify(path, k=2, quasi="age")[0].holds
    with pytest.raises(WrongUse, match="Nothing to prove"):
        shoal.verify(path, quasi="age")
    with pytest.raises(WrongUse, match="k must be"):
        shoal.verify(path, quasi="age", k=1)


def test_data_is_inspected() -> None:
    assert shoal.inspect(FRAME, quasi="age").rows == 4


def test_a_release_of_a_frame_is_measured(tmp_path: Path) -> None:
    run = shoal.anonymize(FRAME, "mondrian", k=2, **ROLES)
    run.write(tmp_path / "out", report=False)
    assert shoal.measure(tmp_path / "out", FRAME) == run.scores
    with pytest.raises(BadData, match="not the original of this release"):
        shoal.measure(tmp_path / "out", FRAME.with_columns(age=pl.col("age") + 1))


@pytest.mark.parametrize(
    ("name", "parameters"), [("cahd", {"p": 2}), ("coherence", {"h": 0.5, "k": 2, "p": 2})]
)
def test_a_release_of_baskets_is_measured(tmp_path: Path, name: str, parameters: dict[str, Any]) -> None:
    """Its layout, separator and sensitive items are taken from the run."""
    baskets = tmp_path / "baskets.csv"
    baskets.write_text("wine,meat\nwine,meat\nmeat,cream,pills\nmeat,cream\n")
    reading = shoal.Reading(separator=",")
    run = shoal.anonymize(baskets, name, baskets="lines", reading=reading, sensitive="pills", **parameters)
    assert run.original.vocabulary == ("cream", "meat", "pills", "wine")
    run.write(tmp_path / "out")
    assert shoal.measure(tmp_path / "out", baskets) == run.scores
    again = shoal.anonymize(run.original, name, **parameters)
    again.write(tmp_path / "again")
    assert shoal.measure(
        tmp_path / "again", [["wine", "meat"]] * 2 + [["meat", "cream", "pills"], ["meat", "cream"]]
    )


def test_a_recipe_runs_from_its_path_and_on_other_data(tmp_path: Path) -> None:
    FRAME.write_csv(tmp_path / "people.csv")
    plan = shoal.Recipe(
        source={"path": str(tmp_path / "people.csv")}, roles=ROLES, method={"name": "mondrian", "k": 2}
    )
    plan.write(tmp_path / "recipe.toml")
    whole = shoal.run(plan).release.to_polars()
    assert shoal.run(tmp_path / "recipe.toml").release.to_polars().equals(whole)
    assert shoal.run(str(tmp_path / "recipe.toml")).release.to_polars().equals(whole)
    other = shoal.run(plan, data=FRAME.with_columns(age=pl.col("age") + 1))
    assert other.release.to_polars()["age"].to_list() == ["[21,22]"] * 2 + ["[41,42]"] * 2
    with pytest.raises(BadData, match=r"gone\.toml"):
        shoal.run(tmp_path / "gone.toml")


def test_scores_are_known_by_name_and_as_a_frame() -> None:
    run = shoal.anonymize(FRAME, "mondrian", k=2, **ROLES)
    assert run.scores["lm"].value == run.score("lm") == run.scores[0].value
    frame = run.scores.to_frame()
    assert frame.columns == ["score", "part", "value", "better", "meaning"]
    assert frame.filter(pl.col("part").is_null()).height == len(run.scores)
    (part,) = frame.filter(score="lm", part="age")["value"]
    assert part == run.scores["lm"].parts["age"]
    with pytest.raises(UnknownName, match="Did you mean 'lm'"):
        _ = run.scores["lmm"]
    assert shoal.anonymize(FRAME, "mondrian", k=2, **ROLES).scores == run.scores


def test_steps_are_logged(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    with caplog.at_level(logging.INFO, logger="shoal"):
        shoal.anonymize(FRAME, "mondrian", k=2, **ROLES).write(tmp_path / "out")
    steps = [record.getMessage() for record in caplog.records if record.name == "shoal"]
    assert steps == ["anonymizing by mondrian", "verifying", "measuring", "writing", "verifying"]


def test_the_layout_of_an_original_is_told_by_baskets(tmp_path: Path) -> None:
    (tmp_path / "lines.dat").write_text("wine meat\nwine meat\nmeat cream\nmeat cream\n")
    run = shoal.anonymize(tmp_path / "lines.dat", "disassociation", k=2, m=2)
    run.write(tmp_path / "out")
    (tmp_path / "long.csv").write_text(
        "n,what\n1,wine\n1,meat\n2,wine\n2,meat\n3,meat\n3,cream\n4,meat\n4,cream\n"
    )
    found = shoal.measure(tmp_path / "out", tmp_path / "long.csv", baskets="long:n,what")
    assert found == run.scores
    with pytest.raises(ShoalError):
        shoal.measure(tmp_path / "out", tmp_path / "long.csv", baskets="matrix")


@pytest.mark.parametrize("engine", ["stream", 3])
def test_what_is_no_engine_is_refused_by_every_verb(engine: Any, tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [20, 21, 40, 41]})
    shoal.anonymize(frame, "mondrian", k=2, quasi="age").write(tmp_path / "out")
    for call in (
        lambda: shoal.anonymize(frame, "mondrian", k=2, quasi="age", engine=engine),
        lambda: shoal.verify(tmp_path / "out", engine=engine),
        lambda: shoal.measure(tmp_path / "out", frame, engine=engine),
    ):
        with pytest.raises(WrongUse, match="An engine is an object"):
            call()


@pytest.mark.parametrize("seed", ["abc", -1, 0.5])
def test_what_is_no_seed_is_refused(seed: Any) -> None:
    with pytest.raises(WrongUse, match="A seed is a whole number"):
        shoal.anonymize(pl.DataFrame({"age": [20, 21, 40, 41]}), "mondrian", k=2, quasi="age", seed=seed)


def test_one_measure_is_named_by_itself(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [20, 21, 40, 41]})
    shoal.anonymize(frame, "mondrian", k=2, quasi="age").write(tmp_path / "out")
    assert shoal.measure(tmp_path / "out", frame, measures="loss") == shoal.measure(
        tmp_path / "out", frame, measures=["loss"]
    )


@pytest.mark.parametrize(
    "given", [{"quasi": "age"}, {"hierarchies": {"age": "suppress"}}, {"baskets": "lines"}]
)
def test_what_was_read_knows_its_roles(given: dict[str, Any], tmp_path: Path) -> None:
    """Otherwise a promise would be kept for columns other than those that were named."""
    (tmp_path / "people.csv").write_text("age,zip\n20,1\n21,1\n40,2\n41,2\n")
    table = shoal.read_table(tmp_path / "people.csv", quasi=["zip"], others="insensitive")
    with pytest.raises(WrongUse, match="given when data is read"):
        shoal.anonymize(table, "mondrian", k=2, **given)
