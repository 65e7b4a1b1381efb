"""Write the folder of a recommendation: a page, the results, a chart of the frontier, and the recipe."""

import shutil
from pathlib import Path

from markupsafe import Markup

from shoal import __version__
from shoal.comparison.comparison_page import inline, machine
from shoal.comparison.curves import Figure, figure_of
from shoal.comparison.results import write_results
from shoal.comparison.runner import Picture
from shoal.comparison.sweep_recipe import Chart
from shoal.errors import CannotWrite, WrongUse
from shoal.recommendation.problem import SWEEP
from shoal.recommendation.propose import Recommendation
from shoal.recommendation.reasons import WORDS
from shoal.report.compiled_templates import page_style, templates
from shoal.report.wording import number

PAGE, RECIPE = "recommend.html", "recipe.toml"


def write(found: Recommendation, folder: str | Path) -> Path:
    """Write recommend.html, results.csv and .parquet, charts and recipe.toml; earlier ones are replaced.

    Returns the path of the page.
    """
    folder = Path(folder)
    refuse_other_folder(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(folder / "charts", ignore_errors=True)
    except OSError as error:
        raise CannotWrite(f"The recommendation {folder}", error) from error
    from shoal.comparison.vega_charts import draw
    from shoal.comparison.vega_charts import picture as as_png

    write_results(found.rows, folder)
    drawn = figure(found)
    picture = Picture(drawn.chart, drawn, draw(drawn) if drawn.series else "", "")
    try:
        if picture.svg:
            (folder / "charts").mkdir()
            (folder / "charts" / "frontier.svg").write_text(picture.svg, encoding="utf-8")
            (folder / "charts" / "frontier.png").write_bytes(as_png(picture.svg))
        (folder / PAGE).write_text(render(found, picture), encoding="utf-8")
    except OSError as error:
        raise CannotWrite(f"The recommendation {folder}", error) from error
    found.recipe.model_copy(
        update={"output": found.recipe.output.model_copy(update={"folder": "out"})}
    ).write(folder / RECIPE)
    return folder / PAGE


def refuse_other_folder(folder: str | Path) -> None:
    """Refuse to replace anything but an earlier recommendation. Raises `WrongUse` for any other folder with files."""
    folder = Path(folder)
    try:
        there = folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
    except OSError as error:
        raise CannotWrite(f"The recommendation {folder}", error) from error
    if there and not (folder / PAGE).is_file():
        raise WrongUse(f"{folder} holds something other than a recommendation; name another folder.")


def figure(found: Recommendation) -> Figure:
    """The chart of all releases that were made, with their frontier."""
    rows = [{**one.row, "privacy": _rounded(one.privacy)} for one in found.tried]
    several = len({row["method"] for row in rows}) > 1
    privacy = {"worst case": "confidence in the worst case"}.get(found.scale.privacy, found.scale.privacy)
    chart = Chart(
        name="frontier",
        title="What protection costs",
        sweep=SWEEP,
        kind="frontier",
        x="privacy",
        y="loss",
        by=("method",) if several else ("label",),
        prefer_x="high" if found.scale.high else "low",
        prefer_y="low",
        titles={"privacy": f"{privacy} reached", "loss": found.scale.meaning},
    )
    return figure_of(chart, rows)


def _rounded(value: float | None) -> float | None:
    """A value on the axis, rounded to have a short label."""
    return value if value is None or isinstance(value, int) else float(f"{value:.3g}")


def render(found: Recommendation, picture: Picture) -> str:
    """The page as HTML."""
    return (
        templates("shoal.recommendation")
        .get_template("recommendation.html.j2")
        .render(
            found=found,
            done=found.releases,
            failed=[one for one in found.tried if one.status != "done"],
            words=WORDS,
            number=number,
            style=Markup(page_style()),
            svg=inline(picture, 0),
            remarks=picture.figure.remarks if picture.figure else (),
            command=found.command,
            machine=machine(),
            version=__version__,
        )
    )
