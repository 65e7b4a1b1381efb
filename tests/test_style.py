"""House rules that no linter knows: sizes, names, one place for the compiler and the engines, one tree of errors."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.planted import plant

from shoal import registry

TESTS = Path(__file__).resolve().parent
SOURCE = TESTS.parent / "src" / "shoal"

FILE_LINES = 600
FUNCTION_LINES = 60
EMPTY_NAMES = {"utils", "util", "helpers", "helper"}
ENGINES = set(registry.ENGINES)
COMPILERS = {"njit", "jit", "vectorize", "guvectorize"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def faults(source: Path) -> list[str]:
    found = []
    for path in sorted(source.rglob("*.py")):
        name = path.relative_to(source).as_posix()
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        nodes = list(ast.walk(tree))
        found += [f"{name}: {fault}" for fault in faults_of_names_and_sizes(name, text, nodes)]
        found += [f"{name}, line {line}: {fault}" for line, fault in faults_of_compilers(name, nodes)]
        found += [f"{name}, line {line}: {fault}" for line, fault in faults_of_engines(name, nodes)]
        found += [f"{name}, line {line}: {fault}" for line, fault in faults_of_raises(name, tree, nodes)]
    return found


def faults_of_names_and_sizes(name: str, text: str, nodes: list[ast.AST]) -> Iterator[str]:
    for part in Path(name).with_suffix("").parts:
        if part.strip("_") in EMPTY_NAMES:
            yield f"{part} says nothing; name it after what it holds"
    yield from faults_of_length(text)
    for node in nodes:
        if isinstance(node, Function) and (lines := lines_of_code(node)) > FUNCTION_LINES:
            yield f"{node.name} has {lines} lines, at most {FUNCTION_LINES} beside its docstring"


def faults_of_length(text: str) -> Iterator[str]:
    if (lines := len(text.splitlines())) > FILE_LINES:
        yield f"{lines} lines, at most {FILE_LINES}"


def long_files(folder: Path) -> dict[str, str]:
    """The fault of every file below a folder that is too long."""
    return {
        path.relative_to(folder).as_posix(): fault
        for path in sorted(folder.rglob("*.py"))
        for fault in faults_of_length(path.read_text(encoding="utf-8"))
    }


def lines_of_code(function: Function) -> int:
    lines = function.end_lineno - function.lineno + 1
    if ast.get_docstring(function, clean=False) is not None:
        docstring = function.body[0]
        lines -= docstring.end_lineno - docstring.lineno + 1
    return lines


def statements(function: Function) -> list[ast.stmt]:
    has_docstring = ast.get_docstring(function, clean=False) is not None
    return function.body[1:] if has_docstring else function.body


def faults_of_compilers(name: str, nodes: list[ast.AST]) -> Iterator[tuple[int, str]]:
    if name == "kernels/_jit.py":
        return
    for node in nodes:
        match node:
            case ast.ImportFrom(module="numba", names=aliases):
                used = {alias.name for alias in aliases}
            case ast.Attribute(value=ast.Name("numba" | "nb"), attr=attribute):
                used = {attribute}
            case _:
                continue
        for compiler in sorted(used & COMPILERS):
            yield node.lineno, f"bare {compiler}; take the decorator of kernels/_jit.py"


def faults_of_engines(name: str, nodes: list[ast.AST]) -> Iterator[tuple[int, str]]:
    """Code that asks by name which engine it has, instead of asking its class for a fact."""
    if name == "registry.py" or name.startswith("engines/"):
        return
    for node in nodes:
        match node:
            case ast.Compare() if engines_in(node) and "engine" in ast.unparse(node).lower():
                yield node.lineno, f"compares an engine's name: {ast.unparse(node)}"
            case ast.Dict(keys=keys) if len(ENGINES & {getattr(key, "value", None) for key in keys}) > 1:
                yield node.lineno, "knows engines by their names"
            case ast.Assign(value=ast.Constant(value=str() as text)) if text in ENGINES:
                yield node.lineno, f"keeps an engine's name: {ast.unparse(node)}"


def engines_in(node: ast.AST) -> set[str]:
    return ENGINES & {one.value for one in ast.walk(node) if isinstance(one, ast.Constant)}


def faults_of_raises(name: str, tree: ast.Module, nodes: list[ast.AST]) -> Iterator[tuple[int, str]]:
    ours = error_names(name, tree, nodes)
    for node, functions, caught in raises_below(tree):
        error = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        if error is None or is_ours(error, ours) or (isinstance(error, ast.Name) and error.id in caught):
            continue
        if not is_allowed_builtin(error, functions, name):
            yield node.lineno, f"raises {ast.unparse(error)}, which is not of the tree in errors.py"


def error_names(name: str, tree: ast.Module, nodes: list[ast.AST]) -> set[str]:
    """The errors that a module imports from the tree of errors, and its functions that are declared to return one."""
    if name == "errors.py":
        return {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    names = set()
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module == "shoal.errors":
            names |= {alias.asname or alias.name for alias in node.names}
    makers = {
        node.name
        for node in nodes
        if isinstance(node, Function) and isinstance(node.returns, ast.Name) and node.returns.id in names
    }
    return names | makers


def is_ours(error: ast.expr, ours: set[str]) -> bool:
    match error:
        case ast.Name(id=name):
            return name in ours
        case ast.Attribute(value=ast.Name("errors")):
            return True
        case ast.Attribute(value=ast.Name("self" | "cls"), attr=name):
            return name in ours
    return False


def is_allowed_builtin(error: ast.expr, functions: tuple[Function, ...], name: str) -> bool:
    match error, functions:
        case ast.Name("AssertionError"), _:
            return True
        case ast.Name("NotImplementedError"), (*_, function):
            return isinstance(statements(function)[0], ast.Raise)
        case ast.Name("AttributeError"), (function,):
            # `class_called` is what `__getattr__` of each package calls.
            return function.name in ("__getattr__", "class_called")
        case ast.Name("SystemExit"), _:
            return name == "__main__.py" or name.startswith("cli")
    return False


Raise = tuple[ast.Raise, tuple[Function, ...], frozenset[str]]


def raises_below(
    tree: ast.AST, functions: tuple[Function, ...] = (), caught: frozenset[str] = frozenset()
) -> Iterator[Raise]:
    """Every raise, the functions around it, outermost first, and the names of the errors caught around it."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.Raise):
            yield child, functions, caught
        elif isinstance(child, Function):
            yield from raises_below(child, (*functions, child), frozenset())
        elif isinstance(child, ast.ExceptHandler) and child.name:
            yield from raises_below(child, functions, caught | {child.name})
        else:
            yield from raises_below(child, functions, caught)


def test_the_package_keeps_the_house_rules() -> None:
    found = faults(SOURCE)
    assert not found, "\n".join(found)


def test_no_file_of_tests_is_long() -> None:
    assert long_files(TESTS) == {}


def test_a_long_file_of_tests_is_found(tmp_path: Path) -> None:
    plant(tmp_path, "io/test_short.py", "x = 1\n" * 600)
    plant(tmp_path, "io/test_long.py", "x = 1\n" * 601)
    assert long_files(tmp_path) == {"io/test_long.py": "601 lines, at most 600"}


@pytest.mark.parametrize(
    ("path", "text", "fault"),
    [
        ("data/long.py", "x = 1\n" * 601, "601 lines, at most 600"),
        ("data/long.py", "def f():\n" + "    x = 1\n" * 60, "f has 61 lines, at most 60"),
        ("data/long.py", "class A:\n    async def f(self):\n" + "        x = 1\n" * 60, "f has 61 lines"),
        ("data/utils.py", "", "utils says nothing"),
        ("data/_helpers.py", "", "_helpers says nothing"),
        ("helpers/data.py", "", "helpers says nothing"),
        ("kernels/sort.py", "from numba import njit", "bare njit"),
        ("kernels/sort.py", "import numba\n@numba.jit(cache=True)\ndef f(): ...", "bare jit"),
        ("data/table.py", "raise ValueError('no')", "raises ValueError"),
        ("data/table.py", "raise ValueError", "raises ValueError"),
        (
            "data/table.py",
            "def f(x):\n    if x:\n        raise NotImplementedError",
            "raises NotImplementedError",
        ),
        ("data/table.py", "def f():\n    raise AttributeError", "raises AttributeError"),
        ("data/table.py", "raise SystemExit(1)", "raises SystemExit"),
        ("data/table.py", "class BadData(Exception): ...\nraise BadData('no')", "raises BadData"),
        ("data/table.py", "from shoal.data import BadData\nraise BadData('no')", "raises BadData"),
        ("data/table.py", "error = ValueError()\nraise error", "raises error"),
        ("errors.py", "raise ValueError('no')", "raises ValueError"),
        ("outcome.py", "run.engine.name == 'local'", "compares an engine's name"),
        ("outcome.py", "'spark' in kind.engines", "compares an engine's name"),
        ("outcome.py", "engine in ('stream', 'spark')", "compares an engine's name"),
        ("outcome.py", "WORDS = {'local': 'here', 'stream': 'there'}", "knows engines by their names"),
        ("outcome.py", "STREAM = 'stream'", "keeps an engine's name"),
    ],
)
def test_a_fault_is_found(tmp_path: Path, path: str, text: str, fault: str) -> None:
    plant(tmp_path, path, text)
    assert len(faults(tmp_path)) == 1
    assert fault in faults(tmp_path)[0]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("data/long.py", "x = 1\n" * 600),
        ("data/long.py", 'def f():\n    """Says.\n\n    Much.\n    """\n' + "    x = 1\n" * 59),
        ("kernels/_jit.py", "import numba\nkernel = numba.njit(cache=True)"),
        ("kernels/sort.py", "from numba import prange\nfrom shoal.kernels._jit import kernel"),
        ("data/table.py", "from shoal.errors import BadData\nraise BadData('no') from None"),
        ("data/table.py", "from shoal.errors import BadData as Bad\nraise Bad"),
        ("data/table.py", "from shoal import errors\nraise errors.BadData('no')"),
        ("data/table.py", "from shoal.errors import BadData\ndef bad() -> BadData: ...\nraise bad()"),
        ("data/table.py", "try: ...\nexcept OSError:\n    raise"),
        ("data/table.py", "try: ...\nexcept OSError as error:\n    raise error from None"),
        ("data/table.py", "raise AssertionError('cannot be')"),
        (
            "data/table.py",
            "class A:\n    def f(self):\n        'Do.'\n        raise NotImplementedError",
        ),
        ("__init__.py", "def __getattr__(name):\n    raise AttributeError(name)"),
        ("__main__.py", "raise SystemExit(main())"),
        ("cli/main.py", "def main():\n    raise SystemExit(3)"),
        ("errors.py", "class BadData(Exception): ...\nraise BadData('no')"),
        ("engines/local.py", "name = 'local'"),
        ("registry.py", "ENGINES = {'local': 'shoal.engines.local', 'spark': 'shoal.engines.spark'}"),
        ("report/search.py", "'local' in notes"),
        ("outcome.py", "name in kind.engines or Running(engine='local')"),
    ],
)
def test_good_code_passes(tmp_path: Path, path: str, text: str) -> None:
    plant(tmp_path, path, text)
    assert not faults(tmp_path)
