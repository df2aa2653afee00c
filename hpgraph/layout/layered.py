"""Layers: graphs without cycles, drawn so that all arcs go down.

K. Sugiyama, S. Tagawa, M. Toda, "Methods for visual understanding of hierarchical system structures", IEEE Transactions
on Systems, Man, and Cybernetics 11 (1981): vertices into layers, dummies where arcs pass layers, orders by barycentres,
then coordinates.
"""

from typing import Any

import numpy as np

from hpgraph.algorithms.acyclic import generations_of
from hpgraph.containers.graph import Graph, as_simple, naming_arguments
from hpgraph.core.device import check_memory, to_device
from hpgraph.layout.geometry import checked

# Sweeps over the layers, down and up, for orders and for coordinates.
_PASSES = 12


@naming_arguments
def layered(G: Graph | Any, *, scale: float = 1, center: Any = None) -> Any:
    """A layered layout of a directed acyclic graph: all arcs go down, with few crossings.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        A directed graph without cycles.
    scale : number
        Distance of the outermost vertices from the center, in both coordinates.
    center : two numbers, optional
        The center.

    Returns
    -------
    float64 array of shape (n, 2)
        On the graph's device. Vertices of one layer have the same second coordinate.

    Raises
    ------
    ValueError, TypeError
        When the graph has a cycle, or an argument does not fit.
    DeviceMemoryError
        If the dummies of arcs do not fit.

    Notes
    -----
    A vertex is one layer below its lowest predecessor. Layers are ordered by the means of neighbours in the adjacent
    layer, in sweeps down and up; coordinates are such means too, subject to a minimum distance (isotonic regression).
    Runs on the CPU, except for the layers; a graph on the GPU is copied to it.

    References
    ----------
    K. Sugiyama, S. Tagawa, M. Toda, "Methods for visual understanding of hierarchical system structures", IEEE
    Transactions on Systems, Man, and Cybernetics 11 (1981).

    Examples
    --------
    >>> hpg.layout.layered(hpg.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3])).round(2).tolist()
    [[0.0, 1.0], [-1.0, 0.0], [1.0, 0.0], [0.0, -1.0]]
    """
    graph = as_simple(G)
    size, middle = checked(scale, center, 2)
    source, target = (to_device(ends, "cpu").astype(np.int64) for ends in graph.edges(both_ways=True)[:2])
    layer = to_device(generations_of(graph), "cpu").astype(np.int64)
    n = len(layer)
    if n == 0:
        return to_device(np.zeros((0, 2)), graph.device)
    upper, lower, layer = _through_layers(source, target, layer)
    members = np.split(np.argsort(layer, kind="stable"), np.cumsum(np.bincount(layer))[:-1])
    x = _coordinates(upper, lower, members, len(layer))
    place = np.stack((x[:n], -layer[:n].astype(np.float64)), axis=1)
    low, high = place.min(axis=0), place.max(axis=0)
    half = np.where(high > low, high - low, 1) / 2
    return to_device((place - (low + high) / 2) / half * size + middle, graph.device)


def _through_layers(source: Any, target: Any, layer: Any) -> tuple[Any, Any, Any]:
    """Ends of the pieces of arcs between neighbouring layers, and the layers of vertices and then of dummies."""
    span = layer[target] - layer[source]
    pieces = int(span.sum())
    check_memory(100 * pieces, f"{pieces:,} pieces of arcs between layers", "cpu")
    arc = np.repeat(np.arange(len(span)), span)
    step = np.arange(pieces) - np.repeat(np.cumsum(span) - span, span)
    # An arc of k segments has k - 1 dummies.
    dummy = len(layer) + np.arange(pieces) - arc
    upper = np.where(step == 0, source[arc], dummy - 1)
    lower = np.where(step == span[arc] - 1, target[arc], dummy)
    inner = step < span[arc] - 1
    return upper, lower, np.concatenate((layer, (layer[source[arc]] + 1 + step)[inner]))


def _coordinates(upper: Any, lower: Any, members: list[Any], count: int) -> Any:
    """Horizontal coordinates of vertices and dummies: ranks in the layer's order, then moved towards neighbours."""
    from scipy.optimize import isotonic_regression
    from scipy.sparse import csr_array

    ones = np.ones(len(upper))
    below = csr_array((ones, (lower, upper)), (count, count))
    above = below.T.tocsr()
    x = np.empty(count)
    for row in members:
        x[row] = np.arange(len(row)) - (len(row) - 1) / 2

    def wished(neighbours: Any, row: Any) -> Any:
        total = np.diff(neighbours.indptr)[row]
        return np.where(total > 0, (neighbours[row] @ x) / np.maximum(total, 1), x[row])

    def sweeps(rows: list[Any]) -> Any:
        for turn in range(_PASSES):
            neighbours, passed = (below, rows[1:]) if turn % 2 == 0 else (above, rows[-2::-1])
            yield from ((neighbours, row) for row in passed)

    for neighbours, row in sweeps(members):
        x[row[np.argsort(wished(neighbours, row), kind="stable")]] = np.arange(len(row)) - (len(row) - 1) / 2
    orders = [row[np.argsort(x[row], kind="stable")] for row in members]
    for neighbours, row in sweeps(orders):
        # Vertices of a layer are at least 1 apart, so coordinates minus ranks ascend.
        rank = np.arange(len(row))
        x[row] = isotonic_regression(wished(neighbours, row) - rank).x + rank
    return x
