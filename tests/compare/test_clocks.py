"""Compiling kernels is no time of a run: the clocks stand meanwhile, however long it takes."""

import io
from collections.abc import Callable
from typing import Any

import pytest

from shoal.comparison import workers
from shoal.comparison.workers import Clock, Scheduler, Worker
from shoal.kernels._compiling import watched


class Hours:
    """A clock that goes when it is told to, and alarms that it sets off."""

    def __init__(self) -> None:
        self.now = 0.0
        self.alarms: dict[Any, tuple[float, Callable[[], None]]] = {}

    def monotonic(self) -> float:
        return self.now

    def Timer(self, seconds: float, late: Callable[[], None]) -> Any:
        hours = self

        class Alarm:
            def start(self) -> None:
                hours.alarms[self] = (hours.now + seconds, late)

            def cancel(self) -> None:
                hours.alarms.pop(self, None)

        return Alarm()

    def go_on(self, seconds: float) -> None:
        self.now += seconds
        for alarm, (when, late) in list(self.alarms.items()):
            if when <= self.now:
                self.alarms.pop(alarm)
                late()


@pytest.fixture
def hours(monkeypatch: pytest.MonkeyPatch) -> Hours:
    found = Hours()
    monkeypatch.setattr(workers, "time", found)
    monkeypatch.setattr(workers.threading, "Timer", found.Timer)
    return found


def test_a_clock_stands_while_kernels_are_compiled(hours: Hours) -> None:
    late: list[float] = []
    clock = Clock(10, lambda: late.append(hours.now))
    clock.go()
    hours.go_on(6)
    clock.stand()
    hours.go_on(1000)
    clock.go()
    hours.go_on(3)
    assert not late
    hours.go_on(1)
    assert late == [1010]


def test_the_clock_of_a_run_follows_what_its_process_says(hours: Hours) -> None:
    late: list[float] = []
    shown: list[bool] = []
    clock = Clock(2, lambda: late.append(hours.now))
    clock.go()

    class Said(io.StringIO):
        def readline(self, size: int = -1) -> str:
            line = super().readline(size)
            hours.go_on(50 if line.strip() == workers.COMPILED else 0.5)
            return line

    said = Said("compiling\ncompiled\ncompiling\ncompiled\n{}\n")
    assert Worker(shown.append)._answered(said, clock) == "{}\n"
    assert shown == [True, False, True, False]
    assert not late


def test_a_process_that_dies_while_it_compiles_no_longer_does(hours: Hours) -> None:
    shown: list[bool] = []
    assert Worker(shown.append)._answered(io.StringIO("compiling\n"), Clock(None, lambda: None)) == ""
    assert shown == [True, False]


def test_the_deadline_of_all_moves_by_the_time_in_which_any_compiles(hours: Hours) -> None:
    running = Scheduler(3, deadline=10)
    hours.go_on(2)
    assert running.left == 8
    running.compiling(True)
    hours.go_on(5)
    running.compiling(True)
    hours.go_on(5)
    assert running.left == 8
    running.compiling(False)
    hours.go_on(1)
    running.compiling(False)
    assert running.left == 8
    hours.go_on(9)
    assert running.left == 0


def test_numba_tells_of_its_compiling_and_what_is_compiled_on_the_way_is_part_of_it() -> None:
    numba = pytest.importorskip("numba")
    import shoal.kernels._jit  # hears of compiling from now on

    if numba.config.DISABLE_JIT:
        pytest.skip("nothing is compiled")
    shown: list[float] = []
    inner = numba.njit(lambda number: number + 1)
    outer = numba.njit(lambda number: inner(number) + 1)
    with watched(shown.append):
        outer(1)
        outer(1.0)
    numba.njit(lambda number: number + 2)(1)
    begun, ended, again, ended_again = shown
    assert begun == again == shoal.kernels._jit.seconds_for(outer.py_func) > 0
    assert ended == ended_again == 0


def test_how_long_compiling_takes_is_told_by_all_the_code_that_is_called() -> None:
    numba = pytest.importorskip("numba")
    from shoal.kernels._jit import seconds_for
    from shoal.kernels.eclat import mine_roots, note

    if numba.config.DISABLE_JIT:
        pytest.skip("nothing is compiled")
    assert seconds_for(mine_roots.py_func) > 5 * seconds_for(note.py_func) > 0


def test_two_may_close_a_worker_at_the_same_time() -> None:
    worker, ends = Worker(), []

    class Process:
        stdin = stdout = None

        def kill(self) -> None:
            ends.append(self)

        def wait(self) -> None:
            if len(ends) == 1:
                worker.close()  # somebody else, meanwhile

    worker._process = Process()
    worker.close()
    assert len(ends) == 1
    assert worker._process is None
