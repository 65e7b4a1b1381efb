"""Rule hiding from the table to the published cells."""

import datetime
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.naive.rule_hiding import composition, hidden, least_stars, least_stars_of_classes
from tests.tables import column, table, texts

import shoal
from shoal.cli import main
from shoal.data.builders import build
from shoal.data.cells import set_members
from shoal.data.release import Release
from shoal.data.role import Role
from shoal.data.table import Table
from shoal.data.trace import Trace
from shoal.errors import Infeasible, UnknownName, WrongUse
from shoal.io.reading import Reading
from shoal.measures import hidden_rules as measures
from shoal.measures.measure import flat
from shoal.methods.mondrian.method import Mondrian
from shoal.methods.rule_hiding import cover
from shoal.methods.rule_hiding.method import RuleHiding
from shoal.models.hidden_rules import HiddenRules
from shoal.models.k_anonymity import KAnonymity
from shoal.outcome import judge
from shoal.pipeline import measure

QUASI = ("x", "y")
SEED_QUASI = ("birth", "race", "gender", "zip")
SEED = """birth,race,gender,zip,disease
1967/01/01,Black,Male,40121,Cancer
1967/02/02,Black,Male,40121,Hypertension
1967/03/03,Black,Male,40121,Cancer
1968/04/04,White,Male,40242,Heart disease
1968/05/05,White,Male,40242,Heart disease
1968/06/06,White,Male,40242,Heart disease
1969/07/07,Black,Female,40373,Cancer
1969/08/08,Black,Female,40373,Hypertension
1969/09/09,Black,Female,40373,Hypertension
1970/10/10,White,Female,40404,Heart disease
1970/11/11,White,Female,40404,Cancer
1970/12/12,White,Female,40404,Hypertension
"""


def published(
    data: Table, seed: int | None = 1, **parameters: Any
) -> tuple[list[dict[str, str]], Release, Trace]:
    """The published rows, after every promise was proved."""
    release, trace = RuleHiding(**parameters).anonymize(data, seed=seed)
    assert isinstance(release.data, Table)
    verdicts = judge(release)
    assert all(verdict.holds for verdict in verdicts), verdicts
    return texts(release.data), release, trace


@pytest.fixture
def seed_file(tmp_path: Path) -> Path:
    path = tmp_path / "seed.csv"
    path.write_text(SEED)
    return path


@pytest.mark.parametrize(("more", "stars"), [((), 1), (("--fewer-than", "2"), 2)])
def test_seed_002(
    more: tuple[str, ...], stars: int, seed_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From raw dates; k 3 and c 0.7 star one cell, step 3b two; verify fails when a star is turned back."""
    out = tmp_path / "out"
    roles = ("--quasi", ",".join(SEED_QUASI), "--sensitive", "disease", "--hierarchy", "birth=dates:year")
    begin = ("anonymize", "rule-hiding", str(seed_file), "--k", "3", "--confidence", "0.7")
    assert main([*begin, *more, *roles, "-o", str(out)]) == 0
    data = out / "release" / "data.csv"
    lines = data.read_text().splitlines()
    assert Counter(line for line in lines if line.startswith("1968")) == {
        "1968,White,Male,40242,*": stars,
        "1968,White,Male,40242,Heart disease": 3 - stars,
    }
    assert Counter(line.rpartition(",")[2] for line in lines)["*"] == stars
    assert main(["verify", str(out)]) == 0
    capsys.readouterr()
    data.write_text(data.read_text().replace("*", "Heart disease", 1))
    assert main(["verify", str(out)]) == 1
    assert "1968" in capsys.readouterr().out


def test_seed_002_from_its_anonymous_table(tmp_path: Path) -> None:
    years = "\n".join(line[:4] + line[10:] if line[0] == "1" else line for line in SEED.splitlines())
    path = tmp_path / "years.csv"
    path.write_text(years)
    run = shoal.anonymize(
        path,
        "rule-hiding",
        k=3,
        confidence=0.7,
        anonymize_with="none",
        quasi=SEED_QUASI,
        sensitive=["disease"],
    )
    frame = run.release.to_polars()
    assert frame.filter(frame["disease"] == "*")["birth"].to_list() == ["1968"]
    with pytest.raises(Infeasible, match="reaches 3") as refusal:
        RuleHiding(k=4, confidence=0.7, anonymize_with="none").anonymize(run.original)
    assert refusal.value.best == 3


def test_published_cells_are_read_for_none(tmp_path: Path) -> None:
    path = tmp_path / "anonymous.csv"
    path.write_text(
        'age,city,ill\n"[20,30]",{a|b},flu\n"[20,30]",{a|b},flu\n"[31,40]",*,flu\n"[31,40]",*,cold\n'
    )
    parameters = {"k": 2, "confidence": 0.5, "anonymize_with": "none"}
    roles = {"quasi": ["age", "city"], "sensitive": ["ill"]}
    with pytest.raises(shoal.errors.BadData, match="--published"):
        shoal.anonymize(path, "rule-hiding", **parameters, **roles)
    run = shoal.anonymize(path, "rule-hiding", reading=Reading(published=True), **parameters, **roles)
    assert sorted(run.release.to_polars().rows()) == [
        ("[20,30]", "{a|b}", "*"),
        ("[20,30]", "{a|b}", "flu"),
        ("[31,40]", "*", "cold"),
        ("[31,40]", "*", "flu"),
    ]
    with pytest.raises(Infeasible, match=r"least confidence is 0\.75"):
        shoal.anonymize(
            path, "rule-hiding", reading=Reading(published=True), strategy="merge", **parameters, **roles
        )
    path.write_text(path.read_text().replace("flu\n", "mumps\n", 1) + '"[41,50]",c,gout\n"[41,50]",c,gout\n')
    joined = shoal.anonymize(
        path, "rule-hiding", reading=Reading(published=True), strategy="merge", **parameters, **roles
    )
    assert set(joined.release.to_polars()["age"]) == {"[20,30]", "{[31,40]|[41,50]}"}
    assert set(joined.release.to_polars()["city"]) == {"*", "{a|b}"}


def test_a_release_with_stars_can_be_gone_on_from(tmp_path: Path) -> None:
    """Stars that are there already stay, and count for the class; the values that they hide cannot be asked for."""
    path = tmp_path / "release.csv"
    path.write_text("zip,ill\n1,*\n1,flu\n1,flu\n1,ulcer\n2,cold\n2,flu\n2,ulcer\n")
    parameters: dict[str, Any] = {"k": 3, "confidence": 0.4, "anonymize_with": "none"}
    roles = {"quasi": ["zip"], "sensitive": ["ill"]}
    with pytest.raises(shoal.errors.BadData, match="--published"):
        shoal.anonymize(path, "rule-hiding", **parameters, **roles)
    reading = Reading(published=True)
    run = shoal.anonymize(path, "rule-hiding", reading=reading, **parameters, **roles)
    assert run.holds
    data = run.release.data
    assert isinstance(data, Table)
    cells = [data.column("ill").domain.labels[code] for code in data.column("ill").codes]
    assert cells == ["*", "*", "flu", "ulcer", "cold", "flu", "ulcer"]
    with pytest.raises(WrongUse, match="stars of this table hide theirs already"):
        shoal.anonymize(path, "rule-hiding", reading=reading, strategy="decoy", **parameters, **roles)
    path.write_text("zip,ill\n1,{flu|cold}\n1,flu\n")
    with pytest.raises(shoal.errors.BadData, match=r"'\{flu\|cold\}' looks like a published one"):
        shoal.anonymize(path, "rule-hiding", reading=reading, **parameters, **roles)


def test_sets_of_published_sets_can_be_read_back() -> None:
    data = table({"x": ["{a|b}", "{a|b}", "c", "c"], "s": list("uuvv")}, sensitive=["s"])
    rows, _, _ = published(data, confidence=0.5, strategy="merge", anonymize_with="none")
    assert {row["x"] for row in rows} == {r"{c|\{a\|b\}}"}
    assert set_members(rows[0]["x"]) == ["c", "{a|b}"]


def people(rows: int = 300, seed: int = 3) -> Table:
    random = np.random.default_rng(seed)
    return Table(
        (
            column("name", [f"person {row}" for row in range(rows)], Role.IDENTIFYING),
            column("x", random.integers(0, 60, rows).tolist()),
            column("y", random.choice(["m", "f", None], rows).tolist()),
            column("z", random.choice(list("pqrst"), rows).tolist()),
            column(
                "ill",
                random.choice(
                    ["flu", "cold", "gout", "mumps", None], rows, p=[0.4, 0.2, 0.2, 0.1, 0.1]
                ).tolist(),
                Role.SENSITIVE,
            ),
            column("income", random.integers(0, 4, rows).tolist(), Role.SENSITIVE),
            column("shift", random.choice(["day", "night"], rows).tolist(), Role.INSENSITIVE),
        )
    )


@pytest.mark.parametrize("strategy", ["star", "decoy", "merge"])
@pytest.mark.parametrize("c", [0.6, 0.5])
def test_only_what_may_change_has_changed(strategy: str, c: float) -> None:
    data = people()
    rows, release, trace = published(data, k=4, confidence=c, strategy=strategy)
    originals = texts(data)
    assert sorted(trace.rows.tolist()) == list(range(data.rows))
    for row, place in zip(rows, trace.rows.tolist(), strict=True):
        original = originals[place]
        assert row["shift"] == original["shift"]
        assert "name" not in row
        for name in ("ill", "income"):
            assert row[name] in ((original[name],) if strategy == "merge" else (original[name], "*"))
    assert [promise["model"] for promise in release.promises] == ["k-anonymity", "hidden-rules"]
    for name in ("ill", "income"):
        assert hidden(rows, ("x", "y", "z"), name, c)


def small(draw: st.DrawFn, least: int = 2, most: int = 7) -> Table:
    rows = draw(st.integers(least, most))

    def cells(values: str) -> list[str]:
        return draw(st.lists(st.sampled_from(list(values)), min_size=rows, max_size=rows))

    return table({"x": cells("ab*"), "y": cells("pq"), "s": cells("uuvw")}, sensitive=["s"])


small_tables = st.composite(small)()


@given(
    data=small_tables,
    c=st.sampled_from([0.3, 0.5, 0.6, 0.7, 1]),
    fewer_than=st.sampled_from([None, 1, 2, 3]),
    size=st.sampled_from([None, 1, 2]),
    named=st.sampled_from([(), ("u",)]),
)
@settings(max_examples=60)
def test_stars_are_as_few_as_can_be(
    data: Table, c: float, fewer_than: int | None, size: int | None, named: tuple[str, ...]
) -> None:
    assume(set(named) <= set(data.column("s").domain.labels))
    antecedent = {} if size is None else {"antecedent": "any", "size": size}
    rows, _, trace = published(
        data, confidence=c, fewer_than=fewer_than, values=named, anonymize_with="none", **antecedent
    )
    stars = sum(row["s"] == "*" for row in rows)
    assert stars == least_stars(texts(data), QUASI, "s", c, fewer_than, size, named)
    assert trace.notes["rules.s"]["least_stars"] == trace.notes["rules.s"]["stars"] == stars


@given(data=small_tables, c=st.sampled_from([0.3, 0.5, 0.7]), fewer_than=st.sampled_from([None, 2]))
@settings(max_examples=30)
def test_beyond_reach_stars_are_more_but_never_too_few(data: Table, c: float, fewer_than: int | None) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cover, "LARGEST", 0)
        rows, _, trace = published(
            data, confidence=c, fewer_than=fewer_than, antecedent="any", size=1, anonymize_with="none"
        )
    least = least_stars(texts(data), QUASI, "s", c, fewer_than, 1)
    assert trace.notes["rules.s"]["least_stars"] <= least <= sum(row["s"] == "*" for row in rows)


def test_rules_that_share_cells_are_solved_together() -> None:
    """One star in each of the two shared classes hides four rules; rule by rule it would take four."""
    data = table({"x": list("aaaabbbb"), "y": list("pqrsprqs"), "s": list("uuvwuuvw")}, sensitive=["s"])
    rows, _, trace = published(
        data, confidence=0.4, antecedent="any", size=1, values=("u",), anonymize_with="none"
    )
    assert sum(row["s"] == "*" for row in rows) == least_stars(texts(data), QUASI, "s", 0.4, None, 1, ("u",))
    assert trace.notes["rules.s"]["rules"] > trace.notes["rules.s"]["stars"]


@pytest.mark.parametrize(
    ("cells", "c", "k", "shown"),
    [
        ("uuuuuuuuvv", 0.5, 2, "uuvv"),
        ("uuuuuuuuvv", 0.5, 5, ""),
        ("uuuv", 0.75, 2, "uuuv"),
        ("uuu", 0.9, 2, ""),
    ],
)
def test_rows_of_stars_alone_hide_nothing(cells: str, c: float, k: int, shown: str) -> None:
    """Where every quasi-identifier is *, a starred row is a suppressed one and does not count any more."""
    data = table({"x": ["*"] * len(cells), "s": list(cells)}, sensitive=["s"])
    rows, release, _ = published(data, k=k, confidence=c, anonymize_with="none")
    assert "".join(row["s"] for row in rows if row["s"] != "*") == shown
    scores = flat(measure(data, release, (measures.HiddenRules(),)))
    assert scores["starred_cells"] == len(cells) - len(shown)
    assert scores["confidence_published"] <= c


def classes_of(
    rows: list[dict[str, str]], quasi: tuple[str, ...], name: str
) -> dict[tuple[str, ...], Counter[str]]:
    found: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for row in rows:
        found[tuple(row[one] for one in quasi)][row[name]] += 1
    return found


@given(
    data=st.composite(small)(4, 30),
    c=st.sampled_from([0.3, 0.4, 0.5, 0.6, 0.75]),
    fewer=st.sampled_from([None, 2]),
)
def test_no_value_has_more_than_its_share_among_decoys(data: Table, c: float, fewer: int | None) -> None:
    try:
        rows, _, _ = published(data, confidence=c, strategy="decoy", fewer_than=fewer, anonymize_with="none")
    except Infeasible as refusal:
        if refusal.best is None or refusal.best <= c:
            raise
        return
    share = Fraction(str(c))
    before, after = (classes_of(one, QUASI, "s") for one in (texts(data), rows))
    for cells, counts in before.items():
        stars = after[cells]["*"]
        size, top = counts.total(), max(counts.values())
        assert bool(stars) == (Fraction(top, size) > share)
        if not stars:
            continue
        hides = composition(counts, after[cells])
        if stars < size:
            assert max(hides.values()) <= share * stars
            assert Fraction(top, size) <= share * (2 - share)
        elif fewer is None and len(counts) * share >= 1 and Fraction(top, size) <= share:
            pytest.fail("the whole class is starred though no value has too large a share")


def test_decoys_refuse_what_a_blind_guess_beats() -> None:
    data = table({"x": list("aaabbb"), "s": list("uuuuvv")}, sensitive=["s"])
    with pytest.raises(Infeasible, match=r"least confidence is 0\.5") as refusal:
        RuleHiding(confidence=0.4, strategy="decoy", anonymize_with="none").anonymize(data)
    assert refusal.value.best == 0.5
    published(data, confidence=0.5, strategy="decoy", anonymize_with="none")


def test_the_reader_of_stars_succeeds_on_star_and_not_on_decoy() -> None:
    data = people(600)
    found = {}
    for strategy in ("star", "decoy", "merge"):
        _, release, _ = published(data, k=6, confidence=0.45, strategy=strategy, column="ill")
        found[strategy] = flat(measure(data, release, (measures.HiddenRules(),)))
    assert found["star"]["starred_cells"] > 0
    assert found["star"]["confidence_stars"] == 1
    assert 0 < found["decoy"]["confidence_stars"] <= 0.45
    assert found["decoy"]["starred_cells"] > found["star"]["starred_cells"]
    assert found["merge"]["starred_cells"] == 0
    assert found["merge"]["confidence_worst"] == found["merge"]["confidence_published"] <= 0.45
    assert found["star"]["confidence_before"] == found["decoy"]["confidence_before"] > 0.45
    assert found["star"]["confidence_worst"] == found["star"]["confidence_before"]
    assert found["star"]["lost_class_rules"] == 0 < found["decoy"]["lost_class_rules"]


def test_before_is_what_the_notes_say() -> None:
    _, release, trace = published(people(), k=5, confidence=0.5, column="ill")
    scores = flat(measure(people(), release, (measures.HiddenRules(),)))
    notes = trace.notes["rules.ill"]
    assert scores["confidence_before"] == notes["confidence_before"]
    assert scores["confidence_published"] == notes["confidence_after"]
    assert scores["confidence_worst"] == notes["confidence_worst"]
    assert scores["starred_cells"] == notes["stars"] == notes["least_stars"]


def test_before_classes_were_joined() -> None:
    """The classes before are not published: the notes know them, the measure does not."""
    _, release, trace = published(people(600), k=6, confidence=0.45, strategy="merge", column="ill")
    assert "confidence_before" not in flat(measure(people(600), release, (measures.HiddenRules(),)))
    before = trace.notes["rules.ill"]["confidence_before"]
    assert before > 0.45
    assert f"(confidence {before:.4g} at most before)" in " ".join(trace.notes["summary"])


def test_a_star_of_the_original_is_no_value() -> None:
    data = table({"x": ["a"] * 6, "s": ["u", "u", "v", "*", "*", "*"]}, sensitive=["s"])
    _, release, trace = published(data, confidence=0.2, anonymize_with="none")
    scores = flat(measure(data, release, (measures.HiddenRules(),)))
    assert scores["confidence_before"] == trace.notes["rules.s"]["confidence_before"] == pytest.approx(1 / 3)


def test_confidences_of_whole_classes_say_so() -> None:
    for antecedent, words in (("any", "of a rule of a whole class"), ("class", "of a rule as published")):
        _, release, _ = published(people(), k=5, confidence=0.5, column="ill", antecedent=antecedent)
        meanings = {one.name: one.meaning for one in measure(people(), release, (measures.HiddenRules(),))}
        assert words in meanings["confidence_published"]


def test_other_releases_have_no_such_scores() -> None:
    release, _ = Mondrian(k=3).anonymize(people())
    assert measure(people(), release, (measures.HiddenRules(),)) == ()


@pytest.mark.parametrize("strategy", ["star", "decoy", "merge"])
def test_the_order_of_the_input_leaves_no_mark(strategy: str) -> None:
    data = people()
    shuffled = data.take(np.random.default_rng(8).permutation(data.rows))
    parameters = {"k": 4, "confidence": 0.5, "strategy": strategy}
    assert published(data, **parameters)[0] == published(shuffled, **parameters)[0]


def test_stars_are_drawn_among_the_rows_of_a_class() -> None:
    """Any of the rows may be starred: a fixed choice would tell of the other columns of the starred one."""
    data = Table(
        (
            column("x", ["a"] * 4),
            column("s", ["u"] * 4, Role.SENSITIVE),
            column("o", list("1234"), Role.INSENSITIVE),
        )
    )
    starred = set()
    for seed in range(40):
        rows, _, _ = published(data, seed=seed, confidence=0.75, anonymize_with="none")
        starred |= {row["o"] for row in rows if row["s"] == "*"}
    assert starred == set("1234")
    drawn = {str(published(data, seed=None, confidence=0.75, anonymize_with="none")[0]) for _ in range(30)}
    assert len(drawn) > 1


def test_numbers_of_persons_tell_nothing_of_a_starred_value() -> None:
    """Persons are numbered by what is published now, not by the values that were there."""
    data = Table(
        (
            column("x", ["a"] * 4),
            column("s", ["u", "u", "u", "v"], Role.SENSITIVE),
            column("who", ["p", "q", "r", "t"], Role.ENTITY),
        )
    )
    rows, _, _ = published(data, k=4, confidence=0.5, anonymize_with="none")
    assert [(row["s"], row["who"]) for row in rows] == [("*", "1"), ("u", "2"), ("u", "3"), ("v", "4")]


def test_joined_classes_count_persons_once() -> None:
    data = Table(
        (
            column("x", [1, 1, 2, 2, 9, 9]),
            column("s", list("uuvvuv"), Role.SENSITIVE),
            column("who", list("pqprst"), Role.ENTITY),
        )
    )
    rows, _, _ = published(data, k=2, confidence=0.5, strategy="merge")
    first = [row for row in rows if row["x"] == "[1,2]"]
    assert len(first) == 4
    assert len({row["who"] for row in first}) == 3


@pytest.mark.parametrize("strategy", ["star", "decoy", "merge"])
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("method", ["samarati", "lattice"])
def test_full_domain_first(method: str, strategy: str, keep: bool) -> None:
    """Suppressed rows stay what they are, and hide no rule of others."""
    random = np.random.default_rng(4)
    ages = [*random.integers(20, 40, 80).tolist(), 90, 91]
    domain = column("x", ages).domain
    data = Table(
        (
            column("x", ages, hierarchy=build("intervals:5,10", domain, "x")),
            column("s", random.choice(list("uuuvw"), 82).tolist(), Role.SENSITIVE),
        )
    )
    limit = {"samarati": "max_suppressed", "lattice": "suppression_limit"}[method]
    options = {limit: 0.05, "keep_suppressed": keep}
    rows, release, _ = published(
        data, k=4, confidence=0.65, strategy=strategy, anonymize_with=method, options=options
    )
    assert len(rows) == (82 if keep else 82 - release.suppressed)
    assert release.suppressed == 2
    shown = [row for row in rows if row["x"] != "*" or row["s"] != "*"]
    assert len(shown) == 80
    scores = flat(measure(data, release, (measures.HiddenRules(),)))
    assert scores["starred_cells"] == sum(row["s"] == "*" for row in shown)
    if strategy == "merge":
        assert all(row["s"] != "*" for row in shown)
        assert hidden(shown, ("x",), "s", 0.65)


def test_merge_refuses_what_the_whole_table_breaks() -> None:
    data = table({"x": [1, 2, 3, 4, 5, 6, 7, 8], "s": list("uuuuuvvw")}, sensitive=["s"])
    with pytest.raises(
        Infeasible, match=r"u of s has a share of 0.625.*least confidence is 0.625"
    ) as refusal:
        RuleHiding(k=2, confidence=0.6, strategy="merge").anonymize(data)
    assert refusal.value.best == 0.625
    rows, _, _ = published(data, k=2, confidence=0.625, strategy="merge")
    assert all(row["s"] != "*" for row in rows)


@given(data=st.composite(small)(4, 30), c=st.sampled_from([0.5, 0.6, 0.75, 0.9]))
def test_merge_hides_all_rules_or_says_why_not(data: Table, c: float) -> None:
    top = max(Counter(row["s"] for row in texts(data)).values())
    try:
        rows, _, trace = published(data, confidence=c, strategy="merge", anonymize_with="none")
    except Infeasible:
        assert Fraction(top, data.rows) > Fraction(str(c))
        return
    assert Fraction(top, data.rows) <= Fraction(str(c))
    assert hidden(rows, QUASI, "s", c)
    originals = texts(data)
    for row, place in zip(rows, trace.rows.tolist(), strict=True):
        for name in QUASI:
            cell, original = row[name], originals[place][name]
            assert cell in (original, "*") or original in cell[1:-1].split("|")


def test_joined_cells_cover_what_they_join() -> None:
    days = [datetime.date(1960 + place, 1, 1) for place in range(8)]
    tree = build("order:2,4", column("z", list("abcdefgh")).domain, "z")
    data = Table(
        (
            column("when", days),
            column("z", list("abcdefgh"), hierarchy=tree),
            column("n", [1.5, 2.5, 3, 4, 5, 6, 7, None]),
            column("s", list("uvuuvvuv"), Role.SENSITIVE),
        )
    )
    rows, _, _ = published(data, confidence=0.5, strategy="merge", anonymize_with="none")
    for row in rows:
        if row["when"].startswith("["):
            low, high = row["when"][1:-1].split(",")
            assert low < high
        assert row["z"] in {"*", "{a|b}", "{c|d}", "{e|f}", "{g|h}", "{a|b|c|d}", "{e|f|g|h}"}
    assert "*" in {row["n"] for row in rows}


def test_step_one_takes_options_and_promises() -> None:
    data = people()
    relaxed = published(data, k=4, confidence=0.6, options={"partitioning": "relaxed"})[0]
    strict = published(data, k=4, confidence=0.6)[0]
    assert [row["x"] for row in relaxed] != [row["x"] for row in strict]
    _, release, _ = published(data, k=4, l=2, confidence=0.75, column="income")
    assert [promise["model"] for promise in release.promises] == [
        "k-anonymity",
        "distinct-diversity",
        "distinct-diversity",
        "hidden-rules",
    ]
    with pytest.raises(UnknownName, match="parameter of mondrian 'partition'"):
        RuleHiding(k=4, confidence=0.6, options={"partition": "relaxed"}).anonymize(data)
    with pytest.raises(UnknownName, match="parameter of mondrian 'k'"):
        RuleHiding(k=4, confidence=0.6, options={"k": 3}).anonymize(data)
    with pytest.raises(WrongUse, match=r"mondrian: partitioning: .*, not 'loose'"):
        RuleHiding(k=4, confidence=0.6, options={"partitioning": "loose"}).anonymize(data)


def test_a_promise_that_stars_break_is_refused() -> None:
    data = table({"x": list("aaaa"), "s": list("uuvv")}, sensitive=["s"])
    with pytest.raises(Infeasible, match="breaks distinct-diversity"):
        RuleHiding(l=2, k=2, confidence=0.2, values=("v",)).anonymize(data)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"confidence": 0.5, "anonymize_with": "nothing"}, "anonymize_with must be a method of tables"),
        ({"confidence": 0.5, "anonymize_with": "rule-hiding"}, "anonymize_with must be a method of tables"),
        ({"confidence": 0}, "confidence must be greater than 0"),
        ({"confidence": 1.01}, "confidence must be less than or equal to 1"),
        ({"confidence": 0.5}, "nothing to promise"),
        ({"confidence": 0.5, "k": 2, "anonymize_with": "coherence"}, "no method of tables"),
        (
            {"confidence": 0.5, "k": 2, "strategy": "decoy", "antecedent": "any", "fewer_than": 2},
            "whole classes only",
        ),
        ({"confidence": 0.5, "anonymize_with": "none", "options": {"a": 1}}, "there is none"),
        ({"confidence": 0.5, "k": 2, "column": "x"}, "give it the role sensitive"),
    ],
    ids=str,
)
def test_wrong_use(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(WrongUse, match=words):
        shoal.anonymize(people(20), "rule-hiding", **parameters)


def test_mondrian_can_keep_the_promise_alone() -> None:
    release, _ = Mondrian(k=3, promises=(HiddenRules(confidence=0.5, column="ill"),)).anonymize(people())
    assert all(verdict.holds for verdict in judge(release))


@pytest.mark.parametrize("c", [0.5, 0.3])
def test_adult(c: float, public_data: Any) -> None:
    """No published rule above c, only sensitive cells changed, and as few stars as the twin needs."""
    names = (
        "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,gain,loss,"
        "hours,country,income"
    )
    run = shoal.anonymize(
        public_data("adult/adult.data.gz"),
        "rule-hiding",
        k=10,
        confidence=c,
        quasi=["age", "education-num", "sex"],
        sensitive=["occupation"],
        others="drop",
        reading=Reading(names=tuple(names.split(","))),
        seed=1,
    )
    assert run.holds
    plain, trace = Mondrian(k=10).anonymize(run.original)
    assert isinstance(plain.data, Table)
    assert isinstance(run.release.data, Table)
    before = dict(zip(trace.rows.tolist(), texts(plain.data), strict=True))
    rows = texts(run.release.data)
    for row, place in zip(rows, run.trace.rows.tolist(), strict=True):
        old = before[place]
        assert {**row, "occupation": old["occupation"]} == old
        assert row["occupation"] in (old["occupation"], "*")
    quasi = ("age", "education-num", "sex")
    classes = classes_of(texts(plain.data), quasi, "occupation")
    share = Fraction(str(c))
    expected = sum(
        max(count - int(share * counts.total()), 0)
        for counts in classes.values()
        for count in counts.values()
    )
    assert run.score("starred_cells") == expected > 0
    assert KAnonymity(k=10).verify(run.release.data).holds
    some = [row for row in texts(plain.data) if row["education-num"] == "9" and row["sex"] == "Male"]
    if some:
        here = {tuple(row[name] for name in quasi) for row in some}
        stars = sum(row["occupation"] == "*" for row in rows if tuple(row[name] for name in quasi) in here)
        assert stars == least_stars_of_classes(some, quasi, "occupation", c)


def test_a_value_that_nobody_has_is_refused() -> None:
    data = table({"x": ["a"] * 4, "s": ["Sales", "Sales", "Craft", "Craft"]}, sensitive=["s"])
    with pytest.raises(UnknownName, match="Did you mean 'Sales'"):
        RuleHiding(k=2, confidence=0.5, values=("Salez",)).anonymize(data, seed=1)


def test_joined_classes_and_missing_cells_that_match_all_are_refused_up_front() -> None:
    rows = {"age": ["1", "1", "2", None], "illness": ["flu", "flu", "cold", "gout"]}
    data = table(rows, sensitive=["illness"])
    ways: tuple[dict[str, Any], ...] = (
        {"k": 2, "anonymize_with": "lattice", "options": {"missing-matches-all": True}},
        {"anonymize_with": "none", "promises": (KAnonymity(k=2, missing_matches_all=True),)},
    )
    for way in ways:
        with pytest.raises(WrongUse, match="merge does not go with missing-matches-all"):
            RuleHiding(confidence=0.5, strategy="merge", **way).anonymize(data)
