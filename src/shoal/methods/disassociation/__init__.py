"""Disassociation: clusters of baskets whose rare combinations are taken apart."""
