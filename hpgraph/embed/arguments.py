"""What all embeddings check of their arguments."""

from typing import Any

from hpgraph.algorithms.distances import with_weights
from hpgraph.containers.graph import Graph
from hpgraph.core.device import check_memory
from hpgraph.core.number import real, whole


def checked(G: Any, weight: Any, dim: Any, copies: int) -> tuple[Graph, bool, int]:
    """The graph, whether by weight, and the number of coordinates, for which some such arrays must fit."""
    graph, weighted = with_weights(G, weight, parallel="sum")
    wanted = whole(dim, "dim")
    if wanted < 1:
        raise ValueError(f"dim must be 1 or more, not {dim}")
    n = graph.n_vertices
    check_memory(4 * copies * n * wanted, f"an embedding of {n:,} vertices by {wanted} numbers", graph.device)
    return graph, weighted, wanted


def positive(value: Any, name: str, below: float = float("inf")) -> float:
    """A number between 0 and a bound, neither included."""
    number = real(value, name)
    if not 0 < number < below:
        raise ValueError(
            f"{name} must be above 0 and {'finite' if below == float('inf') else f'below {below:g}'}, not {value!r}"
        )
    return number


def count(value: Any, name: str) -> int:
    """A whole number from 1 on."""
    number = whole(value, name)
    if number < 1:
        raise ValueError(f"{name} must be 1 or more, not {value!r}")
    return number
