"""NetworkX graphs in and out."""

from typing import Any

from hpgraph.containers.graph import Graph, as_graph, naming_arguments
from hpgraph.core.errors import optional
from hpgraph.formats.duplicates import Duplicates
from hpgraph.interop.given_edges import from_edges
from hpgraph.io.arcs import Arcs


@naming_arguments
def from_networkx(
    graph: Any, weight: str | None = "weight", *, duplicates: Duplicates | None = None, columns: Any = None,
    vertex_columns: Any = None,
) -> Graph:  # fmt: skip
    """A NetworkX graph as a `Graph`.

    Parameters
    ----------
    graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
        The graph. Vertices are numbered in its order of nodes.
    weight : str or None, optional
        Edge attribute to take as weight. Edges without it weigh 1, as in NetworkX; when no edge has it, or with None,
        the graph has no weights.
    duplicates : {"min", "max", "sum", "first", "keep", "error"}, optional
        As for `Graph`, of parallel edges: by default the lightest is kept, with a `DuplicateEdgesWarning` where weights
        differ; "keep" keeps them all. NetworkX's algorithms of centrality add parallel edges up, those of shortest
        paths take the least.
    columns, vertex_columns : sequence of str, or True, optional
        Attributes of edges, and of nodes, to keep as columns, as for `from_edges`.

    Returns
    -------
    Graph
        On the CPU. The nodes are its names, by which vertices go everywhere (`hpgraph.id` says an index), unless they
        are 0, 1, ..., n - 1 in this order. Weights are int64 where all are whole numbers, else float64.

    Raises
    ------
    MissingExtraError
        Without NetworkX.
    TypeError
        Where `graph` is no NetworkX graph, or a weight is not a real number.

    Examples
    --------
    >>> import networkx as nx
    >>> G = hpg.from_networkx(nx.Graph([("a", "b"), ("b", "c")]))
    >>> G.n_vertices, G.n_edges, G.names.tolist()
    (3, 4, ['a', 'b', 'c'])
    """
    if not isinstance(graph, optional("networkx", "networkx", "from_networkx").Graph):
        raise TypeError(f"graph must be a NetworkX graph, not {type(graph).__name__}; hpgraph.as_graph takes others")
    if weight is not None and not isinstance(weight, str):
        raise TypeError(f"weight must be the name of an edge attribute or None, not {weight!r}")
    further: dict[str, Any] = {"columns": columns, "vertex_columns": vertex_columns, "duplicates": duplicates}
    return from_edges(graph, weight=weight or False, **further)


def to_networkx(graph: Any) -> Any:
    """A graph as a NetworkX graph.

    Parameters
    ----------
    graph : Graph, or anything `hpgraph.as_graph` takes
        The graph; from the GPU it is copied to the CPU first.

    Returns
    -------
    networkx.Graph, DiGraph, or where parallel edges were kept MultiGraph or MultiDiGraph
        Nodes are the names where there are any, else 0 ... n - 1, in this order; weights are the edge attribute
        ``weight``, Python numbers; columns of edges and of vertices are attributes, too.

    Raises
    ------
    MissingExtraError
        Without NetworkX.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1], [1, 2], [5, 7])
    >>> hpg.to_networkx(G).edges(data="weight")
    OutEdgeDataView([(0, 1, 5), (1, 2, 7)])
    """
    nx = optional("networkx", "networkx", "to_networkx")
    return Arcs.of(as_graph(graph).to("cpu")).each_edge_once().networkx(nx, columns=True)
