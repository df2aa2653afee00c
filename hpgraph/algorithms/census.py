"""Censuses: numbers of pairs and triples of vertices by the arcs between them.

The classes of triads are counted by matrix products (J. Moody, "Matrix methods for calculating the triad census",
Social Networks 20, 1998), those of three joined pairs under a mask of the arcs, as triangles are; all others follow
from the numbers of pairs at each vertex. No triad is visited without an arc between each two of its vertices.
"""

from typing import Any

from hpgraph.algebra.elementwise import ewise_mult
from hpgraph.algebra.mxm import mxm
from hpgraph.algorithms.mixing import mutual_arcs
from hpgraph.algorithms.triangles import triangle_count
from hpgraph.containers.graph import Graph, as_simple, naming_arguments
from hpgraph.containers.public import matrix_of_csr

# Of the classes of triads the numbers of mutual and of asymmetric pairs, and the wedges, named by the pairs at their
# middle vertex: m, a mutual pair, o, an arc out, i, an arc in.
_OPEN = {"021D": "oo", "021U": "ii", "021C": "oi", "111D": "mi", "111U": "mo", "201": "mm"}
_CLOSED = {
    "030T": ("oo", "ii", "oi"), "030C": ("oi", "oi", "oi"), "120D": ("oo", "mi", "mi"), "120U": ("ii", "mo", "mo"),
    "120C": ("oi", "mo", "mi"), "210": ("mm", "mo", "mi"), "300": ("mm", "mm", "mm"),
}  # fmt: skip
# NetworkX's order: by the number of arcs.
_ORDER = sorted(("003", "012", "102", *_OPEN, *_CLOSED), key=lambda name: 2 * int(name[0]) + int(name[1]))


@naming_arguments
def dyad_census(G: Graph | Any) -> dict[str, int]:
    """Dyad census: the number of mutual, asymmetric and null pairs of vertices.

    Loops and weights play no part; an edge of an undirected graph is a mutual pair.

    Returns
    -------
    dict
        With keys "mutual", "asymmetric" and "null", as igraph's dyad_census.

    References
    ----------
    P. W. Holland, S. Leinhardt, "A method for detecting structure in sociometric data", Amer. J. Sociology 76 (1970).

    Examples
    --------
    >>> hpg.dyad_census(hpg.Graph.from_edges([0, 1, 1], [1, 0, 2]))
    {'mutual': 1, 'asymmetric': 1, 'null': 1}
    """
    graph = as_simple(G)
    n, arcs = graph.n_vertices, graph.out_csr
    both, loops = mutual_arcs(graph) if graph.directed else (arcs.nnz, arcs.nnz - arcs.without_diagonal().nnz)
    # Loops are counted in both terms, and cancel.
    mutual, one_way = (both - loops) // 2, arcs.nnz - both
    return {"mutual": mutual, "asymmetric": one_way, "null": n * (n - 1) // 2 - mutual - one_way}


@naming_arguments
def triadic_census(G: Graph | Any) -> dict[str, int]:
    """Triad census: the number of triples of vertices in each of the 16 isomorphism classes.

    Loops and weights play no part; an edge of an undirected graph is a mutual pair.

    Returns
    -------
    dict of str to int
        By the names of Holland and Leinhardt, "003" to "300": the numbers of mutual, asymmetric and null pairs, and a
        letter for the direction: Down, Up, Cyclic or Transitive.

    Notes
    -----
    The time is that of about seven triangle counts; memory beside the graph: about 40 bytes an arc. On the GPU each
    count has several launches, which dominate for graphs of 10⁵ arcs: a quarter of the time of two cores.

    References
    ----------
    J. A. Davis, S. Leinhardt, "The structure of positive interpersonal relations in small groups" (1972). J. Moody,
    "Matrix methods for calculating the triad census", Social Networks 20 (1998); V. Batagelj, A. Mrvar, "A subquadratic
    triad census algorithm for large sparse networks with small maximum degree", Social Networks 23 (2001).

    Examples
    --------
    >>> census = hpg.triadic_census(hpg.Graph.from_edges([0, 1, 2, 3], [1, 2, 0, 0]))
    >>> {name: number for name, number in census.items() if number}
    {'012': 1, '021U': 1, '021C': 1, '030C': 1}
    """
    graph = as_simple(G)
    n, (mutual, one_way) = graph.n_vertices, _pairs(graph)
    counts = _closed(graph, mutual, one_way)
    transposed = one_way.T
    at = {"m": mutual.csr.degrees, "o": one_way.csr.degrees, "i": transposed.csr.degrees}
    for name, wedge in _OPEN.items():
        a, b = wedge[0], wedge[1]
        wedges = int((at[a] * (at[b] - 1)).sum()) // 2 if a == b else int((at[a] * at[b]).sum())
        counts[name] = wedges - sum(counts[other] * sides.count(wedge) for other, sides in _CLOSED.items())
    for name, place, pairs in (("102", 0, mutual.nnz // 2), ("012", 1, one_way.nnz)):
        counts[name] = pairs * (n - 2) - sum(int(other[place]) * number for other, number in counts.items())
    counts["003"] = n * (n - 1) * (n - 2) // 6 - sum(counts.values())
    return {name: counts[name] for name in _ORDER}


def _pairs(graph: Graph) -> tuple[Any, Any]:
    """The arcs of mutual pairs, in both directions, and those without their reverse, as matrices."""
    arcs = matrix_of_csr(graph.out_csr.without_diagonal().pattern)
    if not graph.directed:
        return arcs, ewise_mult(arcs, arcs, "pair", mask=arcs.structure, complement=True)
    mutual = ewise_mult(arcs, arcs.T, "pair")
    return mutual, ewise_mult(arcs, arcs, "pair", mask=mutual.structure, complement=True)


def _closed(graph: Graph, mutual: Any, one_way: Any) -> dict[str, int]:
    """Counts of the classes in which every pair of vertices is joined."""
    if not one_way.nnz:
        return {**dict.fromkeys(_CLOSED, 0), "300": triangle_count(graph)}

    def paths(first: Any, second: Any, ends: Any) -> int:
        return int(mxm(first, second, "plus_pair", mask=ends.structure).csr.data.sum())

    transposed = one_way.T
    return {
        "030T": paths(one_way, one_way, one_way),
        "030C": paths(one_way, one_way, transposed) // 3,
        "120D": paths(transposed, one_way, mutual) // 2,
        "120U": paths(one_way, transposed, mutual) // 2,
        "120C": paths(one_way, one_way, mutual),
        "210": paths(mutual, mutual, one_way),
        "300": paths(mutual, mutual, mutual) // 6,
    }
