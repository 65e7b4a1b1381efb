"""What is done in the steps and what they show, without a browser: second tables, items of people, faults."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from shoal.methods import Cahd, Mondrian
from shoal.methods._candidates import Candidate
from shoal.pipeline import publish
from shoal.recipe import Output, Recipe, Roles, Source
from shoal.studio.exports import as_command
from shoal.studio.first_page import Home
from shoal.studio.first_recipe import begin_with
from shoal.studio.sitting import SittingStore
from shoal.studio.state import Studio, files_of
from shoal.studio.step_method import _differs
from shoal.studio.walk import STEPS, Walk

pytestmark = pytest.mark.usefixtures("nicegui")


class Direct:
    """Answers questions in this process."""

    async def ask(self, look: Callable[..., Any], *arguments: Any) -> Any:
        return look(*arguments)


def opened(path: Path, folder: Path) -> Walk:
    """The page of a new sitting."""
    studio = Studio(SittingStore(folder / "kept"), queries=Direct())  # type: ignore[arg-type]
    sitting = studio.sittings.begin()
    asyncio.run(begin_with(studio, sitting, str(path)))
    return Walk(studio, sitting)


def act(walk: Walk, step: str, do: str, **more: Any) -> str:
    """Do something in a step, and what the page says of it; empty where it worked."""
    walk.step = step
    asyncio.run(walk.act({"do": do, "data": {}, "form": {}, **more}))
    return walk.notice[1] if walk.notice else ""


def pages(walk: Walk) -> dict[str, str]:
    """All steps as HTML, once what is looked up later is there."""

    async def settled() -> str:
        await walk.html()
        while walk._asking:
            await asyncio.gather(*walk._asking)
        return await walk.html()

    found = {}
    for walk.step in STEPS:
        found[walk.step] = asyncio.run(settled())
        assert walk.notice is None, (walk.step, walk.notice)
    return found


@pytest.fixture
def patients(tmp_path: Path) -> Path:
    """Twenty-four persons, and a file of their visits and one of what they buy beside it."""
    people = range(24)
    frame = {"person": list(people), "age": [30 + n % 3 for n in people], "sex": ["f", "m"] * 12}
    pl.DataFrame(frame).write_csv(tmp_path / "patients.csv")
    visits = {
        "person": [n for n in people for _ in range(2)],
        "ward": ["surgery" if n % 5 else "medicine" for n in range(48)],
        "finding": ["flu", "cold", "none"] * 16,
    }
    pl.DataFrame(visits).write_csv(tmp_path / "visits.csv")
    bought = {"person": visits["person"], "thing": ["tea", "rice", "pills", "tea"] * 12}
    pl.DataFrame(bought).write_csv(tmp_path / "bought.csv")
    return tmp_path / "patients.csv"


def test_paths_may_be_typed_from_where_one_stands(
    patients: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    studio = Studio(SittingStore(Path("kept")), queries=Direct())  # type: ignore[arg-type]
    place = asyncio.run(Home(studio).act({"do": "path", "form": {"path": patients.name}}))
    sitting = studio.sittings.find(place.split("/")[2])
    assert sitting.recipe is not None
    assert sitting.recipe.source.path == str(patients)
    assert sitting.runs.is_absolute()


def test_records_of_the_same_people_are_joined(patients: Path, tmp_path: Path) -> None:
    walk = opened(patients, tmp_path)
    records = str(patients.with_name("visits.csv"))
    assert "Name the file" in act(walk, "data", "second", form={"second": records, "key": ""})
    assert "no column" in act(walk, "data", "second", form={"second": records, "key": "nobody"})
    assert not act(walk, "data", "second", form={"second": records, "key": "person"})
    roles = walk.recipe.roles
    assert roles.link == f"{records}:person"
    assert "person" in roles.identifying
    assert {"age", "sex", "ward"} <= set(roles.quasi)
    assert roles.sensitive == ("finding",)
    assert walk.recipe.method == {"name": "multirelational", "k": 10}
    assert not act(walk, "hierarchies", "build-all")
    assert "ward" in walk.recipe.hierarchies
    assert not act(walk, "promise", "promise", form={"k": "3"})
    assert walk.recipe.method["k"] == 3
    found = pages(walk)
    assert "ward" in found["roles"]
    assert "hides among at least 3 people" in found["run"]
    assert "--link" in as_command(walk.recipe)
    run, _ = publish(walk.recipe.model_copy(update={"output": Output(folder=str(tmp_path / "out"))}))
    assert run.holds
    assert not act(walk, "data", "alone")
    assert walk.recipe.roles.link is None
    assert "ward" not in (*walk.recipe.roles.quasi, *walk.recipe.hierarchies)
    assert walk.recipe.method["name"] != "multirelational"


def test_items_of_people_come_from_a_second_table(patients: Path, tmp_path: Path) -> None:
    walk = opened(patients, tmp_path)
    bought = str(patients.with_name("bought.csv"))
    assert not act(walk, "data", "second", form={"second": bought, "key": "person", "item": "thing"})
    assert walk.recipe.roles.items_from == f"{bought}:person,thing"
    assert not act(walk, "roles", "items-of-people", form={"sensitive": "pills", "insensitive": ""})
    assert walk.recipe.roles.sensitive_items == ("pills",)
    assert "Secret items" in pages(walk)["roles"]


def test_insisting_is_asked_for_and_kept_in_the_recipe(patients: Path, tmp_path: Path) -> None:
    path = tmp_path / "numbered.csv"
    people = {"number": [f"P{n:03}" for n in range(60)], "age": [20 + n % 5 for n in range(60)]}
    pl.DataFrame(people).write_csv(path)
    walk = opened(path, tmp_path)
    assert not act(walk, "roles", "role", data={"name": "number"}, value="quasi")
    found = pages(walk)
    assert "I insist" in found["roles"]
    assert "looks like an identifier" in found["run"]
    assert not act(walk, "roles", "insist", data={"name": "number"}, value=True)
    assert walk.recipe.roles.insist == ("number",)
    assert "--insist number" in as_command(walk.recipe)
    found = pages(walk)
    assert "looks like an identifier" not in found["run"]
    assert not act(walk, "roles", "role", data={"name": "number"}, value="identifying")
    assert walk.recipe.roles.insist == ()


def test_files_of_this_machine_are_not_opened_for_others(patients: Path, tmp_path: Path) -> None:
    walk = opened(patients, tmp_path)
    walk.studio.remote = True
    records = str(patients.with_name("visits.csv"))
    refused = "not opened for others"
    assert refused in act(walk, "data", "second", form={"second": records, "key": "person"})
    inside = f"{walk.sitting.files}/../../../../visits.csv"
    assert refused in act(walk, "data", "second", form={"second": inside, "key": "person"})
    spec = {"column": "age", "spec": records}
    assert refused in act(walk, "hierarchies", "build", data=spec)
    assert "was not uploaded" in act(
        walk, "hierarchies", "uploaded", data={"column": "age"}, value={"path": records}
    )
    assert refused in act(walk, "run", "run")
    home = Home(walk.studio)
    forged = {"path": records, "sitting": walk.studio.sittings.begin().key}
    assert not asyncio.run(home.act({"do": "uploaded", "value": forged}))
    assert refused in home.notice
    assert Path(records).exists()


def test_every_file_that_a_recipe_names_is_known() -> None:
    made = Recipe(
        source=Source(path="a.csv", hierarchies_folder="b"),
        roles=Roles(link="c.csv:key", items_from="d.csv:key,item"),
        hierarchies={"age": "e.csv", "sex": "suppress"},
        preparation=({"step": "pseudonym", "columns": ["x"], "key": "f.key"},),
        method={
            "name": "mondrian",
            "population": "g.csv",
            "promises": [{"model": "k-map", "population": "h.csv"}],
        },
        measures=({"name": "queries", "workload": "i.json"},),
    )
    assert sorted(files_of(made)) == [
        "a.csv", "b", "c.csv", "d.csv", "e.csv", "f.key", "g.csv", "h.csv", "i.json",
    ]  # fmt: skip


def test_only_steps_that_were_looked_at_are_ticked(people: Path, tmp_path: Path) -> None:
    walk = opened(people, tmp_path)
    asyncio.run(walk.html())
    states = {one["key"]: one["state"] for one in walk.steps()}
    assert (states["data"], states["roles"], states["promise"]) == ("done", "todo", "todo")
    pages(walk)
    states = {one["key"]: one["state"] for one in walk.steps()}
    assert (states["roles"], states["promise"], states["run"]) == ("done", "done", "todo")
    again = SittingStore(tmp_path / "kept").find(walk.sitting.key)
    assert set(again.visited) == set(STEPS)


def test_every_step_of_baskets_is_shown(baskets: Path, tmp_path: Path) -> None:
    walk = opened(baskets, tmp_path)
    assert (
        "Someone who knows any 2 items of a person finds at least 5 matching baskets." in pages(walk)["run"]
    )


def test_offers_say_what_a_setting_means_in_a_clause() -> None:
    long = Candidate("blocks", {"name": "cahd", "p": 4, "form": "blocks"})
    assert _differs(long, Cahd) == ["with form blocks (how groups form)"]
    short = Candidate("relaxed", {"name": "mondrian", "k": 5, "partitioning": "relaxed"})
    assert _differs(short, Mondrian)[0].endswith("relaxed: they may be divided, for even halves)")
