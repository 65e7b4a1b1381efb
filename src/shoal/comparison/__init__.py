"""Comparisons: one recipe, many runs, and charts that answer its question."""
