"""Questions about data in another process: large files are sampled, faults are sentences, a crash costs one answer."""

import asyncio
import gzip
import os
from pathlib import Path

import pytest

from shoal.errors import BadData
from shoal.recipe import Source
from shoal.studio import queries
from shoal.studio.first_recipe import read_as, recipe_for
from shoal.studio.method_offers import kind_of
from shoal.studio.query_process import QueryProcess


def large(path: Path, rows: int = 2_000) -> Path:
    text = "age,zip,disease\n" + "".join(
        f"{20 + n % 50},{n % 97:05},{'flu' if n % 3 else 'cold'}\n" for n in range(rows)
    )
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["people.csv", "people.csv.gz"])
def test_of_a_large_file_the_beginning_is_looked_at_and_a_run_works_from_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path = large(tmp_path / name)
    assert not queries.look({"path": str(path)}, str(tmp_path))["sampled"]
    monkeypatch.setattr(queries, "LARGE", 4_000)
    monkeypatch.setattr(queries, "SAMPLE", 2_000)
    found = queries.look({"path": str(path)}, str(tmp_path))
    assert found["sampled"]
    assert 0 < found["rows"] < 200
    sample = Path(found["looked_at"]).read_bytes()
    assert len(sample) <= 2_000
    assert sample.endswith(b"\n")
    recipe = recipe_for(found, Source(path=str(path)))
    assert recipe.running.engine == "stream"
    assert recipe.running.engine in kind_of(recipe).engines
    assert recipe.source.path == str(path)


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="no such file"):
        queries.existing(str(tmp_path / "nothing.csv"))
    with pytest.raises(BadData, match="folder"):
        queries.existing(str(tmp_path))
    (tmp_path / "empty.csv").touch()
    with pytest.raises(BadData, match="empty"):
        queries.existing(str(tmp_path / "empty.csv"))


def test_the_raw_risk_is_that_of_plain_counting(tmp_path: Path) -> None:
    path = large(tmp_path / "people.csv", 300)
    source = {"path": str(path)}
    found = queries.raw_risk(source, ["age", "zip"], None)
    rows = [line.split(",")[:2] for line in path.read_text(encoding="utf-8").splitlines()[1:]]
    counts = [rows.count(row) for row in rows]
    assert found["unique"] == sum(count == 1 for count in counts) / len(rows)
    assert found["below5"] == sum(count < 5 for count in counts) / len(rows)
    assert found["smallest"] == min(counts)


def test_the_levels_of_a_tree_count_all_rows(tmp_path: Path) -> None:
    path = large(tmp_path / "people.csv", 300)
    found = queries.tree({"path": str(path)}, "age", "intervals:10,20")
    assert [level["count"] for level in found["levels"]][-1] == 1
    assert found["levels"][-1]["nodes"] == [["*", 50, 300]]
    tens = {text: rows for text, _, rows in found["levels"][1]["nodes"]}
    ages = [int(line.split(",")[0]) for line in path.read_text(encoding="utf-8").splitlines()[1:]]
    assert tens["[20,30)"] == sum(20 <= age < 30 for age in ages)


def test_a_crash_of_the_query_process_costs_one_answer() -> None:
    process = QueryProcess()

    async def asked() -> int:
        with pytest.raises(BadData, match="memory"):
            await process.ask(os._exit, 3)
        with pytest.raises(BadData, match="no such file"):
            await process.ask(queries.existing, "/nowhere")
        return int(await process.ask(os.getpid))

    try:
        assert asyncio.run(asked()) != os.getpid()
    finally:
        process.close()


def test_a_first_line_that_is_a_person_is_seen_and_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "people.data"
    path.write_text("39,Private,male\n50,Private,female\n38,State,male\n" * 5, encoding="utf-8")
    source = Source(path=str(path))
    assert queries.look({"path": str(path)}, str(tmp_path))["headless"]
    named = read_as(read_as(source, names=("age", "work", "sex")), kinds={"age": "nominal"})
    found = queries.look(named.model_dump(mode="json", exclude_defaults=True), str(tmp_path))
    assert not found["headless"]
    assert found["rows"] == 15
    assert [one["kind"] for one in found["columns"]] == ["nominal"] * 3
