"""Graphs as the functions of `scipy.sparse.csgraph` take them, and sparse results of the kind that came in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hpgraph.containers.graph import Graph
from hpgraph.core.device import array_module, is_cuda
from hpgraph.formats import CSR
from hpgraph.formats.checks import as_value_dtype
from hpgraph.formats.interchange import check_places, scipy_of_csr
from hpgraph.scipy_api.matrix import Matrix

# SciPy's mark for a vertex that has no predecessor.
NO_PREDECESSOR = -9999


@dataclass(frozen=True)
class GraphInput:
    """A graph that a user gave.

    Attributes
    ----------
    csr : CSR
        Its arcs, with float64 weights, free of duplicates.
    as_matrix : bool
        Whether sparse results are SciPy's matrices rather than its arrays, as the input was.
    """

    csr: CSR
    as_matrix: bool

    @property
    def device(self) -> str:
        """Where it lies."""
        return self.csr.device

    @property
    def xp(self) -> Any:
        """NumPy or CuPy."""
        return array_module(self.device)

    def graph(self, directed: bool, *, weighted: bool = True) -> Graph:
        """The graph that the functions of `hpgraph` take."""
        graph = Graph(self.csr if weighted else self.csr.with_data(None), directed=True)
        return graph if directed else graph.undirected

    def sparse(self, csr: CSR) -> Any:
        """A sparse result as a CSR array, or matrix, of the library that the input came from."""
        made = scipy_of_csr(csr)
        if self.as_matrix and self.device == "cpu":
            import scipy.sparse

            return scipy.sparse.csr_matrix(made)
        return made


def as_graph_input(csgraph: Any) -> GraphInput:
    """A graph in any form that SciPy's functions take, or on the GPU."""
    as_matrix = isinstance(csgraph, np.matrix)
    if isinstance(csgraph, Graph):
        csr = csgraph.out_csr
    elif isinstance(csgraph, Matrix):
        csr = csgraph.csr
    elif hasattr(csgraph, "tocsr"):
        as_matrix = _is_spmatrix(csgraph)
        if getattr(csgraph, "format", None) == "bsr":
            # What fills its blocks is no edge (SciPy 1.18).
            check_places(csgraph)
            csgraph = csgraph.tocsr(copy=True)
            csgraph.eliminate_zeros()
        csr = CSR.from_scipy(csgraph, copy=False)
    elif is_cuda(csgraph):
        csr = _from_dense_cuda(csgraph)
    else:
        import scipy.sparse.csgraph

        masked = isinstance(csgraph, np.ma.MaskedArray)
        as_matrix = as_matrix or (masked and csgraph._baseclass is np.matrix)
        convert = scipy.sparse.csgraph.csgraph_from_masked if masked else scipy.sparse.csgraph.csgraph_from_dense
        csr = CSR.from_scipy(convert(csgraph), copy=False)
    if csr.shape[0] != csr.shape[1]:
        raise ValueError(f"csgraph must be square, one row and one column for each vertex, not {csr.shape}")
    if csr.data is None:
        csr = csr.with_data(array_module(csr.device).ones(csr.nnz), copy=False)
    as_value_dtype(csr.data.dtype, "csgraph", real=True)
    return GraphInput(csr.astype(np.float64), as_matrix)


def as_scipy(csgraph: Any, name: str) -> Any:
    """A graph for a function that is SciPy's own."""
    if lies_on_cuda(csgraph):
        raise TypeError(f"csgraph.{name} works on the CPU alone: give it the graph as csgraph.get() or .to('cpu')")
    if isinstance(csgraph, Graph):
        return scipy_of_csr(csgraph.out_csr)
    if isinstance(csgraph, Matrix):
        return scipy_of_csr(csgraph.csr, np.bool_)
    if hasattr(csgraph, "tocsr"):
        check_places(csgraph)
    return csgraph


def lies_on_cuda(csgraph: Any) -> bool:
    """Whether a graph lies on the GPU."""
    if isinstance(csgraph, Graph | Matrix):
        return csgraph.device == "cuda"
    return is_cuda(csgraph) or type(csgraph).__module__.startswith("cupyx.")


def _is_spmatrix(csgraph: Any) -> bool:
    import scipy.sparse

    return isinstance(csgraph, scipy.sparse.spmatrix)


def _from_dense_cuda(array: Any) -> CSR:
    xp = array_module(array)
    if array.ndim != 2:
        raise ValueError(f"csgraph must have two dimensions, not shape {array.shape}")
    values = array.astype(np.float64)
    row, col = xp.nonzero((values != 0) & xp.isfinite(values))
    return CSR.from_coo(row, col, values[row, col], array.shape)
