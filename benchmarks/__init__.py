"""Benchmarks: `suite` is ours, `peers` the same work through other tools. Run with ``make bench``."""
