"""Recommend a release: try candidates within a time limit, and propose the least lossy that keeps the promise."""
