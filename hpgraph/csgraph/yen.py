"""The K shortest simple paths between two vertices, as in `scipy.sparse.csgraph`."""

import itertools
import operator
from dataclasses import replace
from typing import Any

import numpy as np

from hpgraph.algorithms.simple_paths import by_length
from hpgraph.containers.graph import Graph
from hpgraph.core.device import to_device
from hpgraph.csgraph.graph_input import NO_PREDECESSOR, GraphInput, as_stored, both_ways
from hpgraph.csgraph.paths import distances_from, distances_from_everywhere, paths_of
from hpgraph.formats import CSR
from hpgraph.kernels.backend import kernels


def yen(
    csgraph: Any,
    source: int,
    sink: int,
    K: int,
    *,
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
) -> Any:
    """The lengths of the K shortest simple paths from one vertex to another.

    Parameters
    ----------
    csgraph : sparse or dense array, Graph or Matrix, shape (n, n)
    source, sink : int
        Vertices.
    K : int
        Maximum number of paths.
    directed, unweighted : bool
        As for `shortest_path`.
    return_predecessors : bool
        Whether to return the paths too.

    Returns
    -------
    dist_array : float64 array, shape (M,)
        Lengths of M <= K paths, in ascending order.
    predecessors : int32 array, shape (M, n)
        The predecessor on each path; -9999 for its source and vertices not on the path.

    Raises
    ------
    ValueError
        If a vertex is out of range, or `K` is negative.
    NegativeCycleError
        If the graph has a cycle of negative length.

    Notes
    -----
    The searches are sequential and short: a graph on the GPU is copied to the CPU for them. Paths of equal length may
    be in another order than in SciPy.

    References
    ----------
    J. Y. Yen, "Finding the K shortest loopless paths in a network", Management Science 17 (1971). E. L. Lawler, "A
    procedure for computing the K best solutions to discrete optimization problems", Management Science 18 (1972).

    Examples
    --------
    >>> from hpgraph import csgraph
    >>> csgraph.yen(np.array([[0, 1, 4], [0, 0, 2], [0, 0, 0]]), 0, 2, 5)
    array([3., 4.])
    """
    given = as_stored(csgraph, directed)
    n, K = given.csr.shape[0], operator.index(K)
    source, sink = operator.index(source), operator.index(sink)
    if not (0 <= source < n and 0 <= sink < n):
        raise ValueError(f"source and sink must have 0 <= source < {n} and 0 <= sink < {n}, not {source} and {sink}")
    if K < 0:
        raise ValueError(f"K, the number of paths, must not be negative, not {K}")
    rows = given.csr.to("cpu")
    if unweighted:
        rows = rows.with_data(np.ones(rows.nnz), copy=False)
    elif given.least < 0:
        distances_from_everywhere(given.checked().graph(directed).out_csr.to("cpu"))
    given = replace(given, csr=rows)
    if K > 1:
        paths = _shortest(given, source, sink, K, directed)
    else:
        paths = _after_a_search(given, source, sink, K, directed)
    lengths = np.array([length for length, _ in paths], np.float64)
    if not return_predecessors:
        return to_device(lengths, given.device)
    predecessors = np.full((len(paths), n), NO_PREDECESSOR, np.int32)
    for row, (_, path) in zip(predecessors, paths, strict=True):
        row[path[1:]] = path[:-1]
    return to_device(lengths, given.device), to_device(predecessors, given.device)


def _after_a_search(given: GraphInput, source: int, sink: int, K: int, directed: bool) -> list[tuple[float, list[int]]]:
    """The shortest path and its length, if K is 1 and there is one."""
    distance, before = paths_of(given, directed, np.array(source), True, False)
    if K == 0 or distance[sink] == np.inf:
        return []
    path = [sink]
    while path[-1] != source:
        path.append(int(before[path[-1]]))
    return [(float(distance[sink]), path[::-1])]


def _shortest(given: GraphInput, source: int, sink: int, K: int, directed: bool) -> list[tuple[float, list[int]]]:
    """Up to K paths and their lengths, among reachable vertices; few of them are numbered anew."""
    from hpgraph.kernels.relaxation.cpu_dijkstra import shortest_trees
    from hpgraph.kernels.structure.cpu_both_ways import incoming_rows

    cpu = kernels("cpu")
    rows = given.csr if directed else cpu.rows_both_ways(given.csr.with_data(None))
    reached, before = cpu.fifo_order(rows, source, NO_PREDECESSOR)
    if source != sink and before[sink] == NO_PREDECESSOR:
        return []
    arcs_reached = int((rows.indptr[reached + 1] - rows.indptr[reached]).sum())
    if is_part := len(reached) + arcs_reached <= (len(before) + rows.nnz) // 2:
        reached.sort()
        number = np.empty(len(before), rows.indices.dtype)
        number[reached] = np.arange(len(reached))
        source, sink = int(number[source]), int(number[sink])
        rows = cpu.rows_of(given.csr, reached, 0, len(before))
        rows = CSR((len(reached),) * 2, rows.indptr, number[rows.indices], rows.data, validate=False)
        given = replace(given, csr=rows, as_stored=True)
    arcs = given.checked().csr
    arcs = arcs if directed else both_ways(arcs)
    back = (incoming_rows(arcs) or arcs) if directed else arcs
    found = shortest_trees(back, np.array([[sink]]), np.inf, None)
    left = distances_from(Graph(back, directed=True), sink) if found is None else found[0][0]
    if left[source] == np.inf:
        # Arcs of infinite weight are on no path.
        return []
    paths = itertools.islice(by_length(arcs, source, sink, left), K)
    return [(length, reached[path].tolist() if is_part else path) for length, path in paths]
