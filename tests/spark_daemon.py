"""The process that a test's Python workers of Spark are forked from, with what each would load for half a second.

Of libraries only those that may be forked: polars has threads of its own from its import on.
"""

import importlib

LOADED = ("pandas", "pyarrow", "pyspark.worker")

if __name__ == "__main__":
    for name in LOADED:
        importlib.import_module(name)
    importlib.import_module("pyspark.daemon").manager()
