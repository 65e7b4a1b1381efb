"""The laboratory: one recipe, many runs, and pictures that answer the question."""
