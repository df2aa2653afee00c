"""Bipartite graphs: those whose vertices have two sides, all edges leading from the one to the other."""

from typing import Any

from hpgraph.algorithms.bfs import Tree, WideTree
from hpgraph.algorithms.components import connected_components
from hpgraph.containers.graph import Graph, as_simple, naming_arguments, vertex_names
from hpgraph.core.device import anywhere, array_module
from hpgraph.engine.run import run
from hpgraph.kernels.backend import kernels


@naming_arguments
def is_bipartite(G: Graph | Any) -> bool:
    """Whether the graph is bipartite: the vertices have two sides, and every edge joins one side to the other.

    Directions are ignored; a graph with a loop is not bipartite.

    Returns
    -------
    bool
        On CUDA this waits for the stream.

    Notes
    -----
    A graph is bipartite unless an edge joins vertices at equal distance from the start of a search of their component.
    On the CPU one thread searches, and stops at the first such edge; on the GPU levels are searched whole.

    References
    ----------
    T. H. Cormen et al., "Introduction to Algorithms", 3rd edition (2009), exercise 22.2-7.

    Examples
    --------
    >>> hpg.is_bipartite(([0, 1, 2], [1, 2, 3])), hpg.is_bipartite(([0, 1, 2], [1, 2, 0]))
    (True, False)
    """
    return sides(as_simple(G).undirected) is not None


@naming_arguments
def bipartite_sets(G: Graph | Any) -> tuple[Any, Any]:
    """The two sides of a bipartite graph.

    Directions play no part.

    Returns
    -------
    (array, array)
        Names if the graph has names, else indices, on the graph's device; in ascending order of index. The first
        holds the least vertex of every component: NetworkX refuses graphs of several components.

    Raises
    ------
    ValueError
        If the graph is not bipartite.

    Examples
    --------
    >>> [side.tolist() for side in hpg.bipartite_sets(([0, 1, 2], [1, 2, 3]))]
    [[0, 2], [1, 3]]
    """
    graph = as_simple(G).undirected
    side = sides(graph)
    if side is None:
        raise ValueError("G is not bipartite: it has a cycle of an odd number of edges")
    xp = array_module(graph.device)
    return vertex_names(graph, xp.flatnonzero(side == 0)), vertex_names(graph, xp.flatnonzero(side))


def sides(graph: Graph) -> Any:
    """The side of each vertex, 0 or 1; None if the graph is not bipartite."""
    if graph.device == "cpu":
        # Imported here, since it imports Numba.
        from hpgraph.kernels.structure.cpu_fifo import two_sides

        return two_sides(graph.out_csr)
    return by_levels(graph)


def by_levels(graph: Graph) -> Any:
    """`sides` by one search from the smallest vertices of all components, on either device."""
    xp, arcs = array_module(graph.device), graph.out_csr
    if graph.n_vertices == 0:
        return xp.empty(0, "int32")
    # From the smallest vertex of every component at once.
    components = connected_components(graph)
    first = xp.full(components.count, graph.n_vertices, "int64")
    kernels(graph.device).minimum_at(first, components.label, xp.arange(graph.n_vertices, dtype="int64"))
    program = Tree if arcs.indices.itemsize == 4 else WideTree
    starts = xp.zeros(graph.n_vertices, bool)
    starts[first] = True
    side = run(program, graph, active=starts).level & 1
    return None if anywhere(side[arcs.expand_rows()] == side[arcs.indices]) else side
