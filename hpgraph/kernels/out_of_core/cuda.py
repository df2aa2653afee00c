"""Pages on the GPU: their stores, and the components of a graph that lies in them."""

from hpgraph.kernels.out_of_core.cuda_components import components
from hpgraph.kernels.out_of_core.cuda_ring import least_memory
from hpgraph.kernels.out_of_core.cuda_store import PageStore

__all__ = ["PageStore", "components", "least_memory"]
