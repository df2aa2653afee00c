"""Triangles, sets of three vertices that are neighbours of each other; and trusses, in which every edge is in many.

Wedges of the graph's arcs, directed towards higher degree, are looked up in the neighbours of their middle vertex
(N. Chiba and T. Nishizeki, "Arboricity and subgraph listing algorithms", SIAM Journal on Computing 14(1), 1985; the
order by degree and when it pays after S. Beamer, K. Asanović and D. Patterson, "The GAP benchmark suite",
arXiv:1508.03619). In matrix algebra it is the sum of L ⊗ (L ⊕.⊗ Lᵀ) over plus_pair, L being the arcs so directed.

Triangles have no direction: arcs count both ways, and loops, weights and repeated arcs make no difference. The order
that a count prepares is kept with the graph, so that later counts start at once: 4 bytes for each edge and 16 for each
vertex while ids fit 32 bits.

Of a graph in pages two blocks of rows of the arcs towards higher degree are in memory at a time: one takes half of the
memory, and the others pass it. Every triangle u, v, w, in the order of degrees, is found at its arc u → v, as a common
out-neighbour w: rows of one block are multiplied by those of another, masked by the arcs from the one to the other.
With b large blocks the pages are read b times: in the order of m² / memory arcs, as in X. Hu, Y. Tao, C.-W. Chung,
"Massive graph triangulation", SIGMOD'13.

Trusses (J. Cohen, "Trusses: cohesive subgraphs for social network analysis", NSA, 2008) are found by peeling edges,
those in few triangles first.
"""

import itertools
from typing import Any

import numpy as np

from hpgraph.containers import adjacency
from hpgraph.containers.graph import Graph, as_simple, by_vertex, naming_arguments, whole
from hpgraph.containers.row_blocks import arcs_that
from hpgraph.containers.shards import rows_on
from hpgraph.core.device import Array, anywhere, array_module, count, to_device, total
from hpgraph.core.devices import move_array, on_each, place_of
from hpgraph.engine.program import Property, VertexProgram, run
from hpgraph.formats import CSR, Bitmask
from hpgraph.kernels.backend import kernels
from hpgraph.semiring import get_semiring
from hpgraph.semiring.semiring import product_of


@naming_arguments
def triangle_count(G: Any) -> int:
    """Number of triangles.

    Directions, self-loops, weights and repeated arcs are ignored.

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
    >>> hpg.triangle_count(([0, 1, 2, 2], [1, 2, 0, 3]))
    1
    """
    graph = as_simple(G).undirected
    if graph.in_pages:
        return count_triangles(graph)
    return sum(_of_parts(graph, "count_triangles"))


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
    >>> hpg.triangles(([0, 1, 2, 2], [1, 2, 0, 3]))
    array([1, 1, 1, 0])
    """
    graph = as_simple(G)
    first, *others = _of_parts(graph.undirected, "triangles_of_each")
    for addend in others:
        first += move_array(addend, place_of(first))
    return by_vertex(first, graph)


def _of_parts(graph: Any, kernel: str) -> list[Any]:
    """Results of a kernel on the graph, or of each of several devices, which all hold it, on its part of the work."""
    if graph.on_cluster:
        return graph.count_in_blocks(kernel)
    count = getattr(kernels(graph.device), kernel)
    adjacency = [replica.out_csr for replica in graph.replicas]
    if len(adjacency) == 1:
        return [count(adjacency[0])]
    devices = [place_of(arcs.indptr) for arcs in adjacency]
    return on_each(devices, lambda part: count(adjacency[part], part, len(devices)))


# Bytes of the budget an arc of the resident block, of the block read beside it, and of a product. Ids take four
# bytes, eight while a block is assembled, and products twelve.
_HELD, _READ, _MULTIPLIED = 8, 32, 48


class _HigherNeighbors(VertexProgram):
    """Number of neighbours of each vertex that follow it in the order of degrees."""

    weighted = False
    reduce = "plus"
    activity = "all"
    max_iteration = 1
    message = "int64"
    rank = Property()
    behind = Property("int64")

    def gather(source, weight, target):
        return source.rank > target.rank

    def update(vertex, message):
        return vertex.rank, message


def count_triangles(graph: Any) -> int:
    """Number of triangles."""
    xp, n = array_module(graph.device), graph.n_vertices
    # Rank by degree, then by id.
    rank = xp.empty(n, graph.id_dtype)
    rank[xp.argsort(graph.out_degree, kind="stable")] = xp.arange(n, dtype=rank.dtype)
    behind = run(_HigherNeighbors, graph, rank=rank, behind=0).behind
    before = np.concatenate(([0], np.cumsum(to_device(behind, "cpu"))))
    total = 0
    with graph.memory_for_arcs() as room:
        resident, read = (_blocks(before, room // share) for share in (_HELD, _READ))
        for rows in resident:
            upper = _rows(graph, rows, rank)
            ends = _blocks(to_device(upper.indptr, "cpu"), room // _MULTIPLIED)
            parts = [rows_on(upper, *part, place_of(upper.indptr)) for part in ends]
            for others in read if len(resident) > 1 else resident:
                lower = upper if others == rows else _rows(graph, others, rank)
                total += sum(_between(part, lower, others) for part in parts)
    return total


def _blocks(before: np.ndarray, most: int) -> list[tuple[int, int]]:
    """Ranges of rows with at most `most` arcs, or a single row; `before`: number of arcs before each row."""
    n, bounds = len(before) - 1, [0]
    while bounds[-1] < n:
        end = int(np.searchsorted(before, before[bounds[-1]] + most, side="right")) - 1
        bounds.append(max(end, bounds[-1] + 1))
    return list(itertools.pairwise(bounds))


def _rows(graph: Any, rows: tuple[int, int], rank: Any) -> CSR:
    """The arcs of some rows towards higher rank."""
    xp, (low, high) = array_module(graph.device), rows
    flags = xp.zeros(graph.n_vertices, np.bool_)
    flags[low:high] = True
    csr = arcs_that(graph, Bitmask.from_bool(flags), lambda source, target: rank[target] > rank[source])
    return rows_on(csr, low, high, place_of(csr.indptr))


def _between(upper: CSR, lower: CSR, rows: tuple[int, int]) -> int:
    """Triangles whose first arc leads from a row of `upper` to one of `lower`, which are these rows of the graph."""
    backend, xp = kernels(upper.device), array_module(upper.indices)
    arcs = backend.rows_of(upper, xp.arange(upper.shape[0]), *rows)
    if not arcs.nnz or not lower.nnz:
        return 0
    semiring = get_semiring("plus_pair")
    product = product_of(semiring, np.dtype(bool), np.dtype(bool))
    counts = backend.multiply_by_dots(arcs, upper, lower, product, semiring.add)
    return int(total(counts.data, np.int64))


# At a lower mean degree, the GPU counts triangles faster than it removes vertices of low degree.
_MANY_ARCS = 8


@naming_arguments
def truss_number(G: Graph | Any) -> Array:
    """The largest k for which each edge lies in the k-truss.

    Arcs count in both directions, and weights are ignored.

    Returns
    -------
    int64 array of shape (n_edges,)
        On the graph's device, in the order of ``G.edges(both_ways=True)``: both directions of an edge have the same
        number. 2 for an edge in no triangle, 0 for a loop, which is in no truss.

    Notes
    -----
    Beside the graph and its degree order it takes some 42 bytes an edge on the CPU, 70 to 90 on the GPU. Triangles
    are enumerated twice: in the initial count, and when their first edge is removed. The time is bounded by the sum,
    over all edges, of the lesser degree of their ends.

    References
    ----------
    J. Wang, J. Cheng, "Truss decomposition in massive networks", VLDB'12.

    Examples
    --------
    A triangle, and a vertex that hangs on it.

    >>> hpg.truss_number(([0, 1, 2, 2], [1, 2, 0, 3])).tolist()
    [3, 3, 3, 2]
    """
    graph = as_simple(G)
    plain = graph.undirected
    number = kernels(graph.device).truss_numbers(plain.out_csr)
    if plain is graph:
        return number
    arcs = graph.out_csr
    return number[adjacency.places_in(arcs, plain.out_csr)]


@naming_arguments
def k_truss(G: Graph | Any, k: int) -> Graph:
    """The k-truss: the maximal subgraph in which every edge is in at least k - 2 triangles.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. Arcs count in both directions, and loops are left out; NetworkX refuses graphs that have either.
    k : int
        Which.

    Returns
    -------
    Graph
        Undirected: the edges of that truss and the vertices at their ends, as `Graph.edge_subgraph`; without vertices
        if there is none.

    Notes
    -----
    Every k-truss lies in the (k - 1)-core, so that is computed first, which is fast; on the GPU only for graphs of many
    arcs.

    References
    ----------
    J. Cohen, "Trusses: cohesive subgraphs for social network analysis", NSA (2008).

    Examples
    --------
    >>> hpg.k_truss(([0, 1, 2, 2], [1, 2, 0, 3]), 3)
    Graph: 3 vertices, 6 arcs, undirected, no weights, cpu
    """
    graph = as_simple(G).undirected
    # Every vertex of a k-truss has at least k - 1 neighbours, so larger k are equivalent.
    k = min(max(whole(k, "k"), 2), graph.n_vertices + 2)
    backend, xp = kernels(graph.device), array_module(graph.device)
    if graph.device == "cpu" or graph.out_csr.nnz >= _MANY_ARCS * graph.n_vertices:
        # Remove vertices of degree < k - 1 repeatedly. Loops count here, so some more vertices may stay.
        inside = backend.generations(graph.out_csr, xp.maximum(graph.out_degree - (k - 2), 0)) < 0
        if count(inside) < graph.n_vertices:
            graph = graph.subgraph(inside)
    arcs = graph.out_csr
    flags = backend.truss(arcs, k) if k > 2 else arcs.indices != arcs.expand_rows()
    return graph.edge_subgraph(flags) if anywhere(flags) else graph.subgraph([])
