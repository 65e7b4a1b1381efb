"""One suite over the registry: what every method, model and measure must keep."""
