"""Distances from several vertices to all, in blocks of sources that fit memory."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from hpgraph.algorithms.bfs import levels_from
from hpgraph.algorithms.distances import with_lengths
from hpgraph.algorithms.sources import sources_of
from hpgraph.algorithms.sssp import sssp
from hpgraph.containers.graph import Graph, id, naming_arguments, real, vertex_names, whole
from hpgraph.core.device import array_module, check_memory, sources_within, to_device
from hpgraph.engine.grouping import groups
from hpgraph.engine.multi_source_totals import survey

# Maximum number of sources of a block: one word of bits a vertex.
_WORD = 64
# Bytes of a block for each vertex and source: distances, and temporaries of their reduction.
_BYTES = 32


def block_size(graph: Graph) -> int:
    """Sources of a block: as many as fit memory, at most 64."""
    return sources_within(_WORD, lambda count: count * _BYTES * graph.n_vertices, graph.device)


def distances_from(
    graph: Graph, vertices: np.ndarray, *, incoming: bool = False, weighted: bool = False, limit: float | None = None
) -> Any:
    """Distances of shape (b, n): of the smallest integer type, -1 where there is no path, or floats with inf."""
    if weighted:
        backwards = graph.reverse() if incoming else graph
        return sssp(backwards, sources=id(vertices), cutoff=limit).distance
    depth = None if limit is None else int(limit)
    return levels_from(graph, vertices, incoming=incoming, max_depth=depth).level


def blocks_from(
    graph: Graph, vertices: np.ndarray, *, incoming: bool = False, weighted: bool = False, limit: float | None = None
) -> Iterator[tuple[slice, Any]]:
    """`distances_from` for any number of vertices, one block after the other."""
    for part in groups(np.arange(len(vertices)), block_size(graph), "distances"):
        block = distances_from(graph, vertices[part], incoming=incoming, weighted=weighted, limit=limit)
        yield slice(int(part[0]), int(part[-1]) + 1), block


class DistanceSums(NamedTuple):
    """One value for each of k vertices, in arrays on the graph's device."""

    reached: Any  # int64: how many vertices have a path, the vertex itself included
    total: Any  # sum of the distances
    inverse: Any  # sum of 1 / distance; vertices at distance 0 are left out
    farthest: Any  # the largest distance


def distance_sums(
    graph: Graph, sources: Any = None, *, incoming: bool = False, weighted: bool = False, seed: Any = None
) -> DistanceSums:
    """Sums over the distances of some vertices."""
    vertices = sources_of(graph, sources, seed)
    if weighted:
        return _weighted(graph, vertices, incoming)
    totals = survey(graph, vertices, incoming=incoming)
    return DistanceSums(*(to_device(part, graph.device) for part in totals[:4]))


def _weighted(graph: Graph, vertices: np.ndarray, incoming: bool) -> DistanceSums:
    xp = array_module(graph.device)
    k = len(vertices)
    totals = DistanceSums(xp.zeros(k, np.int64), xp.zeros(k), xp.zeros(k), xp.zeros(k))
    for part, block in blocks_from(graph, vertices, incoming=incoming, weighted=True):
        reached = block < np.inf
        distance = xp.where(reached, block, 0)
        totals.reached[part] = reached.sum(axis=1)
        totals.total[part] = distance.sum(axis=1, dtype=np.float64)
        totals.farthest[part] = distance.max(axis=1)
        # An inverse of infinity is 0, as of vertices that are not reached.
        away = xp.where(distance > 0, block, np.inf).astype(np.float64)
        totals.inverse[part] = (1 / away).sum(axis=1)
    return totals


@naming_arguments
def all_pairs_shortest_path_length(
    G: Graph | Any,
    cutoff: float | None = None,
    *,
    sources: Any = None,
    block: int | None = None,
    weight: Any = None,
    seed: int | None = None,
) -> Iterator[tuple[np.ndarray, Any]]:
    """Distances from every vertex, or from some, to all vertices, in blocks of sources.

    Parameters
    ----------
    cutoff : float, optional
        Vertices farther than this count as unreached.
    sources : None, int, or sequence of vertices
        Sources: None for all, a number for random ones, or a list.
    block : int, optional
        Sources of a block; ``block=G.n_vertices`` yields one block. Default: as many as run well together, and fit.
    weight : None, bool or str
        Length of an arc: 1 for None, its weight for True; a string names the attribute of a NetworkX graph's edges.
    seed : int, optional
        Random seed of the draw.

    Yields
    ------
    sources : array of b vertices
        In NumPy: names if the graph has names, else indices.
    lengths : array of shape (b, n)
        On the graph's device: numbers of arcs, -1 without a path; or, with `weight`, sums of weights, inf without a
        path. The array is not reused.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1], [1, 2])
    >>> for sources, lengths in hpg.all_pairs_shortest_path_length(G, block=2):
    ...     print(sources, lengths.tolist())
    [0 1] [[0, 1, 2], [-1, 0, 1]]
    [2] [[-1, -1, 0]]
    """
    graph, weighted = with_lengths(G, weight)
    vertices = sources_of(graph, sources, seed)
    if cutoff is not None:
        cutoff = real(cutoff, "cutoff", "a number or None", least=0)
    limit = None if cutoff == np.inf else cutoff
    if block is None:
        size = block_size(graph)
    else:
        size = whole(block, "block", "a whole number or None", least=1)
        size = min(size, max(len(vertices), 1))
        what = f"distances from a block of {size} sources to {graph.n_vertices} vertices"
        check_memory(size * graph.n_vertices * 8, what, graph.device)

    def blocks() -> Iterator[tuple[np.ndarray, Any]]:
        for begin in range(0, len(vertices), size):
            part = vertices[begin : begin + size]
            yield vertex_names(graph, part), distances_from(graph, part, weighted=weighted, limit=limit)

    return blocks()


@naming_arguments
def distance_histogram(
    G: Graph | Any, sources: Any = None, *, weight: Any = None, width: float | None = None, seed: Any = None
) -> np.ndarray:
    """Histogram of distances: the number of pairs of a source and a vertex at each distance.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph; distances are along its arcs, away from the sources.
    sources : None, int, or sequence of vertices, names or hpgraph.id
        Sources: None for all vertices, a number for that many distinct random ones. Counts from k of n vertices, times
        n / k, are an unbiased estimate of those from all.
    weight : None, bool or str
        Length of an arc, as for `hpgraph.closeness_centrality`.
    width : float, optional
        Width of a bin, for weights: bin i counts distances in ``[i * width, (i + 1) * width)``.
    seed : int or numpy.random.Generator, optional
        Random seed of the draw.

    Returns
    -------
    int64 array in NumPy
        Element d counts the pairs d arcs apart, or those of bin d; the last is not 0. Each source has distance 0 to
        itself. Pairs without a path are not counted.

    References
    ----------
    L. Backstrom et al., "Four degrees of separation", WebSci'12, on the use of such histograms.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False)
    >>> hpg.distance_histogram(G).tolist()
    [4, 6, 4, 2]
    """
    graph, _ = with_lengths(G, weight)
    vertices = sources_of(graph, sources, seed)
    if not weight:
        if width is not None:
            raise ValueError("width is for sums of weights: give weight=True, or leave width out")
        return survey(graph, vertices).histogram
    if width is None:
        raise ValueError("sums of weights are counted in bins: give width, the width of a bin")
    real(width, "width", "a number or None", above=0, below=np.inf)
    xp = array_module(graph.device)
    counts = np.zeros(1, np.int64)
    for _, block in blocks_from(graph, vertices, weighted=True):
        distance = block[block < np.inf]
        check_memory(int(float(distance.max()) / width) * 16, f"a histogram of bins {width} wide", graph.device)
        histogram = to_device(xp.bincount((distance / width).astype(np.int64)), "cpu")
        longer = np.zeros(max(len(counts), len(histogram)), np.int64)
        longer[: len(counts)] = counts
        longer[: len(histogram)] += histogram
        counts = longer
    return counts


@naming_arguments
def effective_diameter(G: Graph | Any, share: float = 0.9, *, sources: Any = None, seed: Any = None) -> float:
    """Effective diameter: the distance within which a share of all connected pairs of vertices lies.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph; distances are numbers of arcs, along them.
    share : float
        The share, above 0 and at most 1.
    sources, seed
        As for `distance_histogram`: a number of vertices is a sample.

    Returns
    -------
    float
        Interpolated between integer distances; NaN if no arc joins two vertices.

    Notes
    -----
    Searches from many sources share passes over the arcs, as in `distance_histogram`; on the GPU, launches dominate in
    graphs of fewer than 10⁶ arcs.

    References
    ----------
    J. Leskovec, J. Kleinberg, C. Faloutsos, "Graphs over time: densification laws, shrinking diameters and possible
    explanations", KDD'05.

    Examples
    --------
    >>> round(hpg.effective_diameter(hpg.datasets.grid(30, removed=0)), 2)
    33.08
    """
    share = real(share, "share", above=0, most=1)
    within = np.cumsum(distance_histogram(G, sources, seed=seed)[1:])
    if not len(within):
        return float("nan")
    threshold = share * int(within[-1])
    at = int(np.searchsorted(within, threshold))
    before = int(within[at - 1]) if at else 0
    return float(at + (threshold - before) / (int(within[at]) - before))
