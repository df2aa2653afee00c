"""Breadth-first and depth-first orders and trees, as in `scipy.sparse.csgraph`."""

from typing import Any

import numpy as np

from hpgraph.containers.matrix_source import is_older_matrix
from hpgraph.containers.vertices import checked_index
from hpgraph.core.device import anywhere, to_device
from hpgraph.csgraph.graph_input import NO_PREDECESSOR, as_stored, is_plain, sparse_of
from hpgraph.kernels.backend import kernels


def breadth_first_order(csgraph: Any, i_start: int, directed: bool = True, return_predecessors: bool = True) -> Any:
    """Vertices in breadth-first order, neighbours in the order of their rows.

    Parameters
    ----------
    csgraph : sparse or dense array, Graph or Matrix, shape (n, n)
    i_start : int
        The source.
    directed : bool
        If false, arcs are followed in both directions: out-arcs of each vertex first.
    return_predecessors : bool
        Whether to return predecessors too.

    Returns
    -------
    node_array : int32 array
        The reachable vertices.
    predecessors : int32 array, shape (n,)
        Predecessor of each vertex in the traversal; -9999 for the source and for unreachable vertices.

    Raises
    ------
    IndexError, TypeError
        If `i_start` is not a vertex.

    Notes
    -----
    A vertex's position in its level depends on positions in the level before, so levels are processed one after the
    other. On the GPU one block processes short levels, so a graph of thousands of these gains little.

    Examples
    --------
    >>> from hpgraph import csgraph
    >>> csgraph.breadth_first_order(np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]]), 0)
    (array([0, 2, 1], dtype=int32), array([-9999,     2,     0], dtype=int32))
    """
    return _in_order(csgraph, i_start, directed, return_predecessors)


def depth_first_order(csgraph: Any, i_start: int, directed: bool = True, return_predecessors: bool = True) -> Any:
    """Vertices in depth-first order, neighbours in the order of their rows; otherwise as `breadth_first_order`.

    Notes
    -----
    Depth-first order is sequential (J. H. Reif, "Depth-first search is inherently sequential", Inf. Process. Lett. 20,
    1985): a graph on the GPU is copied to the CPU for it.

    Examples
    --------
    >>> from hpgraph import csgraph
    >>> csgraph.depth_first_order(np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]]), 0)
    (array([0, 1, 2], dtype=int32), array([-9999,     0,     1], dtype=int32))
    """
    from hpgraph.kernels.structure.cpu_depth_first import depth_first_order as follow

    return _in_order(csgraph, i_start, directed, return_predecessors, follow)


def _in_order(csgraph: Any, i_start: int, directed: bool, return_predecessors: bool, search: Any = None) -> Any:
    """The order and predecessors of a search on the CPU, by default of breadth-first search on the graph's device."""
    is_read = directed and is_plain(csgraph, wide=True)
    # SciPy's CSR has the attributes that a search reads, and to make ours takes as long as a search of few arcs.
    # SciPy, too, searches the columns of an undirected CSC: neighbours are in that order.
    arcs = csgraph if is_read else as_stored(csgraph, directed, reads_rows=True).csr
    home = "cpu" if is_read else arcs.device
    device = home if search is None else "cpu"
    start = checked_index(i_start, arcs.shape[0], "i_start")
    if device != home:
        arcs = arcs.with_data(None).to(device)
    if not directed:
        arcs = kernels(device).rows_both_ways(arcs.with_data(None))
    order, predecessors = (search or kernels(device).fifo_order)(arcs, start, NO_PREDECESSOR)
    if device != home or order.dtype != np.int32:
        order, predecessors = (to_device(array.astype(np.int32), home) for array in (order, predecessors))
    return (order, predecessors) if return_predecessors else order


def breadth_first_tree(csgraph: Any, i_start: int, directed: bool = True) -> Any:
    """The tree of a `breadth_first_order`, with the weights of its arcs.

    Returns
    -------
    csr_array or csr_matrix, shape (n, n)
        Arcs from predecessors; of SciPy or CuPy.

    Examples
    --------
    >>> from hpgraph import csgraph
    >>> csgraph.breadth_first_tree(np.array([[0, 5, 1], [0, 0, 2], [0, 0, 0]]), 0).toarray()
    array([[0., 5., 1.],
           [0., 0., 0.],
           [0., 0., 0.]])
    """
    _, predecessors = breadth_first_order(csgraph, i_start, directed)
    return reconstruct_path(csgraph, predecessors, directed)


def depth_first_tree(csgraph: Any, i_start: int, directed: bool = True) -> Any:
    """The tree of a `depth_first_order`, with the weights of its arcs, as for `breadth_first_tree`."""
    _, predecessors = depth_first_order(csgraph, i_start, directed)
    return reconstruct_path(csgraph, predecessors, directed)


def reconstruct_path(csgraph: Any, predecessors: Any, directed: bool = True) -> Any:
    """A tree from a list of predecessors.

    Parameters
    ----------
    csgraph : sparse or dense array, Graph or Matrix, shape (n, n)
        The graph of the tree.
    predecessors : integer array, shape (n,)
        The predecessor of each vertex; negative if there is none.
    directed : bool
        If false, an arc has the lighter of its weights in both directions.

    Returns
    -------
    csr_array or csr_matrix, shape (n, n)

    Raises
    ------
    ValueError
        If the length is not n, or predecessors are not integers.
    IndexError
        If a predecessor is not a vertex.
    """
    given = as_stored(csgraph, directed)
    arcs, predecessors = given.csr, given.xp.asarray(predecessors)
    if predecessors.dtype.kind not in "iu":
        raise ValueError(f"predecessors must be of an integral dtype, not {predecessors.dtype}: convert them")
    if predecessors.shape != (arcs.shape[0],):
        raise ValueError(
            f"predecessors must have shape ({arcs.shape[0]},), one for each vertex, not {predecessors.shape}"
        )
    if anywhere(predecessors >= arcs.shape[0]):
        raise IndexError(f"predecessors must be vertices, 0..{arcs.shape[0] - 1}, or negative for none")
    if given.device == "cpu":
        from hpgraph.kernels.structure.cpu_predecessors import tree_arcs

        narrow = np.ascontiguousarray(predecessors, np.int32 if predecessors.dtype == np.int32 else np.int64)
        # SciPy gives an array for a `numpy.matrix` here.
        return sparse_of(tree_arcs(arcs, narrow, bool(directed)), is_older_matrix(csgraph))
    arcs = given.graph(directed).out_csr
    kept = predecessors[arcs.indices] == arcs.expand_rows()
    # If all are kept, the arrays are the input's.
    return given.sparse(kernels(given.device).keep_entries(arcs, kept), "copy")
