"""A real Spark cluster on loopback: a master and workers as processes of their own."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

JAVA = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
"""Options for programs that run only for seconds: they gain nothing from the second compiler, from a garbage collector
with threads of its own, or from verifying Spark's byte code."""

SETTINGS = {
    "spark.driver.extraJavaOptions": JAVA,
    "spark.executor.extraJavaOptions": JAVA,
    "spark.driver.memory": "2g",
    "spark.executor.memory": "512m",
    "spark.executorEnv.PYTHONPATH": f"{ROOT / 'src'}:{ROOT}",
    "spark.python.daemon.module": "tests.spark_daemon",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.task.maxFailures": "2",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.network.timeout": "60s",
    "spark.executor.heartbeatInterval": "5s",
}


def missing_part() -> str | None:
    """Which part that a cluster needs is missing; None where none is."""
    if find_spec("pyspark") is None:
        return 'pyspark is not installed (pip install "shoal[spark]").'
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        return "Java is not installed (Debian: apt-get install openjdk-17-jre-headless)."
    return None


class Cluster:
    """A standalone master and its workers.

    Parameters
    ----------
    home
        The folder for logs and for the workers' files.
    workers
        How many to start, each with one core.
    memory
        How much memory each of them may give to executors.
    """

    def __init__(self, home: Path, workers: int = 2, memory: str = "768m") -> None:
        self._home, self._memory = home, memory
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.master = f"spark://127.0.0.1:{port}"
        self._processes: list[subprocess.Popen[bytes]] = []
        try:
            self._start(
                "master", "master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"
            )
            self._wait("master", "I have been elected leader", 1)
            for number in range(workers):
                self.add_worker(f"worker{number}")
            self._wait("master", "Registering worker", workers)
        except BaseException:
            self.stop()
            raise

    def add_worker(self, name: str) -> None:
        """Start one more worker."""
        options = (
            "--cores",
            "1",
            "--memory",
            self._memory,
            "--webui-port",
            "0",
            "--work-dir",
            str(self._home / name),
        )
        self._start(name, "worker.Worker", "--host", "127.0.0.1", *options, self.master)

    @property
    def worker_pids(self) -> tuple[int, ...]:
        """The processes of the workers, which start executors; the first process is the master's."""
        return tuple(process.pid for process in self._processes[1:])

    def kill_worker(self) -> None:
        """Kill a worker and the programs that it runs, as abruptly as a machine dies."""
        worker = self._processes.pop()
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()

    def wait_for_work(self, count: int = 1) -> None:
        """Wait until workers have started programs for so many applications."""
        self._wait("master", "Launching executor", count)

    def stop(self) -> None:
        """Stop all processes."""
        for process in self._processes:
            os.killpg(process.pid, signal.SIGTERM)
        for process in self._processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self._processes.clear()

    def environment(self) -> dict[str, str]:
        """The environment of a driver program."""
        return {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "SPARK_LOCAL_IP": "127.0.0.1"} | {
            "PYSPARK_PYTHON": sys.executable
        }

    def _start(self, name: str, program: str, *arguments: str) -> None:
        package = Path(str(find_spec("pyspark").origin)).parent  # type: ignore[union-attr]
        command = [package / "bin" / "spark-class", f"org.apache.spark.deploy.{program}", *arguments]
        environment = self.environment() | {
            "SPARK_DAEMON_JAVA_OPTS": JAVA,
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_HOME": str(package),
            "SPARK_LOCAL_DIRS": str(self._home / "scratch"),
        }
        with (self._home / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                command, env=environment, stdout=log, stderr=log, cwd=self._home, start_new_session=True
            )
        self._processes.append(process)

    def _wait(self, name: str, text: str, count: int) -> None:
        log = self._home / f"{name}.log"
        wait_until(lambda: log.read_text(errors="replace").count(text) >= count, f"{text!r} in {log}")


def wait_until(condition: Callable[[], Any], what: str, seconds: float = 120) -> None:
    """Wait for something that must happen; fail with what it was if it does not."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.1)
