"""Random recipes on every engine, whose releases plain Python judges from the published files alone."""
