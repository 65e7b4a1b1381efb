"""What is compared: tasks, and the tools that do them."""

from dataclasses import dataclass, field
from typing import Any

FIVE = ["age", "education", "marital-status", "race", "sex"]
NINE = [*FIVE, "native-country", "workclass", "occupation", "salary-class"]


@dataclass(frozen=True, slots=True)
class Task:
    """The same work for several tools.

    Parameters
    ----------
    key, title, words
        A short name, a title, and what has to be known to read the figures.
    sides
        Each tool with the module that calls it; ARX is called by a Java program.
    arguments
        What the sides are given to load.
    """

    key: str
    title: str
    words: str
    sides: dict[str, str]
    arguments: dict[str, Any] = field(default_factory=dict)


LOSS = (
    "*Loss* is ours, computed from the published cells of each tool in the same way: a range has lost its width, a set "
    "or a node the other values it stands for, each as a share of the column's; a row that was left out has lost all."
)

TASKS = (
    Task(
        "mondrian-2",
        "Mondrian, Adult, age and education, k = 10",
        f"anonypy publishes counts of classes, Shoal all rows. {LOSS}",
        {"shoal": "shoal_mondrian", "anonypy": "anonypy_mondrian"},
        {"columns": ["age", "education"], "k": 10},
    ),
    Task(
        "mondrian-5",
        "Mondrian, Adult, five quasi-identifiers, k = 10",
        "The same with marital status, race and sex. Shoal publishes nodes of hierarchies here and anonypy sets of the "
        "values of a class, which lose less; Shoal does so too by `--publish sets`.",
        {"shoal": "shoal_mondrian", "anonypy": "anonypy_mondrian"},
        {"columns": FIVE, "k": 10},
    ),
    Task(
        "full-domain-2",
        "Whole columns generalized, Adult, age and education, k = 10, no row left out",
        "20 vectors of levels. openmed looks at all of them, and weighs levels by their number.",
        {
            "shoal": "shoal_full_domain",
            "anjana": "anjana_full_domain",
            "openmed": "openmed_full_domain",
            "arx": "ArxFullDomain",
        },
        {"columns": ["age", "education"], "k": 10, "limit": 0.0},
    ),
    Task(
        "full-domain-5",
        "Whole columns generalized, Adult, five quasi-identifiers, k = 10, at most 2 % of the rows left out",
        "Shoal and ARX search for the least loss and prove it; anjana generalizes step by step.",
        {"shoal": "shoal_full_domain", "anjana": "anjana_full_domain", "arx": "ArxFullDomain"},
        {"columns": FIVE, "k": 10, "limit": 0.02},
    ),
    Task(
        "full-domain-9",
        "Whole columns generalized, Adult, nine quasi-identifiers, k = 5, at most 2 % of the rows left out",
        "12,960 vectors of levels.",
        {"shoal": "shoal_full_domain", "arx": "ArxFullDomain"},
        {"columns": NINE, "k": 5, "limit": 0.02},
    ),
    Task(
        "checks",
        "Which k, l and t hold: raw Adult, five quasi-identifiers, occupation",
        "pycanon's l is that of distinct values, and its t that of equal distances.",
        {"shoal": "shoal_checks", "pycanon": "pycanon_checks"},
        {"columns": FIVE},
    ),
    Task(
        "rcm",
        "Reverse Cuthill-McKee on baskets that share an item, BMS1",
        "scipy needs the graph, A·Aᵀ; Shoal does without it. The *span* of an item: how far its first and last basket "
        "lie apart.",
        {"shoal": "shoal_rcm", "scipy": "scipy_rcm"},
    ),
    Task(
        "itemsets",
        "Frequent itemsets, BMS1, support 0.1 %",
        "",
        {"shoal": "shoal_itemsets", "mlxtend": "mlxtend_itemsets"},
        {"support": 0.001},
    ),
)
