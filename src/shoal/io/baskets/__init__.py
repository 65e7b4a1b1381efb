"""Baskets from and to files and frames; `load` is the door."""
