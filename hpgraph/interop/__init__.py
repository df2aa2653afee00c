"""Conversions to and from other libraries' graphs and matrices."""

from importlib import import_module
from typing import Any

_MODULE_OF = {
    "edges_given": "given_edges",
    "from_edges": "given_edges",
    "from_networkx": "networkx",
    "to_networkx": "networkx",
}
__all__ = ["edges_given", "from_edges", "from_networkx", "to_networkx"]


def __getattr__(name: str) -> Any:
    # NetworkX reads `hpgraph.interop.networkx_backend.info` whenever it is imported: what stands here must be light.
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'hpgraph.interop' has no attribute {name!r}")
    return getattr(import_module(f"hpgraph.interop.{_MODULE_OF[name]}"), name)
