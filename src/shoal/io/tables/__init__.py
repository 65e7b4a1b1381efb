"""Tables from and to files, frames and databases; `load` is the door."""
