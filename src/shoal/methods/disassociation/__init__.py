"""Disassociation: clusters of baskets in which rare combinations of items are separated."""
