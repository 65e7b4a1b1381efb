"""``shoal warm-up``: compile the kernels of all methods, so that no first run has to wait for the compiler."""

import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import chain, combinations
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from cyclopts import App

from shoal import registry
from shoal.cli import show
from shoal.cli.command_anonymize import Json, Quiet
from shoal.cli.options import single
from shoal.data.baskets import Baskets
from shoal.data.table import Table
from shoal.errors import ShoalError, WrongUse
from shoal.kernels._compiling import eagerly, watched
from shoal.methods.method import Method

EXAMPLE = """Example:
  shoal warm-up"""

ROWS = 300
"""Rows to run methods on: what is compiled depends on the kinds of data, not on their amount."""

PROCESSES = min(os.cpu_count() or 1, 4)
"""Processes that compile at the same time: one per core, but only a few, because each takes half a gigabyte."""

SEARCH = "improve_steps"
"""The parameter that starts a search, in methods that have one."""

HIERARCHIES = {"age": "intervals:5,10,20", "education": "suppress"}
ROLES: dict[type, dict[str, Any]] = {
    Table: {"quasi": tuple(HIERARCHIES), "sensitive": ("occupation",), "others": "drop"},
    Baskets: {"sensitive": ("19", "20")},
}


def program(tokens: Sequence[str]) -> App:
    """The command."""
    return single("warm-up", warm_up, EXAMPLE)


def warm_up(*, quiet: Quiet = False, json: Json = False) -> int:
    """Compile all methods now, so that no first run has to wait.

    Shoal compiles its inner loops for the processor at hand, once; what is compiled is kept in a folder of the package,
    or in one of the user where that cannot be written. NUMBA_CACHE_DIR names another one.
    """
    from shoal.kernels._jit import cache_folder

    if (folder := cache_folder()) is None:
        raise WrongUse("No folder can be written to keep what is compiled: name one in NUMBA_CACHE_DIR.")
    begin = time.perf_counter()
    methods, kernels = compiled(quiet or json)
    seconds = time.perf_counter() - begin
    found = {"methods": methods, "kernels": kernels, "seconds": seconds, "cache": folder}
    if json:
        show.as_json(found)
    elif not quiet:
        news = f"{kernels} kernels compiled" if kernels else "nothing was left to compile"
        show.line(f"{methods} methods are ready: {news}, in {seconds:.0f} s.")
        show.line(f"Cache    {folder}")
    return 0


def compiled(quiet: bool) -> tuple[int, int]:
    """Run all methods on several cores; returns the number of methods, and of kernels that had to be compiled."""
    with tempfile.TemporaryDirectory() as folder, show.progress(quiet) as stage:
        files = made(Path(folder))
        # Methods that join two tables have no kernels of their own.
        every = registry.load_all("method")
        methods = {name: kind for name, kind in every.items() if not kind.needs_link}
        kernels = 0
        tasks = [(name, files[kind.accepts]) for name, kind in methods.items()]
        with several(min(len(tasks), PROCESSES)) as each:
            for number, (name, count) in enumerate(each(compiled_for, tasks), 1):
                stage(f"{name} ({number} of {len(methods)})")
                kernels += count
    return len(methods), kernels


def compiled_for(task: tuple[str, Path]) -> tuple[str, int]:
    """Run a method; returns its name, and how many kernels had to be compiled."""
    name, file = task
    told: list[float] = []  # the seconds of each kernel as its compiling begins, and 0 as it ends
    with watched(told.append), eagerly(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tried(registry.load("method", name), file)
    return name, sum(seconds > 0 for seconds in told)


@contextmanager
def several(processes: int) -> "Iterator[Callable[..., Iterator[tuple[str, int]]]]":
    """A ``map`` that runs its function in several processes, or in this one if one is enough."""
    if processes < 2:
        yield map
        return
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        yield pool.map


def made(folder: Path) -> dict[type, Path]:
    """Write a file of people and one of baskets to run methods on."""
    from shoal.datasets.people import People
    from shoal.datasets.shopping import Shopping
    from shoal.io.baskets.load import write_baskets
    from shoal.io.tables.load import write_table

    people, baskets = folder / "people.csv", folder / "baskets.dat"
    write_table(People(rows=ROWS).make(7), people)
    write_baskets(Shopping(rows=ROWS, items=20, density=0.2).make(7), baskets)
    return {Table: people, Baskets: baskets}


def roles_for(kind: type[Method]) -> dict[str, Any]:
    """The roles to give the sample for a method; some methods need a column of items."""
    return ROLES[kind.accepts] | ({"items": "occupation", "sensitive": ()} if kind.needs_items else {})


def tried(kind: type[Method], file: Path) -> None:
    """Run a method with its example's parameters up to the written release, and again with every other choice.

    Runs whose promise cannot be kept on these few rows are ignored: their kernels are compiled by then. Single choices
    reach all kernels of tables; those of baskets need pairs of choices too.
    """
    from shoal.pipeline import anonymize, carry_out

    trees = HIERARCHIES if kind.accepts is Table else None
    run = anonymize(file, kind(**kind.example), seed=7, hierarchies=trees, **roles_for(kind))
    run.write(file.parent / kind.name)
    several = list(choices(kind))
    both = combinations(several if kind.accepts is Baskets else (), 2)
    pairs = (one | other for one, other in both if not one.keys() & other.keys())
    for choice, measures in chain(((one, None) for one in several), ((pair, ()) for pair in pairs)):
        try:
            carry_out(kind(**{**kind.example, **choice}), run.original, seed=7, measures=measures)
        except (ShoalError, ValueError):
            continue
    if kind.accepts is Baskets:
        tried_elsewhere(kind, file)


def tried_elsewhere(kind: type[Method], file: Path) -> None:
    """Run a method for baskets on the other engines of this machine, for which it has separate kernels."""
    from shoal.engines.protocol import engines_here
    from shoal.pipeline import anonymize

    for name, other in engines_here().items():
        if name in kind.engines and not other.in_memory:
            with closing(other.within()) as engine:
                anonymize(file, kind(**kind.example), engine=engine, seed=7, **ROLES[Baskets])


def choices(kind: type[Method]) -> Iterator[dict[str, Any]]:
    """All single changes of a method's parameters to try: other words of a choice, switches, 0, and a search."""
    for name, field in kind.model_fields.items():
        if get_origin(field.annotation) is Literal:
            yield from ({name: value} for value in get_args(field.annotation) if value != field.default)
        elif field.annotation is bool:
            yield {name: not field.default}
        elif name == SEARCH:
            yield {name: (ROWS,)}
        elif field.default and any(getattr(bound, "ge", None) == 0 for bound in field.metadata):
            yield {name: 0}
