"""Local suppression: single cells are starred, and nothing is generalized."""
