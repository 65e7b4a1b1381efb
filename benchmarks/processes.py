"""What processes use while they run: memory by role, and files below a folder."""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

PAGE = os.sysconf("SC_PAGE_SIZE")


class Watch:
    """Watches processes, twice a second, inside a `with` statement.

    Parameters
    ----------
    roles
        Gives the ids of the processes that play each role.
    folder
        A folder whose files are counted too.
    """

    def __init__(self, roles: Callable[[], dict[str, list[int]]], folder: Path, pause: float = 0.5) -> None:
        self._roles, self._folder, self._pause = roles, folder, pause
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self.megabytes: dict[str, float] = {}
        self.disk = 0.0

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        walked = 0.0
        while not self._over.wait(self._pause):
            found = {role: sum(map(held, pids)) / 1e6 for role, pids in self._roles().items()}
            found["all together"] = sum(found.values())
            for role, size in found.items():
                self.megabytes[role] = max(self.megabytes.get(role, 0.0), size)
            if time.monotonic() - walked > 5:
                self.disk = max(self.disk, size_of(self._folder) / 1e6)
                walked = time.monotonic()


def held(pid: int) -> int:
    """Bytes of a process, with its share of pages that it has in common with others, as forked workers do."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


def descendants(pid: int) -> dict[int, str]:
    """All descendants of a process, with their names."""
    parents: dict[int, tuple[int, str]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                text = (entry / "stat").read_text()
            except OSError:
                continue
            name, rest = text[text.index("(") + 1 : text.rindex(")")], text[text.rindex(")") + 2 :].split()
            parents[int(entry.name)] = (int(rest[1]), name)
    found: dict[int, str] = {}
    waiting = [pid]
    while waiting:
        above = waiting.pop()
        for child, (parent, name) in parents.items():
            if parent == above and child not in found:
                found[child] = name
                waiting.append(child)
    return found


def size_of(folder: Path) -> int:
    """Bytes of all files below a folder."""
    total = 0
    for place, _, files in os.walk(folder):
        for name in files:
            try:
                total += os.lstat(os.path.join(place, name)).st_size
            except OSError:
                continue
    return total
