"""The process that Spark's Python workers are forked from in tests; it has loaded what takes each half a second.

It loads only libraries that may be forked; polars, for one, starts threads when it is imported.
"""

import importlib

LOADED = ("pandas", "pyarrow", "pyspark.worker")

if __name__ == "__main__":
    for name in LOADED:
        importlib.import_module(name)
    importlib.import_module("pyspark.daemon").manager()
