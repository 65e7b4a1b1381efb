"""What the page shows of a finished run: plain data for cards and lists, and parts as HTML that are fetched later."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from shoal.data._equal_rows import row_classes
from shoal.data.baskets import Baskets
from shoal.data.clusters import Cluster, Clusters
from shoal.data.dataset import schema_of
from shoal.data.groups import Groups
from shoal.data.linked import Linked
from shoal.data.release import form_name
from shoal.data.table import Column, Table
from shoal.outcome import AnyRun
from shoal.report.card import Card
from shoal.report.cost import HEADLINES, cost_of
from shoal.report.facts import facts_of
from shoal.report.page import render_parts
from shoal.studio.sitting import write_json

SIDE, CLASSES, SETS = 300, 120, 60
"""Rows side by side, classes, and groups or clusters that can be browsed."""

BASKETS_OF_GROUP = 12
"""Baskets of a group that are listed."""

SECRETS = 6
"""Values of a secret that are counted in a class."""


def shown_of(run: AnyRun, folder: Path) -> dict[str, Any]:
    """The data for the cards and lists of a release; larger parts are written as files into `folder`.

    For a run whose rows are in parts it holds verdicts and scores, but no rows.
    """
    local = run.engine.in_memory
    shown: dict[str, Any] = {
        "form": form_name(schema_of(run.release.data)),
        "holds": run.holds,
        "verdicts": [
            {
                "model": one.model,
                "promise": one.promise,
                "holds": one.holds,
                "value": _number(one.value),
                "threshold": _number(one.threshold),
                "remark": one.remark,
            }
            for one in run.verdicts
        ],
        "cost": _card(cost_of(run.scores)),
        "score": _score(run),
        "warnings": list(run.warnings),
        "seconds": sum(run.seconds.values()),
        "local": local,
        **dict.fromkeys(("risk", "counts", "classes", "groups", "clusters"), None),
        "parts": [],
        "unmeasured": run.unmeasured,
        "scores": [
            {"name": one.name, "value": float(one.value), "meaning": one.meaning, "better": one.better}
            for one in run.scores
        ],
    }
    return shown | (_in_memory(run, folder) if local else {})


def _in_memory(run: AnyRun, folder: Path) -> dict[str, Any]:
    facts = facts_of(run)
    parts = render_parts(facts)
    for name, text in parts.items():
        (folder / f"part-{name}.html").write_text(text, encoding="utf-8")
    data = run.release.data
    more: dict[str, Any] = {}
    match data:
        case Table():
            write_json(folder / "sides.json", _table_sides(run, data))
            more["classes"] = _classes(data)
            more["columns"] = list(data.names)
        case Linked():
            more["columns"] = [name for name in data.public.names if name != data.link]
        case Baskets():
            write_json(folder / "sides.json", _basket_sides(run, data))
        case Groups():
            more["groups"] = [_group(data, place) for place in range(min(len(data), SETS))]
            more["group_count"] = len(data)
        case Clusters():
            fullest = sorted(data, key=lambda one: -_records(one))[:SETS]
            more["clusters"] = [_cluster(one) for one in fullest]
            more["cluster_count"] = data.count
    return {
        "risk": _card(facts.risk),
        "counts": [list(pair) for pair in facts.counts],
        "summary": list(facts.summary),
        "loss": [list(part) for part in facts.loss.parts] if facts.loss else [],
        "parts": list(parts),
        **more,
    }


def _score(run: AnyRun) -> dict[str, Any] | None:
    """The figure that runs are compared by: what the release cost."""
    values = {score.name: float(score.value) for score in run.scores}
    for headline in HEADLINES:
        if headline.score in values:
            return {"name": headline.score, "value": values[headline.score]}
    return None


def _card(card: Card | None) -> dict[str, Any] | None:
    return None if card is None else asdict(card)


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _text(column: Column, row: int) -> str:
    return column.domain.labels[int(column.codes[row])]


def _table_sides(run: AnyRun, data: Table) -> dict[str, Any]:
    """The first rows of the original beside what is published of them."""
    original: Table = run.original
    names = list(data.names)
    places = np.full(original.rows, -1, dtype=np.int64)
    if len(run.trace.rows) == data.rows:
        places[run.trace.rows] = np.arange(data.rows)
    rows = []
    for row in range(min(SIDE, original.rows)):
        place = int(places[row])
        before = [_text(original.column(name), row) for name in names]
        rows.append([row + 1, before, [] if place < 0 else [_text(one, place) for one in data.columns]])
    quasi = [column.name for column in data.quasi]
    return {"names": names, "quasi": quasi, "rows": rows, "of": original.rows}


def _basket_sides(run: AnyRun, data: Baskets) -> dict[str, Any]:
    original: Baskets = run.original
    places = np.full(len(original), -1, dtype=np.int64)
    if len(run.trace.rows) == len(data):
        places[run.trace.rows] = np.arange(len(data))
    rows = [
        [row + 1, list(original.basket(row)), list(data.basket(int(places[row]))) if places[row] >= 0 else []]
        for row in range(min(SIDE, len(original)))
    ]
    return {"rows": rows, "of": len(original)}


def _classes(data: Table) -> dict[str, Any]:
    """The smallest classes: their cells, how many rows they have, and the values of secrets in them."""
    quasi = data.quasi
    if not quasi:
        return {"names": [], "classes": [], "count": 0}
    classes = row_classes(quasi, data.rows)
    smallest = np.argsort(classes.sizes, kind="stable")[:CLASSES]
    found = []
    for place in smallest.tolist():
        rows = np.flatnonzero(classes.number == place)
        found.append(
            {
                "cells": [_text(column, int(classes.first[place])) for column in quasi],
                "size": int(classes.sizes[place]),
                "secrets": {column.name: _counted(column, rows) for column in data.sensitive},
            }
        )
    return {"names": [column.name for column in quasi], "classes": found, "count": len(classes)}


def _counted(column: Column, rows: Any) -> list[list[Any]]:
    counts = np.bincount(column.codes[rows], minlength=len(column.domain))
    most = [code for code in np.argsort(-counts, kind="stable").tolist() if counts[code]]
    return [[column.domain.labels[code], int(counts[code])] for code in most[:SECRETS]]


def _group(groups: Groups, place: int) -> dict[str, Any]:
    group = groups.group(place)
    return {
        "size": len(group.baskets),
        "baskets": [list(basket) for basket in group.baskets[:BASKETS_OF_GROUP]],
        "sensitive": dict(group.sensitive),
    }


def _records(cluster: Cluster) -> int:
    """How many sub-records a cluster and its parts publish."""
    return sum(map(len, cluster.chunks)) + sum(map(_records, cluster.parts))


def _chunk(chunk: Sequence[Sequence[str]]) -> dict[str, Any]:
    """The distinct records of a chunk, the most frequent first, each with how often it occurs."""
    found = Counter(map(tuple, chunk)).most_common()
    shown = found[:BASKETS_OF_GROUP]
    return {
        "records": [[list(record), times] for record, times in shown],
        "more": sum(times for _, times in found[BASKETS_OF_GROUP:]),
    }


def _cluster(cluster: Cluster) -> dict[str, Any]:
    return {
        "size": cluster.size,
        "chunks": [_chunk(chunk) for chunk in cluster.chunks],
        "terms": list(cluster.terms),
        "parts": [_cluster(part) for part in cluster.parts],
    }
