"""Places that are no files of this machine: what is said of them, wherever a file is read or written."""

import os
import re

from shoal.errors import WrongUse

_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+(.*)", re.DOTALL)
"""A scheme has two letters at least, as drives of Windows have one; of two slashes a path keeps one."""

CLUSTER = frozenset({"hdfs", "s3", "s3a", "s3n", "gs", "abfs", "abfss", "wasb", "wasbs", "dbfs"})
"""Schemes that a Spark cluster may know."""


def refuse_address(place: object, *, writing: bool = False) -> None:
    """Refuse an address such as ``s3://…`` where a file of this machine is needed.

    >>> refuse_address("s3://shop/sales.csv")
    Traceback (most recent call last):
    shoal.errors.WrongUse: s3://shop/sales.csv is an address, and files are read from disks: fetch it first, or read it where the cluster has it, with engine=shoal.engines.Spark().
    """  # noqa: E501
    found = _ADDRESS.fullmatch(str(place))
    if found is None or os.path.exists(str(place)):
        return
    scheme, rest = found[1].lower(), found[2]
    if scheme == "file":
        raise WrongUse(f"Name a file by its path: /{rest}, and not by file://.")
    address = f"{scheme}://{rest}"
    if writing:
        raise WrongUse(
            f"{address} is an address, and files are written to disks: name a place on one (of a cluster: one that all "
            "workers share), and copy it from there."
        )
    elsewhere = ", or read it where the cluster has it, with --engine spark" if scheme in CLUSTER else ""
    raise WrongUse(f"{address} is an address, and files are read from disks: fetch it first{elsewhere}.")
