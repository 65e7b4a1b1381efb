"""Mondrian: multidimensional partitioning of a table into classes of rows that are alike."""
