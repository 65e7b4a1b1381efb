"""The nouns of Shoal: tables, baskets, their published forms, and what is known about each."""
