"""Random recipes on every engine, judged from the published files alone by plain Python."""
