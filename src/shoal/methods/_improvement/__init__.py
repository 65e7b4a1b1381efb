"""Improvement of any method's classes: rows move, classes are split and joined, and every promise stays kept."""
