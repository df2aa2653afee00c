"""Shortest paths, as in `scipy.sparse.csgraph`: from some vertices or all, by `hpgraph.sssp`."""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse.csgraph

from hpgraph.algorithms.bfs import levels_from
from hpgraph.algorithms.distances import roots_of
from hpgraph.algorithms.sssp import sssp
from hpgraph.containers.graph import Graph, one_of, real
from hpgraph.core import errors
from hpgraph.core.config import config
from hpgraph.core.device import array_module, to_device
from hpgraph.csgraph.graph_input import NO_PREDECESSOR, GraphInput, as_stored
from hpgraph.formats import CSR
from hpgraph.kernels.backend import kernels

# A search of fewer arcs ends sooner than several threads synchronize.
_MAX_ALONE = 1 << 18
# Number of arcs after which a search with a long queue is continued by several threads.
_MAX_TRIED = 1 << 16
# Searches from more vertices than this run on several threads.
_MAX_DENSE = 2048


class NegativeCycleError(errors.NegativeCycleError, scipy.sparse.csgraph.NegativeCycleError):
    """A graph has a cycle of negative length; a subclass of SciPy's error and of hpgraph's."""


def shortest_path(
    csgraph: Any, method: str = "auto", directed: bool = True, return_predecessors: bool = False,
    unweighted: bool = False, overwrite: bool = False, indices: Any = None,
) -> Any:  # fmt: skip
    """Lengths of the shortest paths between vertices.

    Parameters
    ----------
    csgraph : sparse or dense array, Graph or Matrix, shape (n, n)
    method : {"auto", "FW", "D", "BF", "J"}
        For compatibility with SciPy, and checked as there; it does not change the algorithm.
    directed : bool
        If false, arcs count in both directions, with the lighter of two weights.
    return_predecessors, unweighted : bool
        Whether to return predecessors too, and whether every arc has length 1.
    overwrite : bool
        For compatibility with SciPy: nothing is overwritten.
    indices : int or array of ints, optional
        Sources; all vertices by default.

    Returns
    -------
    dist_matrix : float64 array, shape ``(*indices.shape, n)``
        Infinity if there is no path.
    predecessors : int32 array, shape ``(*indices.shape, n)``
        The predecessor on a shortest path, one with fewest arcs among several; -9999 if there is none.

    Raises
    ------
    NegativeCycleError
        If a cycle of negative length is reachable.
    ValueError
        If `method` is unknown, or an index out of range.

    Examples
    --------
    >>> from hpgraph import csgraph
    >>> csgraph.shortest_path(np.array([[0, 1, 4], [0, 0, 2], [0, 0, 0]]))
    array([[ 0.,  1.,  3.],
           [inf,  0.,  2.],
           [inf, inf,  0.]])
    """
    one_of(method, "method", ("auto", "FW", "D", "BF", "J"))
    if method == "FW" and indices is not None:
        raise ValueError("indices cannot be given with method FW, which starts everywhere: use another method")
    if method == "D":
        return dijkstra(csgraph, directed, indices, return_predecessors, unweighted)
    return paths_of(as_stored(csgraph, directed, reads_rows=True), directed, indices, return_predecessors, unweighted)


def dijkstra(
    csgraph: Any, directed: bool = True, indices: Any = None, return_predecessors: bool = False,
    unweighted: bool = False, limit: float = np.inf, min_only: bool = False,
) -> Any:  # fmt: skip
    """Lengths of shortest paths between vertices, up to a limit, or from the nearest of several vertices.

    Weights may be negative: the result is then that of `bellman_ford`.

    Parameters
    ----------
    csgraph, directed, indices, return_predecessors, unweighted
        As for `shortest_path`.
    limit : float
        Maximum length of a path; not negative.
    min_only : bool
        Whether to return the least distance of each vertex from all `indices`.

    Returns
    -------
    dist_matrix, predecessors
        As for `shortest_path`; of shape (n,) with `min_only`.
    sources : int32 array, shape (n,)
        With `min_only` and `return_predecessors`: the nearest source of each vertex; -9999 for unreachable vertices.

    Raises
    ------
    ValueError
        If `limit` is negative or an index out of range.

    Examples
    --------
    >>> from hpgraph import csgraph
    >>> csgraph.dijkstra(np.array([[0, 1, 4], [0, 0, 2], [0, 0, 0]]), indices=[1, 2], min_only=True)
    array([inf,  0.,  0.])
    """
    given = as_stored(csgraph, directed, reads_rows=True)
    limit = real(limit, "limit")
    if not limit >= 0:
        raise ValueError(f"limit must not be negative, not {limit!r}")
    cutoff = None if np.isinf(limit) else limit
    if min_only:
        return _nearest(given, directed, indices, return_predecessors, unweighted, cutoff)
    return paths_of(given, directed, indices, return_predecessors, unweighted, cutoff)


def bellman_ford(
    csgraph: Any,
    directed: bool = True,
    indices: Any = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
) -> Any:
    """Lengths of shortest paths between vertices, for weights of any sign; otherwise as `shortest_path`."""
    return paths_of(as_stored(csgraph, directed, reads_rows=True), directed, indices, return_predecessors, unweighted)


def johnson(
    csgraph: Any,
    directed: bool = True,
    indices: Any = None,
    return_predecessors: bool = False,
    unweighted: bool = False,
) -> Any:
    """Lengths of shortest paths between vertices: one search with weights of any sign, the others without.

    Otherwise as `shortest_path`; any cycle of negative length is a `NegativeCycleError`.

    References
    ----------
    D. B. Johnson, "Efficient algorithms for shortest paths in sparse networks", J. ACM 24 (1977).
    """
    given = as_stored(csgraph, directed)
    if unweighted or not given.least < 0:
        return paths_of(given, directed, indices, return_predecessors, unweighted)
    given = given.checked()
    arcs = given.graph(directed).out_csr
    row = arcs.expand_rows()
    # An added vertex with an arc of length 0 to every other reaches all.
    potential = distances_from_everywhere(arcs)
    lifted = given.xp.maximum(arcs.data + potential[row] - potential[arcs.indices], 0)
    distance, predecessors = paths_of(
        replace(given, csr=arcs.with_data(lifted, copy=False)), True, indices, True, False
    )
    starts = _starts(indices, arcs.shape[0]).reshape(distance.shape[:-1])
    distance = distance + potential - potential[to_device(starts, given.device)][..., None]
    return (distance, predecessors) if return_predecessors else distance


def floyd_warshall(
    csgraph: Any, directed: bool = True, return_predecessors: bool = False, unweighted: bool = False,
    overwrite: bool = False,
) -> Any:  # fmt: skip
    """Lengths of shortest paths between all vertices; otherwise as `shortest_path`."""
    return paths_of(as_stored(csgraph, directed, reads_rows=True), directed, None, return_predecessors, unweighted)


def paths_of(
    given: GraphInput, directed: bool, indices: Any, return_predecessors: bool, unweighted: bool,
    cutoff: float | None = None,
) -> Any:  # fmt: skip
    """Distances, and predecessors if asked for, from sources, or from all vertices."""
    n = given.csr.shape[0]
    starts, is_dense = _starts(indices, n), n <= _MAX_DENSE and n * n <= 4 * given.csr.nnz
    shape = (*starts.shape, n)
    if indices is None and cutoff is None and is_dense and given.device == "cpu" and np.isfinite(given.least):
        return _between_all(given, directed, return_predecessors, unweighted)
    found = _trees(given, directed, starts.reshape(-1, 1), return_predecessors, unweighted, cutoff)
    if found is not None:
        distance, predecessors = found
        distance = distance.reshape(shape)
        return (distance, predecessors.reshape(shape)) if return_predecessors else distance
    # One search reads all arcs once, in any order; several share each pass.
    xp = given.xp
    if given.device == "cpu" and not directed and starts.size == 1:
        rows = kernels("cpu").rows_both_ways(given.csr.with_data(None) if unweighted else given.csr)
        graph = replace(given, csr=rows).graph(True)
    else:
        arcs = given.within_shape() if directed and starts.size == 1 else given.checked()
        graph = arcs.graph(directed, weighted=not unweighted)
    if starts.ndim == 0:
        distance, predecessors = _search(graph, int(starts), cutoff, return_predecessors)
    elif unweighted and not return_predecessors:
        # Numbers of arcs, by multi-source breadth-first search.
        depth = None if cutoff is None else int(min(cutoff, graph.n_vertices))
        level = levels_from(graph, starts.ravel(), max_depth=depth).level
        distance = xp.where(level < 0, np.inf, level.astype(np.float64))
    else:
        distance, predecessors = _search(graph, starts.ravel(), cutoff, return_predecessors)
    if not return_predecessors:
        return distance.reshape(shape)
    return distance.reshape(shape), predecessors.astype(np.int32, copy=False).reshape(shape)


def _between_all(given: GraphInput, directed: bool, return_predecessors: bool, unweighted: bool) -> Any:
    from hpgraph.kernels.relaxation.cpu_floyd_warshall import distances_between_all

    arcs = given.checked().csr
    distance = np.full(arcs.shape, np.inf)
    distance[arcs.expand_rows(), arcs.indices] = 1 if unweighted else arcs.data
    if not directed:
        np.minimum(distance, distance.T.copy(), out=distance)
    np.fill_diagonal(distance, np.minimum(distance.diagonal(), 0))
    predecessors = distances_between_all(distance, NO_PREDECESSOR if return_predecessors else None)
    if (distance.diagonal() < 0).any():
        raise NegativeCycleError("there is a cycle of negative length")
    return (distance, predecessors) if return_predecessors else distance


def _trees(
    given: GraphInput, directed: bool, sources: Any, with_predecessors: bool, unweighted: bool, cutoff: float | None
) -> tuple[Any, Any] | None:
    """Distances and predecessors by one thread a search, on the CPU; None if a search meets a negative weight."""
    # From the nearest of several, threads would search a graph with an added vertex, and rows merged if undirected.
    shared = sources.shape[1] == 1 or (directed and not unweighted)
    tried = shared and cutoff is None and given.csr.nnz >= _MAX_ALONE and len(sources) < 2 * config.threads
    if given.device != "cpu":
        return None
    from hpgraph.kernels.relaxation.cpu_dijkstra import NO_LIMIT, shortest_trees

    return shortest_trees(
        given.csr.with_data(None) if unweighted else given.csr,
        sources,
        np.inf if cutoff is None else cutoff,
        NO_PREDECESSOR if with_predecessors else None,
        directed=directed,
        most=_MAX_TRIED if tried else NO_LIMIT,
    )


def _search(graph: Graph, start: Any, cutoff: float | None, with_parents: bool) -> tuple[Any, Any]:
    """Distances and predecessors from one vertex, or from each of an array of them."""
    several = isinstance(start, np.ndarray)
    start_argument = {"sources": start} if several else {"source": start}
    # On the CPU one pass over the arcs finds a tree, unless a path leads through vertices beyond the cutoff.
    apart = graph.device == "cpu" and cutoff is None
    try:
        by_programs = with_parents and not apart
        found = sssp(graph, **start_argument, cutoff=cutoff, parents=by_programs, deterministic=by_programs)
    except errors.NegativeCycleError as error:
        raise NegativeCycleError(str(error)) from None
    if with_parents and apart:
        from hpgraph.kernels.structure.cpu_predecessors import shortest_path_trees

        arcs, distance = graph.out_csr, np.atleast_2d(found.distance)
        starts = np.reshape(start, (-1, 1))
        before = shortest_path_trees((arcs.indptr, arcs.indices, arcs.data), None, starts, distance, NO_PREDECESSOR)
        return found.distance, before.reshape(found.distance.shape)
    parent = found.parent
    if with_parents:
        xp = array_module(parent)
        parent[(xp.arange(start.size), xp.asarray(start)) if several else start] = NO_PREDECESSOR
        parent[parent < 0] = NO_PREDECESSOR
    return found.distance, parent


def _nearest(
    given: GraphInput, directed: bool, indices: Any, return_predecessors: bool, unweighted: bool, cutoff: float | None
) -> Any:
    """Distances from the nearest of several vertices: those from an added vertex with arcs of length 0 to them."""
    n, xp = given.csr.shape[0], given.xp
    starts = _starts(indices, n).reshape(-1)
    if len(starts) > 1:
        starts = np.unique(starts)
    found = _trees(given, directed, starts[None], return_predecessors, unweighted, cutoff)
    if found is not None:
        distance, predecessors = found[0][0], found[1]
        if not return_predecessors:
            return distance
        predecessors = predecessors[0]
    else:
        arcs = given.checked().graph(directed).out_csr
        weights = xp.ones_like(arcs.data) if unweighted else arcs.data
        graph = _with_one_more(arcs, weights, to_device(starts, given.device))
        distance, parent = _search(graph, n, cutoff, return_predecessors)
        distance = distance[:n]
        if not return_predecessors:
            return distance
        predecessors = parent[:n].astype(np.int32)
        predecessors[predecessors == n] = NO_PREDECESSOR
    if given.device == "cpu":
        from hpgraph.kernels.structure.cpu_predecessors import roots

        return distance, predecessors, roots(predecessors, starts, NO_PREDECESSOR)
    sources = roots_of(xp.where(predecessors == NO_PREDECESSOR, xp.arange(n), predecessors))
    sources[xp.isinf(distance)] = NO_PREDECESSOR
    return distance, predecessors, sources.astype(np.int32)


def distances_from(graph: Graph, start: int) -> Any:
    """The lengths of shortest paths from one vertex."""
    return _search(graph, start, None, False)[0]


def distances_from_everywhere(arcs: CSR) -> Any:
    """The least length of a path to each vertex from any vertex, itself included: 0 or less."""
    n = arcs.shape[0]
    xp = array_module(arcs.device)
    return distances_from(_with_one_more(arcs, arcs.data, xp.arange(n)), n)[:n]


def _with_one_more(arcs: CSR, weights: Any, targets: Any) -> Graph:
    """The graph with an added vertex that has arcs of length 0 to some others."""
    n = arcs.shape[0]
    xp = array_module(arcs.device)
    indptr = xp.concatenate([arcs.indptr, arcs.indptr[-1:] + len(targets)])
    indices = xp.concatenate([arcs.indices, targets.astype(arcs.indices.dtype)])
    data = xp.concatenate([weights, xp.zeros(len(targets))])
    return Graph(CSR((n + 1, n + 1), indptr, indices, data, validate=False), directed=True)


def _starts(indices: Any, n: int) -> np.ndarray[Any, Any]:
    """The sources, in the shape given."""
    if indices is None:
        return np.arange(n)
    starts = np.asarray(to_device(indices, "cpu") if hasattr(indices, "get") else indices)
    if starts.size == 0:
        return starts.astype(np.int64)
    if starts.dtype.kind not in "iu":
        raise TypeError(f"indices must be whole numbers, not {starts.dtype}")
    least, greatest = (int(starts), int(starts)) if starts.ndim == 0 else (int(starts.min()), int(starts.max()))
    if least < -n or greatest >= n:
        raise ValueError(f"indices out of range 0...{n}")
    return starts if least >= 0 else np.where(starts < 0, starts + n, starts)
