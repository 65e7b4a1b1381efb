"""What is compiled: once for constants and variables alike, kept where a folder can be written, and told of."""

import inspect
import os
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal.kernels
from shoal import kernels
from shoal.kernels import _jit
from shoal.kernels._compiling import eagerly
from shoal.kernels._jit import fitting, jit
from shoal.kernels.popcount import count_both
from shoal.kernels.sorting import sort

compiled = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")


@st.composite
def parts(draw: st.DrawFn) -> tuple[list[int], int, int, type]:
    few = st.integers(0, draw(st.sampled_from([1, 5, 2**31 - 1])))
    values = draw(st.lists(few, max_size=100))
    begin = draw(st.integers(0, len(values)))
    return values, begin, draw(st.integers(begin, len(values))), draw(st.sampled_from([np.int32, np.int64]))


@given(parts())
def test_a_part_of_an_array_is_sorted_and_the_rest_stays(case: tuple[list[int], int, int, type]) -> None:
    values, begin, end, kind = case
    array = np.array(values, dtype=kind)
    sort(array, begin, end)
    assert array.tolist() == values[:begin] + sorted(values[begin:end]) + values[end:]


class Counted(int):
    """A number that counts how often it is compared."""

    compared = 0

    def __gt__(self, other: int) -> bool:
        Counted.compared += 1
        return int.__gt__(self, other)


def compared(sorting: Any, values: list[int]) -> int:
    """How many comparisons a sort takes."""
    array = np.array([Counted(value) for value in values], dtype=object)
    Counted.compared = 0
    sorting(array, 0, len(array))
    found = Counted.compared
    assert array.tolist() == sorted(values)
    return found


@pytest.mark.parametrize("count", [100, 2_000, 5_000])
def test_no_order_of_numbers_makes_sorting_slow(count: int) -> None:
    """Those that fall, those that two lists are woven of, and those that are out of place by every gap but the last."""
    plain = getattr(sort, "py_func", sort)
    numbers = np.arange(count)
    woven = np.argsort(numbers % 2 * count + numbers, kind="stable")
    apart = np.argsort(numbers % 40 * count - numbers, kind="stable")
    drawn = np.random.default_rng(1).permutation(count)
    for values in (numbers, numbers[::-1], woven, np.argsort(woven), apart, np.argsort(apart), drawn):
        assert compared(plain, values.tolist()) < 6 * count * np.log2(count)


@pytest.mark.parametrize("shape", ["ascending", "descending", "equal", "organ pipe", "random"])
def test_long_arrays_are_sorted_whatever_their_shape(shape: str) -> None:
    count = 20_000 if not numba.config.DISABLE_JIT else 500
    array = {
        "ascending": np.arange(count),
        "descending": np.arange(count)[::-1].copy(),
        "equal": np.zeros(count, dtype=np.int64),
        "organ pipe": np.minimum(np.arange(count), np.arange(count)[::-1]),
        "random": np.random.default_rng(3).integers(0, count, count),
    }[shape]
    wanted = np.sort(array)
    sort(array, 0, count)
    assert (array == wanted).all()


@compiled
def test_a_kernel_is_plain_python_where_there_is_little_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """And so is all that it calls: nothing is compiled. What is compiled already is not done slowly."""
    monkeypatch.setattr(_jit, "_is_ready", lambda kernel: False)
    words = np.array([7, 2**64 - 1], dtype=np.uint64)
    kernel: Any = count_both
    before = len(kernel.signatures)
    assert fitting(kernel, 2)(words, words) == 67
    assert len(kernel.signatures) == before
    with eagerly():
        assert fitting(kernel, 2) is kernel
    assert fitting(kernel, 1_000_000) is kernel
    monkeypatch.undo()
    assert kernel(words, words) == 67
    assert fitting(kernel, 2) is kernel


@compiled
def test_a_kernel_is_compiled_once_for_constants_and_variables() -> None:
    added = jit(_add)

    @numba.njit
    def calls(number: int) -> int:
        return added(number, 1) + added(2, number) + added(3, 4)

    assert calls(1) == 12
    assert len(added.inner.signatures) == 1  # type: ignore[attr-defined]
    assert not added.signatures  # type: ignore[attr-defined]


@compiled
def test_an_inner_kernel_fails_as_it_does_alone() -> None:
    """What it divides by is checked, and the error comes up through the kernel that Python calls."""
    divided = jit(_divide)

    @jit
    def calls(one: int, other: int) -> int:
        return divided(one, other)

    assert calls(7, 2) == divided(7, 2) == 3
    for kernel in (calls, divided):
        with pytest.raises(ZeroDivisionError):
            kernel(1, 0)


def lean_kernels() -> list[Any]:
    """The kernels that do not count who holds an array."""
    modules = [import_module(f"shoal.kernels.{one.name}") for one in iter_modules(shoal.kernels.__path__)]
    every = {id(one): one for module in modules for one in vars(module).values()}
    return [one for one in every.values() if getattr(one, "targetoptions", {}).get("_nrt") is False]


@compiled
def test_lean_kernels_make_no_array_and_return_numbers() -> None:
    """Nobody counts who holds an array there: one that is made would stay, one that is returned be freed too early."""
    numbers = {"int", "bool", "float", "Whole", "np.int64", "np.uint64", "None"}
    kernels = lean_kernels()
    assert len(kernels) > 40
    for kernel in kernels:
        written = inspect.getsource(kernel.py_func)
        said = re.search(r"\) -> (?:tuple\[)?([\w., ]+)\]?:\n", written)
        assert said is not None, kernel
        for name in said[1].split(", "):
            fields = getattr(kernel.py_func.__globals__.get(name), "__annotations__", {})
            assert name in numbers or (fields and numbers >= {kind.__name__ for kind in fields.values()}), (
                kernel
            )
        calls = set(re.findall(r"np\.(\w+)\(", written))
        assert calls <= {"int64", "uint64", "int32", "uint32", "float64"}, kernel


def _add(one: int, other: int) -> int:
    return one + other


def _divide(one: int, other: int) -> int:
    return one // other


@compiled
@pytest.mark.parametrize("home", ["writable", "closed"])
def test_an_install_that_cannot_be_written_compiles_all_the_same(tmp_path: Path, home: str) -> None:
    """A file stands where each folder would be made: so the superuser cannot write there either."""
    package = tmp_path / "site" / "shoal"
    shutil.copytree(
        Path(kernels.__path__[0]).parent, package, ignore=shutil.ignore_patterns("__pycache__", "*.nb?")
    )
    (package / "kernels" / "__pycache__").touch()
    user = tmp_path / "home"
    if home == "writable":
        user.mkdir()
    else:
        user.touch()
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("NUMBA_", "XDG_", "COVERAGE"))
    }
    done = subprocess.run(
        [sys.executable, "-B", "-c", CALL],
        env={**environment, "PYTHONPATH": str(tmp_path / "site"), "HOME": str(user)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["[2]", str(package / "kernels" / "sorting.py")]
    assert bool(list(user.rglob("sorting.sort*.nbc"))) == (home == "writable")


CALL = """
import numpy
from shoal.kernels import sorting
array = numpy.array([2])
sorting.sort(array, 0, 1)
print(array, sorting.__file__)
"""


@compiled
def test_a_kernel_that_is_kept_runs_without_what_compiles_and_others_compile_after_it(tmp_path: Path) -> None:
    """One that hashes is rebuilt with what it needs of that."""
    module = tmp_path / "kept.py"
    module.write_text(KEPT)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    for call, loaded in (
        ("", "True"),
        ("", "False"),
        ("hashed", "True"),
        ("hashed", "True"),
        ("new", "True"),
    ):
        done = subprocess.run(
            [sys.executable, "-c", CALLS, call],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.split() == ["3.0", "True", loaded]


KEPT = """
import numpy
from shoal.kernels._jit import jit

@jit
def added(numbers):
    total = 0.0
    for number in numbers:
        total += number
    return total

@jit
def hashed(text):
    return hash(text)
"""

CALLS = """
import sys
sys.path.insert(0, "")
import numpy
import kept
numbers = numpy.array([1.0, 2.0])
call = sys.argv[1]
total = kept.added(numbers.astype(numpy.float32) if call == "new" else numbers)
same = not call or kept.hashed("fish") == hash("fish")
print(total, same, "numba.np.arraymath" in sys.modules)
"""
