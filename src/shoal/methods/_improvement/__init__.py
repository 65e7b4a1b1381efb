"""Classes of any method, improved: rows move, classes part and join, and every promise is kept on the way."""
