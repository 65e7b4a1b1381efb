"""Files of datasets that a disassociated release could have been made from."""

import os
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from shoal.data._reconstruct import reconstructed
from shoal.data.baskets import Baskets
from shoal.data.clusters import Clusters
from shoal.errors import CannotWrite, WrongUse
from shoal.io.baskets.layouts import published_name
from shoal.io.baskets.load import write_baskets
from shoal.io.releases.folder import read_release


def read_published_clusters(folder: str | Path) -> Clusters:
    """The clusters of a release folder.

    Raises `WrongUse` if what is published is something else: then there is nothing to draw, it can be used as it is.
    """
    data = read_release(folder).data
    if not isinstance(data, Clusters):
        raise WrongUse(
            f"{folder} holds {type(data).__name__.lower()}, which can be used as they are; only clusters of chunks, "
            "as `shoal anonymize disassociation` publishes them, are reconstructed."
        )
    return data


def reconstructions(
    clusters: Clusters, count: int, seed: int, layout: str | None = None
) -> Iterator[Baskets]:
    """Draw datasets that are consistent with a release, each in canonical order.

    `seed`: the seed of the first; the others follow, so that a larger count begins with the same datasets. `layout`:
    the layout they are written in; lines unless an item has a blank in it, and a long table then.
    """
    blank = any(item != "".join(item.split()) for item in clusters.vocabulary)
    chosen = layout or ("long:basket,item" if blank else "lines")
    for number in range(count):
        (baskets,) = reconstructed(clusters, 1, seed + number)
        yield replace(baskets, layout=chosen)


def write_reconstructions(
    clusters: Clusters, folder: str | Path, count: int, seed: int, layout: str | None = None
) -> list[Path]:
    """Write datasets that are consistent with a release into a new folder, as ``1.dat``, ``2.dat`` and so on.

    Raises `WrongUse` if the folder is there already.
    """
    place = Path(folder)
    if os.path.lexists(place):
        raise WrongUse(f"{folder} is there already; name another folder with -o.")
    draft = place.with_name(f".{place.name}.{secrets.token_hex(4)}.partial")
    names = []
    try:
        draft.mkdir(parents=True)
        for number, baskets in enumerate(reconstructions(clusters, count, seed, layout), start=1):
            names.append(f"{number}{Path(published_name(baskets.layout)).suffix}")
            write_baskets(baskets, draft / names[-1])
        draft.rename(place)
    except OSError as error:
        raise CannotWrite(f"The folder {folder}", error) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return [place / name for name in names]
