"""What all tests share: public datasets, checks for missing parts, a real PostgreSQL, settings of Hypothesis.

Environment
-----------
SHOAL_DATA
    The folder of the public datasets; by default, ``../shared/data`` beside the repository. Tests that need a
    dataset that is not there are skipped.
SHOAL_REQUIRE_ALL
    If set to 1, a missing part (a database server, a browser, Spark) fails the tests that need it.
NUMBA_DISABLE_JIT
    If set to 1, kernels run as plain Python, slowly (``make test-nojit``).
"""

import gc
import multiprocessing
import os
import pwd
import re
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

if "PYTEST_XDIST_WORKER" in os.environ:
    # Test processes use all cores already: more threads in each would only wait for each other. Programs that tests
    # start have as many threads as usual.
    os.environ["POLARS_MAX_THREADS"] = "1"
    import polars  # noqa: F401

    del os.environ["POLARS_MAX_THREADS"]

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("SHOAL_DATA") or ROOT.parent / "shared" / "data")

# The first example of a property may compile a kernel, so a long time is not a sign of a fault.
settings.register_profile(
    "shoal", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("ci", settings.get_profile("shoal"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "shoal")


LONGEST = (
    "tests/spark/",
    "tests/methods/",
    "tests/studio/",
    "tests/recommend/",
    "tests/summaries/",
    "tests/compare/",
    "tests/browser/",
    "tests/soak/",
    "tests/test_docs.py",
    "tests/test_packages.py",
    "tests/test_installed.py",
)
"""The longest tests, which begin first and in this order, so that no core waits for one of them in the end. Spark and
browsers mostly wait, so each has a test beside it that computes."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    marks = {"postgres": "postgres", "public_data": "data"}
    for item in items:
        for fixture in marks.keys() & set(getattr(item, "fixturenames", ())):
            item.add_marker(marks[fixture])
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    """The turn of a test: its place among the longest ones, or after them."""
    found = (place for place, folder in enumerate(LONGEST) if item.nodeid.startswith(folder))
    return next(found, len(LONGEST))


def pytest_collection_finish() -> None:
    """Exempt what all tests share, thousands of modules and items, from garbage collection."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Tests of a file share a process, and so do all tests of Spark, because they share a cluster."""
    from xdist.scheduler import LoadScopeScheduling

    class Shared(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "spark" if nodeid.startswith("tests/spark/") else nodeid.partition("::")[0]

    return Shared(config, log)


@pytest.fixture(scope="session", autouse=True)
def _forked_workers() -> Iterator[None]:
    """Fork the processes of comparisons, so that they need not load Python and all libraries again."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        yield
        return
    from tests import forked

    from shoal.comparison import workers

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workers, "subprocess", forked)
        yield


@pytest.fixture(scope="session")
def public_data() -> Callable[[str], Path]:
    """``public_data("adult/adult.data.gz")`` gives the path of a dataset, and skips where it is absent."""

    def find(name: str) -> Path:
        path = DATA / name
        if not path.exists():
            pytest.skip(
                f"The public dataset {name} is not in {DATA}; set SHOAL_DATA to the folder that holds it."
            )
        return path

    return find


def _require_part(condition: object, reason: str) -> None:
    if condition:
        return
    if os.environ.get("SHOAL_REQUIRE_ALL") == "1":
        pytest.fail(f"SHOAL_REQUIRE_ALL=1, but a part is missing: {reason}", pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def require_part() -> Callable[[object, str], None]:
    """``require_part(condition, reason)`` skips without the condition, or fails under SHOAL_REQUIRE_ALL=1."""
    return _require_part


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URI of an empty database on a real PostgreSQL server of our own that listens on loopback alone."""
    programs = _postgres_programs()
    _require_part(
        programs, "PostgreSQL's initdb and pg_ctl are not installed (Debian: apt-get install postgresql)."
    )
    assert programs is not None
    # pytest's own temporary folders are closed to the user that the server runs as.
    home = Path(tempfile.mkdtemp(prefix="shoal-postgres-"))
    try:
        yield from _serve(programs, home)
    finally:
        shutil.rmtree(home)


def _postgres_programs() -> Path | None:
    """The newest folder that holds both programs, or None."""

    def version(folder: Path) -> float:
        return float(re.sub(r"[^0-9.]", "", folder.parent.name) or 0)

    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=version, reverse=True)
    if on_path := shutil.which("initdb"):
        folders.append(Path(on_path).resolve().parent)
    return next(
        (folder for folder in folders if (folder / "initdb").exists() and (folder / "pg_ctl").exists()), None
    )


def _serve(programs: Path, home: Path) -> Iterator[str]:
    user = _unprivileged_user()
    identity = {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    if user is not None:
        os.chown(home, user.pw_uid, user.pw_gid)

    def run(program: str, *arguments: str) -> None:
        # Output goes into a file: the server inherits it, and would keep a pipe open for as long as it lives.
        with (home / "log").open("ab") as log:
            command = [programs / program, "-D", home / "data", *arguments]
            environment = {"PATH": os.defpath, "HOME": str(home), "LC_ALL": "C"}
            done = subprocess.run(
                command,
                cwd=home,
                env=environment,
                stdout=log,
                stderr=log,
                timeout=120,
                check=False,
                **identity,
            )
        assert done.returncode == 0, f"{program} failed:\n{(home / 'log').read_text()}"

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={home} -c fsync=off"
    run("initdb", "--username=shoal", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
    run("pg_ctl", "start", "--wait", "-o", options)
    try:
        yield f"postgresql://shoal@127.0.0.1:{port}/postgres"
    finally:
        run("pg_ctl", "stop", "--wait", "--mode=immediate")


def _unprivileged_user() -> pwd.struct_passwd | None:
    """The user to run the server as, because PostgreSQL refuses root; None for the current user."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    pytest.fail("PostgreSQL does not run as root, and there is neither a user postgres nor a user nobody.")
