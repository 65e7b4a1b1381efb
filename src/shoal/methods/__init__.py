"""Algorithms of papers, one file each (a folder where an algorithm has stages)."""
