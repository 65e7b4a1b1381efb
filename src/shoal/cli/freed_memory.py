"""Memory that arrays leave behind, kept for the next ones."""

import sys

TRIM_THRESHOLD, MMAP_MAX = -1, -4
"""Numbers of options of the C library: how much free memory it keeps, and how many arrays get memory of their own."""

MOST = 2**31 - 1


def keep_freed_memory() -> None:
    """Let the C library of Linux keep freed memory until the process ends.

    It gives that of every large array back, and asks for it again page by page, which takes a command that makes
    hundreds of them a fifteenth of its time. Other systems do as they always do.
    """
    if sys.platform != "linux":
        return
    import ctypes

    try:
        option = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):  # another C library
        return
    option(MMAP_MAX, 0)
    option(TRIM_THRESHOLD, MOST)
