"""How far a row goes through the code: a reader has to follow it."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

MOST_FILES = {"local": 69, "stream": 77}
MOST_HOPS = 29


def test_a_row_passes_few_files() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "hops.py"], capture_output=True, text=True, check=True, cwd=ROOT
    )
    found = re.findall(r"^(\w+): (\d+) files, (\d+) hops", done.stdout, re.M)
    assert [engine for engine, _, _ in found] == list(MOST_FILES)
    for engine, files, hops in found:
        why = "`python tools/hops.py --list` names them: join what is read together, and call nothing in vain"
        assert int(files) <= MOST_FILES[engine], f"{engine}: {files} files; {why}"
        assert int(hops) <= MOST_HOPS, f"{engine}: {hops} hops; {why}"
