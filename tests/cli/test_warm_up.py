"""``shoal warm-up``, and what the terminal and a pipe are told of compiling."""

import json
from pathlib import Path

import numba
import numpy as np
import pytest

from shoal import registry
from shoal.cli import command_warm_up, show
from shoal.cli.command_warm_up import choices
from shoal.cli.program import main
from shoal.kernels import _jit
from shoal.kernels._compiling import eagerly, tell_all
from shoal.kernels._compiling import watched as compiling_watched
from shoal.methods.mondrian import _partition
from shoal.methods.mondrian._partition import partition
from shoal.progress import part, watched


@pytest.fixture
def one_method(monkeypatch: pytest.MonkeyPatch) -> None:
    """A registry with a method that takes no time."""
    kind = registry.load("method", "permutation-mondrian")
    monkeypatch.setattr(
        registry, "load_all", lambda family, *_: {kind.name: kind} if family == "method" else {}
    )


def test_methods_are_run_in_processes_of_their_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    quick = {name: registry.load("method", name) for name in ("permutation-mondrian", "samarati")}
    monkeypatch.setattr(registry, "load_all", lambda *_: quick)
    monkeypatch.setattr(command_warm_up, "PROCESSES", 2)
    monkeypatch.setattr(command_warm_up, "tried", lambda *_: pytest.fail("it was run here"))
    assert main(["warm-up", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["methods"] == 2


@pytest.mark.usefixtures("one_method")
def test_all_methods_are_run_and_the_cache_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["warm-up"]) == 0
    assert main(["warm-up", "--json"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("1 methods are ready: ")
    found = json.loads(shown[shown.index("{") :])
    assert found["kernels"] == 0, "compiled by the first call"
    if not numba.config.DISABLE_JIT:
        assert list(Path(found["cache"]).glob("permutation.cut_groups*.nbc"))


def test_every_choice_of_words_is_tried() -> None:
    offered = list(choices(registry.load("method", "mondrian")))
    assert {"split": "loss"} in offered
    assert {"split": "random"} in offered
    assert {"split": "widest"} not in offered, "that is the default"


def test_switches_and_searches_are_tried_too() -> None:
    assert {"bound": True} in choices(registry.load("method", "mondrian"))
    assert {"improve_steps": (300,)} in choices(registry.load("method", "lattice"))
    assert {"improve": True} in choices(registry.load("method", "cahd"))


def test_small_data_goes_to_the_kernels_when_they_are_warmed_up(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def instead(codes: np.ndarray, *_: object) -> tuple[np.ndarray, np.ndarray]:
        seen.append(len(codes))
        return np.arange(len(codes)), np.array([0, len(codes)])

    monkeypatch.setattr(_partition, "partition_compiled", instead)
    codes = np.array([[1], [2], [3], [3], [4], [5]], dtype=np.int32)
    plain = [np.arange(6.0)], [np.zeros(5, dtype=np.int32)]
    partition(codes, *plain, least=2)
    assert not seen
    with eagerly():
        partition(codes, *plain, least=2)
    assert seen == [6]


def test_a_pipe_is_told_once_of_long_compiling(capsys: pytest.CaptureFixture[str]) -> None:
    with show.progress(quiet=False) as stage:
        stage("anonymizing")
        for seconds in (0.5, 0.0, 7.2, 0.0, 9.0, 0.0):
            tell_all(seconds)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "compiling once (about 8 s" in said.err


def test_a_step_is_shown_with_its_part_and_with_compiling() -> None:
    shown: list[str] = []
    running = show.RunningStep(lambda description: shown.append(description))
    with watched(running.part), compiling_watched(running.compiling):
        running.stage("attacking")
        with part("linkage, 1 of 2"):
            pass
        running.stage("anonymizing")
        with part("improving") as told:
            tell_all(7.2)
            tell_all(0.0)
            told(0.5)
    assert shown == [
        "attacking",
        "attacking: linkage, 1 of 2",
        "attacking",
        "anonymizing",
        "anonymizing: improving",
        "anonymizing: improving: compiling once (part 1, about 8 s)",
        "anonymizing: improving",
        "anonymizing: improving, 50%",
        "anonymizing",
    ]


def test_a_pipe_is_told_of_no_part(capsys: pytest.CaptureFixture[str]) -> None:
    with show.progress(quiet=False) as stage:
        stage("anonymizing")
        with part("improving") as told:
            told(0.5)
    assert capsys.readouterr() == ("", "")


def test_who_wants_quiet_is_told_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with show.progress(quiet=True):
        tell_all(9.0)
    tell_all(9.0)
    assert capsys.readouterr() == ("", "")


def test_where_nothing_can_be_kept_it_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(_jit, "cache_folder", lambda: None)
    with show.progress(quiet=False):
        tell_all(7.2)
    assert "every run compiles anew: name one in NUMBA_CACHE_DIR" in capsys.readouterr().err
    monkeypatch.setattr(command_warm_up, "compiled", lambda _: pytest.fail("it compiled"))
    assert main(["warm-up"]) == 2
    assert "No folder can be written" in capsys.readouterr().err
