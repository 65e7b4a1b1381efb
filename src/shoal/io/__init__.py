"""Reading and writing: one file a family of formats; `tables` is the door for tables.

Texts become integers here, once, and return to texts here.
"""
