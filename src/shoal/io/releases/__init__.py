"""The release folder: its data file in each published form, and release.json."""
