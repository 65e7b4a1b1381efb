"""k^m-anonymity of baskets by generalizing items."""
