"""What is compiled: once for constants and variables alike, kept where a folder can be written, and told of."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import FunctionType
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import kernels
from shoal.kernels import _jit
from shoal.kernels._compiling import eagerly
from shoal.kernels._jit import fitting, jit
from shoal.kernels.popcount import count_both
from shoal.kernels.sorting import SHORT, heap_sort, sort

compiled = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")


@st.composite
def parts(draw: st.DrawFn) -> tuple[list[int], int, int, type]:
    few = st.integers(0, draw(st.sampled_from([1, 5, 2**31 - 1])))
    values = draw(st.lists(few, max_size=4 * SHORT))
    begin = draw(st.integers(0, len(values)))
    return values, begin, draw(st.integers(begin, len(values))), draw(st.sampled_from([np.int32, np.int64]))


@given(parts())
def test_a_part_of_an_array_is_sorted_and_the_rest_stays(case: tuple[list[int], int, int, type]) -> None:
    values, begin, end, kind = case
    array = np.array(values, dtype=kind)
    sort(array, begin, end)
    assert array.tolist() == values[:begin] + sorted(values[begin:end]) + values[end:]


@given(parts())
def test_a_part_of_an_array_is_sorted_by_a_heap(case: tuple[list[int], int, int, type]) -> None:
    values, begin, end, kind = case
    array = np.array(values, dtype=kind)
    heap_sort(array, begin, end)
    assert array.tolist() == values[:begin] + sorted(values[begin:end]) + values[end:]


class Counted(int):
    """A number that counts how often it is compared."""

    compared = 0

    def __lt__(self, other: int) -> bool:
        Counted.compared += 1
        return int.__lt__(self, other)

    def __gt__(self, other: int) -> bool:
        Counted.compared += 1
        return int.__gt__(self, other)

    def __le__(self, other: int) -> bool:
        Counted.compared += 1
        return int.__le__(self, other)


def killer(count: int) -> list[int]:
    """Numbers whose medians of three are all as bad as can be: what the algorithm asks is answered as late as possible.

    After McIlroy's adversary (1999): a number stays larger than all others until it is compared with another such one.
    """
    solid, candidate = 0, 0
    values = [count] * count

    class Place(int):
        def _less(self, other: "Place") -> bool:
            nonlocal solid, candidate
            one, two = int(self), int(other)
            if values[one] == count == values[two]:
                frozen = one if one == candidate else two
                values[frozen], solid = solid, solid + 1
            if values[one] == count:
                candidate = one
            elif values[two] == count:
                candidate = two
            return values[one] < values[two]

        def __lt__(self, other: "Place") -> bool:  # type: ignore[override]
            return self._less(other)

        def __gt__(self, other: "Place") -> bool:  # type: ignore[override]
            return other._less(self)

        def __le__(self, other: "Place") -> bool:  # type: ignore[override]
            return not other._less(self)

    places = np.array([Place(place) for place in range(count)], dtype=object)
    quick_alone(places, 0, count)
    return values


def quick_alone(values: Any, begin: int, end: int) -> None:
    """The sort as plain Python that goes on with itself where it would take a heap."""
    plainly(quick_alone)(values, begin, end)


def plainly(beside: Any) -> Any:
    """The sort as plain Python, with another one beside it for what was parted too often."""
    plain: Any = getattr(sort, "py_func", sort)
    return FunctionType(plain.__code__, {**plain.__globals__, "heap_sort": beside})


def compared(sorting: Any, values: list[int]) -> int:
    """How many comparisons a sort takes."""
    array = np.array([Counted(value) for value in values], dtype=object)
    Counted.compared = 0
    sorting(array, 0, len(array))
    found = Counted.compared
    assert array.tolist() == sorted(values)
    return found


def test_no_order_of_numbers_makes_sorting_slow() -> None:
    """Where medians of three alone take as many steps as there are pairs, the heap keeps to n log n."""
    count = 2_000
    values = killer(count)
    assert compared(quick_alone, values) > count**2 / 16
    assert compared(plainly(getattr(heap_sort, "py_func", heap_sort)), values) < 6 * count * np.log2(count)
    numbers = np.array(values, dtype=np.int64)
    sort(numbers, 0, count)
    assert numbers.tolist() == sorted(values)


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


@compiled
def test_who_holds_an_array_is_counted_where_one_is_made() -> None:
    """A kernel that makes, cuts or returns one, or calls one that does, counts; the others, and Python, lose none."""
    made, held, summed = jit(_made), jit(_held), jit(_summed)
    for kernel, counts in (
        (made, True),
        (held, True),
        (summed, False),
        (jit(_cut), True),
        (jit(_add), False),
    ):
        assert kernel.targetoptions["_nrt"] is counts  # type: ignore[attr-defined]
        assert kernel.inner.targetoptions["_nrt"] is counts  # type: ignore[attr-defined]

    @jit
    def calls(array: Any) -> Any:
        for _ in range(100):
            made(summed(held(array)))
        return held(array)

    array = np.arange(4)
    before = sys.getrefcount(array)
    for _ in range(10):
        assert calls(array).tolist() == [0, 1, 2, 3]
        assert summed(array) == 6
    assert sys.getrefcount(array) == before


def _made(count: int) -> int:
    return len(np.zeros(count))


def _held(array: Any) -> Any:
    return array


def _cut(array: Any) -> int:
    return len(array[1:])


def _summed(array: Any) -> int:
    total = 0
    for place in range(len(array)):
        total += array[place]
    return total


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
