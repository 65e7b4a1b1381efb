"""Attacks on a release, one file each: what an adversary still learns."""
