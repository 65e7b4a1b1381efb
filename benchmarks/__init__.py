"""Benchmarks: `suite` measures Shoal, `peers` other tools at the same work. Run with ``make bench``."""
