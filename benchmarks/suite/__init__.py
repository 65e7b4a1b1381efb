"""Our own benchmarks, one file a noun. Each has ``run()``, which prints a table."""
