"""Releases in parts compared with the files that a run in memory writes."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from shoal.data.baskets import Baskets
from shoal.data.clusters import Clusters
from shoal.data.dataset import Dataset
from shoal.data.groups import Groups
from shoal.io.baskets.distributed import header_of
from shoal.io.baskets.load import write_baskets
from shoal.io.releases.set_lines import write_clusters, write_groups

Sets = TypeVar("Sets", Groups, Clusters)


def text_of_parts(release: Dataset) -> str:
    """The text of all part files together, with one header."""
    header = header_of(release.schema) if isinstance(release.schema, Baskets) else None
    lines = release.parts.collect()["line"].to_list()
    return "".join(f"{line}\n" for line in ([] if header is None else [header]) + lines)


def text_of(data: object, path: Path) -> str:
    """The text of the file that is published from memory."""
    if isinstance(data, Baskets):
        write_baskets(data, path)
    elif isinstance(data, Groups):
        write_groups(data, path)
    else:
        assert isinstance(data, Clusters)
        write_clusters(data, path)
    return path.read_text(encoding="utf-8")


def read_back(release: Dataset, read: Callable[[Path], Sets], path: Path) -> Sets:
    """Read all part files together; their content must be in canonical order."""
    text = text_of_parts(release)
    path.write_text(text, encoding="utf-8")
    found = read(path)
    assert text_of(found, path) == text, "not in canonical order"
    return found


def laid_out(baskets: Baskets, layout: str) -> Baskets:
    """The same baskets in another layout."""
    return dataclasses.replace(baskets, layout=layout)
