"""The same work through other tools, in processes of their own: ``python -m benchmarks.peers``, or ``make peers``."""
