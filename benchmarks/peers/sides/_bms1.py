"""BMS-WebView-1 as lists of items."""

import gzip
import os
from pathlib import Path

FILE = Path(os.environ.get("SHOAL_DATA", "")) / "bms-webview-1" / "bms-webview-1.dat.gz"


def baskets() -> list[list[int]]:
    """The items of each basket, numbered from 0."""
    with gzip.open(FILE, "rt") as file:
        read = [line.split() for line in file]
    numbers = {item: place for place, item in enumerate(sorted({item for row in read for item in row}))}
    return [[numbers[item] for item in row] for row in read]
