"""Conversions to and from other libraries' graphs and matrices."""

from hpgraph.interop.networkx import from_networkx, to_networkx

__all__ = ["from_networkx", "to_networkx"]
