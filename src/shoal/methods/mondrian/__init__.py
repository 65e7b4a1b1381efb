"""Mondrian: multidimensional partitioning of a table into classes of similar rows."""
