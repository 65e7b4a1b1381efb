"""Numbers by which workers divide rows: the same on every machine and in every version of every library."""

import ast
from pathlib import Path

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from shoal.data._hashes import list_hashes, text_hashes
from shoal.models._distributed import buckets_of

SOURCE = Path(__file__).resolve().parents[2] / "src" / "shoal"


def test_hashes_never_change() -> None:
    texts = pl.Series(["", "a", "ab", "ba", "ä", None], dtype=pl.String)
    assert text_hashes(texts).tolist() == [
        16294208416658607535,
        15818834084057556226,
        13282557610459971064,
        1393686863111542689,
        8718261930875608579,
        16294208416658607535,
    ]
    assert list_hashes(np.array([0, 0, 2, 3]), np.array([1, 2, 3], dtype=np.int32)).tolist() == [
        16294208416658607535,
        5378881603173755638,
        13604808898340030615,
    ]
    frame = pl.DataFrame({"x": ["a", "b", None, ""], "y": ["1", "2", "1", "1"]})
    assert buckets_of(frame, ["x", "y"], 1000).tolist() == BUCKETS


BUCKETS = [827, 119, 269, 269]


@given(st.lists(st.none() | st.text(max_size=4)))
def test_equal_texts_have_equal_hashes_however_they_come(texts: list[str | None]) -> None:
    series = pl.Series(texts, dtype=pl.String)
    own = [text_hashes(pl.Series([text], dtype=pl.String)).tolist()[0] for text in texts]
    assert text_hashes(series).tolist() == own
    assert len(set(own)) == len({text or "" for text in texts})


def test_no_worker_divides_rows_by_the_hash_of_a_library() -> None:
    """Only the engine that never leaves its process may."""
    found = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and (
            (isinstance(node.func, ast.Attribute) and node.func.attr in ("hash", "hash_rows"))
            or (isinstance(node.func, ast.Name) and node.func.id == "hash")
        )
    }
    assert found <= {"engines/external_sort.py", "engines/stream.py"}
