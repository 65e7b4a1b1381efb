"""One side of a task, called twice in a process of its own: ``python -m benchmarks.peers.call SIDE ARGUMENTS BEGIN``.

It prints a line of JSON. *Cold* is from the start of the process, told as BEGIN, to the end of the first call: start,
imports, reading, and finding what was compiled earlier. *Warm* is the second call alone.
"""

import json
import os
import sys
import time
from importlib import import_module
from importlib.metadata import version

from benchmarks.case import peak_megabytes


def main(side: str, arguments: str, begin: str) -> None:
    """Call it, and say what it took and what was found."""
    module = import_module(f"benchmarks.peers.sides.{side}")
    loaded = module.load(**json.loads(arguments))
    result = module.work(loaded)
    answer = {"cold_s": time.time() - float(begin), "cold_cpu_s": cpu(), "peak_mb": peak_megabytes()}
    started, used = time.perf_counter(), cpu()
    result = module.work(loaded)
    answer |= {"warm_s": time.perf_counter() - started, "warm_cpu_s": cpu() - used}
    versions = {name: version(name) for name in module.DISTRIBUTIONS}
    print(json.dumps({**answer, "found": module.found(loaded, result), "versions": versions}))


def cpu() -> float:
    """Processor seconds of this process and of those it waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


if __name__ == "__main__":
    main(*sys.argv[1:])
