"""Sparse operations with autograd on PyTorch tensors, samples for its loaders, and graphs of its libraries.

Nothing is compiled against PyTorch: tensors are passed by their memory, on the stream that is current, and every
operation is a custom operator (`torch.library`), which `torch.compile` keeps as it is. The extra ``torch`` installs
PyTorch; without it the import names it.
"""

from hpgraph.core.errors import MissingExtraError

try:
    import torch as _torch  # noqa: F401
except ImportError:
    raise MissingExtraError("PyTorch", "torch", "hpgraph.torch") from None

from hpgraph.torch.adjacency import Adjacency
from hpgraph.torch.conversions import from_data, from_dgl, to_data, to_dgl, to_edge_index
from hpgraph.torch.messages import gather_scatter
from hpgraph.torch.negatives import negative_edges
from hpgraph.torch.neighbor_sampler import NeighborSampler
from hpgraph.torch.products import sddmm, spmm, spspmm
from hpgraph.torch.segments import edge_softmax, segment_max, segment_mean, segment_min, segment_sum

__all__ = [
    "Adjacency", "NeighborSampler", "edge_softmax", "from_data", "from_dgl", "gather_scatter", "negative_edges",
    "sddmm", "segment_max", "segment_mean", "segment_min", "segment_sum", "spmm", "spspmm", "to_data", "to_dgl",
    "to_edge_index",
]  # fmt: skip
