"""Maximum flows, as in `scipy.sparse.csgraph`."""

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hpgraph.algorithms.maximum_flow import both_ways, check_capacities, flow_between
from hpgraph.containers.graph import Graph, one_of
from hpgraph.containers.matrix_source import is_older_matrix
from hpgraph.core.device import everywhere
from hpgraph.csgraph.graph_input import NO_PREDECESSOR, as_rows, require_sparse, require_square, sparse_of
from hpgraph.formats import CSR
from hpgraph.formats.bitmask import Bitmask
from hpgraph.kernels.backend import kernels

# From here on float64 does not represent all integers.
_MAX = 2.0**53


@dataclass(frozen=True, eq=False)
class MaximumFlowResult:
    """A maximum flow, with the attributes of SciPy's result.

    Attributes
    ----------
    flow_value : int
    flow : csr array or matrix, shape (n, n)
        On the CPU of int32, or of int64 for larger capacities; on the GPU of float64.
    """

    flow_value: int
    flow: Any

    def __repr__(self) -> str:
        return f"MaximumFlowResult with value of {self.flow_value}"


def maximum_flow(csgraph: Any, source: int, sink: int, *, method: str = "dinic") -> MaximumFlowResult:
    """A maximum flow from a source to a sink.

    Parameters
    ----------
    csgraph : csr_array or csr_matrix, Graph or Matrix, shape (n, n)
        The graph; entry (i, j) is the capacity of the arc from i to j: integers on the CPU, integral values of any type
        on the GPU.
    source, sink : int
        Vertices.
    method : {"dinic", "edmonds_karp"}
        For compatibility with SciPy, and checked as there; it does not change the algorithm.

    Returns
    -------
    object with `flow_value` and `flow`
        The flow is antisymmetric, on the device of the graph. On the GPU it is a `cupyx.scipy.sparse.csr_matrix` of
        float64, exact for integers below 2**53: CuPy's sparse matrices have no integer types.

    Raises
    ------
    TypeError
        If `csgraph` is not sparse in CSR format.
    ValueError
        If capacities are not integers, or on the GPU not integral values below 2**53 (`hpgraph.maximum_flow` computes
        in int64), or negative; if `source` and `sink` are the same or out of range; if `method` is unknown.

    Notes
    -----
    This is `hpgraph.maximum_flow`: of several maximum flows it may return another than SciPy.

    Examples
    --------
    >>> import scipy.sparse
    >>> from hpgraph import csgraph
    >>> capacity = scipy.sparse.csr_array(np.array([[0, 4, 0], [0, 0, 3], [0, 0, 0]], np.int32))
    >>> int(csgraph.maximum_flow(capacity, 0, 2).flow_value)
    3
    """
    require_sparse(csgraph, "csgraph", ("csr",))
    one_of(method, "method", ("dinic", "edmonds_karp"))
    rows = as_rows(csgraph)
    require_square(rows, "csgraph")
    n, source, sink = rows.shape[0], operator.index(source), operator.index(sink)
    for name, vertex in (("source", source), ("sink", sink)):
        if not 0 <= vertex < n:
            raise ValueError(f"{name} must be between 0 and {n - 1}, not {vertex}")
    if source == sink:
        raise ValueError("source and sink must be two vertices, not one")
    capacities = _whole(rows)
    is_narrow = rows.device == "cpu" and int(capacities.data.max(initial=0)) <= np.iinfo(np.int32).max
    kind = np.dtype(np.float64 if rows.device == "cuda" else np.int32 if is_narrow else np.int64)
    between = _vertices_between(capacities, source, sink) if rows.device == "cpu" else None
    if between is not None:
        check_capacities(capacities.data)
        if not len(between):
            return MaximumFlowResult(0, sparse_of(CSR._empty(rows.shape, kind, rows.device), is_older_matrix(csgraph)))
        source, sink = np.searchsorted(between, (source, sink)).tolist()
        capacities, _ = kernels("cpu").induced(capacities, Bitmask.from_indices(between, n))
    both, capacity = both_ways(Graph._from_csr(capacities, True, None))
    value, net = flow_between(both, capacity, source, sink)
    arcs = both.out_csr
    # The indices may be those of the input.
    indptr, indices = arcs.indptr, arcs.indices.copy()
    if between is not None:
        indptr, indices = np.zeros(n + 1, np.int64), between[indices]
        indptr[between + 1] = arcs.degrees
        np.cumsum(indptr, out=indptr)
    flow = CSR(rows.shape, indptr, indices, net.astype(kind, copy=False), validate=False)
    return MaximumFlowResult(int(value), sparse_of(flow, is_older_matrix(csgraph)))


def _vertices_between(arcs: CSR, source: int, sink: int) -> Any:
    """Vertices that `source` reaches, or that reach `sink`, ascending; None if most, empty if there is no path."""
    from hpgraph.kernels.structure.cpu_both_ways import turned
    from hpgraph.kernels.structure.cpu_fifo import fifo_order

    n = arcs.shape[0]
    reached, before = fifo_order(arcs, source, NO_PREDECESSOR)
    if before[sink] == NO_PREDECESSOR:
        return reached[:0]
    if 2 * len(reached) > n:
        reached, _ = fifo_order(turned(arcs.with_data(None), False), sink, NO_PREDECESSOR)
    return None if 2 * len(reached) > n else np.sort(reached)


def _whole(rows: CSR) -> CSR:
    """The capacities as int64."""
    weight = rows.data
    if weight.dtype.kind in "iub":
        return rows.astype(np.int64)
    if rows.device == "cpu":
        raise ValueError(f"capacities must be integers, not {weight.dtype}: convert them if you mean to")
    if not everywhere((weight == weight.round()) & (abs(weight) < _MAX)):
        raise ValueError(
            "capacities must be whole numbers below 2**53: hpgraph.maximum_flow takes larger ones, of int64"
        )
    return rows.astype(np.int64)
