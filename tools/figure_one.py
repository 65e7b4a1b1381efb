"""Attack Adult under every promise of figure 1 of seed 003, and write docs/results/figure-1.md.

    python tools/figure_one.py [--rows N] [--page FILE]

The figure sets fifteen privacy models against four kinds of attack (Fung, Wang, Chen, Yu 2010, table I). Each row is
run with a method that keeps its promise; nine tenths of the people are published, and the others are the control. The
data is looked for in SHOAL_DATA, by default in ../shared/data beside the repository.
"""

import argparse
import gzip
import os
import sys
import tempfile
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.attacks._together import attack_all
from shoal.attacks.attack import Attacked, Target
from shoal.data.table import Table
from shoal.io.tables.load import read_table
from shoal.pipeline import carry_out
from shoal.recipe import make_method

ROOT = Path(__file__).resolve().parents[1]
COLUMNS = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,capital-gain,"
    "capital-loss,hours-per-week,native-country,class"
)
QUASI = ["age", "workclass", "education", "marital-status", "race", "sex", "native-country"]
OFFICE = ("Exec-managerial", "Prof-specialty", "Adm-clerical", "Sales", "Tech-support")
ATTACKS = ("Record linkage", "Attribute linkage", "Table linkage", "Probabilistic attack")
TICK, NONE = "✓", ""


@dataclass(frozen=True)
class Line:
    """A row of the figure.

    Parameters
    ----------
    model
        Its name in the figure.
    against
        The indices of the attacks that it protects against.
    ours
        Our model and its parameters, in words; empty where Shoal has none.
    method
        The method with its parameters; None where nothing is run.
    sensitive
        The sensitive columns.
    why
        What to say about a row that is not run.
    """

    model: str
    against: tuple[int, ...]
    ours: str = ""
    method: dict[str, Any] | None = None
    sensitive: tuple[str, ...] = ("occupation",)
    why: str = ""
    sample: bool = field(default=False)


def mondrian(**promise: Any) -> dict[str, Any]:
    return {"name": "mondrian", **promise}


def of(model: str, **parameters: Any) -> dict[str, Any]:
    return mondrian(k=10, promises=[{"model": model, **parameters}])


LINES = (
    Line("k-Anonymity", (0,), "`k-anonymity`, k = 10", mondrian(k=10)),
    Line(
        "MultiR k-Anonymity",
        (0,),
        "`k-anonymity` on the join of two tables",
        why="Adult has one row a person and no records. `multirelational --link visits.csv:patient` publishes persons "
        "and their records with k persons alike on the join; several rows of a person in one table count once "
        "(`--entity`).",
    ),
    Line("ℓ-Diversity", (0, 1), "`distinct-diversity`, l = 5", mondrian(k=10, l=5)),
    Line(
        "Confidence Bounding",
        (1,),
        "`confidence-bounding`, two occupations at most 20 %",
        of("confidence-bounding", bounds={"Exec-managerial": 0.2, "Prof-specialty": 0.2}),
    ),
    Line("(α,k)-Anonymity", (0, 1), "`alpha-k-anonymity`, α = 0.2, k = 10", mondrian(k=10, alpha=0.2)),
    Line(
        "(X,Y)-Privacy",
        (0, 1),
        "`xy-privacy`, k = 5, h = 0.25",
        of("xy-privacy", column="occupation", k=5, h=0.25),
    ),
    Line(
        "(k,e)-Anonymity",
        (1,),
        "`ke-anonymity` of age, k = 5, e = 20",
        of("ke-anonymity", column="age", k=5, e=20),
        ("age",),
    ),
    Line(
        "(ε,m)-Anonymity",
        (1,),
        "`em-anonymity` of age, ε = 3, m = 3",
        of("em-anonymity", column="age", epsilon=3, m=3),
        ("age",),
    ),
    Line(
        "Personalized Privacy",
        (1,),
        "`personalized-privacy`, a third of all guard office work, p = 0.7",
        of("personalized-privacy", column="occupation", guard="guard", p=0.7, tree="OFFICE"),
        ("occupation", "guard"),
    ),
    Line("t-Closeness", (1, 3), "`t-closeness`, t = 0.2", mondrian(k=10, t=0.2)),
    Line(
        "δ-Presence",
        (2,),
        "`delta-presence`, half of the population, δ ≤ 0.75",
        mondrian(k=10, presence=0.75),
        sample=True,
    ),
    Line(
        "(c,t)-Isolation",
        (0, 3),
        why="It is about points in a space of numbers and a ball around a guess, and has no test that can be made from "
        "published cells. Near it: `em-anonymity` for numbers.",
    ),
    Line(
        "ε-Differential Privacy",
        (2, 3),
        "`amplification`, γ = e (ε = 1, local, of the sensitive column)",
        {"name": "pram", "gamma": 2.718},
    ),
    Line(
        "(d,γ)-Privacy",
        (2, 3),
        "`d-gamma-privacy`, d = 0.15, γ = 0.4",
        {"name": "pram", "d": 0.15, "d_gamma": 0.4},
    ),
    Line(
        "Distributional Privacy",
        (2, 3),
        why="It asks that all that is learned from the release is learned from its distribution. That "
        "needs a synthetic release of all columns, which Shoal does not make.",
    ),
    Line(
        "beside the figure: anatomy",
        (1,),
        "`distinct-diversity` and shares, l = 5",
        {"name": "anatomy", "l": 5},
    ),
)


def adult(folder: Path, rows: int | None) -> pl.DataFrame:
    """The complete rows of Adult, with a column of guards."""
    where = Path(os.environ.get("SHOAL_DATA", ROOT.parent / "shared" / "data")) / "adult" / "adult.data.gz"
    lines = gzip.decompress(where.read_bytes()).decode().splitlines()
    cells = [line.split(", ") for line in lines if line.strip() and "?" not in line]
    frame = pl.DataFrame(cells, schema=COLUMNS.split(","), orient="row").select([*QUASI, "occupation"])
    third = np.random.default_rng(3).random(frame.height) < 1 / 3
    office = frame["occupation"].is_in(list(OFFICE)).to_numpy()
    guard = [
        "office" if one and two else "other" if one else "" for one, two in zip(third, office, strict=True)
    ]
    return frame.with_columns(pl.Series("guard", guard)).head(rows or frame.height)


def attacked(line: Line, frame: pl.DataFrame, folder: Path) -> dict[str, Attacked]:
    """Publish nine tenths of the people under a promise, and attack that."""
    assert line.method is not None
    quasi = [name for name in QUASI if name not in line.sensitive]
    path = folder / "adult.csv"
    frame.select([*quasi, *line.sensitive]).write_csv(path)
    table = read_table(path, quasi=quasi, sensitive=line.sensitive)
    order = np.random.default_rng(7).permutation(table.rows)
    cut = table.rows // (2 if line.sample else 10)
    held, rest = np.sort(order[:cut]), np.sort(order[cut:])
    asked = dict(line.method)
    for promise in asked.get("promises", ()):
        if promise.get("tree") == "OFFICE":
            values = table.column("occupation").domain.labels
            promise["tree"] = {one: ["office" if one in OFFICE else "other", "*"] for one in values}
    if line.sample:
        frame.select(quasi).write_csv(folder / "population.csv")
        asked["population"] = str(folder / "population.csv")
    original: Table = table.take(rest)
    method = make_method(asked)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = carry_out(method, original, seed=1, measures=())
    return attack_all(Target(run.release, original, table.take(held)), seed=0)


def cells(found: dict[str, Attacked]) -> list[str]:
    """What was measured for each kind of attack."""

    def told(name: str, words: str) -> str:
        return words.format(one=found[name]) if name in found else "–"

    inference = found.get("inference") or found.get("definetti")
    certain = told("certainty", "{one.success:.1%}")
    guessed = "–" if inference is None else f"{inference.success:.1%}, control {inference.control:.1%}"
    skew = found["certainty"].parts.get("skew") if "certainty" in found else None
    return [
        told("linkage", "{one.success:.2%}"),
        f"certain {certain}; guessed {guessed}",
        told("membership", "{one.success:.1%}"),
        "–" if skew is None else f"{skew:.2f}",
    ]


def page(rows: list[list[str]]) -> str:
    head = ["model", *ATTACKS, "ours", "row found", "secret", "told to be in it", "skew"]
    lines = [" | ".join(head), " | ".join("---" for _ in head), *(" | ".join(row) for row in rows)]
    return PAGE + "\n".join(f"| {line} |" for line in lines) + "\n"


PAGE = """<!-- Written by `python tools/figure_one.py`; do not edit. -->
# Figure 1: fifteen promises against four kinds of attack

The first columns are figure 1 of seed 003 (table I of Fung, Wang, Chen and Yu 2010): which model is
against which attack. Beside it stands our model with the parameters that were run, and what our own attacks measured on
Adult (30,162 people, seven quasi-identifiers, occupation): nine tenths of the people are published by Mondrian with
k = 10 besides, by pram or by anatomy, and a tenth is the control; with a population half is published. Attack your own
release with `shoal attack`.

- **row found**: mean chance to pick the right row of somebody whose quasi-identifiers are known (`linkage`). Of linked
  tables it is the chance to pick the right secret.
- **secret**: for how many people it is certain (`certainty`), and how many are guessed right, beside a control that
  never saw them (`inference`; of linked tables `definetti`). What the control guesses too, the release does not give
  away about anybody.
- **told to be in it**: how often it is told right who is in the release (`membership`); a coin has 50 %.
- **skew**: mean distance of what a class tells of secrets from the whole (0 to 1): what a belief changes by.

Of perturbed values a class tells nothing for certain, so that certainty and skew are not measured there. Their promises
are about the sensitive column alone: all others are exact, so that rows are found and it is seen who is in the table.
Differential privacy of published counts, which hides that too, is `shoal summarize --epsilon`.

"""


def main(arguments: list[str]) -> int:
    """Run all rows and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=int, default=None, help="rows of Adult; all unless told")
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "results" / "figure-1.md")
    given = parser.parse_args(arguments)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        frame = adult(folder, given.rows)
        for line in LINES:
            ticks = [TICK if place in line.against else NONE for place in range(len(ATTACKS))]
            if line.method is None:
                rows.append([line.model, *ticks, line.ours or "not built", line.why, "", "", ""])
            else:
                rows.append([line.model, *ticks, line.ours, *cells(attacked(line, frame, folder))])
            print(rows[-1][0], *rows[-1][5:], sep=" | ", flush=True)
    given.page.write_text(page(rows), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
