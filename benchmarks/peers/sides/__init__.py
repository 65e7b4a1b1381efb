"""One side of a task each: how a tool is called. A side knows its own tool and the standard library alone.

It offers ``load(**arguments)``, which reads the data; ``work(loaded)``, which is what is timed; and ``found(loaded,
result)``, figures of what came out. ``DISTRIBUTIONS`` names what is installed for it, the tool first.
"""
