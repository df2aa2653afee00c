"""Matchings of bipartite graphs, as in `scipy.sparse.csgraph`."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.algebra.write import without_zeros
from hpgraph.core.device import array_module, count, to_device
from hpgraph.core.number import one_of
from hpgraph.csgraph.graph_input import as_rows, is_csc, is_scipys_csr, require_sparse
from hpgraph.formats import CSR
from hpgraph.formats.checks import as_ids, as_offsets
from hpgraph.kernels.backend import kernels, matchings


def maximum_bipartite_matching(graph: Any, perm_type: str = "row") -> Any:
    """A maximum-cardinality matching between the rows and the columns of a matrix.

    Parameters
    ----------
    graph : sparse array or matrix in CSR, CSC or COO format, Graph or Matrix, shape (m, n)
        Each stored entry is an arc, zeros too.
    perm_type : {"row", "column"}
        Whether to return the row of each column, or the column of each row.

    Returns
    -------
    int32 array, shape (n,) or (m,)
        On the device of the graph; -1 for unmatched columns or rows.

    Raises
    ------
    TypeError
        If `graph` is not sparse, or in another format.
    ValueError
        If `perm_type` is unknown.

    Notes
    -----
    On the CPU one thread searches, in O(nnz √m) time in the worst case; SciPy's time may grow exponentially. A matrix
    on the GPU is copied to the CPU if augmenting paths are so long that this is faster.
    On the GPU the pairs, but not their number, may differ from run to run.

    References
    ----------
    A. Azad, A. Buluç, A. Pothen, "Computing maximum cardinality matchings in parallel on bipartite graphs via
    tree-grafting", TPDS 28(1) (2017). R. M. Karp, M. Sipser, "Maximum matchings in sparse random graphs", FOCS'81. J.
    E. Hopcroft, R. M. Karp, "An n^(5/2) algorithm for maximum matchings in bipartite graphs", SIAM J. Computing 2
    (1973). M. Deveci, K. Kaya, B. Uçar, Ü. V. Çatalyürek, "GPU accelerated maximum cardinality matching algorithms for
    bipartite graphs", Euro-Par'13.

    Examples
    --------
    >>> import scipy.sparse
    >>> from hpgraph import csgraph
    >>> csgraph.maximum_bipartite_matching(scipy.sparse.csr_array([[0, 0, 1], [1, 1, 0]]))
    array([ 1, -1,  0], dtype=int32)
    """
    one_of(perm_type, "perm_type", ("row", "column"))
    require_sparse(graph, "graph", ("csr", "csc", "coo"))
    column_of, row_of = _largest(graph)
    found = column_of if perm_type == "column" else row_of
    return found.astype(np.int32, copy=False)


def structural_rank(graph: Any) -> int:
    """The structural rank: the maximum number of rows and columns paired by stored entries, a bound of the rank.

    It is the size of a `maximum_bipartite_matching`, of sparse graphs in any format.

    Examples
    --------
    >>> import scipy.sparse
    >>> from hpgraph import csgraph
    >>> csgraph.structural_rank(scipy.sparse.csr_array([[1, 2, 0], [3, 0, 0], [4, 0, 0]]))
    2
    """
    require_sparse(graph, "graph", None)
    return count(_largest(graph)[0] >= 0)


def min_weight_full_bipartite_matching(biadjacency: Any, maximize: bool = False) -> tuple[Any, Any]:
    """A minimum-weight matching of all rows, or of all columns if they are fewer: the linear assignment problem.

    Parameters
    ----------
    biadjacency : sparse array or matrix in CSR, CSC or COO format, Graph or Matrix, shape (m, n)
        Each entry is an arc and its weight. Zeros and inf (with `maximize`, -inf) are not arcs.
    maximize : bool
        Whether to maximize the weight.

    Returns
    -------
    row_ind, col_ind : integer arrays, shape (min(m, n),)
        The arcs of the matching in ascending order of rows, on the device of the graph.

    Raises
    ------
    TypeError
        If `biadjacency` is not sparse, or in another format.
    ValueError
        If there is no matching of all rows or all columns, or a weight is NaN or -inf (with `maximize`, inf).

    Warns
    -----
    UserWarning
        If zeros are stored.

    Notes
    -----
    The search is sequential: a matrix on the GPU is copied to the CPU for it. Ties may be broken differently from
    SciPy.

    References
    ----------
    R. Jonker, A. Volgenant, "A shortest augmenting path algorithm for dense and sparse linear assignment problems",
    Computing 38 (1987).

    Examples
    --------
    >>> import scipy.sparse
    >>> from hpgraph import csgraph
    >>> csgraph.min_weight_full_bipartite_matching(scipy.sparse.csr_array([[3, 3, 6], [4, 3, 5], [10, 1, 8]]))
    (array([0, 1, 2]), array([0, 2, 1], dtype=int32))
    """
    require_sparse(biadjacency, "graph", ("csr", "csc", "coo"))
    rows = as_rows(biadjacency)
    arcs = _weighted(rows.to("cpu"), maximize)
    is_tall = arcs.shape[1] < arcs.shape[0]
    # Imported here, since it imports Numba.
    from hpgraph.kernels.matching.cpu_lightest import lightest

    found = lightest(kernels("cpu").transpose(arcs) if is_tall else arcs)
    if found is None:
        raise ValueError("no full matching exists: maximum_bipartite_matching gives one of most arcs")
    found = found.astype(np.int32, copy=False)
    order = np.argsort(found) if is_tall else np.arange(len(found))
    pair = (found[order], order) if is_tall else (order, found)
    return to_device(pair[0], rows.device), to_device(pair[1], rows.device)


def _places(graph: Any) -> CSR:
    """The pattern in CSR; a SciPy CSR keeps its order, since sorting takes as long as a matching."""
    if is_scipys_csr(graph):
        indices = as_ids(graph.indices[: graph.nnz], "indices", graph.shape[1], "column")
        indptr = as_offsets(graph.indptr, "indptr", graph.shape[0], len(indices))
        return CSR(graph.shape, indptr, indices, validate=False)
    return as_rows(graph, pattern=True)


def _weighted(arcs: CSR, maximize: bool) -> CSR:
    """The arcs that can be matched, with weights whose sum is minimized."""
    arcs = arcs.astype(np.float64)
    weight = arcs.data
    if not weight.all():
        warnings.warn("explicit zero weights are removed before matching", UserWarning, stacklevel=3)
    if np.isfinite(weight).all() and not maximize:
        return without_zeros(arcs)
    weight = -weight if maximize else weight.copy()
    weight[np.isposinf(weight)] = 0
    if not np.isfinite(weight).all():
        raise ValueError("weights must not be NaN, nor infinite in the direction that is sought: remove such arcs")
    return without_zeros(arcs.with_data(weight, copy=False))


def _largest(graph: Any) -> tuple[Any, Any]:
    """The column of each row, and the row of each column."""
    if is_csc(graph):
        row_of, column_of = _largest(graph.T)
        return column_of, row_of
    arcs = _places(graph)
    if arcs.device == "cpu" and arcs.shape[0] > arcs.shape[1]:
        # Searches from the larger side would fail from each vertex that has no mate in the end.
        row_of, column_of = _paired(_transposed(arcs), lambda _: arcs)
        return column_of, row_of
    return _paired(arcs, _transposed)


def _paired(arcs: CSR, transpose: Callable[[CSR], CSR]) -> tuple[Any, Any]:
    every = array_module(arcs.device).arange(max(arcs.shape), dtype=arcs.indices.dtype)
    return matchings(arcs.device).largest(arcs, transpose, *(every[:length] for length in arcs.shape))


def _transposed(arcs: CSR) -> CSR:
    cpu = kernels("cpu")
    # Checking symmetry takes a third of the time of a transposition, and stops early if the matrix is not symmetric.
    is_symmetric = arcs.shape[0] == arcs.shape[1] and cpu.is_both_ways(arcs)
    return arcs if is_symmetric else cpu.transpose(arcs)
