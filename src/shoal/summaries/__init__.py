"""Cross-tables of a table, and their protection by hidden cells or by noise."""
