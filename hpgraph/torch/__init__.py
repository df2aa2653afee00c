"""Sparse operations with autograd on PyTorch tensors: SpMM, SDDMM, SpGEMM, softmax over edges, reductions of segments.

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
from hpgraph.torch.products import sddmm, spmm, spspmm
from hpgraph.torch.segments import edge_softmax, segment_max, segment_mean, segment_min, segment_sum

__all__ = [
    "Adjacency", "edge_softmax", "sddmm", "segment_max", "segment_mean", "segment_min", "segment_sum", "spmm", "spspmm",
]  # fmt: skip
