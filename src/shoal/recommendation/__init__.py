"""Which release to make: candidates tried within a time limit, and the least lossy one that keeps the promise."""
