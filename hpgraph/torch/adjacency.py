"""A sparse matrix of PyTorch: a pattern that operations share, and a tensor of values."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from hpgraph.containers.graph import Graph
from hpgraph.containers.matrix import MatrixStorage
from hpgraph.formats import CSR, index_dtype
from hpgraph.formats.checks import as_shape
from hpgraph.torch.pattern import Pattern, array, plain_tensor, stream_of, tensor

# Within, nothing is wrapped by torch.func.grad, under which ids have no memory that can be read.
_untransformed: Callable[[], Any] = getattr(torch._C, "_DisableFuncTorch", contextlib.nullcontext)


class Adjacency:
    """A sparse matrix with a fixed pattern, and optionally a tensor of values, which may require gradients.

    `Adjacency.of` creates one. Data prepared for products, such as the order of the transpose, is cached with the
    pattern, which `with_values` shares.

    Attributes
    ----------
    shape : (int, int)
    values : tensor of shape (nnz,) or (nnz, heads), or None
        In order of rows; None stands for ones.
    order : int64 tensor of shape (nnz,), or None
        For what was made from an edge index: the column of the edge index that each entry comes from.

    Examples
    --------
    >>> import torch
    >>> import hpgraph.torch
    >>> A = hpgraph.torch.Adjacency.of(torch.tensor([[0, 0, 1], [1, 2, 0]]), shape=(2, 3))
    >>> hpgraph.torch.spmm(A, torch.eye(3)).tolist()
    [[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]]
    """

    def __init__(self, pattern: Pattern, values: Tensor | None = None, order: Tensor | None = None) -> None:
        if not (values is None or isinstance(values, Tensor)):
            raise TypeError(f"values must be a tensor, or None, not {type(values).__name__}")
        if values is not None and (values.ndim not in (1, 2) or len(values) != pattern.nnz):
            raise ValueError(
                f"values must have shape ({pattern.nnz},) or ({pattern.nnz}, heads), not {tuple(values.shape)}"
            )
        if values is not None and values.device != pattern.device:
            raise ValueError(f"values must be on the device of A, {pattern.device}, not on {values.device}")
        self.pattern, self.values, self.order = pattern, values, order

    @classmethod
    def of(cls, A: Any, values: Tensor | None = None, *, shape: Sequence[int] | None = None) -> Adjacency:
        """Convert a matrix or graph of this or another library.

        Parameters
        ----------
        A : Adjacency, hpgraph.Graph, hpgraph.Matrix, sparse tensor, or int32 or int64 tensor of shape (2, nnz)
            A tensor in PyTorch's CSR layout, whose memory is shared, or COO layout; an edge index, as PyTorch
            Geometric's or its ``EdgeIndex``: rows, then columns, parallel edges kept; its ``SparseTensor``; a graph of
            DGL. A graph has the arc from i to j at [i, j].
        values : tensor of shape (nnz,) or (nnz, heads), optional
            For the entries of A, in the order of A; by default those of A.
        shape : (int, int), optional
            For an edge index; by default square, with the largest id.

        Raises
        ------
        TypeError, ValueError
            If A is none of these, or values are not one for each entry.
        """
        if isinstance(A, Adjacency):
            return A if values is None else A.with_values(values)
        if isinstance(A, Graph | MatrixStorage):
            csr = A.simple("sum").out_csr if isinstance(A, Graph) else A.csr_there
            csr_values = None if csr.data is None else tensor(csr.data.copy())
            return cls(Pattern(csr), csr_values if values is None else values)
        if hasattr(A, "adj_tensors"):
            indptr, indices, _ = A.adj_tensors("csr")
            return cls(_pattern(indptr, indices, (A.num_src_nodes(), A.num_dst_nodes())), values)
        if not isinstance(A, Tensor) and callable(getattr(A, "csr", None)):
            indptr, indices, csr_values = A.csr()
            return cls(_pattern(indptr, indices, A.sizes()), csr_values if values is None else values)
        if isinstance(A, Tensor) and A.layout == torch.sparse_csr and A.ndim == 2:
            csr_values = A.values() if values is None else values
            return cls(_pattern(A.crow_indices(), A.col_indices(), A.shape), csr_values)
        if isinstance(A, Tensor) and A.layout == torch.sparse_coo and A.ndim == 2:
            coalesced = A.coalesce()
            return cls.of(coalesced.indices(), coalesced.values() if values is None else values, shape=coalesced.shape)
        if isinstance(A, Tensor) and A.dtype in (torch.int32, torch.int64) and A.ndim == 2 and len(A) == 2:
            if shape is None and hasattr(A, "sparse_size"):
                sizes = A.sparse_size()
                shape = None if None in sizes else sizes
            return cls._of_edges(plain_tensor(A), values, shape)
        raise TypeError(
            "A must be a Graph, a Matrix, a sparse tensor in CSR or COO layout, or int32 or int64 of shape (2, nnz), "
            "not " + (f"{A.dtype} of shape {tuple(A.shape)}, {A.layout}" if isinstance(A, Tensor) else type(A).__name__)
        )

    @classmethod
    def _of_edges(cls, index: Tensor, values: Tensor | None, shape: Sequence[int] | None) -> Adjacency:
        if index.requires_grad:
            raise TypeError("an edge index holds ids and cannot require gradients")
        if shape is None:
            n = int(index.max()) + 1 if index.numel() else 0
            shape = (n, n)
        rows, columns = as_shape(shape)
        if index.numel():
            extremes = torch.stack((index.amin(1), index.amax(1)), 1).tolist()
            for name, (low, high), size in zip(("row", "column"), extremes, (rows, columns), strict=True):
                if low < 0 or high >= size:
                    raise ValueError(f"every {name} of the edge index must be from 0 to {size - 1}, as shape says")
        with _untransformed():
            # In 64 bits, since row times columns plus column may exceed 32.
            order = torch.argsort(index[0].to(torch.int64) * columns + index[1], stable=True)
            degree = torch.bincount(index[0], minlength=rows)
            indptr = torch.cat([degree.new_zeros(1), degree.cumsum(0)])
            pattern = _pattern(indptr, index[1][order], (rows, columns))
        adjacency = cls(pattern, values, order)
        return adjacency if values is None else adjacency.with_values(values[order])

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.pattern.shape

    @property
    def nnz(self) -> int:
        """How many entries there are."""
        return self.pattern.nnz

    @property
    def indices(self) -> Tensor:
        """Row and column of each entry: int64 tensor of shape (2, nnz), in the order of `values`."""
        return torch.stack([self.pattern.row, self.pattern.column])

    def with_values(self, values: Tensor | None) -> Adjacency:
        """The same pattern with other values, in the order of `indices`."""
        return Adjacency(self.pattern, values, self.order)

    def to_torch(self) -> Tensor:
        """A tensor in PyTorch's CSR layout, with ones where there are no values; the memory is shared."""
        csr, values = self.pattern.csr, self.values
        if values is None:
            values = torch.ones(self.nnz, device=self.pattern.device)
        columns = tensor(csr.indices).to(torch.int64)
        return torch.sparse_csr_tensor(tensor(csr.indptr), columns, values, size=self.shape, check_invariants=False)

    def __repr__(self) -> str:
        rows, columns = self.shape
        values = "no values" if self.values is None else f"{self.values.dtype} values"
        return f"Adjacency: {rows:,} x {columns:,}, {self.nnz:,} entries, {values}, {self.pattern.csr.device}"


def _pattern(indptr: Tensor, indices: Tensor, shape: Sequence[int]) -> Pattern:
    rows, columns = (int(size) for size in shape)
    with stream_of(indptr):
        offsets, ids = array(indptr.to(torch.int64)), array(indices)
        if ids.dtype not in (np.int32, np.int64):
            raise TypeError(f"indices must be int32 or int64, not {indices.dtype}")
        # Ids of 32 bits, where they fit, are half the bytes of every product.
        ids = ids.astype(index_dtype(max(rows, columns)), copy=False)
        return Pattern(CSR((rows, columns), offsets, ids, copy=False))
