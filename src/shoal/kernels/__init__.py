"""Inner loops that are compiled."""
