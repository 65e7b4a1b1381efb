"""The memory of a run: what it takes on top of its data, whatever was taken and given back before."""

import sys

import numpy as np
import pytest

from shoal.comparison import worker as memory


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="other systems tell no peak of a part of a process"
)
def test_the_peak_is_that_of_the_work_alone() -> None:
    before = np.ones(25_000_000)  # 200 MB, given back before the work
    del before
    assert memory.begin_peak()
    held = memory.held_megabytes()
    work = np.ones(12_500_000)
    del work
    assert (
        80 < memory.peak_megabytes() - held < 150
    )  # of 95, some of which others may have given back meanwhile
    assert memory.begin_peak()
    assert memory.peak_megabytes() - memory.held_megabytes() < 50


def test_a_system_without_proc_tells_the_peak_of_the_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setattr(memory, "STATUS", memory.Path("/nowhere/status"))
    monkeypatch.setattr(memory, "RESET", memory.Path("/nowhere/clear_refs"))
    assert not memory.begin_peak()
    assert memory.held_megabytes() is None
    assert memory.peak_megabytes() > 10
