"""Connected components, as in `scipy.sparse.csgraph`."""

from typing import Any

import numpy as np

import hpgraph.algorithms.components as algorithm
from hpgraph.containers.graph import Graph, one_of
from hpgraph.csgraph.graph_input import as_stored
from hpgraph.kernels.backend import kernels


def connected_components(
    csgraph: Any, directed: bool = True, connection: str = "weak", return_labels: bool = True
) -> Any:
    """The number of connected components, and the component of each vertex.

    Parameters
    ----------
    csgraph : sparse or dense array, Graph or Matrix, shape (n, n)
    directed : bool
        If false, arcs count in both directions, and `connection` is ignored.
    connection : {"weak", "strong"}
        Whether a path along arcs of either direction connects two vertices, or a path from each to the other.
    return_labels : bool
        Whether to return labels too.

    Returns
    -------
    n_components : int
    labels : int32 array, shape (n,)
        Components are numbered by their smallest vertex; strong ones on the CPU so that arcs lead to lower numbers, as
        in SciPy.

    Raises
    ------
    ValueError
        If `connection` is unknown.

    Examples
    --------
    >>> from hpgraph import csgraph
    >>> csgraph.connected_components(np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]]))
    (2, array([0, 0, 1], dtype=int32))
    """
    connection = connection.lower() if isinstance(connection, str) else connection
    one_of(connection, "connection", ("weak", "strong"))
    strong = directed and connection == "strong"
    given = as_stored(csgraph, strong)
    if given.device == "cpu":
        # By the kernels, which read rows as they are stored.
        from hpgraph.kernels.structure.cpu_depth_first import strong_numbers

        if strong:
            count, label = strong_numbers(given.csr)
        else:
            count, label = kernels("cpu").components(given.within_shape().csr, False)
        return (count, label.astype(np.int32, copy=False)) if return_labels else count
    # Check for symmetry if that pays: if every arc has its reverse, strong components are the weak ones.
    graph = Graph(given.csr.with_data(None))
    found = algorithm.connected_components(graph, connection="strong" if strong else "weak")
    return (found.count, found.label.astype(np.int32, copy=False)) if return_labels else found.count
