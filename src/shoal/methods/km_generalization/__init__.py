"""k^m-anonymity of baskets by generalising items."""
