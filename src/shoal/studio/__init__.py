"""The studio: a local web page on which a release is made without code. Everything stays on the machine."""
