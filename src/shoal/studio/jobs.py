"""Long work: each run, recommendation and attack is a process of its own, so that the page survives it."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal.errors import UnknownName
from shoal.recipe import Recipe
from shoal.studio.sitting import Sitting, plain, read_json, write_json

AT_ONCE = max((os.cpu_count() or 2) // 2, 1)
"""Most processes at a time, so that the page has a core left."""

ENDED = ("done", "failed", "canceled", "interrupted")
SHARES = {
    "reading": 0.1,
    "anonymizing": 0.2,
    "measuring": 0.6,
    "writing": 0.75,
    "verifying": 0.85,
    "showing": 0.95,
}
"""About how much of a run is done when a step begins."""

BEGUN = 0.03
"""The share of what begins, and of a step that is none of these."""

INTERRUPTED = "The studio was closed before it ended."

ASIDE = 10_000
"""Numbers of recommendations and attacks begin here, so that runs are numbered 1, 2, 3."""


def share_at(stage: str, part: float = 0.0) -> float:
    """About how much of a run is done at a step of which a part is done.

    >>> [round(share_at("anonymizing by mondrian: improving", part), 2) for part in (0.0, 0.5, 1.0)]
    [0.2, 0.4, 0.6]
    >>> share_at("starting"), share_at("writing: linkage, 1 of 3")
    (0.03, 0.75)
    """
    begins = dict(zip(SHARES, zip(SHARES.values(), [*SHARES.values(), 1.0][1:], strict=True), strict=True))
    begin, end = begins.get(stage.split(" ")[0].rstrip(":"), (BEGUN, BEGUN))
    return begin + part * (end - begin)


@dataclass(slots=True)
class Job:
    """A process, or what an ended one left behind."""

    folder: Path
    """``task.json`` says what to do; the process writes ``progress.json`` and ``result.json`` or ``error.json``."""
    task: dict[str, Any]
    state: str = "waiting"
    error: str = ""
    begun: float = 0.0
    ended: float = 0.0
    process: subprocess.Popen[bytes] | None = None
    _result: Any = None

    @property
    def number(self) -> int:
        """The number of the run in its sitting."""
        return int(self.folder.name)

    @property
    def kind(self) -> str:
        """What is done: ``publish``, ``recommend`` or ``attack``."""
        return str(self.task["kind"])

    @property
    def active(self) -> bool:
        """Whether it is waiting or running."""
        return self.state not in ENDED

    @property
    def result(self) -> Any:
        """Its result as plain data; empty as long as there is none."""
        if self._result is None:
            found = read_json(self.folder / "result.json", {})
            if self.active:
                return found
            self._result = found
        return self._result

    @property
    def seconds(self) -> float:
        """How long it has been running."""
        return (self.ended or time.time()) - self.begun if self.begun else 0.0

    @property
    def progress(self) -> dict[str, Any]:
        """The step it is at, how much is done, and an estimate of the seconds that are left."""
        answer = read_json(self.folder / "progress.json", {})
        stage = str(answer.get("stage", "starting"))
        share = answer.get("share") or share_at(stage, answer.get("part") or 0.0)
        before = float(self.task.get("expected") or 0)
        left = before - self.seconds if before else self.seconds / share - self.seconds
        known = before > 0 or share > 0.15
        return {"stage": stage, "share": share, "left": max(left, 1.0) if known else None}

    def save(self) -> None:
        """Write its state down."""
        kept = {"state": self.state, "error": self.error, "begun": self.begun, "ended": self.ended}
        write_json(self.folder / "state.json", kept)


@dataclass(slots=True)
class JobQueue:
    """All jobs of the studio, ended ones too."""

    jobs: dict[tuple[str, int], Job] = field(default_factory=dict)
    read: set[str] = field(default_factory=set)
    sittings: dict[str, Sitting] = field(default_factory=dict)

    def of(self, sitting: Sitting, kind: str | None = None) -> list[Job]:
        """The jobs of a sitting, in the order in which they were started."""
        self._read(sitting)
        found = [job for (key, _), job in sorted(self.jobs.items()) if key == sitting.key]
        return [job for job in found if kind is None or job.kind == kind]

    def find(self, sitting: Sitting, number: int) -> Job:
        """A job by its number."""
        self._read(sitting)
        if (sitting.key, number) not in self.jobs:
            numbers = [str(job.number) for job in self.of(sitting)]
            raise UnknownName("run", str(number), numbers)
        return self.jobs[sitting.key, number]

    def ask(self, sitting: Sitting, kind: str, recipe: Recipe | None = None, **more: Any) -> Job:
        """Queue a job; it starts as soon as a place is free."""
        self._read(sitting)
        first = 1 if kind == "publish" else ASIDE
        taken = [job.number for job in self.of(sitting) if (job.number < ASIDE) == (first < ASIDE)]
        number = max(taken, default=first - 1) + 1
        folder = sitting.runs / f"{number:04}"
        folder.mkdir(mode=0o700)
        task: dict[str, Any] = {"kind": kind, "at": time.time(), **more}
        if recipe is not None:
            task["recipe"] = plain(recipe)
            task["expected"] = self._expected(sitting, kind, task["recipe"])
        write_json(folder / "task.json", task)
        job = Job(folder, task)
        job.save()
        self.jobs[sitting.key, number] = job
        sitting.revision += 1
        self.tick()
        return job

    def cancel(self, sitting: Sitting, number: int) -> None:
        """End a job; what it has written so far is not a release."""
        job = self.find(sitting, number)
        if job.active:
            _kill(job)
            self._end(job, "canceled", "It was canceled. Nothing was written.")

    def tick(self) -> None:
        """See which processes have ended, and start jobs that are waiting."""
        for job in self.jobs.values():
            if job.process is not None and job.state == "running" and job.process.poll() is not None:
                self._ended(job)
        running = sum(job.state == "running" for job in self.jobs.values())
        waiting = [job for job in self.jobs.values() if job.state == "waiting"]
        for job in sorted(waiting, key=lambda job: ("series" in job.task, job.task["at"])):
            if running < AT_ONCE:
                self._begin(job)
                running += 1

    def close(self) -> None:
        """End all processes."""
        for job in self.jobs.values():
            if job.active:
                _kill(job)
                self._end(job, "interrupted", INTERRUPTED)

    def forget(self, sitting: Sitting) -> None:
        """End the processes of a sitting that is deleted."""
        for job in self.of(sitting):
            _kill(job)
            del self.jobs[sitting.key, job.number]

    def _begin(self, job: Job) -> None:
        log = open(os.open(job.folder / "log.txt", os.O_WRONLY | os.O_CREAT, 0o600), "wb")  # noqa: SIM115
        with log:
            job.process = subprocess.Popen(
                [sys.executable, "-m", "shoal.studio.job_process", str(job.folder), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        job.state, job.begun = "running", time.time()
        job.save()
        self._shown(job)

    def _ended(self, job: Job) -> None:
        assert job.process is not None
        _kill(job)  # what its workers left
        answer = read_json(job.folder / "error.json")
        if job.process.returncode == 0 and answer is None:
            self._end(job, "done", "")
        elif answer is not None:
            self._end(job, "failed", str(answer["error"]))
        else:
            self._end(job, "failed", _death(job.process.returncode))

    def _end(self, job: Job, state: str, error: str) -> None:
        job.state, job.error, job.ended, job.process = state, error, time.time(), None
        job.save()
        self._shown(job)

    def _shown(self, job: Job) -> None:
        sitting = self.sittings.get(job.folder.parent.parent.name)
        if sitting is not None:
            sitting.revision += 1

    def _expected(self, sitting: Sitting, kind: str, recipe: dict[str, Any]) -> float:
        """How long the last job of this kind took with the same data and method; 0 where there is none."""
        for job in reversed(self.of(sitting, kind)):
            made = job.task.get("recipe", {})
            same = (
                made.get("source") == recipe["source"] and made["method"]["name"] == recipe["method"]["name"]
            )
            if job.state == "done" and same:
                return job.seconds
        return 0.0

    def _read(self, sitting: Sitting) -> None:
        """Load the jobs of earlier sessions; those that had not ended were interrupted."""
        self.sittings[sitting.key] = sitting
        if sitting.key in self.read:
            return
        self.read.add(sitting.key)
        for folder in sorted(sitting.runs.iterdir()):
            task, kept = read_json(folder / "task.json"), read_json(folder / "state.json")
            if task is None or kept is None:
                continue
            job = Job(folder, task, **kept)
            self.jobs[sitting.key, job.number] = job
            if job.active:
                self._end(job, "interrupted", INTERRUPTED)


def _kill(job: Job) -> None:
    """End the process of a job and all its children: they are a process group of their own."""
    if job.process is None:
        return
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(job.process.pid, signal.SIGKILL)
    job.process.wait()


def _death(code: int) -> str:
    killed = f"signal {-code}" if code < 0 else f"exit code {code}"
    reason = " That is often a sign that there was not enough memory." if code == -signal.SIGKILL else ""
    return f"The process of this run died ({killed}).{reason} Nothing was written; your settings are kept."
