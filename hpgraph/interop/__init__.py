"""Conversions to and from other libraries' graphs and matrices."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hpgraph.interop.given_edges import columns_given as columns_given
    from hpgraph.interop.given_edges import edges_given as edges_given
    from hpgraph.interop.given_edges import from_edges as from_edges
    from hpgraph.interop.networkx import from_networkx as from_networkx
    from hpgraph.interop.networkx import to_networkx as to_networkx

_MODULE_OF = {
    "columns_given": "given_edges",
    "edges_given": "given_edges",
    "from_edges": "given_edges",
    "from_networkx": "networkx",
    "to_networkx": "networkx",
}

if not TYPE_CHECKING:
    __all__ = [*_MODULE_OF]

    def __getattr__(name: str) -> object:
        # NetworkX reads `networkx_backend.info` whenever it is imported: what stands here must be light.
        if name not in _MODULE_OF:
            raise AttributeError(f"module 'hpgraph.interop' has no attribute {name!r}")
        return getattr(import_module(f"hpgraph.interop.{_MODULE_OF[name]}"), name)
