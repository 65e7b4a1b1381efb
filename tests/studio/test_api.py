"""The HTTP API: a recipe is posted, its run followed, verdicts and the release taken; faults are sentences."""

import io
import json
import os
import signal
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.studio.serving import Served, serve, until, workers_of

import shoal
from shoal.cli import main
from shoal.studio.sitting import read_json


def loaded(served: Served, path: Path) -> dict[str, Any]:
    """A sitting with a file."""
    file = served.told(f"/api/files?name={path.name}", path.read_bytes())
    return served.told("/api/sittings", {"path": file["path"], "sitting": file["sitting"]})


def slow(recipe: dict[str, Any]) -> dict[str, Any]:
    """The same, for a minute."""
    return {**recipe, "method": {**recipe["method"], "improve": 60.0}}


def test_every_call_is_described(served: Served) -> None:
    told = served.told("/api/openapi.json")
    assert {"/api/files", "/api/sittings", "/api/runs"} <= set(told["paths"])
    page = served.ask("/api")[1].decode()
    assert all(path in page for path in told["paths"])
    assert "http://" not in page.replace("http://127.0.0.1", "")
    assert "https://" not in page
    assert "<script" not in page


def test_a_recipe_becomes_a_release_that_is_refused_once_it_is_broken(
    served: Served, people: Path, tmp_path: Path
) -> None:
    sitting = loaded(served, people)
    assert sitting["recipe"]["roles"]["quasi"]
    run = served.told("/api/runs", {"recipe": sitting["recipe"], "sitting": sitting["sitting"]})
    ended = served.finished(sitting["sitting"], run["run"])
    assert ended["state"] == "done", ended
    assert ended["holds"]
    assert ended["verdicts"][0]["value"] >= 10
    base = f"/api/sittings/{sitting['sitting']}/runs/{run['run']}"
    status, packed = served.ask(f"{base}/release.zip")
    assert status == 200
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        names = ("README.md", "data.csv", "datapackage.json", "release.json")
        assert sorted(archive.namelist()) == [f"release/{name}" for name in names]
        archive.extractall(tmp_path)
    assert all(verdict.holds for verdict in shoal.verify(tmp_path / "release"))
    assert b"<html" in served.ask(f"{base}/report.html")[1]
    recipe = tmp_path / "recipe.toml"
    recipe.write_bytes(served.ask(f"{base}/recipe.toml")[1])
    (tmp_path / people.name).write_bytes(people.read_bytes())
    shoal.run(recipe).write(tmp_path / "again")
    here, there = tmp_path / "again" / "release" / "data.csv", tmp_path / "release" / "data.csv"
    assert here.read_bytes() == there.read_bytes()
    place = served.folder / sitting["sitting"] / "runs" / f"{run['run']:04}" / "out" / "release" / "data.csv"
    lines = place.read_text(encoding="utf-8").splitlines()
    place.write_text("\n".join([lines[0], *lines[2:]]) + "\n", encoding="utf-8")
    status, said = served.ask(f"{base}/release.zip")
    assert status in (409, 422), said


def test_bad_data_gives_the_sentence_of_the_command_line(
    served: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text('a,b\n1,2\n"3,4\n', encoding="utf-8")
    assert main(["inspect", str(bad)]) == 3
    said = capsys.readouterr().err.strip().removeprefix(f"shoal: {bad}").strip()
    file = served.told("/api/files?name=bad.csv", bad.read_bytes())
    status, text = served.ask("/api/sittings", {"path": file["path"], "sitting": file["sitting"]})
    assert status == 422
    assert json.loads(text)["detail"].endswith(said), (text, said)


@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        ({"method": {"name": "nothing", "k": 2}}, 404),
        ({"method": {"name": "mondrian", "k": 1}}, 400),
        ({"source": {"path": "/nowhere/at/all.csv"}}, 422),
        ({"colour": "red"}, 400),
    ],
)
def test_a_wrong_recipe_is_refused(served: Served, people: Path, wrong: dict[str, Any], status: int) -> None:
    recipe = {"source": {"path": str(people)}, "method": {"name": "mondrian", "k": 5}, **wrong}
    answer, said = served.ask("/api/runs", {"recipe": recipe})
    assert answer == status, said
    assert b"Traceback" not in said


def test_an_unknown_run_is_not_found(served: Served) -> None:
    assert served.ask("/api/sittings/nobody/runs/1")[0] == 404
    assert served.ask("/api/files?name=x.csv&sitting=nobody", b"a")[0] == 404


def test_a_name_of_a_file_leads_nowhere_else(served: Served) -> None:
    file = served.told("/api/files?name=..%2F..%2Fetc%2Fpasswd", b"a,b\n1,2\n")
    assert Path(file["path"]).parent == served.folder / file["sitting"] / "files" / "uploads"
    assert Path(file["path"]).stat().st_mode & 0o777 == 0o600


def test_cancel_and_death_leave_the_studio_alive(served: Served, people: Path) -> None:
    sitting = loaded(served, people)
    key = sitting["sitting"]
    first = served.told("/api/runs", {"recipe": slow(sitting["recipe"]), "sitting": key})["run"]
    until(lambda: workers_of(served.folder / key))
    served.told(f"/api/sittings/{key}/runs/{first}", method="DELETE")
    assert served.finished(key, first)["state"] == "canceled"
    until(lambda: not workers_of(served.folder / key))
    assert served.ask(f"/api/sittings/{key}/runs/{first}/release.zip")[0] == 400
    second = served.told("/api/runs", {"recipe": slow(sitting["recipe"]), "sitting": key})["run"]
    for process in until(lambda: workers_of(served.folder / key)):
        os.kill(process, signal.SIGKILL)
    ended = served.finished(key, second)
    assert ended["state"] == "failed"
    assert "signal 9" in ended["error"]
    third = served.told("/api/runs", {"recipe": sitting["recipe"], "sitting": key})["run"]
    assert served.finished(key, third)["state"] == "done"


def test_a_studio_that_is_closed_leaves_no_process(nicegui: None, people: Path, tmp_path: Path) -> None:
    served = serve(tmp_path / "kept", "--api-only")
    try:
        assert served.ask("/s/a/data")[0] == 404
        recipe = {"source": {"path": str(people)}, "method": {"name": "mondrian", "k": 5, "improve": 60.0}}
        recipe["roles"] = {"quasi": ["age"], "others": "drop"}
        run = served.told("/api/runs", {"recipe": recipe})
        until(lambda: workers_of(served.folder))
    finally:
        served.close()
    until(lambda: not workers_of(served.folder))
    state = read_json(served.folder / run["sitting"] / "runs" / "0001" / "state.json")
    assert state["state"] == "interrupted"
