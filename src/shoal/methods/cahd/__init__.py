"""CAHD: correlation-aware groups for sparse baskets."""
