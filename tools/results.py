"""Run the recipes in experiments/ and write docs/results: one page per recipe, with its pictures.

    python tools/results.py [NAME …] [--quick] [--force] [--build FOLDER] [--results FOLDER]

Runs are kept in build/results, so that an interrupted call continues where it stopped. The public datasets are looked
for in SHOAL_DATA, by default in ../shared/data beside the repository.
"""

import argparse
import os
import shutil
import sys
from pathlib import Path

from shoal.comparison.comparison_page import markdown
from shoal.comparison.runner import Compared, compare
from shoal.comparison.sweep_recipe import Comparison
from shoal.errors import ShoalError

ROOT = Path(__file__).resolve().parents[1]
EXPERIMENTS = ROOT / "experiments"
NOTICE = "<!-- Written by `make results` from experiments/{name}.toml; do not edit. -->"


def main(arguments: list[str]) -> int:
    """Run each recipe; one that fails does not stop the others."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", help="recipes; all by default")
    parser.add_argument("--quick", action="store_true", help="run the small forms")
    parser.add_argument("--force", action="store_true", help="forget the runs that are finished")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "results", help="where runs are kept")
    parser.add_argument("--results", type=Path, default=ROOT / "docs" / "results", help="where pages go")
    given = parser.parse_args(arguments)
    beside = ROOT.parent / "shared" / "data"
    if "SHOAL_DATA" not in os.environ and beside.is_dir():
        os.environ["SHOAL_DATA"] = str(beside)
    names = given.names or sorted(path.stem for path in EXPERIMENTS.glob("*.toml"))
    failed = [name for name in names if not written(name, given)]
    index(given.results)
    return 1 if failed else 0


def written(name: str, given: argparse.Namespace) -> bool:
    """Run a recipe and write its page; False where a run broke, crashed or failed."""
    recipe = EXPERIMENTS / f"{name}.toml"
    folder = given.build / (f"{name}-quick" if given.quick else name)
    try:
        found = compare(recipe, folder, quick=given.quick, force=given.force, tell=tell(name))
    except ShoalError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return False
    publish(found, recipe, name, given.results)
    print(f"{name}: {dict(found.statuses)}", file=sys.stderr)
    problems = [f"{one.chart.name}: {one.problem}" for one in found.pictures if one.problem]
    for problem in problems:
        print(f"{name}: {problem}", file=sys.stderr)
    return not problems and not set(found.statuses) - {"done", "refused", "timeout"}


def publish(found: Compared, recipe: Path, name: str, results: Path) -> None:
    """Put the page and its pictures into docs/results, replacing earlier ones."""
    folder = results / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for picture in found.pictures:
        if picture.svg:
            (folder / f"{picture.chart.name}.svg").write_text(picture.svg, encoding="utf-8")
    text = f"{NOTICE.format(name=name)}\n\n{markdown(found, recipe, name)}"
    (results / f"{name}.md").write_text(text, encoding="utf-8")


def index(results: Path) -> None:
    """Write a page with links to the others."""
    lines = [
        "# Results",
        "",
        "Measured by the recipes in `experiments/`; `make results` runs them again.",
        "",
    ]
    for page in sorted(results.glob("*.md")):
        if page.name == "README.md" or not (recipe := EXPERIMENTS / f"{page.stem}.toml").exists():
            continue
        comparison = Comparison.read(recipe)
        lines.append(f"- [{comparison.title}]({page.name}): {' '.join(comparison.question.split())}")
    if results.is_dir():
        (results / "README.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def tell(name: str):
    """Print a line after each tenth of the runs."""

    def told(done: int, total: int, what: str) -> None:
        if what and (done == total or done % max(total // 10, 1) == 0):
            print(f"{name}: {done} of {total} runs", file=sys.stderr, flush=True)

    return told


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
