"""The program as a whole: start-up, exit codes, pipes, interruption."""

import ast
import io
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from shoal import registry
from shoal.cli import main
from shoal.cli.help_pages import Page, drawn, say, stored_pages
from shoal.cli.program import COMMANDS, TITLES, pages, program
from shoal.cli.program import main as whole
from shoal.data.baskets import Baskets
from shoal.errors import BadData, BrokenPromise, Infeasible, WrongUse
from shoal.io.baskets.numbered_texts import LEAST

CLI = Path(__file__).resolve().parents[2] / "src" / "shoal" / "cli"
COMMAND_LINES = 15


def test_help_lists_all_commands(shoal: Callable[..., object]) -> None:
    answer = shoal("--help")
    assert answer.code == 0
    for name, summary in COMMANDS.items():
        assert name in answer.out
        assert summary in answer.out


def test_no_command_shows_the_help(shoal: Callable[..., object]) -> None:
    assert shoal() == shoal("--help")


def test_version(shoal: Callable[..., object]) -> None:
    import shoal as package

    assert shoal("--version").out.strip() == package.__version__


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_says_what_the_command_says(name: str) -> None:
    assert program([name])[name].help.partition("\n")[0] == COMMANDS[name]


@pytest.mark.parametrize("names", pages(), ids=" ".join)
def test_every_help_works(names: tuple[str, ...], shoal: Callable[..., object]) -> None:
    answer = shoal(*names, "--help")
    assert (answer.code, answer.err) == (0, "")
    assert " ".join(("Usage: shoal", *names)) in answer.out


HEAVY = {"cyclopts", "numba", "numpy", "polars", "pydantic", "rich", "shoal.pipeline", "shoal.cli.program"}


@pytest.mark.parametrize("flag", ["--help", "-h"])
@pytest.mark.parametrize("names", [(), ("anonymize",), ("anonymize", "mondrian"), ("verify",)], ids=" ".join)
def test_help_loads_no_library(names: tuple[str, ...], flag: str) -> None:
    assert loaded(*names, flag) == set()


def test_no_command_loads_no_library() -> None:
    assert loaded() == set()


def loaded(*arguments: str) -> set[str]:
    """What is heavy, of all that a call imports."""
    show = f"print(*{HEAVY!r} & sys.modules.keys(), file=sys.stderr)"
    text = f"import sys; from shoal.cli import main; main({list(arguments)!r}); {show}"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Usage: shoal")
    return set(done.stderr.split())


def test_a_small_table_loads_only_what_tables_need(people: Path) -> None:
    idle = {"numba", "rich", "scipy", "shoal.io.baskets.load", "shoal.io.releases.distributed"}
    idle |= {"shoal.preparation.recode", "shoal.preparation.rounding"}
    words = [
        "anonymize",
        "mondrian",
        str(people),
        "--k",
        "2",
        "--quasi",
        "age",
        "--others",
        "drop",
        "-o",
        "out",
    ]
    assert needless(words, idle, "rows published") == []


@pytest.mark.parametrize("times", [100, 40_000])
def test_a_file_of_baskets_loads_nothing_of_tables(folder: Path, times: int) -> None:
    file = folder / "plain.dat"
    file.write_text("10000 20000\n30000 40000 50000\n" * times)
    assert (file.stat().st_size > LEAST) == (times > 100)
    idle = {"polars", "shoal.data._export", "shoal.io.tables.encode"}
    words = ["anonymize", "cahd", str(file), "--p", "2", "--sensitive", "50000", "-o", "out"]
    assert needless(words, idle, "groups published") == []


def needless(words: list[str], idle: set[str], said: str) -> list[str]:
    """What a command loads that it has no use for."""
    show = f"print('loaded:', *{idle!r} & sys.modules.keys(), file=sys.stderr)"
    text = f"import sys; from shoal.cli import main; main({words!r}); {show}"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert said in done.stdout
    before, shown, found = done.stderr.partition("loaded:")
    assert shown
    assert all("ompiling once" in line for line in before.split("\n") if line)
    return found.split()


def test_a_short_command_looks_for_no_garbage(people: Path) -> None:
    """Neither while it runs nor on the way out: what registers first for the way out is called last."""
    text = (
        "import atexit, gc; from shoal.cli import main; found = []\n"
        "atexit.register(lambda: print(gc.get_freeze_count() > 10_000))\n"
        "gc.callbacks.append(lambda *told: found.append(told))\n"
        f"main(['inspect', {str(people)!r}, '--json']); gc.callbacks.clear(); print(found)"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[-3:] == ["[]", "True", ""]


@pytest.mark.parametrize("names", pages(), ids=" ".join)
def test_help_is_what_the_parser_says(
    names: tuple[str, ...], shoal: Callable[..., object], capsys: pytest.CaptureFixture[str]
) -> None:
    """The stored page is that of the program, also as it is printed."""
    assert whole([*names, "--help"]) == 0
    assert capsys.readouterr().out == shoal(*names, "--help").out


def boxes(page: Page) -> dict[str, dict[str, str]]:
    """The boxes of a page by their titles: each label and what it means."""
    return {part[0]: {row[0]: row[1] for row in part[1]} for part in page if not isinstance(part, str)}


@pytest.mark.parametrize("names", pages(), ids=" ".join)
def test_values_are_named_by_what_they_are(names: tuple[str, ...]) -> None:
    found = boxes(stored_pages()[" ".join(names)])
    assert "Parameters" not in found
    words = {word for rows in found.values() for label in rows for word in label.split()}
    assert not words & {"FLOAT", "INT", "STR", "[ARGS]"}


def test_the_first_page_groups_all_commands() -> None:
    found = boxes(stored_pages()[""])
    assert list(found) == [*TITLES.values(), "Options"]
    assert [name for title in TITLES.values() for name in found[title]] == list(COMMANDS)


def test_methods_are_listed_by_the_data_that_they_take() -> None:
    found = boxes(stored_pages()["anonymize"])
    kinds = registry.load_all("method").items()
    assert set(found["Methods for baskets"]) == {name for name, kind in kinds if kind.accepts is Baskets}
    assert set(found["Methods for tables"]) == {name for name, kind in kinds if kind.accepts is not Baskets}


def test_promises_of_a_table_stand_in_a_box_of_their_own() -> None:
    found = boxes(stored_pages()["anonymize mondrian"])
    assert list(found)[:3] == ["Arguments", "Promise", "Method"]
    assert "--k N" in found["Promise"]
    assert "--improve SECONDS" in found["Method"]
    assert not set(found["Promise"]) & set(found["Method"])
    assert "standard input" not in boxes(stored_pages()["recommend"])["Arguments"]["INPUT"]


def test_a_page_is_drawn_as_wide_as_the_terminal() -> None:
    for width in (40, 80, 200):
        lines = drawn(("Output", [("--quiet", "print " * 50, "")]), width).split("\n")
        assert {len(line) for line in lines} == {width}
        assert sum(line.count("print") for line in lines) == 50


def test_colors_are_for_names() -> None:
    plain = drawn(("Output", [("--quiet", "print nothing", "")]), 80)
    colored = drawn(("Output", [("--quiet", "print nothing", "")]), 80, color=True)
    assert re.sub(r"\x1b\[\d+m", "", colored) == plain
    assert "\x1b[36m--quiet" in colored


def test_an_encoding_without_boxes_gets_letters() -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    say(drawn(("Output", [("--also NAME,…", "copies", "")]), 40), out)
    out.flush()
    assert out.buffer.getvalue().decode().startswith("+- Output --")


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (Infeasible("k = 9 cannot be kept."), 1, "shoal: k = 9 cannot be kept.\n"),
        (BrokenPromise("It is broken."), 1, "shoal: It is broken.\n"),
        (WrongUse("No such thing."), 2, "shoal: No such thing.\n"),
        (
            BadData("ragged.", path="a.csv", line=3, column="age"),
            3,
            "shoal: a.csv, line 3, column 'age': ragged.\n",
        ),
        (OSError(28, "No space left on device", "out"), 2, "shoal: out: No space left on device"),
        (MemoryError(), 70, "memory"),
        (KeyboardInterrupt(), 130, "shoal: interrupted; nothing was written.\n"),
        (ZeroDivisionError("division by zero"), 70, "ZeroDivisionError: division by zero"),
    ],
)
def test_errors_are_sentences(
    error: BaseException,
    code: int,
    said: str,
    shoal: Callable[..., object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("shoal.cli.command_methods.show.grid", fail)
    answer = shoal("methods")
    assert answer.code == code
    assert said in answer.err
    assert answer.err.startswith("shoal: ")
    assert "Traceback" not in answer.err


def test_a_fault_can_be_traced(shoal: Callable[..., object], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("shoal.cli.command_methods.show.grid", fail)
    monkeypatch.setenv("SHOAL_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        main(["methods"])


def test_standard_input(process: Callable[..., subprocess.Popen[bytes]], folder: Path) -> None:
    started = process("anonymize", "mondrian", "-", "--k", "2", "--quasi", "age", "--no-report", "-o", "out")
    out, err = started.communicate(b"age\n20\n21\n40\n41\n", timeout=60)
    assert (started.returncode, err) == (0, b"")
    assert b"4 rows published" in out
    assert (
        folder / "out/release/data.csv"
    ).read_text() == 'age\n"[20,21]"\n"[20,21]"\n"[40,41]"\n"[40,41]"\n'


@pytest.mark.parametrize("arguments", [("methods",), ("anonymize", "--help"), ("inspect", "people.csv")])
def test_a_closed_pipe_is_silent(
    arguments: tuple[str, ...], process: Callable[..., subprocess.Popen[bytes]], people: Path
) -> None:
    started = process(*arguments)
    started.stdout.close()
    assert started.stderr.read() == b""
    assert started.wait(timeout=60) == 141


def test_interruption_leaves_nothing(process: Callable[..., subprocess.Popen[bytes]], folder: Path) -> None:
    started = process("anonymize", "mondrian", "-", "--k", "2", "--quasi", "age", "-o", "out")
    # It waits for standard input; the beginning of the header says that it got so far.
    started.stdin.write(b"age\n")
    started.stdin.flush()
    _wait_until_reading(started.pid)
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=60)
    assert (started.returncode, out) == (130, b"")
    assert err == b"shoal: interrupted; nothing was written.\n"
    assert not list(folder.iterdir())


def _wait_until_reading(pid: int) -> None:
    """Wait until a process has taken what lies in the pipe of its standard input."""
    import fcntl
    import struct
    import termios

    deadline = time.monotonic() + 60
    with Path(f"/proc/{pid}/fd/0").open("rb", buffering=0) as pipe:
        while time.monotonic() < deadline:
            waiting = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4))[0]
            if not waiting:
                return
            time.sleep(0.05)
    pytest.fail("the program never read its standard input")


def test_commands_are_thin() -> None:
    """The commands are the functions that `program` hands to the parser; the work is done elsewhere."""
    long = []
    for path in sorted(CLI.glob("command_*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name not in ("program", "command_of"):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                lines = body[-1].end_lineno - body[0].lineno + 1 if body else 0
                long += [f"{path.name}: {node.name} has {lines} lines"] * (lines > COMMAND_LINES)
    assert not long


def test_a_dataclass_made_by_the_program_refuses_and_shows_itself_as_elsewhere() -> None:
    code = """
import dataclasses, sys
if sys.argv[1] == "program":
    from shoal.cli.start import main
    main(["--no-such-option"]), main(["--no-such-option"])

@dataclasses.dataclass(frozen=True)
class One:
    a: int
    b: object = dataclasses.field(default=None, repr=False)

@dataclasses.dataclass(frozen=True, slots=True)
class Two(One):
    c: object = ()

class Three(Two):
    pass

for one in (One(1), Two(1, c=[2]), Three(3)):
    print(one)
    for change in (lambda: setattr(one, "a", 2), lambda: delattr(one, "b")):
        try:
            change()
        except dataclasses.FrozenInstanceError as error:
            print(error)
"""
    said = [
        subprocess.run([sys.executable, "-c", code, who], capture_output=True, text=True).stdout
        for who in ("program", "nobody")
    ]
    assert said[0] == said[1] != ""
    assert "cannot delete field 'b'" in said[0]
