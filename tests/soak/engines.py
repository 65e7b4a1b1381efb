"""Run cases on engines: in memory, in files on this machine with room for a handful of rows, and on Spark."""

import re
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from tests.soak.cases import METHODS, Case

from shoal.data.verdict import Verdict
from shoal.engines.stream import Stream
from shoal.errors import BrokenPromise, EngineFailed, ShoalError, WrongUse
from shoal.pipeline import publish
from shoal.recipe import Recipe
from shoal.verification import Asked, verify_as_asked

MEMORY = (3000, 20_000, 20_000, 1_000_000)
"""Bytes of rows that `stream` may hold: mostly so few that everything is cut, sorted on disk and merged."""


SPARK = {
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}

PARTS = re.compile(
    r"in parts|engines\.Local|one machine|does not run on|do(es)? not fit into|a worker has room|Spark skips"
    r"|opened in memory"
)
"""Words of refusals that concern only rows in parts."""


@dataclass
class Outcome:
    """The outcome of a case on an engine.

    Parameters
    ----------
    status
        ``published``, ``refused`` with one of our errors, or ``crashed``.
    error
        The name and message of the error.
    folder
        The folder that was written.
    run
        The run as the library returned it.
    code
        The exit code of a refusal.
    """

    engine: str
    status: str
    error: str = ""
    message: str = ""
    folder: Path = Path()
    run: Any = None
    code: int = 0

    @property
    def name(self) -> str:
        return f"{self.status} {self.error}".strip()


class Engines:
    """The engines that cases run on.

    Parameters
    ----------
    home
        The folder for files.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._spark: Any = None

    def __call__(self, engine: str, case: Case, recipe: dict[str, Any], folder: Path) -> Outcome:
        """Run a case and write its release folder."""
        out = folder / engine
        plain = {**recipe, "output": {**recipe["output"], "folder": str(out), "report": case.reported}}
        if engine != "local":
            plain["running"] = {"engine": engine}
        try:
            with self._engine(engine, case), warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                run, _ = publish(Recipe(**plain))
        except (BrokenPromise, EngineFailed) as error:
            return Outcome(engine, "crashed", type(error).__name__, str(error))
        except ShoalError as error:
            return Outcome(engine, "refused", type(error).__name__, str(error), code=error.exit_code)
        except Exception as error:
            where = "".join(traceback.format_exception(error)[-4:])
            return Outcome(engine, "crashed", type(error).__name__, where)
        return Outcome(engine, "published", folder=out, run=run)

    def verify(self, folder: Path, case: Case) -> tuple[Verdict, ...]:
        """Prove a release by the engine `stream`."""
        made = self._stream(case.seed)
        try:
            return verify_as_asked(folder, Asked(), made)
        except WrongUse as error:
            if PARTS.search(str(error)):
                return ()
            raise
        finally:
            made.close()

    @contextmanager
    def _engine(self, engine: str, case: Case) -> Iterator[None]:
        if engine == "local":
            with (
                nullcontext()
                if case.measured
                else mock.patch("shoal.measures._chosen.default_measures", return_value=())
            ):
                yield
        elif engine == "stream":
            with mock.patch("shoal.recipe.Running.open", return_value=self._stream(case.seed)):
                yield
        else:
            with mock.patch("shoal.recipe.Running.open", return_value=self._on_spark()):
                yield

    def _stream(self, seed: int) -> Stream:
        made = Stream("1GB", scratch=str(self._home))
        made.memory = MEMORY[seed // len(METHODS) % len(MEMORY)]
        return made

    def _on_spark(self) -> Any:
        """A new engine on the shared session, which stays open."""
        from shoal.engines.spark import Spark

        if self._spark is None:
            self._spark = Spark(master="local[2]", settings=SPARK)
        return Spark(self._spark.session)

    def close(self) -> None:
        """End the session, where there is one."""
        if self._spark is not None:
            self._spark.close()
