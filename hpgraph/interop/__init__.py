"""Conversions to and from other libraries' graphs and matrices."""

from hpgraph.interop.from_edges import edges_given, from_edges
from hpgraph.interop.networkx import from_networkx, to_networkx

__all__ = ["edges_given", "from_edges", "from_networkx", "to_networkx"]
