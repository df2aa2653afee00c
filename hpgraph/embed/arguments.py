"""Checks of the arguments that all embeddings share."""

from typing import Any

from hpgraph.algorithms.distances import with_weights
from hpgraph.containers.graph import Graph, whole
from hpgraph.core.device import check_memory


def checked(G: Any, weight: Any, dim: Any, copies: int) -> tuple[Graph, bool, int]:
    """The graph, whether by weight, and the number of coordinates, for which some such arrays must fit."""
    graph, weighted = with_weights(G, weight, parallel="sum")
    n_columns = whole(dim, "dim", least=1)
    n = graph.n_vertices
    check_memory(4 * copies * n * n_columns, f"an embedding of {n:,} vertices by {n_columns} numbers", graph.device)
    return graph, weighted, n_columns
