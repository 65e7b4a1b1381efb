"""Page templates, compiled once and kept on disk, because compiling takes longer than rendering."""

import os
from functools import cache
from importlib.resources import files
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket, FileSystemBytecodeCache

from shoal import __version__


@cache
def templates(package: str) -> jinja2.Environment:
    """The templates of a package; values are escaped, and an undefined name is an error."""
    return jinja2.Environment(
        loader=jinja2.PackageLoader(package),
        bytecode_cache=_Kept(package),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def page_style() -> str:
    """The style that all pages share."""
    return files("shoal.report").joinpath("templates", "style.css").read_text(encoding="utf-8")


class _Kept(FileSystemBytecodeCache):
    """Keeps compiled templates beside their sources or, where that is read-only, in the user's cache.

    Where neither can be written, nothing is kept. A changed template is compiled again: jinja compares a hash of its
    text.
    """

    def __init__(self, package: str) -> None:
        beside = Path(str(files(package).joinpath("templates")))
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        place = beside / "__pycache__" if os.access(beside, os.W_OK) else Path(base) / "shoal"
        super().__init__(str(place), f"shoal-{__version__}-jinja-{jinja2.__version__}-%s.cache")

    def load_bytecode(self, bucket: Bucket) -> None:
        """Take what was kept, unless it cannot be read."""
        try:
            super().load_bytecode(bucket)
        except (OSError, EOFError, ValueError, TypeError):
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what was compiled, if possible."""
        try:
            os.makedirs(self.directory, exist_ok=True)
            super().dump_bytecode(bucket)
        except OSError:
            return
