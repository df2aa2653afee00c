"""Minimum spanning trees, as in `scipy.sparse.csgraph`."""

from typing import Any

import numpy as np

from hpgraph.containers.graph import Graph
from hpgraph.core.device import array_module
from hpgraph.csgraph.graph_input import as_stored
from hpgraph.formats import CSR
from hpgraph.kernels.backend import kernels


def minimum_spanning_tree(csgraph: Any, overwrite: bool = False) -> Any:
    """A minimum spanning tree of each component.

    Parameters
    ----------
    csgraph : sparse or dense array, Graph or Matrix, shape (n, n)
        The graph; an arc joins its ends, whatever its direction.
    overwrite : bool
        For compatibility with SciPy: nothing is overwritten.

    Returns
    -------
    csr_array or csr_matrix, shape (n, n)
        The arcs of the trees, each in one direction: that of the lighter arc; of equal ones on the GPU, that in the
        upper triangle.

    Notes
    -----
    On the CPU ties go to the first arc, as in SciPy; on the GPU this is `hpgraph.minimum_spanning_forest`, with its own
    tie-breaking. Tree arcs of weight zero are not stored in the result, as in SciPy.

    References
    ----------
    J. B. Kruskal, "On the shortest spanning subtree of a graph and the traveling salesman problem", Proc. AMS 7, 1956.
    O. Borůvka, "O jistém problému minimálním", 1926.

    Examples
    --------
    >>> from hpgraph import csgraph
    >>> csgraph.minimum_spanning_tree(np.array([[0, 8, 3], [0, 0, 2], [0, 0, 0]])).toarray()
    array([[0., 0., 3.],
           [0., 0., 2.],
           [0., 0., 0.]])
    """
    given = as_stored(csgraph).within_shape()
    if given.device == "cpu":
        from hpgraph.kernels.structure.cpu_spanning_forest import lightest_forest

        return given.sparse(lightest_forest(given.csr))
    return given.sparse(lightest_tree(given.csr))


def lightest_tree(csr: CSR) -> CSR:
    """The stored arcs of a minimum spanning tree."""
    xp, backend = array_module(csr.device), kernels(csr.device)
    arcs = Graph(csr).undirected.out_csr
    one, arc, _ = backend.spanning_forest(arcs)
    other, weight = arcs.indices[arc], arcs.data[arc]
    low, high = xp.minimum(one, other).astype(np.int64), xp.maximum(one, other).astype(np.int64)
    # As stored: the lower of two weights is that of the undirected arc.
    upper = backend.positions_of(csr, low, high)
    as_is = (upper >= 0) & ((csr.data[upper] == weight) | (weight != weight)) if csr.nnz else upper >= 0
    kept = weight != 0
    source, target = xp.where(as_is, low, high)[kept], xp.where(as_is, high, low)[kept]
    return CSR.from_coo(source, target, weight[kept], csr.shape)
