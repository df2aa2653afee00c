"""Orders of rows and columns, as in `scipy.sparse.csgraph`."""

from typing import Any

import numpy as np

from hpgraph.containers.graph import Graph
from hpgraph.core.device import array_module, to_device
from hpgraph.csgraph.graph_input import as_rows, both_ways, is_csc, require_sparse, require_square
from hpgraph.kernels.backend import kernels
from hpgraph.scipy_api.matrix import Matrix


def reverse_cuthill_mckee(graph: Any, symmetric_mode: bool = False) -> Any:
    """The reverse Cuthill-McKee order of rows and columns, which reduces the bandwidth.

    Parameters
    ----------
    graph : sparse array or matrix in CSR or CSC format, Graph or Matrix, shape (n, n)
        Values are ignored. Entries count in both directions.
    symmetric_mode : bool
        Whether the matrix is known to be symmetric.

    Returns
    -------
    integer array, shape (n,)
        A permutation, on the device of the graph; of the type of the matrix's ids, and int32 for a Graph or Matrix.

    Raises
    ------
    TypeError
        If `graph` is not sparse, or in another format.
    ValueError
        If `graph` is not square.

    Notes
    -----
    On the GPU all components are searched at once, a level at a time. With `symmetric_mode`, a matrix on the GPU that
    is not symmetric is copied to the CPU.

    References
    ----------
    E. Cuthill, J. McKee, "Reducing the bandwidth of sparse symmetric matrices", ACM '69.

    Examples
    --------
    >>> import scipy.sparse
    >>> from hpgraph import csgraph
    >>> csgraph.reverse_cuthill_mckee(scipy.sparse.csr_array([[0, 1, 2, 0], [0, 0, 0, 1], [2, 0, 0, 3], [0, 0, 0, 0]]))
    array([3, 2, 1, 0], dtype=int32)
    """
    require_sparse(graph, "input", ("csr", "csc"))
    # Entries count in both directions, and SciPy searches the columns of a CSC.
    rows = as_rows(graph.T if is_csc(graph) else graph, pattern=True)
    require_square(rows, "graph")
    arcs = rows if symmetric_mode else both_ways(rows)
    if symmetric_mode and rows.device != "cpu" and not kernels(rows.device).is_both_ways(rows):
        arcs = rows.to("cpu")
    xp = array_module(arcs.device)
    degree = xp.diff(arcs.indptr)
    degree[arcs.indices[arcs.indices == arcs.expand_rows()]] += 1
    degree = degree.astype(np.int32)
    # NumPy's default sort, which is not stable: SciPy selects its seeds by the same call.
    seeds = np.argsort(to_device(degree, "cpu"))
    order = kernels(arcs.device).cuthill_mckee(arcs, degree, seeds)
    ids = np.int32 if isinstance(graph, Graph | Matrix) else graph.indices.dtype
    return to_device(order[::-1].astype(ids), rows.device)
