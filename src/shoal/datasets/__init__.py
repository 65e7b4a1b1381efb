"""Generators of synthetic data with a known truth, for trying things out and for tests."""
