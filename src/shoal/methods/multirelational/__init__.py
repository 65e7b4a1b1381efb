"""k-anonymity of persons on the join with their records."""
