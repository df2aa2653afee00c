"""Triangles: sets of three vertices that are neighbours of each other.

Wedges of the graph's arcs, directed towards higher degree, are looked up in the neighbours of their middle vertex
(N. Chiba and T. Nishizeki, "Arboricity and subgraph listing algorithms", SIAM Journal on Computing 14(1), 1985; the
order by degree and when it pays after S. Beamer, K. Asanović and D. Patterson, "The GAP benchmark suite",
arXiv:1508.03619). In matrix algebra it is the sum of L ⊗ (L ⊕.⊗ Lᵀ) over plus_pair, L being the arcs so directed.

Triangles have no direction: arcs count both ways, and loops, weights and repeated arcs make no difference. The order
that a count prepares is kept with the graph, so that later counts start at once: 4 bytes for each edge and 16 for each
vertex while ids fit 32 bits.
"""

from __future__ import annotations

from typing import Any

from hpgraph.algorithms.triangles_in_pages import count_triangles
from hpgraph.containers.graph import Graph, as_graph
from hpgraph.containers.vertex_array import by_vertex
from hpgraph.core.arrays import Array
from hpgraph.core.devices import bring, place_of
from hpgraph.core.each_device import on_each
from hpgraph.core.suggestions import naming_arguments
from hpgraph.kernels.backend import kernels


@naming_arguments
def triangle_count(G: Any) -> int:
    """Number of triangles.

    Parameters
    ----------
    G : Graph, or anything that `as_graph` takes
        Directions, self-loops, weights and repeated arcs are passed over.

    Returns
    -------
    int
        Each triangle counts once. On CUDA this waits for the stream.

    References
    ----------
    .. [1] N. Chiba, T. Nishizeki, "Arboricity and subgraph listing algorithms", SIAM J. Comput. 14(1), 1985.
    .. [2] S. Beamer, K. Asanović, D. Patterson, "The GAP benchmark suite", arXiv:1508.03619, 2015.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> hpg.triangle_count(([0, 1, 2, 2], [1, 2, 0, 3]))
    1
    """
    graph = as_graph(G).undirected
    if graph.in_pages:
        return count_triangles(graph)
    found: int = sum(_of_parts(graph, "count_triangles"))
    return found


@naming_arguments
def triangles(G: Any) -> Array:
    """Number of triangles at each vertex.

    The parameter is that of `triangle_count`.

    Returns
    -------
    int64 array of shape (n,), on the device of the graph
        It sums to three times `triangle_count`.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> hpg.triangles(([0, 1, 2, 2], [1, 2, 0, 3]))
    array([1, 1, 1, 0])
    """
    graph = as_graph(G)
    first, *others = _of_parts(graph.undirected, "triangles_of_each")
    for some in others:
        first += bring(some, place_of(first))
    return by_vertex(first, graph)


def _of_parts(graph: Graph, kernel: str) -> list[Any]:
    """What a kernel finds in the graph; or on each of several devices, which all have it, in its part of the work."""
    count = getattr(kernels(graph.device), kernel)
    adjacency = [replica.out_csr for replica in graph.replicas]
    if len(adjacency) == 1:
        return [count(adjacency[0])]
    devices = [place_of(arcs.indptr) for arcs in adjacency]
    return on_each(devices, lambda part: count(adjacency[part], part, len(devices)))
