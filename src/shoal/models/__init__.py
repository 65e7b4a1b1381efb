"""Promises: privacy models that verify published data by themselves, one file each."""
