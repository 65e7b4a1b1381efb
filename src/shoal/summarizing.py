"""Cross-tables with totals, protected by hidden cells or by noise.

::

    shoal.summarize("people.csv", ["sex", "age"], sums=["income"]).write("out")
    shoal.summarize("people.csv", [["illness", "sex"], ["illness", "age"]], epsilon=1).write("out")
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from shoal import __version__
from shoal.arrays import Counts, Rows
from shoal.data.domain import nominal
from shoal.data.hierarchy import Hierarchy
from shoal.data.published_syntax import SUPPRESSED
from shoal.data.release import Release
from shoal.data.role import Role, Roles
from shoal.data.summary import COUNT, SUM, Summary
from shoal.data.table import Column, Table, canonical_order
from shoal.data.verdict import Verdict
from shoal.errors import Infeasible, Stage, WrongUse, logged
from shoal.io.reading import Reading, with_names
from shoal.io.releases.data_package import write_package
from shoal.io.releases.terms import Terms
from shoal.outcome import judge, refuse_broken
from shoal.sources import Request, load_table, with_hierarchies
from shoal.summaries.attackers import Shield
from shoal.summaries.noise import noisy_cells
from shoal.summaries.protection import Protection, refuse_sums
from shoal.summaries.sensitivity import sensitive_cells
from shoal.summaries.suppress import hidden_cells
from shoal.summaries.tabulate import Cells, amounts_of, tally

TOTAL = "TOTAL"

PUBLIC_LISTS = (
    "Which values the columns have is published exactly: the noise protects only how often they occur, so that a "
    "value which by itself shows that somebody is in the data must not be in it."
)


@dataclass(frozen=True, slots=True, eq=False)
class Summarized:
    """Cross-tables that are ready to be published. `release` is public; the rest is for the owner of the data."""

    release: Release[Summary]  # the cells
    verdicts: tuple[Verdict, ...]  # one for each promise, from the release alone
    hidden: Mapping[str, tuple[int, int]]
    """For each value, how many sensitive cells are hidden by the rules, and how many further cells protect those."""
    warnings: tuple[str, ...] = ()  # what the owner of the data should know before publishing
    seconds: Mapping[str, float] | None = None  # duration of each step

    def __repr__(self) -> str:
        return f"<Summarized: {self.release.data!r}, {self.release.suppressed:,} hidden>"

    def as_dict(self) -> dict[str, Any]:
        """The result as plain data: what run.json holds."""
        return {
            "tool": {"name": "shoal", "version": __version__},
            "method": self.release.method,
            "parameters": dict(self.release.parameters),
            "promises": [dict(promise) for promise in self.release.promises],
            "verdicts": [verdict.as_dict() for verdict in self.verdicts],
            "cells": len(self.release.data),
            "hidden": {
                value: {"sensitive": first, "beside": beside}
                for value, (first, beside) in self.hidden.items()
            },
            "warnings": list(self.warnings),
            "seconds": dict(self.seconds or {}),
        }

    def write(
        self, folder: str | Path, *, force: bool = False, report: bool = True, terms: Terms | None = None
    ) -> Path:
        """Write the release folder; it gets its name only after the promises were proved again from the files.

        Parameters
        ----------
        folder
            The folder to make; it appears whole or not at all.
        force
            Replace an earlier release of that name.
        report
            Write report.html, for the owner of the data.
        terms
            Title, license and data-use text for the recipients.
        """
        from shoal.io.releases.folder import RELEASE, REPORT, RUN, read_release, write_release
        from shoal.report.summary_page import render_summary

        def finish(draft: Path) -> None:
            published = read_release(draft)
            proved = judge(published)
            refuse_broken(proved)
            write_package(draft / RELEASE, published, terms)
            done = replace(self, verdicts=proved)
            if report:
                page = render_summary(done.release, done.verdicts, done.hidden, done.warnings)
                (draft / REPORT).write_text(page, encoding="utf-8")
            text = json.dumps(done.as_dict(), indent=1, ensure_ascii=False, default=str)
            (draft / RUN).write_text(text, encoding="utf-8")

        return write_release(folder, self.release, force=force, check=finish)


def summarize(
    source: Any,
    by: str | Sequence[str] | Sequence[Sequence[str]],
    *,
    count: bool | None = None,
    sums: str | Sequence[str] = (),
    total: str = TOTAL,
    hierarchies: Mapping[str, str | Hierarchy] | None = None,
    reading: Reading | None = None,
    names: Sequence[str] | None = None,
    stage: Stage | None = None,
    **protection: Any,
) -> Summarized:
    """Count the rows of a table, and sum up columns, in cross-tables with all their totals.

    Sensitive cells are hidden, and enough others that nobody can compute them from the rest; or, with ``epsilon``,
    counts get noise. Each row counts as one person: where a person has several rows, sum them up first.

    Parameters
    ----------
    source
        A path, an address of a database, a frame of polars, pandas or Arrow, or a `Table`.
    by
        The columns of a cross-table, or a list of columns for each of several, whose margins are protected together.
    count
        Publish how many rows there are in each cell; by default, only if nothing is summed up.
    sums
        Columns to sum up, of amounts that are not negative. A missing amount counts as 0.
    total
        The label of totals.
    hierarchies
        For each column its hierarchy, a builder or a file; its nodes get totals too.
    **protection
        The fields of `Protection`: ``threshold``, ``p``, ``dominance``, or ``epsilon``; ``time_limit``.

    Examples
    --------
    >>> import polars, shoal
    >>> frame = polars.DataFrame({"sex": ["f"] * 5 + ["m"] * 4, "ill": ["flu"] * 3 + ["cold"] * 6})
    >>> shoal.summarize(frame, ["sex", "ill"], threshold=2).release.data
    <Summary: 9 cells of sex × ill; count>
    """
    asked = Protection(**protection)
    tables = _tables(by)
    summed = (sums,) if isinstance(sums, str) else tuple(sums)
    refuse_sums(asked, summed, {name for table in tables for name in table})
    tell = logged(stage)
    tell("reading")
    begin = time.perf_counter()
    table, warnings = _read(source, tables, summed, with_names(reading, names), hierarchies or {})
    columns = table.select(dict.fromkeys(name for one in tables for name in one))
    wanted = (
        *((COUNT,) if count or (count is None and not summed) else ()),
        *(SUM + name for name in summed),
    )
    _refuse_names([column.name for column in columns], wanted)
    tell("counting")
    cells = Cells.of(columns, tables, total)
    codes = [column.codes.astype(np.int64) for column in columns]
    read = time.perf_counter()
    tell("protecting")
    texts, hidden = (_noisy if asked.epsilon is not None else _protected)(cells, table, codes, wanted, asked)
    data = _summary(cells, tables, wanted, total, texts)
    if asked.epsilon is not None:
        warnings = (*warnings, PUBLIC_LISTS)
    _refuse_empty(data)
    release = Release(
        data,
        asked.name,
        _parameters(tables, asked, summed),
        _promises(wanted, asked),
        sum(map(sum, hidden.values())),
    )
    found = time.perf_counter()
    tell("verifying")
    verdicts = judge(release)
    refuse_broken(verdicts)
    spent = {"reading": read - begin, "protecting": found - read, "verifying": time.perf_counter() - found}
    return Summarized(release, verdicts, hidden, warnings, spent)


def _tables(by: str | Sequence[str] | Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """The columns of each table."""
    if isinstance(by, str):
        return ((by,),)
    one = all(isinstance(name, str) for name in by)
    tables = (
        (tuple(map(str, by)),)
        if one
        else tuple((part,) if isinstance(part, str) else tuple(part) for part in by)
    )
    for table in tables:
        if not table:
            raise WrongUse("A cross-table needs a column: name those to count by, with --by.")
        if len(set(table)) < len(table):
            raise WrongUse(f"--by {','.join(table)} names a column twice.")
    if not tables:
        raise WrongUse("A cross-table needs a column: name those to count by, with --by.")
    return tuple(dict.fromkeys(tables))


def _read(
    source: Any,
    tables: Sequence[Sequence[str]],
    sums: tuple[str, ...],
    reading: Reading,
    hierarchies: Mapping[str, str | Hierarchy],
) -> tuple[Table, tuple[str, ...]]:
    """The columns that are asked for, as a table, and the warnings about them."""
    by = tuple(dict.fromkeys(name for table in tables for name in table))
    if isinstance(source, Table):
        chosen = source.select(dict.fromkeys((*by, *sums)))
        roles = tuple(replace(one, role=Role.QUASI if one.name in by else Role.INSENSITIVE) for one in chosen)
        table = with_hierarchies(Table(roles), hierarchies)
        warnings: tuple[str, ...] = ()
    else:
        amounts = tuple(name for name in sums if name not in by)
        roles_given = Roles.of(quasi=by, insensitive=amounts, others="drop")
        intake = load_table(Request(source, roles_given, reading, hierarchies))
        table, warnings = intake.data, intake.warnings
    if not table.rows:
        raise WrongUse("There are no rows to count.")
    return table, warnings


def _refuse_names(columns: Sequence[str], values: Sequence[str]) -> None:
    """Refuse columns with the name of a published value, and values that are asked for twice."""
    if len(set(values)) < len(values):
        raise WrongUse("A column is to be summed up twice; name it once with --sum.")
    for value in values:
        if value in columns:
            raise WrongUse(f"The column {value!r} has the name of a published number; give it another one.")


def _protected(
    cells: Cells, table: Table, codes: list[Rows], wanted: Sequence[str], asked: Protection
) -> tuple[dict[str, list[str]], dict[str, tuple[int, int]]]:
    """The cells of each value as texts, and how many are hidden: by the rules, and to protect those."""
    places = cells.of_rows(codes)
    largest = max(2, asked.dominance[0] if asked.dominance is not None else 0)
    texts, numbers = {}, {}
    for value in wanted:
        amounts, known, unit = np.ones(table.rows, dtype=np.int64), np.ones(table.rows, np.bool_), 1
        if value != COUNT:
            amounts, known, unit = amounts_of(table, value.removeprefix(SUM))
        tallied = tally(cells, places, value, amounts, known, unit, largest)
        hidden = hidden_cells(Shield.of(cells, tallied, asked, codes))
        first = int(sensitive_cells(tallied, asked).sum())
        texts[value] = [
            SUPPRESSED if away else tallied.text(cell) for cell, away in enumerate(hidden.tolist())
        ]
        numbers[value] = first, int(hidden.sum()) - first
    return texts, numbers


def _noisy(
    cells: Cells, table: Table, codes: list[Rows], wanted: Sequence[str], asked: Protection
) -> tuple[dict[str, list[str]], dict[str, tuple[int, int]]]:
    """The noisy counts as texts; no cell is hidden."""
    assert asked.epsilon is not None
    counts: Counts = noisy_cells(cells, codes, asked.epsilon)
    return {COUNT: list(map(str, counts.tolist()))}, {COUNT: (0, 0)}


def _summary(
    cells: Cells,
    tables: tuple[tuple[str, ...], ...],
    values: tuple[str, ...],
    total: str,
    texts: dict[str, list[str]],
) -> Summary:
    """The cells as they are published."""
    nodes = cells.nodes()
    columns = [
        Column(scale.axis.name, Role.INSENSITIVE, nominal(scale.axis.nodes), nodes[:, n].astype(np.int32))
        for n, scale in enumerate(cells.scales)
    ]
    for value in values:
        labels = tuple(dict.fromkeys(texts[value]))
        number = {label: code for code, label in enumerate(labels)}
        codes = np.array([number[text] for text in texts[value]])
        columns.append(Column(value, Role.INSENSITIVE, nominal(labels), codes.astype(np.int32)))
    order = canonical_order(columns)
    axes = tuple(scale.axis for scale in cells.scales)
    return Summary(axes, tables, values, total, Table(tuple(columns)).take(order))


def _parameters(
    tables: tuple[tuple[str, ...], ...], asked: Protection, sums: tuple[str, ...]
) -> dict[str, Any]:
    """The parameters as release.json records them."""
    made: dict[str, Any] = {"by": [list(table) for table in tables]}
    if asked.epsilon is not None:
        return {
            **made,
            "epsilon": asked.epsilon,
            "mechanism": "discrete Laplace (OpenDP) on one histogram of all columns",
        }
    made["threshold"] = asked.threshold
    if sums:
        made |= {"p": asked.p, **({"dominance": list(asked.dominance)} if asked.dominance else {})}
    return made


def _promises(wanted: Sequence[str], asked: Protection) -> tuple[dict[str, Any], ...]:
    if asked.epsilon is not None:
        return ({"model": "differential-privacy", "epsilon": asked.epsilon},)
    counts = [{"model": "protected-counts", "threshold": asked.threshold}] if COUNT in wanted else []
    sums = [
        {"model": "protected-sums", "column": value.removeprefix(SUM), "percent": asked.percent}
        for value in wanted
        if value != COUNT
    ]
    return (*counts, *sums)


def _refuse_empty(data: Summary) -> None:
    """Refuse to publish a value all of whose cells are hidden or 0."""
    for value in data.values:
        if all(text in (SUPPRESSED, "0") for text in data.texts(value)):
            raise Infeasible(
                f"Every cell of {value} would be hidden: there are too few rows for so many cells. Count by fewer "
                "columns, or promise less (--threshold, --p)."
            )
