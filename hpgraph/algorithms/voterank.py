"""VoteRank: spreaders that are far from each other, chosen one after the other by the votes of their neighbours."""

from collections.abc import Callable
from typing import Any

from hpgraph.containers.graph import Graph, as_simple, naming_arguments, vertex_names, whole
from hpgraph.containers.public import matrix_of_csr
from hpgraph.core.device import Array, array_module


@naming_arguments
def voterank(G: Graph | Any, number_of_nodes: int | None = None) -> Array:
    """VoteRank: influential spreaders, elected one after the other by votes that earlier elections weaken nearby.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. In a directed one the targets of a vertex's arcs vote for it. Loops and weights play no part.
    number_of_nodes : int, optional
        Maximum number of vertices to elect; by default until no vertex has a vote.

    Returns
    -------
    array of shape (k,)
        Names if the graph has names, else indices, on the graph's device, in the order in which they are elected; of
        equal votes the vertex of the smallest index goes first.

    Notes
    -----
    Each vertex elected takes one product of the adjacency matrix with a vector. Votes of one vertex depend on those
    before, so that on the GPU a graph of 10⁶ arcs or fewer takes as long as on the CPU: launches bound it.

    References
    ----------
    J.-X. Zhang et al., "Identifying a set of influential spreaders in complex networks", Scientific Reports 6 (2016).

    Examples
    --------
    >>> hpg.voterank(([0, 1, 2, 0, 4], [1, 2, 3, 4, 5]), 2).tolist()
    [0, 1]
    """
    graph = as_simple(G)
    limit = graph.n_vertices if number_of_nodes is None else whole(number_of_nodes, "number_of_nodes", least=0)
    arcs = graph.out_csr.without_diagonal().pattern
    matrix = matrix_of_csr(arcs)
    bounds = arcs.indptr
    xp, n = array_module(graph.device), graph.n_vertices
    # In units of 1 / n_edges, votes and their decrement, one over the mean degree, are integers, so ties are exact.
    elected = elect(
        xp.full(n, float(arcs.nnz)), float(n), lambda power: matrix @ power,
        lambda v: arcs.indices[int(bounds[v]) : int(bounds[v + 1])], min(limit, n),
    )  # fmt: skip
    return vertex_names(graph, xp.asarray(elected, graph.id_dtype))


def elect(
    power: Any, less: float, votes_of: Callable[[Any], Any], voters_of: Callable[[int], Any], limit: int
) -> list[int]:
    """At most `limit` vertices; `power`: the vote of each vertex, which each elected neighbour makes `less` smaller."""
    xp, elected = array_module(power), list[int]()
    while len(elected) < limit:
        votes = votes_of(power)
        votes[elected] = 0
        best = int(votes.argmax())
        if votes[best] == 0:
            break
        elected.append(best)
        power[best] = 0
        voters = voters_of(best)
        power[voters] = xp.maximum(power[voters] - less, 0)
    return elected
