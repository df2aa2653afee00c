"""Depth-first search: the order in which vertices are met and left, and the tree of the search.

R. Tarjan, "Depth-first search and linear graph algorithms", SIAM Journal on Computing 1 (1972).
"""

from collections.abc import Hashable
from typing import Any, NamedTuple

from hpgraph.containers.graph import Graph, as_simple, by_vertex, naming_arguments
from hpgraph.core.device import Array, to_device
from hpgraph.kernels.structure.cpu_depth_first import depth_first, depth_first_order, postorder


class DFSResult(NamedTuple):
    """Result of `hpgraph.dfs`: indices of the vertices as they are met and as they are left, and their parents."""

    order: Array
    postorder: Array
    parent: Array


@naming_arguments
def dfs(G: Graph | Any, source: Hashable = None) -> DFSResult:
    """Depth-first search from a vertex, along arcs, or of the whole graph.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. Weights are not read.
    source : hashable or hpgraph.id, optional
        The source. Without it a search starts at every vertex, in ascending order, that no earlier search visited.

    Returns
    -------
    DFSResult
        Integer arrays on the graph's device: ``order``, the k visited vertices in preorder, by index; ``postorder``;
        and ``parent``, of shape (n,), the vertex from which each is visited. A source is its own parent; -1 for
        unvisited vertices.

    Raises
    ------
    ValueError, TypeError, IndexError
        If `source` is no vertex.

    Notes
    -----
    Neighbours are visited in ascending order; in NetworkX, in the order in which edges were added. Depth-first search
    is sequential: it runs on one thread of the CPU, to which a graph on the GPU is copied. The edges of NetworkX's
    dfs_edges are ``(parent[v], v)`` for ``v`` in ``order``, without sources.

    References
    ----------
    R. Tarjan, "Depth-first search and linear graph algorithms", SIAM Journal on Computing 1 (1972). J. H. Reif,
    "Depth-first search is inherently sequential", Information Processing Letters 20 (1985).

    Examples
    --------
    >>> found = hpg.dfs(([0, 0, 1], [1, 2, 3]), 0)
    >>> found.order.tolist(), found.postorder.tolist(), found.parent.tolist()
    ([0, 1, 3, 2], [3, 1, 2, 0], [0, 0, 0, 1])
    """
    graph = as_simple(G)
    arcs = graph.out_csr.to("cpu")
    if source is None:
        order, _, parent, _ = depth_first(arcs)
    else:
        start = graph.index_of(source, "source")
        order, parent = depth_first_order(arcs, start, -1)
        parent[start] = start
    order, left, parent = (to_device(part, graph.device) for part in (order, postorder(order, parent), parent))
    return DFSResult(order, left, by_vertex(parent, graph))
