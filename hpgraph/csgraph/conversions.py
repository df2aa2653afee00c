"""Graphs as dense and as masked arrays, and distances from predecessors, as in `scipy.sparse.csgraph`."""

from typing import Any

import numpy as np

from hpgraph.core.device import anywhere, array_module, everywhere, is_cuda, to_device
from hpgraph.csgraph.graph_input import (
    NO_PREDECESSOR,
    as_graph_input,
    as_rows,
    lies_on_cuda,
    nulls,
    require_square,
    rows_of_dense,
    sparse_of,
)
from hpgraph.formats import CSR


def csgraph_from_dense(graph: Any, null_value: Any = 0, nan_null: bool = True, infinity_null: bool = True) -> Any:
    """Convert a dense array to a sparse graph.

    Parameters
    ----------
    graph : array, shape (n, n)
        Weights, on the CPU or on the GPU.
    null_value : float, optional
        Value that denotes no arc; so do floats within 1e-8 of it, as in SciPy.
    nan_null, infinity_null : bool
        Whether NaN, and infinities of either sign, denote no arc.

    Returns
    -------
    csr_array or csr_matrix, shape (n, n)
        Of float64; a matrix for a `numpy.matrix`, and of CuPy on the GPU.

    Raises
    ------
    ValueError
        If the array is not square.

    Examples
    --------
    >>> from hpgraph import csgraph
    >>> csgraph.csgraph_from_dense([[0, 1], [2, 0]]).indices
    array([1, 0], dtype=int32)
    """
    array = graph if is_cuda(graph) else np.asarray(graph)
    present = ~nulls(array, null_value, nan_null, infinity_null)
    return sparse_of(rows_of_dense(array, present), isinstance(graph, np.matrix))


def csgraph_from_masked(graph: Any) -> Any:
    """Convert a masked array to a sparse graph.

    Parameters
    ----------
    graph : masked array, shape (n, n)
        Weights; masked elements are no arcs. An array on the GPU, which is never masked, is a `TypeError`.

    Returns
    -------
    csr_array or csr_matrix, shape (n, n)
        Of float64.
    """
    _refuse_cuda(graph, "csgraph_from_masked")
    masked = np.ma.asanyarray(graph)
    require_square(masked)
    rows = rows_of_dense(np.asarray(masked.data), ~np.ma.getmaskarray(masked))
    return sparse_of(rows, masked._baseclass is np.matrix)


def csgraph_masked_from_dense(
    graph: Any, null_value: Any = 0, nan_null: bool = True, infinity_null: bool = True, copy: bool = True
) -> Any:
    """Convert a dense array to a masked array.

    Parameters
    ----------
    graph, null_value, nan_null, infinity_null
        As for `csgraph_from_dense`. An array on the GPU is a `TypeError`.
    copy : bool
        Whether to copy the array.

    Returns
    -------
    numpy.ma.MaskedArray, shape (n, n)
        Masked where there is no arc.
    """
    _refuse_cuda(graph, "csgraph_masked_from_dense")
    # A mask given stays; SciPy drops it, and with it the difference between arcs and what is no arc.
    array = np.array(graph, copy=copy or None, subok=isinstance(graph, np.ma.MaskedArray))
    null = nulls(np.asarray(array), null_value, nan_null, infinity_null)
    masked = np.ma.masked_array(array, null)
    if null_value is not None and np.isfinite(null_value):
        # As SciPy's, it wraps in integers.
        fill: Any = np.asarray(null_value).astype(array.dtype)
        masked.fill_value = fill
    return masked


def csgraph_to_dense(csgraph: Any, null_value: Any = 0) -> Any:
    """Convert a sparse graph to a dense array; of parallel arcs the lightest counts.

    Parameters
    ----------
    csgraph : sparse array or matrix in CSR, CSC or LIL format, Graph or Matrix, shape (n, n)
        The graph.
    null_value : float
        Value that denotes no arc.

    Returns
    -------
    float64 array, shape (n, n)
        On the device of the graph.

    Raises
    ------
    ValueError
        If `csgraph` is not sparse, in another format or not square.

    Examples
    --------
    >>> import scipy.sparse
    >>> from hpgraph import csgraph
    >>> csgraph.csgraph_to_dense(scipy.sparse.csr_array([[0, 1], [2, 0]]), -1)
    array([[-1.,  1.],
           [ 2., -1.]])
    """
    if getattr(csgraph, "format", "csr" if hasattr(csgraph, "out_csr") else None) not in ("csr", "csc", "lil"):
        raise ValueError(f"csgraph must be sparse, in csr, csc or lil format, not {type(csgraph).__name__}")
    rows = as_rows(csgraph)
    require_square(rows, "csgraph")
    return _dense(rows, null_value)


def csgraph_to_masked(csgraph: Any) -> Any:
    """Convert a sparse graph to a masked array of float64, masked where there is no arc.

    Parameters are those of `csgraph_to_dense`. A graph on the GPU is a `TypeError`: CuPy has no masked arrays.
    """
    _refuse_cuda(csgraph, "csgraph_to_masked")
    return np.ma.masked_invalid(csgraph_to_dense(csgraph, np.nan))


def construct_dist_matrix(graph: Any, predecessors: Any, directed: bool = True, null_value: float = np.inf) -> Any:
    """A distance matrix from a matrix of predecessors.

    Parameters
    ----------
    graph : sparse or dense array, Graph or Matrix, shape (n, n)
        The graph of the paths.
    predecessors : int32 array, shape (n, n)
        The predecessor of each vertex (column) on the path from another (row); -9999 if there is none.
    directed : bool
        If false, an arc has the lighter of its weights in both directions.
    null_value : float
        The distance without a path.

    Returns
    -------
    float64 array, shape (n, n)
        On the device of the graph.

    Raises
    ------
    ValueError
        If shapes differ, or a predecessor is not a vertex.
    TypeError
        If predecessors are of another type.

    Examples
    --------
    >>> from hpgraph import csgraph
    >>> G = np.array([[0, 1, 4], [0, 0, 2], [0, 0, 0]])
    >>> _, predecessors = csgraph.shortest_path(G, return_predecessors=True)
    >>> csgraph.construct_dist_matrix(G, predecessors)
    array([[ 0.,  1.,  3.],
           [inf,  0.,  2.],
           [inf, inf,  0.]])
    """
    given = as_graph_input(graph)
    xp = given.xp
    before = to_device(predecessors if is_cuda(predecessors) else np.asarray(predecessors), given.device)
    if before.dtype != np.int32:
        raise TypeError(f"predecessors must be of int32, as they are found, not {before.dtype}")
    if before.shape != given.csr.shape:
        raise ValueError(f"graph and predecessors must have the same shape, not {given.csr.shape} and {before.shape}")
    if anywhere((before < 0) & (before != NO_PREDECESSOR) | (before >= before.shape[0])):
        raise ValueError(f"predecessors must be vertices, 0..{before.shape[0] - 1}, or {NO_PREDECESSOR} for none")
    arcs = given.graph(directed).out_csr
    if given.device == "cpu":
        from hpgraph.kernels.structure.cpu_predecessors import path_lengths

        return path_lengths(_dense(arcs, np.inf), np.ascontiguousarray(before), NO_PREDECESSOR, null_value)
    n = before.shape[0]
    column = xp.arange(n)
    before = xp.where((before == NO_PREDECESSOR) | (column == column[:, None]), column, before)
    length = xp.take_along_axis(_dense(arcs, np.inf), before, 0)
    length = xp.where(before == column, 0, length)
    # Pointer doubling, up to the first vertex of each path.
    for _ in range(n.bit_length()):
        further = xp.take_along_axis(before, before, 1)
        if everywhere(further == before):
            break
        length += xp.take_along_axis(length, before, 1)
        before = further
    return xp.where(before == column[:, None], length, null_value)


def _dense(rows: CSR, null_value: Any) -> Any:
    dense = array_module(rows.device).full(rows.shape, null_value, dtype=np.float64)
    dense[rows.expand_rows(), rows.indices] = rows.data
    return dense


def _refuse_cuda(graph: Any, name: str) -> None:
    if lies_on_cuda(graph):
        raise TypeError(
            f"csgraph.{name} is only for the CPU, as CuPy has no masked arrays: use csgraph_to_dense or its like"
        )
