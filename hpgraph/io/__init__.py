"""Graph files in and out, one format a file."""

from hpgraph.io.conversion import convert
from hpgraph.io.files import read, write
from hpgraph.io.opening import open

load = read

__all__ = ["convert", "load", "open", "read", "write"]
