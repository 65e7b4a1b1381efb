"""The page of a comparison with other tools: a table a task, a chart of all, and versions."""

import os
from collections.abc import Sequence
from statistics import median
from typing import Any

from benchmarks.case import ROOT, machine, table_text
from benchmarks.peers.tasks import Task

PAGE = ROOT / "docs" / "results" / "peers.md"
CHART = ROOT / "docs" / "results" / "peers" / "cpu.svg"

Run = dict[str, Any]

INTRODUCTION = """<!-- Written by `make peers`; do not edit. -->

# Beside other tools

The same data and the same task through Shoal and through other tools, each in a process of its own, in turns, {times}
each. *Cold* is from the start of a process to the end of its first call: importing and reading included, and for
Shoal finding the kernels that `shoal warm-up` has compiled. *Warm* is a second call in the same process. Seconds are
medians; the processor's count all threads, and their spread stands in brackets. Memory is the most that a process held.
Shoal's row is the method alone, as those of the others are: no proof, no measures, no report.

{machine}; `{command}`; versions: {versions}.

![Processor seconds of all tools](peers/cpu.svg)
"""


def write(runs: Sequence[Run], tasks: Sequence[Task], repeat: int, words: Sequence[str] = ()) -> str:
    """Write the page and its chart.

    Parameters
    ----------
    words
        What was typed behind the command; of a path, and of the first one of several, the last part is shown.

    Returns
    -------
    The page's text.
    """
    versions = {name: one for run in runs for name, one in run.get("versions", {}).items()}
    named = ", ".join(f"{name} {number}" for name, number in sorted(versions.items()))
    told = " ".join(word.partition(os.pathsep)[0].rpartition("/")[2] for word in words)
    command = f'make peers ARGS="{told}"' if told else "make peers"
    parts = [
        INTRODUCTION.format(
            times="once" if repeat == 1 else f"{repeat} times",
            machine=machine(),
            command=command,
            versions=named,
        )
    ]
    for task in tasks:
        rows = [row(tool, of(runs, task.key, tool)) for tool in task.sides if of(runs, task.key, tool)]
        words = f"{task.words}\n\n" if task.words else ""
        parts.append(f"## {task.title}\n\n{words}{table_text(aligned(rows))}")
    programs = sorted({run["tool"] for run in runs if run["task"] == "programs"})
    if programs:
        rows = [row(name, of(runs, "programs", name)) for name in programs]
        parts.append(f"## Whole programs\n\n{table_text(aligned(rows))}")
    text = "\n".join(parts)
    CHART.parent.mkdir(parents=True, exist_ok=True)
    CHART.write_text(drawn(runs, tasks), encoding="utf-8")
    PAGE.write_text(text, encoding="utf-8")
    return text


def of(runs: Sequence[Run], task: str, tool: str) -> list[Run]:
    """The runs of a tool."""
    return [run for run in runs if run["task"] == task and run["tool"] == tool]


def row(tool: str, runs: Sequence[Run]) -> dict[str, Any]:
    """A line of a table: medians, or why there are none."""
    failed = [run["failed"] for run in runs if "failed" in run]
    if failed:
        return {"tool": tool, "cold s": failed[0]}
    line: dict[str, Any] = {"tool": tool}
    for name, key in (
        ("cold s", "cold_s"),
        ("cold CPU s", "cold_cpu_s"),
        ("warm s", "warm_s"),
        ("warm CPU s", "warm_cpu_s"),
    ):
        values = [run[key] for run in runs if key in run]
        if not values:
            continue
        line[name] = median(values)
        if "CPU" in name and len(values) > 1:
            line[name] = f"{median(values):.3g} ({min(values):.3g}–{max(values):.3g})"
    line["peak MB"] = round(max(run["peak_mb"] for run in runs))
    return {**line, **runs[-1].get("found", {})}


def aligned(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same lines with the same columns."""
    names = list(dict.fromkeys(name for line in rows for name in line))
    return [{name: line.get(name) for name in names} for line in rows]


def drawn(runs: Sequence[Run], tasks: Sequence[Task]) -> str:
    """Processor seconds, cold and warm, of every tool and task, as SVG."""
    import vl_convert

    from shoal.comparison.vega_charts import COLORS, FONT, INK, SHAPES

    values = [
        {
            "task": task.key,
            "tool": tool,
            "call": call,
            "seconds": max(median(run[key] for run in found), 1e-3),
        }
        for task in tasks
        for tool in task.sides
        for call, key in (("cold", "cold_cpu_s"), ("warm", "warm_cpu_s"))
        if (found := [run for run in of(runs, task.key, tool) if key in run])
    ]
    tools = list(dict.fromkeys(value["tool"] for value in values))
    of_tool = {"field": "tool", "type": "nominal", "title": None}
    colors, shapes = list(COLORS[: len(tools)]), list(SHAPES[: len(tools)])
    axis = {"labelFont": FONT, "titleFont": FONT, "labelColor": INK, "titleColor": INK}
    svg: str = vl_convert.vegalite_to_svg(
        {
            "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
            "background": "#ffffff",
            "padding": 14,
            "data": {"values": values},
            "facet": {"field": "call", "type": "nominal", "title": None, "header": {"labelFontSize": 13}},
            "spec": {
                "width": 260,
                "height": {"step": 34},
                "mark": {"type": "point", "filled": True, "size": 110, "opacity": 0.9},
                "encoding": {
                    "y": {
                        "field": "task",
                        "type": "nominal",
                        "sort": [task.key for task in tasks],
                        "title": None,
                        "axis": {"grid": True},
                    },
                    "x": {
                        "field": "seconds",
                        "type": "quantitative",
                        "scale": {"type": "log", "domainMin": 0.001},
                        "axis": {"tickCount": 5},
                        "title": "processor seconds",
                    },
                    "color": {**of_tool, "scale": {"domain": tools, "range": colors}},
                    "shape": {**of_tool, "scale": {"domain": tools, "range": shapes}},
                },
            },
            "config": {"axis": axis, "legend": {"labelFont": FONT, "orient": "bottom"}},
        }
    )
    return svg
