"""Show a finished run in the terminal: its verdicts, what was chosen, what it cost, and what to publish."""

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.cli import show
from shoal.data._plain_text import OK, counted

if TYPE_CHECKING:
    from shoal.data.dataset import Dataset
    from shoal.data.release import Published
    from shoal.measures.measure import Score
    from shoal.outcome import AnyRun

SCORES = {
    "Table": (
        "lm",
        "lm_mean",
        "ncp",
        "discernibility",
        "c_avg",
        "item_loss",
        "pair_loss",
        "record_loss",
        "left_out_records",
        "precision",
        "starred_cells",
        "confidence_before",
        "confidence_published",
        "confidence_worst",
        "perturbed_error",
        "estimated_error",
    ),
    "Baskets": (
        "item_ncp",
        "generalized_occurrences",
        "information_loss",
        "items_suppressed",
        "hiding_failure",
        "lost_rules",
        "ghost_rules",
    ),
    "Groups": ("kl", "query_error", "pivot_guess", "pivot_central", "pivot_largest", "pivot_replay"),
    "Linked": ("are", "are_median"),
    "Clusters": ("term_chunk_share", "tkd", "re", "certain_links"),
}
"""By form of the release: the scores that a summary shows, in this order, if the release has them.

What a method chose is not among them: it says so itself, in sentences under ``summary`` in its notes.
"""

MANY = 3
"""From this number of hierarchy files in one folder on, the folder is named instead of the files."""

BESIDE_THE_POINT = {
    "item_ncp": ("information_loss", "items_suppressed"),
    "starred_cells": ("ncp", "discernibility", "precision"),
    "perturbed_error": ("lm", "lm_mean", "ncp", "discernibility", "c_avg", "precision"),
}
"""Scores that are not shown if another one is there: a generalized item is not suppressed, hiding rules is about
starred cells, and perturbing values leaves all cells as fine as they were."""


def publication(run: "AnyRun", folder: Path, *, json: bool, quiet: bool) -> None:
    """Show a finished run."""
    from shoal.measures.measure import flat

    report = folder / "report.html"
    if json:
        show.as_json(
            {
                "holds": run.holds,
                "engine": run.engine.name,
                "verdicts": [verdict.as_dict() for verdict in run.verdicts],
                "published": count(run.release.data),
                "suppressed": run.release.suppressed,
                "suppressed_published": _published_as_stars(run),
                "left_out": run.left_out,
                "warnings": list(run.warnings),
                "summary": sentences(run),
                "best_possible": run.trace.notes.get("best_possible"),
                "scores": flat(run.scores),
                "unmeasured": run.unmeasured,
                "risks": {name: dict(one) for name, one in run.risks.items()},
                "release": str(folder / "release"),
                "report": str(report) if report.exists() else None,
                "seconds": dict(run.seconds),
            }
        )
    elif not quiet:
        show.verdict_lines(run.verdicts)
        for sentence in promised(run):
            show.line(sentence)
        risk_lines(run)
        run_lines(run)
        if scores := shown_scores(run):
            show.line()
            show.score_lines(scores)
        if run.unmeasured is not None:
            show.line(run.unmeasured)
        if explanation := run.trace.notes.get("explanation"):
            show.line()
            for text in str(explanation).split("\n"):
                show.line(text)
        show.line()
        show.line(f"Publish  {folder / 'release'}", "bold")
        if report.exists():
            show.line(f"Read     {report}")


def risk_lines(run: "AnyRun") -> None:
    """Show the risks that remain after attacks for which a limit was set."""
    if run.risks:
        from shoal.attacks._together import within_limits

        for said, one in zip(within_limits(run.risks), run.risks.values(), strict=True):
            show.line(f"{OK:<7} {said}", "bold green")
            show.line(f"        {one['sentence']}")


def run_lines(run: "AnyRun") -> None:
    """Show how much is published, what was left out and chosen, and the warnings."""
    from shoal.data.baskets import Baskets
    from shoal.data.dataset import schema_of
    from shoal.data.role import Role
    from shoal.data.table import Table

    original = schema_of(run.original)
    show.line(f"{published_words(run)}.")
    if isinstance(original, Baskets):
        read = f"{counted(count(run.original), 'baskets')} of {counted(len(original.vocabulary), 'items')}"
        show.line(f"Read: {read}, in the layout {original.layout}.")
    if run.preparation:
        show.line(f"Prepared: {'; '.join(step.sentence() for step in run.preparation)}.")
    if run.hierarchies:
        table = original if isinstance(original, Table) else Table(())
        secret = [one.name for one in table.sensitive]
        without = [one.name for one in table.every_column if one.role is Role.QUASI and one.hierarchy is None]
        lines = _sources(run.hierarchies, secret) + ([f"none for {', '.join(without)}"] if without else [])
        show.line(f"Hierarchies: {'; '.join(lines)}.")
    for sentence in sentences(run):
        show.line(sentence)
    show.warning_lines(run.warnings)


def promised(run: "AnyRun") -> tuple[str, ...]:
    """What is promised, for readers who do not know the models: one sentence for each kind."""
    from shoal.data._promise_words import promise_sentences
    from shoal.data.dataset import schema_of
    from shoal.data.table import Table

    schema = schema_of(run.release.data)
    return promise_sentences(run.release.promises, schema.known if isinstance(schema, Table) else ())


def sentences(run: "AnyRun") -> list[str]:
    """How columns were interpreted, what the method chose, and what this release tells together with earlier ones."""
    notes = run.trace.notes
    return [str(sentence) for part in ("intake", "summary", "series") for sentence in notes.get(part, ())]


def shown_scores(run: "AnyRun") -> list["Score"]:
    """The scores to show, in the order of `SCORES`, preceded by the method's objective if it is not among them."""
    from shoal.data.dataset import schema_of
    from shoal.data.release import form_name

    by_name = {score.name: score for score in run.scores}
    hidden = {name for reason, names in BESIDE_THE_POINT.items() if reason in by_name for name in names}
    wanted = SCORES.get(form_name(schema_of(run.release.data)).capitalize(), ())
    aim = run.trace.notes.get("objective")
    own = [aim] if aim in by_name and aim not in wanted else []
    return [by_name[name] for name in (*own, *wanted) if name in by_name and name not in hidden]


def published_words(run: "AnyRun") -> str:
    """How much is published, in words; suppressed rows that are published as stars do not count as left out."""
    from shoal.data.clustered_table import ClusteredTable
    from shoal.data.clusters import Clusters
    from shoal.data.groups import Groups
    from shoal.data.linked import Linked
    from shoal.data.related import Related

    data, suppressed = run.release.data, run.release.suppressed
    what = "persons" if isinstance(data, Related) else noun(data)
    words = f"{counted(count(data), what)} published{run.engine.where}"
    if isinstance(data, Groups):
        words += f", of {counted(len(data.basket_indptr) - 1, 'baskets')}"
    elif isinstance(data, Clusters):
        words += f", of {counted(int(data.sizes.sum()), 'baskets')}"
        if data.joint:
            words += f"; {data.joint:,} of them are joint, and all are made of {data.simple:,} simple ones"
    elif isinstance(data, Linked):
        words += f", in {counted(len(data), 'groups')}"
    elif isinstance(data, ClusteredTable):
        words += f", and their items in {counted(data.clusters.count, 'clusters')}"
    elif isinstance(data, Related):
        words += f", with {counted(data.records.rows, 'records')}"
    elif baskets := getattr(data, "baskets", 0):
        words += f", of {counted(baskets, 'baskets')}"
    if suppressed:
        as_stars = _published_as_stars(run)
        words += f", {suppressed:,} of them as *" if as_stars else f"; {suppressed:,} suppressed and left out"
    if run.left_out:
        words += f"; {counted(run.left_out, 'rows')} with missing values left out"
    return words


def count(data: "Published | Dataset") -> int:
    """The number of published rows, baskets, groups or clusters, counted as in release.json."""
    from shoal.data.clusters import Clusters

    if isinstance(data, Clusters):
        return data.count
    return data.rows if hasattr(data, "rows") else len(data)


def noun(data: "Published | Dataset") -> str:
    """The plural noun for what `count` counts.

    >>> from shoal.data.table import Table
    >>> noun(Table(()))
    'rows'
    """
    from shoal.data.release import form_name

    form = form_name(getattr(data, "schema", data))
    return {"table": "rows", "linked": "rows"}.get(form, form)


def _published_as_stars(run: "AnyRun") -> bool:
    """Whether suppressed rows are among those that are published."""
    data = run.release.data
    if noun(data) != "rows":
        return False
    return count(data) + int(run.release.suppressed) > count(run.original)


def _sources(hierarchies: Mapping[str, str], secret: Collection[str] = ()) -> list[str]:
    """Where hierarchies come from; many files in one folder share a phrase.

    For sensitive columns, which are not generalized, the purpose is added.

    >>> _sources({"age": "intervals:5,10", "zip": "/elsewhere/trees/zip.csv"})
    ['age intervals:5,10', 'zip zip.csv']
    >>> _sources({name: f"/elsewhere/trees/{name}.csv" for name in ("age", "sex", "zip")})
    ['age, sex, zip from trees']
    >>> _sources({name: f"{name}.csv" for name in ("age", "sex", "zip")})
    ['age, sex, zip from this folder']
    """
    from shoal.recipe import is_hierarchy_file

    files = {name: source for name, source in hierarchies.items() if is_hierarchy_file(source)}
    by_folder: dict[str, list[str]] = {}
    for name, source in files.items():
        if name in secret:
            continue
        by_folder.setdefault(os.path.dirname(source), []).append(name)
    shared = {name: folder for folder, names in by_folder.items() if len(names) >= MANY for name in names}
    single = [
        f"{name} {_short(source) if name in files else source}{' (t-closeness alone)' if name in secret else ''}"
        for name, source in hierarchies.items()
        if name not in shared
    ]
    folders = [
        f"{', '.join(by_folder[folder])} from {_short(folder or os.curdir)}"
        for folder in dict.fromkeys(shared.values())
    ]
    return [*folders, *single]


def _short(place: str) -> str:
    """The path of a file or folder below the current folder; for one elsewhere only its name."""
    from_here = os.path.relpath(place)
    if from_here == os.curdir:
        return "this folder"
    return os.path.basename(place) if from_here.startswith(os.pardir) else from_here
