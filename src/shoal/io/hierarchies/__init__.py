"""Hierarchies from and to files; `load` is the door."""
