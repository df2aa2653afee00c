"""Graph files in and out, one format a file."""

from hpgraph.io.conversion import convert
from hpgraph.io.files import read, write

__all__ = ["convert", "read", "write"]
