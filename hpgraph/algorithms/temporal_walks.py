"""Centralities by paths and walks in the order of time: betweenness, Katz's, PageRank. All run on the CPU."""

from typing import Any

import numpy as np

from hpgraph.algorithms.sources import sources_of
from hpgraph.algorithms.temporal_arcs import arcs_of, checked
from hpgraph.containers.temporal import TemporalGraph
from hpgraph.containers.vertex_array import by_vertex
from hpgraph.core.device import Array, check_memory
from hpgraph.core.number import real
from hpgraph.core.suggestions import naming_arguments
from hpgraph.kernels.temporal.cpu_betweenness import betweenness
from hpgraph.kernels.temporal.cpu_walks import katz, pagerank


@naming_arguments
def temporal_betweenness(
    T: TemporalGraph, sources: Any = None, *, normalized: bool = True, start: Any = None, end: Any = None,
    seed: int | None = None,
) -> Array:  # fmt: skip
    """Share of the shortest paths in time that pass through each vertex.

    Shortest paths are those of the fewest arcs, as by `fewest_hops`; two that differ in an arc, be it in its time
    alone, are two. These can be counted in polynomial time; foremost and fastest paths cannot, unless P = #P.

    Parameters
    ----------
    sources : None, int, or sequence of vertices
        None for all vertices; a number draws that many distinct ones with `seed`.
    normalized : bool
        Whether sums over pairs are divided by ``k (n - 2)``, of k sources; by ``(n - 1) (n - 2)`` of all.
    start, end : number or datetime, optional
        Paths depart at `start` or later and arrive at `end` or before. They take at most one arc of duration 0 at any
        instant (``strict=True``).

    Returns
    -------
    float64 array of shape (n,)

    Notes
    -----
    O(m) time for each source, one a thread, with 24 bytes for each arc and thread.

    References
    ----------
    S. Buß, H. Molter, R. Niedermeier, M. Rymar, "Algorithmic aspects of temporal betweenness", KDD'20.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> T = hpg.TemporalGraph([("ann", "bob", 1), ("bob", "eve", 2), ("bob", "eve", 3), ("eve", "ann", 1)])
    >>> hpg.temporal_betweenness(T, normalized=False).tolist()
    [0.0, 1.0, 0.0]
    """
    checked(T)
    chosen = sources_of(T, sources, seed)
    events, _ = arcs_of(T, start, end)
    check_memory(24 * len(events.time), "shortest paths of a temporal graph", "cpu")
    total, n = betweenness(events, T.n_vertices, chosen), T.n_vertices
    if normalized and n > 2:
        total /= (n - 1 if sources is None else max(len(chosen), 1)) * (n - 2)
    return by_vertex(total, T)


@naming_arguments
def temporal_katz(T: TemporalGraph, alpha: float = 0.1, *, start: Any = None, end: Any = None) -> Array:
    """Katz's centrality in time: the sum of ``alpha ** length`` over the walks that respect time and end at a vertex.

    Parameters
    ----------
    alpha : float
        Factor of each arc of a walk, times its weight if there are weights; positive. The sums are always finite, since
        walks take each arc at most once.
    start, end : number or datetime, optional
        Walks depart at `start` or later and arrive at `end` or before. They take at most one arc of duration 0 at any
        instant.

    Returns
    -------
    float64 array of shape (n,)

    Notes
    -----
    O(m) time, sequential. Many contacts make numbers of walks, and sums with a large `alpha`, overflow to inf.

    References
    ----------
    P. Grindrod, M. C. Parsons, D. J. Higham, E. Estrada, "Communicability across evolving networks", Physical Review E
    83 (2011); F. Béres, R. Pálovics, A. Oláh, A. A. Benczúr, "Temporal walk based centrality metric for graph streams",
    Applied Network Science 3 (2018).

    Examples
    --------
    >>> import hpgraph as hpg
    >>> T = hpg.TemporalGraph([(0, 1, 1), (1, 2, 2), (2, 0, 1)])
    >>> hpg.temporal_katz(T, 0.5).tolist()
    [0.5, 0.5, 0.75]
    """
    checked(T)
    factor = real(alpha, "alpha", above=0, below=np.inf)
    events, rows = arcs_of(T, start, end)
    factors = np.full(len(rows), factor) if T._weight is None else factor * T._weight[rows].astype(np.float64)
    return by_vertex(katz(events, T.n_vertices, factors), T)


@naming_arguments
def temporal_pagerank(
    T: TemporalGraph, damping: float = 0.85, *, transition: float = 0.5, start: Any = None, end: Any = None
) -> Array:
    """PageRank of walks in the order of time, from one pass over the arcs.

    Parameters
    ----------
    damping : float
        Probability that a walk continues, from 0 to 1.
    transition : float
        Share of the walks at a vertex that wait for an arc later than the next, from 0 to below 1; with 1, as in the
        paper, all take the next.
    start, end : number or datetime, optional
        Arcs that depart at `start` or later and arrive at `end` or before. Durations and weights count no further; arcs
        of one time are taken in the order of the rows, contacts in both directions one after the other.

    Returns
    -------
    float64 array of shape (n,)
        Of sum 1; zeros without arcs.

    References
    ----------
    P. Rozenshtein, A. Gionis, "Temporal PageRank", ECML PKDD'16, Algorithm 1.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> T = hpg.TemporalGraph([(0, 1, 1), (1, 2, 2), (0, 2, 3)])
    >>> hpg.temporal_pagerank(T).argmax().item()
    2
    """
    checked(T)
    numbers = real(damping, "damping", least=0, most=1), real(transition, "transition", least=0, most=1)
    events, _ = arcs_of(T, start, end)
    rank = pagerank(events.source, events.target, T.n_vertices, *numbers)
    return by_vertex(rank / rank.sum() if rank.any() else rank, T)
