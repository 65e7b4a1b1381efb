"""The same work through other tools, where they are installed."""
