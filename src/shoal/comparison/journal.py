"""What has been finished, one line a run, safe on the disk before the next one is told of."""

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from shoal.addresses import without_passwords
from shoal.errors import BadData, CannotWrite

AGAIN = frozenset({"failed", "crashed"})
"""What became of runs that are tried again when the comparison is called again."""


class Journal:
    """Lines of JSON that only grow. A crash can spoil no line but the last, which is then forgotten.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "runs.jsonl"
    ...     with Journal(path) as journal:
    ...         journal.add("a", {"status": "done"})
    ...     _ = path.write_text(path.read_text() + '{"key": "b", "ans')
    ...     Journal(path).finished()
    {'a': {'status': 'done'}}
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: BinaryIO | None = None

    def finished(self) -> dict[str, dict[str, Any]]:
        """The answers by the key of their run; of several, the last."""
        found = {}
        whole = self.path.read_bytes() if self.path.exists() else b""
        for number, line in enumerate(whole[: whole.rfind(b"\n") + 1].splitlines(), 1):
            try:
                entry = json.loads(line)
                found[entry["key"]] = entry["answer"]
            except (ValueError, KeyError, TypeError) as error:
                raise BadData(
                    "this line is no run; start anew with --force.", path=self.path, line=number
                ) from error
        return found

    def __enter__(self) -> Self:
        try:
            self._file = self.path.open("ab")
            # A line that a crash cut short must not run into the next one.
            whole = self.path.read_bytes()
            self._file.truncate(whole.rfind(b"\n") + 1)
        except OSError as error:
            raise CannotWrite(f"The journal {self.path}", error) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, key: str, answer: Mapping[str, Any]) -> None:
        """Write a finished run, and wait until the disk has it."""
        assert self._file is not None
        when = datetime.now(UTC).isoformat(timespec="seconds")
        line = json.dumps({"key": key, "when": when, "answer": without_passwords(answer)}, ensure_ascii=False)
        try:
            self._file.write(line.encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise CannotWrite(f"The journal {self.path}", error) from error
