"""Tidy results: one row per run, one column per fact."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from shoal import registry
from shoal.comparison.grid import Cell
from shoal.comparison.sweep_recipe import Chart
from shoal.errors import UnknownName
from shoal.io.source import whole_file

if TYPE_CHECKING:
    import polars

Row: TypeAlias = dict[str, Any]

FIRST = ("sweep", "dataset", "source", "rows", "method", "label")
"""The columns that every table of results begins with; parameters follow."""

PREFIXES = ("parameter", "score", "reached", "notes", "seconds")
"""Prefixes, before a dot, of columns that only a finished run has."""

SIZES = ("columns", "items", "cells", "occurrences", "public_items", "sensitive_items")


def row_of(cell: Cell, answer: Mapping[str, Any]) -> Row:
    """The row of one run.

    Parameters keep their names, and so do scores (``lm``, ``lm.age``); a score with the name of a parameter becomes
    ``score.NAME``. The time of the method is ``seconds``, that of other steps ``seconds.reading``,
    ``seconds.verifying`` and so on; what a model found is ``reached.k-anonymity``, and a number that the method noted
    is ``notes.classes``.
    """
    facts = cell.facts
    planned = cell.plan["data"]["rows"] or cell.plan["data"]["shape"].get("rows")
    row: Row = {
        "sweep": facts["sweep"],
        "dataset": facts["dataset"],
        "source": facts["source"],
        "rows": answer.get("rows", planned),
        "method": facts["method"],
        "label": facts["label"],
    }
    row |= {
        name if name not in row else f"parameter.{name}": value for name, value in facts["parameters"].items()
    }
    row |= {"seed": facts["seed"], "timed": facts["timed"], "status": answer["status"]}
    row |= {"error": answer.get("error"), "best": answer.get("best")}
    row |= {"verdict": {"done": "kept", "broken": "broken"}.get(answer["status"])}
    seconds = dict(answer.get("seconds", {}))
    row |= {"seconds": seconds.pop("anonymizing", None), "peak_mb": answer.get("peak_mb")}
    row |= {"added_mb": answer.get("added_mb"), "suppressed": answer.get("suppressed")}
    row |= {name: answer[name] for name in SIZES if name in answer}
    row |= {f"reached.{name}": value for name, value in answer.get("reached", {}).items()}
    for name, value in answer.get("scores", {}).items():
        row[name if name not in row else f"score.{name}"] = value
    row |= {f"notes.{name}": value for name, value in answer.get("notes", {}).items()}
    row |= {f"seconds.{name}": value for name, value in seconds.items()}
    return row


def refuse_unknown_columns(charts: Iterable[Chart], cells: Sequence[Cell]) -> None:
    """Refuse charts of columns that the results of their runs cannot have, before anything runs.

    In a name with a dot only the part before the dot is checked: parts of scores, notes and steps are known only after
    the runs.

    Raises `UnknownName` with similar names.
    """
    for chart in charts:
        known = dict.fromkeys(
            name for cell in cells if cell.facts["sweep"] in chart.sweeps for name in _columns(cell)
        )
        beside = (*(chart.by or ()), *([chart.panels] if chart.panels else ()), *chart.where)
        for name in (chart.x, str(chart.y), *beside):
            if name not in known and name.partition(".")[0] not in {*known, *PREFIXES}:
                raise UnknownName(
                    f"parameter, score or other column for the chart {chart.name!r} called", name, known
                )


def _columns(cell: Cell) -> Iterator[str]:
    """The columns that the row of a run may have."""
    planned = cell.plan.get("measures")
    names = registry.load_all("measure") if planned is None else [one["name"] for one in planned]
    yield from row_of(cell, {"status": "done"})
    yield from SIZES
    for name in names:
        yield from registry.load("measure", name).scores_named


def frame_of(rows: Sequence[Row]) -> "polars.DataFrame":
    """The rows as a frame; a column with several kinds of values holds them as texts."""
    import polars as pl

    names = dict.fromkeys(name for row in rows for name in row)
    head = [name for name in FIRST if name in names]
    order = head + [name for name in names if name not in head]
    return pl.DataFrame([pl.Series(name, _alike([row.get(name) for row in rows])) for name in order])


def _alike(values: list[Any]) -> list[Any]:
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int} or kinds <= {bool} or kinds <= {str}:
        return values
    if kinds <= {int, float}:
        return [None if value is None else float(value) for value in values]
    return [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]


def write_results(rows: Sequence[Row], folder: Path) -> None:
    """Write results.parquet and results.csv; each appears only once it is complete."""
    frame = frame_of(rows)
    for name, write in (("results.parquet", frame.write_parquet), ("results.csv", frame.write_csv)):
        with whole_file(folder / name) as place:
            write(place)
