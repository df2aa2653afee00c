"""The reverse of a graph: each arc the other way."""

from __future__ import annotations

from hpgraph.containers.graph import Graph


def reversed_graph(graph: Graph) -> Graph:
    """The graph with each arc the other way; an undirected graph itself.

    Parameters
    ----------
    graph : Graph
        Transposed if it is directed, and keeps that.

    Returns
    -------
    Graph
        Over the same arrays, with the same names.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> G = hpg.Graph.from_edges([0, 1], [1, 2])
    >>> hpg.bfs(reversed_graph(G), 2).level.tolist()
    [2, 1, 0]
    """
    if not graph.directed:
        return graph
    back = object.__new__(Graph)._set(graph.in_csr, True, graph._names)
    back._layouts["in_csr"] = graph.out_csr
    return back
