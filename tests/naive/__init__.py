"""Slow twins of fast code: plain Python, short, written from the papers' definitions."""
