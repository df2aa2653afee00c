"""Graphlets, connected subgraphs of two to four vertices: their number, and the number at each vertex, by orbit.

Of graphlets of four vertices only cycles and cliques are enumerated: the number of subgraphs of each kind, induced or
not, follows from degrees and triangles; those with more edges are then subtracted (T. Hočevar, J. Demšar, "A
combinatorial approach to graphlet counting", Bioinformatics 30(4), 2014).
"""

from typing import Any

import numpy as np

from hpgraph.algorithms.cliques import plain
from hpgraph.containers.graph import Graph, by_vertex, naming_arguments
from hpgraph.core.device import Array, to_device
from hpgraph.kernels.structure.cpu_graphlets import graphlet_parts

# Of each graphlet the orbit that is counted, and its number of vertices.
_GRAPHLETS = {
    "edge": (0, 2), "path_3": (2, 1), "triangle": (3, 3), "path_4": (4, 2), "claw": (7, 1), "cycle_4": (8, 4),
    "paw": (11, 1), "diamond": (12, 2), "clique_4": (14, 4),
}  # fmt: skip
# How often, at a vertex of an orbit, subgraphs lie in graphlets of more edges: orbit, then others by their number.
_INSIDE: dict[int, dict[int, int]] = {
    13: {14: 3},
    12: {14: 3},
    11: {13: 2, 14: 3},
    10: {12: 2, 13: 2, 14: 6},
    9: {12: 2, 14: 3},
    8: {12: 1, 13: 1, 14: 3},
    7: {11: 1, 13: 1, 14: 1},
    6: {9: 1, 10: 1, 12: 2, 13: 1, 14: 3},
    5: {8: 2, 10: 1, 11: 2, 12: 2, 13: 4, 14: 6},
    4: {8: 2, 9: 2, 10: 1, 12: 4, 13: 2, 14: 6},
}


@naming_arguments
def graphlet_degrees(G: Graph | Any) -> Array:
    """Graphlet degrees: for each vertex and orbit, the number of connected induced subgraphs of two to four vertices.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. Directions, weights, loops and parallel edges are ignored.

    Returns
    -------
    int64 array of shape (n, 15), on the device of the graph
        By Pržulj's numbers of orbits, as ORCA's: 0 ends of edges (the degree), 1 and 2 the ends and the middle of a
        path of three, 3 triangles, 4 and 5 the ends and the middle of a path of four, 6 and 7 the leaves and the centre
        of a claw, 8 cycles of four, 9 to 11 the leaf, the two others and the centre of a paw, a triangle with a leaf,
        12 and 13 the vertices of two and of three edges of a diamond, 14 cliques of four. Counts are modulo 2⁶⁴, which
        claws exceed from degrees of some two million on.

    Notes
    -----
    Runs on all threads of the CPU; a graph on the GPU is copied to it. The time is proportional to m times the
    arboricity for triangles and cycles, and to that of the triangles among each vertex's neighbours for cliques. Memory
    beside the graph: about 30 bytes an edge, and 24 for each vertex and thread.

    References
    ----------
    N. Pržulj, "Biological network comparison using graphlet degree distribution", Bioinformatics 23(2), 2007. T.
    Hočevar, J. Demšar, "A combinatorial approach to graphlet counting", Bioinformatics 30(4), 2014.

    Examples
    --------
    >>> hpg.graphlet_degrees(([0, 1, 2, 2], [1, 2, 0, 3]))[:, [0, 3, 9, 10, 11]]
    array([[2, 1, 0, 1, 0],
           [2, 1, 0, 1, 0],
           [3, 1, 0, 0, 1],
           [1, 0, 1, 0, 0]])
    """
    graph, arcs = plain(G)
    order, edges, parts = graphlet_parts(arcs)
    orbits = np.empty((graph.n_vertices, 15), np.int64)
    orbits[order] = _orbits(arcs.degrees[order], *edges, *parts).T
    return by_vertex(to_device(orbits, graph.device), graph)


@naming_arguments
def graphlet_counts(G: Graph | Any) -> dict[str, int]:
    """The number of connected induced subgraphs of two to four vertices of each kind.

    The parameter is that of `graphlet_degrees`, as are notes.

    Returns
    -------
    dict of str to int
        Of "edge", "path_3", "triangle", "path_4", "claw" (a star of four), "cycle_4", "paw" (a triangle with a leaf),
        "diamond" (a clique without an edge) and "clique_4".

    References
    ----------
    A. Pinar, C. Seshadhri, V. Vishal, "ESCAPE: efficiently counting all 5-vertex subgraphs", WWW'17.

    Examples
    --------
    >>> {name: count for name, count in hpg.graphlet_counts(([0, 1, 2, 2], [1, 2, 0, 3])).items() if count}
    {'edge': 4, 'path_3': 2, 'triangle': 1, 'paw': 1}
    """
    total = to_device(graphlet_degrees(G), "cpu").sum(axis=0)
    return {name: int(total[orbit]) // places for name, (orbit, places) in _GRAPHLETS.items()}


def _orbits(degree: Any, tail: Any, head: Any, support: Any, cycles: Any, cliques: Any, opposite: Any) -> Any:
    """Orbits as rows, from degrees of vertices, the ends and triangles of edges, and what `graphlet_parts` has."""
    n = len(degree)

    def over_edges(value: Any) -> Any:
        """Sum over each vertex's edges of a function of the other end."""
        orbits = np.zeros(n, np.int64)
        for end, other_end in ((tail, head), (head, tail)):
            np.add.at(orbits, end, value(other_end))
        return orbits

    triangles = over_edges(lambda _: support) // 2
    ends = over_edges(lambda u: degree[u] - 1)
    orbits = np.zeros((15, n), np.int64)
    orbits[0], orbits[3], orbits[8], orbits[14], orbits[12] = degree, triangles, cycles, cliques, opposite
    orbits[1] = ends - 2 * triangles
    orbits[2] = degree * (degree - 1) // 2 - triangles
    orbits[4] = over_edges(lambda u: ends[u]) - degree * (degree - 1) - 2 * triangles
    orbits[5] = (degree - 1) * ends - 2 * triangles
    orbits[6] = over_edges(lambda u: (degree[u] - 1) * (degree[u] - 2) // 2)
    orbits[7] = degree * (degree - 1) // 2 * (degree - 2) // 3
    orbits[9] = over_edges(lambda u: triangles[u] - support)
    orbits[10] = over_edges(lambda u: support * (degree[u] - 2))
    orbits[11] = triangles * (degree - 2)
    orbits[13] = over_edges(lambda _: support * (support - 1) // 2)
    # Graphlets of most edges first.
    for orbit, inside in _INSIDE.items():
        for other, times in inside.items():
            orbits[orbit] -= times * orbits[other]
    return orbits
