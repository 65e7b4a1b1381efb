"""Frequent itemsets and association rules, for methods, models and measures."""
