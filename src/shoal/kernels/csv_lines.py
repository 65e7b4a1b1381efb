"""The shape of delimited text with quotes, byte by byte."""

import numpy as np
from numpy.typing import NDArray

from shoal.kernels._jit import jit

QUOTE, LINE, RETURN = 34, 10, 13


@jit
def even_lines(text: NDArray[np.uint8], separator: int, columns: int) -> int:
    r"""The number of lines, if each has so many cells and quotes stand at the ends of cells alone; -1 if not.

    Text that has more to it is not judged here either, but -1: carriage returns, blank lines, and lines without an end.
    """
    rows, cells, place, size = 0, 0, 0, len(text)
    while place < size:
        begin = place
        if text[place] == QUOTE:
            place += 1
            while place < size:
                if text[place] != QUOTE:
                    place += 1
                elif place + 1 < size and text[place + 1] == QUOTE:
                    place += 2
                else:
                    break
            place += 1
        else:
            while place < size and text[place] != separator and text[place] != LINE:
                if text[place] == QUOTE or text[place] == RETURN:
                    return -1
                place += 1
        cells += 1
        if place >= size:
            return -1
        if text[place] == LINE:
            if cells != columns or (columns == 1 and place == begin):
                return -1
            rows += 1
            cells = 0
        elif text[place] != separator:
            return -1
        place += 1
    return rows if cells == 0 else -1
