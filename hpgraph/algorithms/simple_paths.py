"""Several paths between two vertices: all that are shortest, all, or one after the other by length; and A*.

They run on the CPU: each search is short, and follows from those before it. A graph on the GPU is copied to the CPU.
"""

import heapq
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hpgraph.algorithms.bfs import bfs
from hpgraph.algorithms.distances import with_lengths
from hpgraph.algorithms.shortest_path import no_path
from hpgraph.algorithms.sssp import sssp
from hpgraph.algorithms.vertex_values import named_path, vertex_values
from hpgraph.containers.graph import Graph, id, naming_arguments, whole
from hpgraph.formats import CSR
from hpgraph.kernels.bidirectional.cpu_all_paths import simple_paths
from hpgraph.kernels.bidirectional.cpu_astar import astar
from hpgraph.kernels.bidirectional.cpu_spur import SpurSearch
from hpgraph.semiring.function import Function
from hpgraph.semiring.inference import returned_dtype


def _pair(G: Any, source: Any, target: Any, weight: Any) -> tuple[Graph, bool, int, int]:
    """The graph, on the CPU, whether lengths are weights, and the ends of paths."""
    graph, weighted = with_lengths(G, weight)
    s, t = graph.index_of(source, "source"), graph.index_of(target, "target")
    arcs = graph.out_csr
    return (graph if arcs.device == "cpu" else graph.to("cpu")), weighted, s, t


def _distances(graph: Graph, start: int, weighted: bool) -> Any:
    """Distances from a vertex, inf where there is no path."""
    if weighted:
        return sssp(graph, id(start)).distance
    level = bfs(graph, id(start)).level
    return np.where(level < 0, np.inf, level)


def lists_of(blocks: Iterator[tuple[Any, Any]]) -> Iterator[list[int]]:
    """Lists from blocks, each of which has the offsets and the elements of many."""
    for ends, elements in blocks:
        items, bounds = elements.tolist(), ends.tolist()
        yield from (items[begin:end] for begin, end in itertools.pairwise(bounds))


@naming_arguments
def astar_path(G: Graph | Any, source: Any, target: Any, heuristic: Any = None, *, weight: Any = None) -> list[Any]:
    """A shortest path by A*, a search directed by lower bounds of the remaining distance.

    Parameters
    ----------
    G, source, target, weight
        As for `shortest_path`.
    heuristic : function, array of length n or dict, optional
        A lower bound of the distance from each vertex to the target: an array or a dict has one for each vertex, and a
        function ``heuristic(v, target)``, of vertices by index, gives that of a vertex when it is reached. The function
        is compiled; it may read arrays. Where a bound is too high, the path may be longer than the shortest.

    Returns
    -------
    list
        From `source` to `target`, as of `shortest_path`, as are errors.

    Notes
    -----
    Runs on one thread of the CPU; a graph on the GPU is copied to it. `shortest_path` searches from both ends, which
    visits fewer vertices unless the bounds are good.

    References
    ----------
    P. E. Hart, N. J. Nilsson, B. Raphael, "A formal basis for the heuristic determination of minimum cost paths", IEEE
    Trans. SSC 4 (1968).

    Examples
    --------
    >>> import numpy as np
    >>> G = hpg.datasets.grid(30, removed=0)
    >>> x, y = np.arange(900) % 30, np.arange(900) // 30
    >>> path = hpg.astar_path(G, 0, 95, lambda v, target: abs(x[v] - x[target]) + abs(y[v] - y[target]))
    >>> len(path), path[0], path[-1]
    (9, 0, 95)
    """
    graph, weighted, s, t = _pair(G, source, target, weight)
    function, bounds = None, None
    if callable(heuristic):
        function = Function(heuristic, "heuristic")
        returned_dtype(function, (np.dtype(np.int64),) * 2)
    else:
        bounds = vertex_values(graph, 0.0 if heuristic is None else heuristic, "heuristic", np.dtype(np.float64))
    arcs = graph.out_csr
    path = astar(arcs.astype(np.float64) if weighted else arcs.with_data(None), s, t, bounds, function)
    if path is None:
        raise no_path(graph, s, t, weighted)
    return named_path(graph, path[0])


@naming_arguments
def all_shortest_paths(G: Graph | Any, source: Any, target: Any, *, weight: Any = None) -> Iterator[list[Any]]:
    """All shortest paths from one vertex to another, one after the other.

    Parameters are those of `shortest_path`.

    Yields
    ------
    list
        The vertices of a path, as of `shortest_path`. Lengths are compared exactly, as sums from the source.

    Raises
    ------
    NoPathError
        At the call, if there is none.

    Notes
    -----
    A search from `source`, then one back from `target` along arcs of shortest paths, as paths are asked for, on the
    CPU; a graph on the GPU is copied to it.

    References
    ----------
    E. W. Dijkstra, "A note on two problems in connexion with graphs", Numerische Mathematik 1 (1959).

    Examples
    --------
    >>> list(hpg.all_shortest_paths(([0, 0, 1, 2], [1, 2, 3, 3]), 0, 3))
    [[0, 1, 3], [0, 2, 3]]
    """
    graph, weighted, s, t = _pair(G, source, target, weight)
    distance = _distances(graph, s, weighted)
    if distance[t] == np.inf:
        raise no_path(graph, s, t, weighted)
    return (named_path(graph, path) for path in _along_tight(graph.in_csr, weighted, distance, s, t))


def _along_tight(into: CSR, weighted: bool, distance: Any, source: int, target: int) -> Iterator[list[int]]:
    """The paths from source to target along tight arcs, by depth-first search from the target."""

    def before(v: int) -> Iterator[int]:
        at = slice(into.indptr[v], into.indptr[v + 1])
        rows = into.indices[at]
        return iter(rows[distance[rows] + (into.data[at] if weighted else 1) == distance[v]].tolist())

    path, ahead = [target], [before(target)]
    if source == target:
        yield path
        return
    while path:
        # Arcs of weight 0 may close cycles.
        v = next((v for v in ahead[-1] if v not in path), -1)
        if v < 0:
            path.pop()
            ahead.pop()
        elif v == source:
            yield [source, *reversed(path)]
        else:
            path.append(v)
            ahead.append(before(v))


@naming_arguments
def all_simple_paths(G: Graph | Any, source: Any, target: Any, cutoff: int | None = None) -> Iterator[list[Any]]:
    """All paths from one vertex to another that visit no vertex twice, one after the other, depth first.

    Parameters
    ----------
    G, source, target
        As for `shortest_path`. Parallel edges make one path.
    cutoff : int, optional
        Maximum number of arcs of a path.

    Yields
    ------
    list
        The vertices of a path, as of `shortest_path`; none if there is no path. `source` alone is the path to itself.

    Notes
    -----
    On one thread of the CPU; a graph on the GPU is copied to it. A search back from `target` finds which arcs lead too
    far from it for `cutoff`. Paths are found some thousands at a time, as the iterator proceeds: their number grows
    exponentially with `cutoff`.

    References
    ----------
    R. Sedgewick, "Algorithms in C, Part 5: Graph Algorithms" (2001).

    Examples
    --------
    >>> list(hpg.all_simple_paths(([0, 0, 1, 2, 1], [1, 2, 3, 3, 2]), 0, 3))
    [[0, 1, 2, 3], [0, 1, 3], [0, 2, 3]]
    """
    graph, _, s, t = _pair(G, source, target, None)
    max_arcs = graph.n_vertices if cutoff is None else whole(cutoff, "cutoff")
    arcs, is_target = graph.out_csr, np.zeros(graph.n_vertices, bool)
    is_target[t] = True
    blocks = simple_paths(arcs, s, is_target, bfs(graph.reverse(), id(t)).level, max_arcs)
    return (named_path(graph, path) for path in lists_of(blocks))


@naming_arguments
def shortest_simple_paths(G: Graph | Any, source: Any, target: Any, *, weight: Any = None) -> Iterator[list[Any]]:
    """The paths from one vertex to another that visit no vertex twice, the shortest first, one after the other.

    Parameters are those of `shortest_path`.

    Yields
    ------
    list
        The vertices of a path, as of `shortest_path`; of equal lengths those of fewer vertices come first.

    Raises
    ------
    NoPathError
        At the call, if there is none.

    Notes
    -----
    ``itertools.islice(paths, k)`` takes the k shortest. Each path takes as many searches as it has arcs of its own, on
    one thread of the CPU; a graph on the GPU is copied to it. `hpgraph.csgraph.yen` gives lengths, also of negative
    weights.

    References
    ----------
    J. Y. Yen, "Finding the K shortest loopless paths in a network", Management Science 17 (1971). E. L. Lawler, "A
    procedure for computing the K best solutions to discrete optimization problems", Management Science 18 (1972).

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 2, 1], [1, 2, 3, 3, 2], [1.0, 4.0, 5.0, 1.0, 1.0])
    >>> list(hpg.shortest_simple_paths(G, 0, 3, weight=True))
    [[0, 1, 2, 3], [0, 2, 3], [0, 1, 3]]
    """
    graph, weighted, s, t = _pair(G, source, target, weight)
    left = _distances(graph.reverse(), t, weighted)
    if left[s] == np.inf:
        raise no_path(graph, s, t, weighted)
    arcs = graph.out_csr
    lengths = arcs.astype(np.float64) if weighted else arcs.with_data(np.ones(arcs.nnz), copy=False)
    return (named_path(graph, path) for _, path in by_length(lengths, s, t, left))


@dataclass
class _Prefix:
    """A prefix of one or more paths: its length, and its extensions by one vertex."""

    length: float
    after: "dict[int, _Prefix]" = field(default_factory=dict)


def by_length(arcs: CSR, source: int, sink: int, left: Any) -> Iterator[tuple[float, list[int]]]:
    """Paths and their lengths, by Yen's algorithm, from each vertex's distance to the sink, inf for none."""
    search = SpurSearch(arcs, sink, left)
    weight_of = _weights(arcs)

    first = [source] if source == sink else search.path(np.array([source]), np.empty(0, np.int64))
    # Ties go to the path of fewer arcs; the last component is the index of the spur vertex.
    candidates = [(sum(map(weight_of, first, first[1:])), len(first), first, 0)]
    root = _Prefix(0.0)
    while candidates:
        length, _, path, leaves = heapq.heappop(candidates)
        yield length, path
        prefixes = [root]
        for u, v in itertools.pairwise(path):
            prefix = prefixes[-1]
            prefixes.append(prefix.after.setdefault(v, _Prefix(prefix.length + weight_of(u, v))))
        whole = np.array(path)
        for i in range(leaves, len(path) - 1):
            after = prefixes[i].after
            row = arcs.indices[arcs.indptr[path[i]] : arcs.indptr[path[i] + 1]]
            others = len(row) - len(after)
            if others == 0 or (others == 1 and i > 0 and path[i - 1] in row):
                # No arc leads on, as along a path: a search would mark the vertices before.
                continue
            spur = search.path(whole[: i + 1], np.fromiter(after, np.int64, len(after)))
            if spur is not None:
                length = prefixes[i].length + sum(map(weight_of, spur, spur[1:]))
                heapq.heappush(candidates, (length, i + len(spur), path[:i] + spur, i))


def _weights(arcs: CSR) -> Any:
    """The weight of the arc between two vertices."""

    def weight_of(u: int, v: int) -> float:
        begin, end = arcs.indptr[u], arcs.indptr[u + 1]
        return float(arcs.data[begin + np.searchsorted(arcs.indices[begin:end], v)])

    return weight_of
