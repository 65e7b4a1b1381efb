"""The report: a finished run as one page of HTML without scripts, for the owner of the data."""
