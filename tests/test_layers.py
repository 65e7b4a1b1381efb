"""The layers of the package: imports point down, and each third-party library is imported only where it may be."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.planted import plant

SOURCE = Path(__file__).resolve().parents[1] / "src" / "shoal"

LAYERS = (
    {"addresses", "option_names", "progress"},
    {"errors"},
    {"registry", "parameters"},
    {"arrays"},
    {"solving"},
    {"kernels"},
    {"data"},
    {"mining"},
    {"risks", "preparation"},
    {"io", "models", "measures"},
    {"engines"},
    {"methods", "datasets", "summaries"},
    {"attacks"},
    {"report"},
    {
        "recipe",
        "outcome",
        "sources",
        "pipeline",
        "verification",
        "measuring",
        "assessing",
        "attacking",
        "series",
        "summarizing",
    },
    {"estimator"},
    {"comparison"},
    {"recommendation"},
    {"cli", "studio"},
)
LEVEL = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}

# Packages of one layer do not import each other, except these (importer, imported).
NEIGHBORS = {
    ("pipeline", "recipe"),
    ("pipeline", "outcome"),
    ("pipeline", "series"),
    ("pipeline", "sources"),
    ("sources", "recipe"),
    ("verification", "recipe"),
    ("verification", "outcome"),
    ("verification", "sources"),
    ("measuring", "sources"),
    ("measuring", "pipeline"),
    ("measuring", "recipe"),
    ("assessing", "sources"),
    ("assessing", "recipe"),
    ("attacking", "measuring"),
    ("attacking", "outcome"),
    ("attacking", "pipeline"),
    ("attacking", "recipe"),
    ("attacking", "sources"),
    ("series", "measuring"),
    ("series", "recipe"),
    ("series", "sources"),
    ("summarizing", "outcome"),
    ("summarizing", "sources"),
    ("cli", "studio"),
}

# The front of the package hands out names of all packages; no package may take names from it, except the version.
FRONT = {"__init__", "__main__"}

# The only modules that may import a library.
FENCES = {
    "duckdb": "shoal.engines._out_of_core",
    "pyspark": "shoal.engines.spark",
    "altair": "shoal.report",
    "vl_convert": "shoal.comparison.vega_charts",
    "nicegui": "shoal.studio",
    "fastapi": "shoal.studio",
    "starlette": "shoal.studio",
    "uvicorn": "shoal.studio",
}

KERNEL_LIBRARIES = {"numpy", "numba"} | sys.stdlib_module_names


@dataclass(frozen=True)
class Import:
    importer: str
    imported: str
    line: int

    def __str__(self) -> str:
        return f"{self.importer}, line {self.line}, imports {self.imported}"


def imports_below(source: Path) -> Iterator[Import]:
    """All imports of a package, including those inside functions, but not those only for the type checker."""
    for path in sorted(source.rglob("*.py")):
        parts = ["shoal", *path.relative_to(source).with_suffix("").parts]
        importer = ".".join(parts)
        for node in running_nodes(ast.parse(path.read_text(encoding="utf-8"))):
            for imported in imported_names(node, parts):
                yield Import(importer, imported, node.lineno)


def running_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            for statement in child.orelse:
                yield statement
                yield from running_nodes(statement)
        else:
            yield child
            yield from running_nodes(child)


def imported_names(node: ast.AST, parts: list[str]) -> list[str]:
    match node:
        case ast.Import():
            return [alias.name for alias in node.names]
        case ast.ImportFrom():
            above = parts[: -node.level] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            return [f"{module}.{alias.name}" for alias in node.names]
        case ast.Call(
            func=ast.Name("import_module" | "__import__") | ast.Attribute(attr="import_module"),
            args=[ast.Constant(value=str(name)), *_],
        ):
            return [name]
    return []


def faults(source: Path) -> list[str]:
    rules = (fault_of_layer, fault_of_fence, fault_of_kernel)
    return [
        f"{entry}: {fault}" for entry in imports_below(source) for rule in rules if (fault := rule(entry))
    ]


def fault_of_layer(entry: Import) -> str | None:
    top, _, inside = entry.imported.partition(".")
    importer, imported = entry.importer.split(".")[1], inside.split(".")[0]
    if top != "shoal" or importer in FRONT or importer == imported:
        return None
    if importer not in LEVEL:
        return f"{importer} has no layer; give it one in LAYERS"
    if imported == "__version__":
        return None
    if imported not in LEVEL:
        return f"{imported} has no layer; import from the module that defines the name, not from the front"
    if LEVEL[imported] > LEVEL[importer]:
        return f"{imported} lies above {importer}"
    if LEVEL[imported] == LEVEL[importer] and (importer, imported) not in NEIGHBORS:
        return f"{imported} lies beside {importer}"
    return None


def fault_of_fence(entry: Import) -> str | None:
    owner = FENCES.get(entry.imported.split(".")[0])
    if owner is None or f"{entry.importer}.".startswith(f"{owner}."):
        return None
    return f"only {owner} may"


def fault_of_kernel(entry: Import) -> str | None:
    if not entry.importer.startswith("shoal.kernels."):
        return None
    names = ("shoal.kernels.", "shoal.arrays.")  # the latter are only names of types
    if entry.imported.startswith(names) or entry.imported.split(".")[0] in KERNEL_LIBRARIES:
        return None
    return "kernels import numpy, numba and each other"


def test_imports_point_down() -> None:
    found = faults(SOURCE)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("heavy", ["numba", "polars", "pyspark", "scipy", "altair"])
def test_import_of_the_package_is_light(heavy: str) -> None:
    program = f"import sys, shoal; print({heavy!r} in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout == "False\n"


@pytest.mark.parametrize(
    ("path", "text", "fault"),
    [
        ("errors.py", "import shoal.registry", "registry lies above errors"),
        ("data/table.py", "from shoal.io import read_table", "io lies above data"),
        ("data/table.py", "from shoal import methods", "methods lies above data"),
        ("data/table.py", "from ..methods import Mondrian", "methods lies above data"),
        ("data/__init__.py", "from ..methods import Mondrian", "methods lies above data"),
        ("data/table.py", "def late():\n    import shoal.cli.main", "cli lies above data"),
        ("data/table.py", "import_module('shoal.methods.mondrian')", "methods lies above data"),
        ("data/table.py", "if TYPE_CHECKING:\n    pass\nelse:\n    import shoal.io", "io lies above data"),
        ("models/k_anonymity.py", "from shoal.methods.mondrian import cut", "methods lies above models"),
        ("measures/loss.py", "from shoal.methods.mondrian import cut", "methods lies above measures"),
        ("io/folder.py", "from shoal.models.k_anonymity import KAnonymity", "models lies beside io"),
        ("recipe.py", "from shoal.pipeline import run", "pipeline lies beside recipe"),
        ("cli/main.py", "import shoal", "not from the front"),
        ("cli/main.py", "from shoal import Mondrian", "not from the front"),
        ("cellar/wine.py", "from shoal.errors import BadData", "cellar has no layer; give it one"),
        (
            "engines/local.py",
            "def late():\n    from pyspark.sql import SparkSession",
            "only shoal.engines.spark may",
        ),
        ("engines/sparkle.py", "import pyspark", "only shoal.engines.spark may"),
        ("pipeline.py", "import altair", "only shoal.report may"),
        ("cli.py", "from nicegui import ui", "only shoal.studio may"),
        ("kernels/sort.py", "from shoal.errors import BadData", "kernels import numpy, numba and each other"),
        ("kernels/sort.py", "import polars", "kernels import numpy, numba and each other"),
    ],
)
def test_a_wrong_import_is_found(tmp_path: Path, path: str, text: str, fault: str) -> None:
    plant(tmp_path, path, text)
    assert len(faults(tmp_path)) == 1
    assert fault in faults(tmp_path)[0]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("__init__.py", "from shoal.pipeline import anonymize"),
        ("data/__init__.py", "from .table import Table"),
        ("data/table.py", "from . import domain"),
        ("data/table.py", "from shoal.kernels import sort"),
        ("data/table.py", "import polars"),
        ("data/table.py", "if TYPE_CHECKING:\n    from shoal.methods import Mondrian"),
        ("data/table.py", "if typing.TYPE_CHECKING:\n    from shoal.methods import Mondrian"),
        ("methods/mondrian.py", "from shoal.models.k_anonymity import KAnonymity"),
        ("pipeline.py", "from shoal.recipe import Recipe"),
        ("outcome.py", "from shoal import __version__"),
        ("engines/spark.py", "import pyspark"),
        ("report/svg_charts.py", "import altair"),
        ("studio/pages/first.py", "from nicegui import ui"),
        (
            "kernels/sort.py",
            "import math\nimport numba\nimport numpy as np\nfrom shoal.kernels._jit import kernel",
        ),
    ],
)
def test_a_right_import_passes(tmp_path: Path, path: str, text: str) -> None:
    plant(tmp_path, path, text)
    assert not faults(tmp_path)
