"""A studio that is really started, and what its tests ask of it."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

WAIT = 90.0
"""Seconds until something that should happen has failed: never a measure of speed."""


@dataclass
class Served:
    """A studio in a process of its own."""

    process: subprocess.Popen[str]
    start: str
    folder: Path

    @property
    def base(self) -> str:
        parts = urlsplit(self.start)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def token(self) -> str:
        return self.start.partition("token=")[2]

    def ask(
        self,
        path: str,
        body: Any = None,
        *,
        method: str | None = None,
        headers: dict[str, str] | None = None,
        token: bool = True,
    ) -> tuple[int, bytes]:
        """The status and the body of an answer."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data=data, method=method)
        if token:
            request.add_header("Authorization", f"Bearer {self.token}")
        if data is not None and not isinstance(body, bytes):
            request.add_header("Content-Type", "application/json")
        for name, value in (headers or {}).items():
            request.add_header(name, value)
        try:
            with urllib.request.build_opener(_Stay()).open(request, timeout=WAIT) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()

    def told(self, path: str, body: Any = None, **more: Any) -> Any:
        """What an answer says, as data; it must be a good one."""
        status, text = self.ask(path, body, **more)
        assert status == 200, text
        return json.loads(text)

    def finished(self, sitting: str, run: int) -> dict[str, Any]:
        """A run once it has ended."""
        return until(
            lambda: (
                one
                if (one := self.told(f"/api/sittings/{sitting}/runs/{run}"))["state"]
                not in ("waiting", "running")
                else None
            )
        )

    def close(self) -> None:
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(timeout=20)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            assert self.process.stdout is not None
            self.process.stdout.close()


class _Stay(urllib.request.HTTPRedirectHandler):
    """Redirections are answers too."""

    def redirect_request(self, *arguments: Any) -> None:
        return None


def until(look: Callable[[], Any]) -> Any:
    """What a look comes to, as soon as it comes to something."""
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.1)
    raise AssertionError("It did not happen.")


def serve(folder: Path, *options: str) -> Served:
    """Start a studio, and wait for the one line that it prints."""
    process = subprocess.Popen(
        [sys.executable, "-m", "shoal", "studio", "--no-browser", "--folder", str(folder), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2] / "src")},
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.search(r"http://\S+", line)
    assert found, line
    served = Served(process, found[0], folder)
    until(lambda: _answers(served))
    return served


def _answers(served: Served) -> bool:
    try:
        return served.ask("/api/openapi.json")[0] == 200
    except urllib.error.URLError:
        return False


def workers_of(folder: Path) -> list[int]:
    """The processes of runs below a folder."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = place.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"shoal.studio.job_process" in words and any(str(folder).encode() in word for word in words):
            found.append(int(place.parent.name))
    return found
