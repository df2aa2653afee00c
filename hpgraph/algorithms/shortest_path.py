"""One shortest path from one vertex to another, found from both ends.

Bidirectional search visits a far smaller part of most graphs than a search from one end (I. Pohl,
"Bi-directional search", Machine Intelligence 6 (1971)).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from hpgraph.algorithms import balls
from hpgraph.algorithms.lengths import with_lengths
from hpgraph.containers.graph import Graph
from hpgraph.containers.name_arrays import python_values
from hpgraph.core.errors import NoPathError
from hpgraph.core.suggestions import naming_arguments


@naming_arguments
def shortest_path(G: Graph | Any, source: Hashable, target: Hashable, *, weight: Any = None) -> list[Any]:
    """The vertices of a shortest path.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph; the path leads along its arcs.
    source, target : hashable or hpgraph.id
        Its ends: vertex ids, or names where the graph has names; there ``hpgraph.id(5)`` says an index.
    weight : None, bool or str
        What is least: None the number of arcs, True the sum of the weights that the graph holds. A string names the
        attribute where `G` is a NetworkX graph, and "weight" means True elsewhere.

    Returns
    -------
    list
        From `source` to `target`: names where the graph has names, else ids. ``[source]`` where both are the same.
        Of several shortest paths any.

    Raises
    ------
    NoPathError
        If no path leads from `source` to `target`; it is a ValueError.
    ValueError, TypeError, IndexError
        If one is no vertex of the graph, or a weight is negative: `hpgraph.sssp` takes those.

    Notes
    -----
    On the CPU one thread searches, and takes memory for the vertices it reaches: up to 16 bytes a vertex, 26 with
    weights. On the GPU balls around both ends grow superstep by superstep, in 24 to 40 bytes a vertex. A directed graph
    is transposed first, and keeps that.

    References
    ----------
    I. Pohl, "Bi-directional search", Machine Intelligence 6 (1971).

    Examples
    --------
    >>> import hpgraph as hpg
    >>> G = hpg.Graph.from_edges([0, 1, 0, 2], [1, 3, 2, 3], [5.0, 1.0, 2.0, 2.0], names=["a", "b", "c", "d"])
    >>> hpg.shortest_path(G, "a", "d", weight=True)
    ['a', 'c', 'd']
    """
    graph, weighted = with_lengths(G, weight)
    path, _ = _route(graph, graph.index_of(source, "source"), graph.index_of(target, "target"), weighted)
    return path.tolist() if graph.names is None else python_values(graph.names[path])


@naming_arguments
def shortest_path_length(G: Graph | Any, source: Hashable, target: Hashable, *, weight: Any = None) -> int | float:
    """The length of a shortest path.

    Parameters and errors are those of `shortest_path`.

    Returns
    -------
    int, or float for weights
        Of weights the sums from both ends, added: it may differ from `hpgraph.sssp` by rounding.

    References
    ----------
    I. Pohl, "Bi-directional search", Machine Intelligence 6 (1971).

    Examples
    --------
    >>> import hpgraph as hpg
    >>> hpg.shortest_path_length(hpg.datasets.grid(30, removed=0), 0, 899)
    58
    """
    graph, weighted = with_lengths(G, weight)
    return _route(graph, graph.index_of(source, "source"), graph.index_of(target, "target"), weighted)[1]


def _route(graph: Graph, source: int, target: int, weighted: bool) -> tuple[np.ndarray, int | float]:
    """The vertices of a shortest path, and its length."""
    found: tuple[np.ndarray, int | float] | None
    if weighted:
        found = _least_weight(graph, source, target)
    else:
        path = _fewest_arcs(graph, source, target)
        found = None if path is None else (path, len(path) - 1)
    if found is None:
        names = [vertex if graph.names is None else graph.names[vertex] for vertex in (source, target)]
        along = " along arcs: G.undirected takes them in both directions" if graph.directed else ""
        raise NoPathError(f"no path leads from {names[0]} to {names[1]}{along}")
    return found


def _fewest_arcs(graph: Graph, source: int, target: int) -> np.ndarray | None:
    if graph.device != "cpu":
        return balls.fewest_arcs(graph, source, target)
    from hpgraph.kernels.bidirectional import cpu

    return cpu.fewest_arcs(graph.out_csr, graph.in_csr, source, target)


def _least_weight(graph: Graph, source: int, target: int) -> tuple[np.ndarray, float] | None:
    if graph.device != "cpu":
        return balls.least_weight(graph, source, target)
    from hpgraph.kernels.bidirectional import cpu

    return cpu.least_weight(graph.out_csr, graph.in_csr, source, target)
