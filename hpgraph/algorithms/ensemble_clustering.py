"""Consensus communities of several searches: an edge's weight is the share of them that keep its ends together."""

from typing import Any

import numpy as np

from hpgraph.algorithms.communities import Communities, checked, found
from hpgraph.algorithms.cores import core_number
from hpgraph.algorithms.distances import with_weights
from hpgraph.algorithms.louvain import leiden
from hpgraph.algorithms.random_choice import scattered
from hpgraph.containers.graph import Graph, naming_arguments, real, whole
from hpgraph.core.device import array_module
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.communities.batches import MIN_MOVES


@naming_arguments
def ecg(
    G: Graph | Any,
    weight: Any = "weight",
    resolution: float = 1,
    seed: int = 0,
    *,
    min_weight: float = 0.05,
    ensemble_size: int = 16,
) -> Communities:
    """Ensemble clustering for graphs (ECG): communities by consensus of several fast partitions.

    Parameters
    ----------
    G, weight, resolution, seed
        As for `hpgraph.leiden`.
    min_weight : float, in [0, 1]
        Minimum weight of an edge; an edge within a community of every partition has weight 1.
    ensemble_size : int
        Number of partitions: each is the first level of `hpgraph.louvain`, with its own seed.

    Returns
    -------
    Communities
        The result of `hpgraph.leiden` with these weights; modularity and quality use the graph's own weights.

    Notes
    -----
    Edges outside the 2-core, which lie on no cycle, have weight `min_weight`. A directed graph is treated as
    undirected, with the sum of the weights of both directions. Memory: 8 bytes an arc more than `louvain`.

    References
    ----------
    V. Poulin, F. Théberge, "Ensemble clustering for graphs", Complex Networks 2018.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5], directed=False)
    >>> hpg.ecg(G).communities()
    [{0, 1, 2}, {3, 4, 5}]
    """
    lower_bound, size = real(min_weight, "min_weight", least=0, most=1), whole(ensemble_size, "ensemble_size", least=1)
    first = whole(seed, "seed")
    graph, weighted = with_weights(G, weight, parallel="sum")
    graph, level, resolution = checked(graph, weighted, resolution)
    arcs = level.arcs
    xp, backend, n = array_module(graph.device), kernels(graph.device), graph.n_vertices
    row, together, alone = arcs.expand_rows(), xp.zeros(arcs.nnz, np.int64), xp.arange(n, dtype=graph.id_dtype)
    backend.begin_moves(arcs, arcs.data is not None, level.total, {not level.is_two_sided})
    for each in range(size):
        draw = scattered(first * size + each)
        label, _ = backend.move_vertices(level, alone, resolution, draw, MIN_MOVES)
        together += label[row] == label[arcs.indices]
    both = Graph._from_csr(arcs.with_data(None), False, None)
    core = core_number(both) >= 2
    share = together * (core[row] & core[arcs.indices]) / size
    agreed = Graph._from_csr(arcs.with_data(lower_bound + (1 - lower_bound) * share), False, None)
    levels = leiden(agreed, True, resolution, seed=first).hierarchy
    return found(graph, level, levels, resolution)
