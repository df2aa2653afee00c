"""Cores: the maximal subgraphs of minimum degree k, by peeling.

One peeling computes all cores: for rising k, vertices of degree at most k are removed, and k is their core number
(S. B. Seidman, "Network structure and minimum degree", Social Networks 5, 1983; V. Batagelj, M. Zaveršnik, "An O(m)
algorithm for cores decomposition of networks", arXiv:cs/0310049). Each round removes all such vertices at once, as in
H. Kabir, K. Madduri, "Parallel k-core decomposition on multicore platforms", IPDPSW'17.

A graph in pages or in shards is divided into bands of core numbers, each so small that it fits one memory. Vertices
outside the k-core are found in place: a removed vertex sends one message to its neighbours, so every arc is read once
for that, in the few rounds of one k. Then they are peeled in memory, where their arcs to the k-core stay to the end. In
pages this is semi-external core decomposition: vertex data stay in memory and arcs are streamed (D. Wen et al., "I/O
efficient core graph decomposition at web scale", ICDE'16). Shards exchange the removed vertices; the shard that holds a
vertex's row updates its degree. On a cluster no arcs leave the workers: each band is of one number.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.containers.graph import Graph, as_simple, by_vertex, naming_arguments, vertex_names, whole
from hpgraph.core.device import Array, anywhere, array_module, count, is_cuda, native, prefix_sum, to_device
from hpgraph.engine.phases import Phases
from hpgraph.engine.program import Parameter, Property, VertexProgram, run
from hpgraph.formats import CSR, Bitmask, occurrences
from hpgraph.kernels.backend import kernels


@naming_arguments
def core_number(G: Graph | Any) -> Array:
    """The largest k for which each vertex lies in the k-core.

    In a directed graph degrees count arcs of both directions, as in NetworkX. Weights are ignored.

    Returns
    -------
    integer array of shape (n,)
        On the graph's device, of the type of its ids.

    Notes
    -----
    Loops are ignored; NetworkX refuses graphs that have any. Beside the graph it takes 16 bytes a vertex on the CPU
    and 24 on the GPU while ids fit 32 bits; a directed graph also takes its arcs in both directions.

    References
    ----------
    V. Batagelj, M. Zaveršnik, "An O(m) algorithm for cores decomposition of networks", arXiv:cs/0310049. H. Kabir,
    K. Madduri, "Parallel k-core decomposition on multicore platforms", IPDPSW'17.

    Examples
    --------
    A triangle, and a vertex that hangs on it.

    >>> hpg.core_number(([0, 1, 2, 2], [1, 2, 0, 3])).tolist()
    [2, 2, 2, 1]
    """
    graph = as_simple(G)
    return by_vertex(_numbers(graph), graph)


@naming_arguments
def k_core(G: Graph | Any, k: int | None = None, core_number: Any = None) -> Graph:
    """The k-core: the maximal subgraph in which every vertex has at least k edges.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph, as for `core_number`.
    k : int, optional
        Minimum degree; by default the largest core number.
    core_number : integer array of shape (n,), optional
        Result of `core_number` for this graph, to avoid its recomputation.

    Returns
    -------
    Graph
        The vertices of that core and all edges between them, as `Graph.subgraph`; without vertices if there is none.

    References
    ----------
    S. B. Seidman, "Network structure and minimum degree", Social Networks 5 (1983).

    Examples
    --------
    >>> hpg.k_core(([0, 1, 2, 2], [1, 2, 0, 3]), 2)
    Graph: 3 vertices, 3 arcs, directed, no weights, cpu
    """
    return _part(as_simple(G), k, core_number, lambda core, k: core >= k)


@naming_arguments
def k_shell(G: Graph | Any, k: int | None = None, core_number: Any = None) -> Graph:
    """The k-shell: the vertices of core number k, which are in the k-core and in no larger one.

    Parameters are those of `k_core`.

    Returns
    -------
    Graph
        Those vertices and all edges between them.

    References
    ----------
    S. Carmi et al., "A model of Internet topology using k-shell decomposition", PNAS 104 (2007).

    Examples
    --------
    >>> list(hpg.k_shell(([0, 1, 2, 2], [1, 2, 0, 3]), 1))
    [3]
    """
    return _part(as_simple(G), k, core_number, lambda core, k: core == k)


@naming_arguments
def degeneracy_ordering(G: Graph | Any) -> Array:
    """A degeneracy ordering: each vertex has at most as many edges to later vertices as its core number.

    Edges count as for `core_number`.

    Returns
    -------
    array of shape (n,)
        Names if the graph has names, else indices, on the graph's device. Vertices are in the order of the rounds in
        which they are peeled, those of one round in order of index: the same on every device.

    Notes
    -----
    The largest core number is the graph's degeneracy; the order is one of those of D. W. Matula and L. L. Beck.
    Clique enumeration follows it, and greedy colouring its reverse.

    References
    ----------
    D. W. Matula, L. L. Beck, "Smallest-last ordering and clustering and graph coloring algorithms", JACM 30 (1983).

    Examples
    --------
    >>> hpg.degeneracy_ordering(([0, 1, 2, 2], [1, 2, 0, 3])).tolist()
    [3, 0, 1, 2]
    """
    graph = as_simple(G)
    return vertex_names(graph, array_module(graph.device).argsort(peeling_round(graph), kind="stable"))


def peeling_round(graph: Graph) -> Any:
    """The round in which each vertex is peeled, vertices of lowest degree first."""
    return _peeled(graph)[1]


def _peeled(graph: Graph) -> tuple[Any, Any]:
    return kernels(graph.device).peel(both_ways(graph))


def _numbers(graph: Graph) -> Any:
    return _peeled(graph)[0] if graph.in_one_memory else core_numbers(graph)


def _part(graph: Graph, k: Any, core: Any, belongs: Callable[[Any, Any], Any]) -> Graph:
    if core is None:
        core = _numbers(graph)
    else:
        core = native(core)
        core = to_device(core if is_cuda(core) else np.asarray(core), graph.device)
        if core.shape != (graph.n_vertices,):
            raise ValueError(
                f"core_number must have one number for each of the {graph.n_vertices} vertices, not shape {core.shape}"
            )
    if k is None:
        k = core.max() if graph.n_vertices else 0
    else:
        k = whole(k, "k")
    return graph.subgraph(belongs(core, k))


def both_ways(graph: Graph) -> CSR:
    """Every edge from both ends; of a directed graph the arcs both ways, without weights and loops."""
    out = graph.out_csr
    if not graph.directed:
        return out
    xp, n = array_module(graph.device), graph.n_vertices
    sides = []
    for side in (out, graph.in_csr):
        row = side.expand_rows()
        kept = row != side.indices
        row = row[kept]
        sides.append((row, side.indices[kept], occurrences(row, n)))
    (out_row, targets, out_degree), (in_row, sources, in_degree) = sides
    indptr = prefix_sum(out_degree + in_degree)
    out_before, in_before = (xp.cumsum(degree) - degree for degree in (out_degree, in_degree))
    indices = xp.empty(len(targets) + len(sources), targets.dtype)
    indices[xp.arange(len(targets)) + (indptr[:-1] - out_before)[out_row]] = targets
    indices[xp.arange(len(sources)) + (indptr[:-1] + out_degree - in_before)[in_row]] = sources
    return CSR((n, n), indptr, indices, validate=False, copy=False)


# Bytes an arc: the id in a window, in the concatenation, and renumbered.
_ARC = 12
# Bytes an arc in both directions: also its transpose, and both concatenated.
_BOTH = 40


class _Lose(VertexProgram):
    """In a directed graph: decrement the degrees of the out-neighbours of vertices that a round removes."""

    weighted = False
    reduce = "plus"
    max_iteration = 1
    left = Property("int64")
    round = Property("int64")
    iteration = Parameter("int64")

    def starts(vertex, world):
        return vertex.round == world.iteration

    def gather(source, weight, target):
        return 1

    def update(vertex, message):
        return vertex.left - message, vertex.round


class _LoseBack(_Lose):
    """Decrement the degrees of the in-neighbours of vertices that a round removes."""

    edges = "out"


class _Remove(VertexProgram):
    """The vertices that the next round removes."""

    left = Property("int64")
    core = Property("int64")
    round = Property("int64")
    k = Parameter("int64")
    iteration = Parameter("int64")

    def starts(vertex, world):
        return vertex.core < 0 and vertex.left <= world.k

    def update(vertex, world):
        return vertex.left, world.k, world.iteration + 1


_BOTH_WAYS = Phases([_Lose, _LoseBack, _Remove])


class Peel(VertexProgram):
    """Remove vertices of degree <= k, and decrement the degrees of their neighbours."""

    weighted = False
    reduce = "plus"
    left = Property("int64")
    core = Property("int64")
    k = Parameter("int64")

    def gather(source, weight, target):  # noqa: D102
        return 1

    def cond(vertex):  # noqa: D102
        return vertex.core < 0  # type: ignore[operator]

    def update(vertex, message, world):  # noqa: D102
        left = vertex.left - message
        return left, (world.k if left <= world.k else -1)

    def sends(before, vertex):  # noqa: D102
        return vertex.core >= 0


def core_numbers(graph: Any) -> Any:
    """The core number of each vertex, in the type of ids."""
    xp, ids = array_module(graph.device), graph.id_dtype
    with graph.memory_for_arcs() as room:
        capacity = room // (_BOTH if graph.directed else _ARC)
        if graph.on_devices and not graph.in_pages and graph.n_edges <= capacity:
            # A graph that fits the first device is peeled whole.
            return kernels(graph.device).peel(both_ways(graph.put_together(graph.shards[0].device)))[0]
        loops = graph.loops()
        left = graph.out_degree - loops
        if graph.directed:
            left = left + graph.in_degree - loops
        core = xp.full(graph.n_vertices, -1, np.int64)
        while True:
            unknown = core < 0
            if not anywhere(unknown):
                return core.astype(ids)
            band, after, known = _band(graph, unknown, left, core, capacity)
            core[band] = _numbers_within(graph, band, left, loops) if known is None else known
            left = after


def _band(graph: Any, present: Any, left: Any, core: Any, most: int) -> tuple[Any, Any, int | None]:
    """Vertices of the least core numbers, of at most so many arcs; the other degrees then; their number, if one."""
    xp = array_module(left)
    degrees = left[present]
    min_degree, arcs = to_device(xp.stack([degrees.min(), degrees.sum()]), "cpu").tolist()
    if arcs <= most:
        return present, left, None
    # Half, since removals reduce the degrees of other vertices.
    arcs_below = xp.cumsum(xp.bincount(degrees, weights=degrees.astype(np.float64)))
    below = max(count(arcs_below <= most // 2), min_degree + 1)
    while True:
        going = present & (left < below)
        after, removed = _peel(graph, going, left, xp.where(going, below - 1, core), below - 1)
        band = present & (removed >= 0)
        if below == min_degree + 1:
            return band, after, min_degree
        if int((left * band).sum()) <= most:
            return band, after, None
        below = min_degree + 1 + (below - min_degree - 1) // 2


def _numbers_within(graph: Any, band: Any, left: Any, loops: Any) -> Any:
    """Core numbers of some vertices, none of which is in a core of any other that is left."""
    chosen = Bitmask.from_bool(band)
    part, vertices = kernels(graph.device).induced(graph.arcs_among(chosen, weighted=False), chosen)
    both = both_ways(Graph(part, directed=graph.directed, copy=False))
    # Vertices outside the band stay until all of it is removed.
    inside = both.degrees if graph.directed else both.degrees - loops[vertices]
    return kernels(graph.device).peel(both, left[vertices] - inside)[0]


def _peel(graph: Graph, going: Any, left: Any, core: Any, k: int) -> tuple[Any, Any]:
    """Peel until every remaining vertex has degree > k."""
    if graph.directed:
        result = run(_BOTH_WAYS, graph, left=left, core=core, round=going.astype(np.int64), k=k)
    else:
        result = run(Peel, graph, active=going, left=left, core=core, k=k)
    return result.left, result.core
