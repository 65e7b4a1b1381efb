"""(k,k^m)-anonymity of a table with a column of items."""
