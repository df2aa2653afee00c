"""Pages on the CPU: their stores, and the components of a graph that lies in them."""

from hpgraph.kernels.out_of_core.cpu_components import components
from hpgraph.kernels.out_of_core.cpu_store import PageStore, least_memory

__all__ = ["PageStore", "components", "least_memory"]
