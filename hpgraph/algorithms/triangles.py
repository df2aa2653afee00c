"""Triangles: sets of three vertices that are neighbours of each other.

Wedges of the graph's arcs, directed towards higher degree, are looked up in the neighbours of their middle vertex
(N. Chiba and T. Nishizeki, "Arboricity and subgraph listing algorithms", SIAM Journal on Computing 14(1), 1985; the
order by degree and when it pays after S. Beamer, K. Asanović and D. Patterson, "The GAP benchmark suite",
arXiv:1508.03619). In matrix algebra it is the sum of L ⊗ (L ⊕.⊗ Lᵀ) over plus_pair, L being the arcs so directed.

Triangles have no direction: arcs count both ways, and loops, weights and repeated arcs make no difference. The order
that a count prepares is kept with the graph, so that later counts start at once: 4 bytes for each edge and 16 for each
vertex while ids fit 32 bits.

Of a graph in pages two blocks of rows of the arcs towards higher degree are in memory at a time. Every triangle u, v,
w, in the order of degrees, is found at its arc u → v, as a common out-neighbour w: rows of one block are multiplied by
those of another, masked by the arcs from the one to the other. With b blocks the pages are read b times: in the order
of m² / memory arcs, as in X. Hu, Y. Tao, C.-W. Chung, "Massive graph triangulation", SIGMOD'13.
"""

from typing import Any

import numpy as np

from hpgraph.containers.graph import Graph, as_graph
from hpgraph.containers.row_blocks import arcs_that
from hpgraph.containers.vertex_array import by_vertex
from hpgraph.core.arrays import Array
from hpgraph.core.device import array_module, to_device
from hpgraph.core.devices import bring, place_of
from hpgraph.core.each_device import on_each
from hpgraph.core.suggestions import naming_arguments
from hpgraph.engine.definition import Property
from hpgraph.engine.program import VertexProgram
from hpgraph.engine.run import run
from hpgraph.formats import CSR, Bitmask
from hpgraph.kernels.backend import kernels
from hpgraph.semiring import get_semiring
from hpgraph.semiring.product import product_of


@naming_arguments
def triangle_count(G: Any) -> int:
    """Number of triangles.

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


# Bytes an arc of a block: its id in two blocks, and a copy while a block is built; and of an arc between two blocks,
# the work space of the masked product.
_ARC = 24


class _Upwards(VertexProgram):
    """How many neighbours of each vertex come behind it in the order of degrees."""

    weighted = False
    reduce = "plus"
    activity = "all"
    max_iteration = 1
    message = "int64"
    degree = Property("int64")
    behind = Property("int64")

    def gather(source, weight, target):
        more = source.degree > target.degree
        return more or (source.degree == target.degree and source.id > target.id)  # type: ignore[attr-defined]

    def update(vertex, message):
        return vertex.degree, message


def count_triangles(graph: Any) -> int:
    """How many triangles there are."""
    degree = graph.out_degree
    behind = run(_Upwards, graph, degree=degree, behind=0).behind
    before = np.concatenate(([0], np.cumsum(to_device(behind, "cpu"))))
    found = 0
    with graph.lending() as room:
        bounds = _bounds(before, max(room // _ARC, 1))
        blocks = list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))
        held: tuple[tuple[int, int], CSR] | None = None
        for j, rows in enumerate(blocks):
            upper = held[1] if held is not None and held[0] == rows else _rows(graph, rows, degree)
            # To and fro, so that the last block of one round is the first of the next.
            for others in blocks if j % 2 == 0 else blocks[::-1]:
                if others == rows:
                    held = others, upper
                elif held is None or held[0] != others:
                    held = None  # what it holds is given back first
                    held = others, _rows(graph, others, degree)
                found += _between(upper, held[1], others)
    return found


def _bounds(before: np.ndarray, most: int) -> np.ndarray:
    """Cut rows into blocks of at most so many arcs, or a row alone."""
    n, bounds = len(before) - 1, [0]
    while bounds[-1] < n:
        end = int(np.searchsorted(before, before[bounds[-1]] + most, side="right")) - 1
        bounds.append(max(end, bounds[-1] + 1))
    return np.array(bounds)


def _rows(graph: Any, rows: tuple[int, int], degree: Any) -> CSR:
    """The arcs of some rows towards higher degree."""
    xp, (low, high) = array_module(graph.device), rows
    flags = xp.zeros(graph.n_vertices, np.bool_)
    flags[low:high] = True

    def towards(source: Any, target: Any) -> Any:
        here, there = degree[source], degree[target]
        return (there > here) | ((there == here) & (target > source))

    csr = arcs_that(graph, Bitmask.from_bool(flags), towards)
    indptr = csr.indptr[low : high + 1] - csr.indptr[low]
    return CSR((high - low, graph.n_vertices), indptr, csr.indices, validate=False)


def _between(upper: CSR, lower: CSR, rows: tuple[int, int]) -> int:
    """Triangles whose first arc leads from a row of `upper` to one of `lower`, which are these rows of the graph."""
    backend, xp = kernels(upper.device), array_module(upper.indices)
    arcs = backend.rows_of(upper, xp.arange(upper.shape[0]), *rows)
    if not arcs.nnz or not lower.nnz:
        return 0
    semiring = get_semiring("plus_pair")
    product = product_of(semiring, np.dtype(bool), np.dtype(bool))
    counts = backend.multiply_by_dots(arcs, upper, lower, product, semiring.add)
    return int(counts.data.sum(dtype=np.int64))
