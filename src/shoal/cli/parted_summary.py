"""What the terminal shows of a finished run on rows in parts."""

from pathlib import Path
from typing import TYPE_CHECKING

from shoal.cli import show, summary
from shoal.data._plural import counted

if TYPE_CHECKING:
    from shoal.parted import PartedRun


def publication(run: "PartedRun", folder: Path, *, json: bool, quiet: bool) -> int:
    """Show a finished run; the exit code is 1 if a promise is broken."""
    data = run.release.data
    if json:
        show.as_json(
            {
                "holds": run.holds,
                "engine": run.engine.name,
                "verdicts": [verdict.as_dict() for verdict in run.verdicts],
                "published": data.rows,
                "suppressed": run.release.suppressed,
                "left_out": run.left_out,
                "warnings": list(run.warnings),
                "summary": summary.sentences(run),
                "release": str(folder / "release"),
                "seconds": dict(run.seconds),
            }
        )
    elif not quiet:
        show.verdict_lines(run.verdicts)
        show.line(f"{_words(run)}.")
        summary.chosen_lines(run, run.data.schema)
        show.line(run.unmeasured)
        summary.explanation_lines(run)
        show.line()
        show.line(f"Publish  {folder / 'release'}", "bold")
    return 0 if run.holds else 1


def _words(run: "PartedRun") -> str:
    """How much is published, in words."""
    data, suppressed = run.release.data, run.release.suppressed
    words = f"{counted(data.rows, summary.noun(data.schema))} published in parts by {run.engine.name}"
    if data.baskets:
        words += f", of {counted(data.baskets, 'baskets')}"
    if suppressed:
        stars = data.rows + suppressed > run.data.rows
        words += f", {suppressed:,} of them as *" if stars else f"; {suppressed:,} suppressed and left out"
    if run.left_out:
        words += f"; {counted(run.left_out, 'rows')} with missing values left out"
    return words
