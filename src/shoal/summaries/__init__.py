"""Cross-tables of a table, and how they are protected: hidden cells, or noise."""
