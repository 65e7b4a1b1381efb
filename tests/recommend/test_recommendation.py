"""From data and a promise to a proposal that keeps it, in time."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from shoal.comparison.grid import Cell
from shoal.comparison.run_data import load
from shoal.comparison.workers import Answer, Scheduler, Worker
from shoal.data.baskets import Baskets
from shoal.errors import Infeasible, WrongUse
from shoal.io.reading import Reading
from shoal.methods._candidates import Candidate
from shoal.outcome import AnyRun
from shoal.pipeline import run
from shoal.recipe import Roles
from shoal.recommendation import propose as recommendation
from shoal.recommendation.goal import Stated
from shoal.recommendation.problem import Problem
from shoal.recommendation.propose import Recommendation
from shoal.recommendation.propose import propose as recommend
from shoal.recommendation.reasons import may_be_improved
from shoal.recommendation.scale import scale_for
from shoal.verification import verify

LIMIT = 100
"""Seconds that are never needed, but on a machine that does much else."""

ADULT = (
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex capital-gain "
    "capital-loss hours-per-week native-country class"
)


def assert_sound(found: Recommendation) -> AnyRun:
    """The proposal is on the frontier, loses least, and can be made and proved again; that run."""
    assert found.proposal.best
    assert found.proposal in found.frontier
    assert found.proposal.status == "done"
    losses = [one.loss for one in found.tried if one.usable]
    assert found.proposal.loss == min(losses)
    points = [(one.privacy, one.loss) for one in found.frontier]
    assert not any(found.scale.beats(one, other) for one in points for other in points)
    again = run(found.recipe)
    assert again.holds
    assert all(verdict.holds for verdict in verify(again.release))
    assert str(found.proposal.label) in found.reasons[0]
    return again


def test_a_table(people: Path, roles: Roles) -> None:
    told: list[tuple[int, int, str]] = []
    found = recommend(
        people, Stated(k=5, l=2), roles=roles, time_limit=LIMIT, jobs=2, tell=lambda *now: told.append(now)
    )
    assert told[-1] == (len(found.tried), len(found.tried), "")
    going = "; ".join(words for *_, words in told)
    assert {one.label for one in found.tried} <= set(going.split("; "))
    again = assert_sound(found)
    assert again.score("lm_mean") == pytest.approx(found.proposal.loss)
    assert {promise["model"] for promise in again.release.promises} == {"k-anonymity", "distinct-diversity"}
    assert {one.candidate.method["name"] for one in found.tried} >= {"mondrian", "lattice", "samarati"}
    assert any(one.candidate.axis == "k" for one in found.tried)
    assert "400 rows" in found.profile


@pytest.mark.usefixtures("few")
def test_a_proposal_that_can_be_improved_says_so(people: Path, roles: Roles, shop: Path) -> None:
    found = recommend(people, Stated(k=5), roles=roles, time_limit=LIMIT)
    said = [reason for reason in found.reasons if "improve=60" in reason]
    assert len(said) == 1
    plan = found.recipe.model_copy(update={"method": {**found.recipe.method, "improve_steps": (20_000,)}})
    assert run(plan).holds
    for other in (
        recommend(people, Stated(k=5), roles=roles, time_limit=LIMIT, by="queries"),
        recommend(people, Stated(confidence=0.6), roles=roles, time_limit=LIMIT),
        recommend(shop, Stated(k=3, m=2), time_limit=LIMIT),
    ):
        assert not any("improve" in reason for reason in other.reasons)


def test_overlapping_classes_are_not_suggested_where_they_are_forbidden(tmp_path: Path) -> None:
    population = tmp_path / "everybody.csv"
    population.write_text("age\n1\n2\n3\n")
    method = {"name": "mondrian", "presence": 0.5, "population": str(population)}
    assert not may_be_improved(method)
    assert may_be_improved({"name": "mondrian", "k": 2})


@pytest.mark.usefixtures("few")
def test_a_table_by_counting_questions(people: Path, roles: Roles) -> None:
    found = recommend(
        people,
        Stated(k=5),
        roles=roles,
        time_limit=LIMIT,
        by="queries",
        hierarchies={"age": "intervals:10,20"},
    )
    again = assert_sound(found)
    assert again.score("are") == pytest.approx(found.proposal.loss)
    assert found.recipe.hierarchies["age"] == "intervals:10,20"
    assert "age" not in found.trees


@pytest.mark.usefixtures("few")
def test_a_risk_is_kept_in_the_worst_case(people: Path, roles: Roles) -> None:
    found = recommend(people, Stated(risk=0.6), roles=roles, time_limit=LIMIT)
    again = assert_sound(found)
    assert again.score("confidence_worst") <= 0.6
    assert any("in the worst case" in reason for reason in found.reasons)


@pytest.mark.usefixtures("few")
def test_a_confidence_as_published(people: Path, roles: Roles) -> None:
    found = recommend(people, Stated(k=3, confidence=0.5), roles=roles, time_limit=LIMIT)
    again = assert_sound(found)
    assert again.score("confidence_published") <= 0.5


@pytest.mark.parametrize(
    ("stated", "sensitive", "methods"),
    [
        (Stated(k=3, m=2), (), {"disassociation", "km-generalization"}),
        (Stated(p=4), ("99",), {"cahd", "permutation-mondrian"}),
        (Stated(h=0.8, k=3, p=1), ("99",), {"coherence"}),
    ],
)
@pytest.mark.usefixtures("few")
def test_baskets(shop: Path, stated: Stated, sensitive: tuple[str, ...], methods: set[str]) -> None:
    found = recommend(shop, stated, roles=Roles(sensitive=sensitive), time_limit=LIMIT)
    assert_sound(found)
    assert {one.candidate.method["name"] for one in found.tried} == methods
    assert found.scale.loss == "pair_error"


def tried(monkeypatch: pytest.MonkeyPatch, *methods: dict[str, object]) -> None:
    """Let these be the candidates."""
    made = [Candidate(f"{one['name']} {one.get('how', '')}", one) for one in methods]
    monkeypatch.setattr(recommendation, "candidates", lambda *_, **__: made)


def test_what_breaks_fails_or_crashes_is_never_proposed(
    people: Path,
    roles: Roles,
    misbehaving: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    methods = [{"name": "misbehaving", "k": 3, "how": how} for how in ("break", "raise", "exit", "refuse")]
    tried(monkeypatch, *methods, {"name": "mondrian", "k": 3})
    found = recommend(people, Stated(k=3), roles=roles, time_limit=LIMIT)
    assert found.proposal.candidate.method["name"] == "mondrian"
    shown = " ".join(found.reasons)
    for words in ("it is broken", "division by nothing", "exit code 9", "too much is asked for"):
        assert words in shown
    tried(monkeypatch, *methods)
    with pytest.raises(Infeasible, match="No candidate keeps the promise") as caught:
        recommend(people, Stated(k=3), roles=roles, time_limit=LIMIT)
    assert caught.value.best == 7


def test_what_overruns_is_ended(
    people: Path,
    roles: Roles,
    misbehaving: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first candidate has all the time that it needs, so that the limit may be short."""
    late = {"name": "misbehaving", "k": 3, "how": "wait"}
    tried(monkeypatch, {"name": "mondrian", "k": 3}, late)
    found = recommend(people, Stated(k=3), roles=roles, time_limit=4, jobs=2)
    assert found.proposal.candidate.method["name"] == "mondrian"
    assert any("given up" in reason for reason in found.reasons)


def test_the_first_candidate_is_finished_however_short_the_time(
    people: Path,
    roles: Roles,
    misbehaving: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits = {"name": "misbehaving", "k": 4, "how": "wait"}
    tried(monkeypatch, {"name": "misbehaving", "k": 3, "pause": 0.2}, waits, waits | {"k": 5})
    found = recommend(people, Stated(k=3), roles=roles, time_limit=0.1, jobs=2)
    assert found.proposal.candidate.method["k"] == 3
    assert [one.status for one in found.tried if one.candidate.axis is None].count("timeout") == 2
    assert "is the only release" in found.reasons[0]
    assert found.reasons[1].startswith("The limit of 0.1 seconds was passed: ")
    assert "2 other candidates were given up. Give more with `time_limit`" in found.reasons[1]
    tried(monkeypatch, {"name": "misbehaving", "k": 3, "how": "refuse"}, waits)
    with pytest.raises(
        Infeasible, match=r"too much is asked for\. Time was too short for 1 more: .*`time_limit`"
    ):
        recommend(people, Stated(k=3), roles=roles, time_limit=0.1, jobs=1)


def test_nothing_is_begun_when_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that moves when it is told to: the first run uses up all time."""
    now, begun = [0.0], []

    def run_one(self: Worker, cell: Cell) -> Answer:
        begun.append((cell.key, cell.time_limit))
        now[0] += 4
        return {"status": "done"}

    monkeypatch.setattr("shoal.comparison.workers.time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(Worker, "run", run_one)
    cells = [Cell({}, {}, False, 5.0, key) for key in "abc"]
    with Scheduler(1, 6.0) as scheduler:
        answers = [(cell.key, answer["status"]) for cell, answer in scheduler.answers(cells)]
    assert begun == [("a", 5.0), ("b", 2.0)]
    assert dict(answers)["c"] == "timeout"
    assert scheduler.left == 0


def by_clock(monkeypatch: pytest.MonkeyPatch, now: list[float], took: dict[str, float]) -> list[str]:
    """Let runs take so long by a clock that moves when it is told to; the runs that were begun."""
    begun: list[str] = []

    def run_one(self: Worker, cell: Cell) -> Answer:
        begun.append(cell.key)
        late = cell.time_limit is not None and took[cell.key] > cell.time_limit
        now[0] += cell.time_limit if late and cell.time_limit is not None else took[cell.key]
        return {"status": "timeout" if late else "done"}

    monkeypatch.setattr("shoal.comparison.workers.time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(Worker, "run", run_one)
    return begun


@pytest.mark.parametrize(
    ("now", "took", "wanted"),
    [
        (0.0, {"a": 9, "b": 1, "c": 1}, {"a": "done", "b": "timeout", "c": "timeout"}),
        (7.0, {"a": 9, "b": 1, "c": 1}, {"a": "done", "b": "timeout", "c": "timeout"}),
        (0.0, {"a": 2, "b": 9, "c": 1}, {"a": "done", "b": "timeout", "c": "timeout"}),
        (0.0, {"a": 2, "b": 1, "c": 1}, {"a": "done", "b": "done", "c": "done"}),
    ],
)
def test_the_first_run_has_no_limit_where_it_is_to_be_finished(
    now: float, took: dict[str, float], wanted: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [now]
    begun = by_clock(monkeypatch, clock, took)
    cells = [Cell({}, {}, False, None, key) for key in "abc"]
    with Scheduler(1, 6.0) as scheduler:
        answers = {cell.key: answer["status"] for cell, answer in scheduler.answers(cells, finish_first=True)}
    assert answers == wanted
    assert begun[0] == "a"


@pytest.mark.usefixtures("few")
def test_a_risk_that_nobody_reaches_says_what_joined_classes_can(people: Path, roles: Roles) -> None:
    with pytest.raises(Infeasible, match="by table-rule-hiding, merge") as caught:
        recommend(people, Stated(risk=0.02), roles=roles, time_limit=LIMIT)
    assert caught.value.best is not None
    found = recommend(people, Stated(risk=caught.value.best), roles=roles, time_limit=LIMIT)
    assert found.proposal.privacy is not None
    assert found.proposal.privacy <= caught.value.best


def test_what_cannot_be_reached_is_said_at_once(people: Path, roles: Roles) -> None:
    for stated, said, best in (
        (Stated(k=401), "^k = 401 cannot be kept: .*The largest k is 400", 400),
        (Stated(k=5, l=300), "^l = 300 cannot be kept: ", None),
    ):
        with pytest.raises(Infeasible, match=said) as caught:
            recommend(people, stated, roles=roles, time_limit=LIMIT, tell=lambda *_: pytest.fail("it ran"))
        assert best in (None, caught.value.best)


def test_what_several_methods_say_is_said_once(
    people: Path, roles: Roles, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried(monkeypatch, *({"name": name, "k": 3} for name in ("mondrian", "lattice", "samarati")))
    refused = {"status": "refused", "error": "Too much is asked for.", "best": 7}
    monkeypatch.setattr(Worker, "run", lambda *_: refused)
    with pytest.raises(Infeasible) as caught:
        recommend(people, Stated(k=3), roles=roles, time_limit=LIMIT, jobs=1)
    assert str(caught.value) == (
        "No candidate keeps the promise. mondrian, lattice, samarati: Too much is asked for."
    )
    assert caught.value.best == 7


@pytest.mark.usefixtures("few")
def test_parameters_are_spelled_like_their_options(people: Path, roles: Roles) -> None:
    found = recommend(people, Stated(k_map=5, population=str(people)), roles=roles, time_limit=LIMIT)
    assert found.scale.privacy == "k-map"
    assert any("k-map 10" in one.label for one in found.tried)
    assert not any("k_map" in reason for reason in found.reasons)


@pytest.mark.parametrize(
    ("roles", "stated", "said"),
    [
        (Roles(sensitive=("disease",), others="drop"), Stated(k=5), "`quasi`"),
        (Roles(quasi=("age",), others="drop"), Stated(risk=0.5), "`sensitive`"),
        (Roles(quasi=("age",), others="drop"), Stated(k=5, l=2), "sensitive"),
        (Roles(quasi=("height",), others="drop"), Stated(k=5), "height"),
    ],
)
def test_wrong_use(people: Path, roles: Roles, stated: Stated, said: str) -> None:
    with pytest.raises(WrongUse, match=said):
        recommend(people, stated, roles=roles, time_limit=LIMIT)


@pytest.mark.parametrize(
    ("given", "option"),
    [
        ({"time_limit": 0}, "`time_limit`"),
        ({"suppression_limit": 1}, "`suppression_limit`"),
        ({"suppression_limit": -0.1}, "`suppression_limit`"),
        ({"jobs": 0}, "`jobs`"),
    ],
)
def test_a_limit_out_of_range_is_named(
    people: Path, roles: Roles, given: dict[str, float], option: str
) -> None:
    with pytest.raises(WrongUse) as caught:
        recommend(people, Stated(k=5), roles=roles, **given)
    shown = [word for word in ("`time_limit`", "`suppression_limit`", "`jobs`") if word in str(caught.value)]
    assert shown == [option]


def test_wrong_use_of_baskets_and_pipes(shop: Path) -> None:
    with pytest.raises(WrongUse, match="`sensitive`"):
        recommend(shop, Stated(p=4), time_limit=LIMIT)
    with pytest.raises(WrongUse, match="standard input"):
        recommend("-", Stated(k=4), time_limit=LIMIT)


@pytest.mark.usefixtures("one_ladder")
def test_adult(public_data: Callable[[str], Path]) -> None:
    found = recommend(
        public_data("adult/adult.data.gz"),
        Stated(k=10),
        roles=Roles(
            quasi=("age", "education", "sex", "race", "marital-status"),
            sensitive=("occupation",),
            others="drop",
        ),
        reading=Reading(names=tuple(ADULT.split()), drop_missing=True),
        time_limit=30,
    )
    assert_sound(found)
    assert found.proposal.loss is not None
    assert found.proposal.loss < 0.05


@pytest.mark.usefixtures("one_ladder")
def test_bms1(public_data: Callable[[str], Path]) -> None:
    found = recommend(public_data("bms-webview-1/bms-webview-1.dat.gz"), Stated(k=5, m=2), time_limit=30)
    assert_sound(found)


def test_baskets_are_read_as_they_are_told(tmp_path: Path) -> None:
    path = tmp_path / "sales.csv"
    path.write_text("1,milk\n1,bread\n2,milk\n")
    reading = Reading(names=("who", "what"))
    stated = Stated(k=2, m=1)
    problem = Problem.of(path, stated, Roles(), reading, "long:who,what", {}, None)
    assert problem.profile.startswith("2 baskets of 2 items")
    candidate = Candidate("x", {"name": "disassociation", "k": 2})
    cell = problem.cell(candidate, scale_for(problem.aim, stated, "loss"), 9)
    data = load(json.loads(json.dumps(cell.plan["data"])), {}, 0)
    assert isinstance(data, Baskets)
    assert (len(data), data.layout) == (2, "long:who,what")


def test_data_in_memory_is_refused() -> None:
    with pytest.raises(WrongUse, match="a list in memory"):
        recommend([["a"]], Stated(k=2, m=1))  # type: ignore[arg-type]
