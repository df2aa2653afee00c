"""Benchmark graphs of Lancichinetti, Fortunato and Radicchi: degrees and communities by power laws, drawn in NumPy."""

from typing import Any

import numpy as np

from hpgraph.containers.graph import Graph, real, whole
from hpgraph.datasets.degree_graphs import mended
from hpgraph.datasets.drawing import MAX_VERTICES, begun, of_edges

# Times that sizes of communities are drawn, and rounds of exchanges.
_TRIES, _ROUNDS = 100, 25


def LFR_benchmark_graph(
    n: int, tau1: float, tau2: float, mu: float, average_degree: float | None = None, min_degree: int | None = None,
    max_degree: int | None = None, min_community: int | None = None, max_community: int | None = None, *,
    seed: int = 0, device: str = "cpu",
) -> Graph:  # fmt: skip
    """A graph with planted communities: degrees and sizes of communities follow power laws.

    Parameters
    ----------
    n : int
        Vertices.
    tau1, tau2 : float
        Exponents of the degrees and of the sizes of communities, above 1.
    mu : float
        The share of its edges by which a vertex is joined to other communities, 0 to 1.
    average_degree : float, optional
        The mean degree, as nearly as some least degree gives it. Either this or `min_degree` must be given.
    min_degree, max_degree : int, optional
        The least and the largest degree; the largest is n - 1 by default.
    min_community, max_community : int, optional
        The least and the largest size of a community; by default the least degree, and n.
    seed, device
        As for `gnp_random_graph`. The graph is drawn on the CPU.

    Returns
    -------
    Graph
        Undirected, without loops. ``G.vertex_column("community")`` has the community of each vertex, 0, 1, ...

    Raises
    ------
    ValueError, TypeError
        If a number is out of range or no number, or there is no community for the vertices of large degree.

    Notes
    -----
    The few edges that no exchange of ends makes simple, in small and dense communities, are left out. NetworkX's
    function draws other graphs, of a similar distribution.

    References
    ----------
    A. Lancichinetti, S. Fortunato, F. Radicchi, "Benchmark graphs for testing community detection algorithms", Physical
    Review E 78 (2008).

    Examples
    --------
    >>> G = hpg.datasets.LFR_benchmark_graph(1000, 2.5, 1.5, 0.1, average_degree=8, max_degree=50, max_community=100)
    >>> hpg.adjusted_rand_index(hpg.louvain(G).label, G.vertex_column("community")) > 0.8
    True
    """
    n, mu = whole(n, "n", least=1, most=MAX_VERTICES), real(mu, "mu", "a probability", least=0, most=1)
    for name, value in (("tau1", tau1), ("tau2", tau2)):
        real(value, name, above=1, below=np.inf)
    if (average_degree is None) == (min_degree is None):
        raise ValueError("give either average_degree or min_degree")
    high = n - 1 if max_degree is None else whole(max_degree, "max_degree", least=0, most=n - 1)
    low = _min_degree(tau1, real(average_degree, "average_degree"), high) if min_degree is None else min_degree
    low = whole(low, "min_degree", least=min(1, high), most=high)
    smallest = whole(max(low, 1) if min_community is None else min_community, "min_community", least=1, most=n)
    largest = whole(n if max_community is None else max_community, "max_community", least=smallest, most=n)
    _, rng = begun(n, n * low * 4, seed, "cpu")
    degree = _power_law(rng, tau1, low, high, n)
    if degree.sum() % 2:
        degree[np.argmax(degree < high)] += 1
    inside = np.minimum(((1 - mu) * degree + rng.random(n)).astype(np.int64), degree)
    for _ in range(_TRIES):
        community = _assigned(rng, inside, _sizes(rng, n, tau2, smallest, largest))
        if community is not None:
            break
    else:
        raise ValueError(
            f"no community has room for the {inside.max()} neighbours that a vertex has within its own: raise "
            "max_community, min_community or mu, or lower max_degree"
        )
    source, target = _edges(rng, degree, inside, community)
    return of_edges(n, source, target).with_columns(vertices={"community": community}).to(device)


def _probabilities(tau: float, least: int, most: int) -> tuple[np.ndarray, np.ndarray]:
    value = np.arange(least, most + 1)
    probability = (np.maximum(value, 1.0) / max(least, 1)) ** -tau
    return value, probability / probability.sum()


def _power_law(rng: Any, tau: float, least: int, most: int, count: int) -> np.ndarray:
    value, probability = _probabilities(tau, least, most)
    return rng.choice(value, count, p=probability)


def _min_degree(tau: float, average: float, most: int) -> int:
    """The least degree with which the mean is nearest to an average."""
    value, probability = _probabilities(tau, 1, most)
    mean = np.cumsum((value * probability)[::-1])[::-1] / np.cumsum(probability[::-1])[::-1]
    if not (most and mean[0] / 2 <= average <= most):
        raise ValueError(f"average_degree: no degrees up to {most} have a mean near {average}")
    return int(abs(mean - average).argmin()) + 1


def _sizes(rng: Any, n: int, tau: float, smallest: int, largest: int) -> np.ndarray:
    """Sizes of communities, which add up to n; a last one that is too small is divided among the others."""
    sizes = _power_law(rng, tau, smallest, largest, -(-n // smallest))
    ends = np.cumsum(sizes)
    sizes = sizes[: np.searchsorted(ends, n) + 1]
    sizes[-1] -= ends[len(sizes) - 1] - n
    if sizes[-1] < smallest and len(sizes) > 1:
        sizes, left = sizes[:-1], sizes[-1]
        np.add.at(sizes, rng.integers(0, len(sizes), left), 1)
    return sizes


def _assigned(rng: Any, inside: np.ndarray, sizes: np.ndarray) -> np.ndarray | None:
    """A community for each vertex, drawn from those with room for its neighbours within; None where there is none."""
    sizes, order = np.sort(sizes)[::-1], np.argsort(-inside, kind="stable")
    place, ends = np.repeat(np.arange(len(sizes)), sizes), np.cumsum(sizes)
    falling, community = inside[order], np.empty(len(inside), np.int64)
    free, opened, at = place[:0], 0, 0
    while at < len(inside):
        own = falling[at]
        large = int(np.searchsorted(-sizes, -own, side="left"))
        stop = int(np.searchsorted(-falling, -own, side="right")) if large < len(sizes) else len(inside)
        until = int(ends[large - 1]) if large else 0
        free, opened = np.concatenate([free, place[opened:until]]), until
        if len(free) < stop - at:
            return None
        rng.shuffle(free)
        community[order[at:stop]], free, at = free[: stop - at], free[stop - at :], stop
    return community


def _edges(rng: Any, degree: np.ndarray, inside: np.ndarray, community: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Edges within communities, and between them, with the degrees that each vertex has there."""
    n = len(degree)
    order = np.lexsort((-inside, community))
    first = order[np.flatnonzero(np.diff(community[order], prepend=-1))]
    # In each community an even number of ends.
    inside[first] -= np.bincount(community, inside).astype(np.int64) % 2
    ends = np.repeat(np.arange(n), inside)
    ends = ends[np.lexsort((rng.random(len(ends)), community[ends]))]
    one = mended(np, rng, n, ends[::2].copy(), ends[1::2].copy(), group=community, inside=True, rounds=_ROUNDS)
    source, target = rng.permutation(np.repeat(np.arange(n), degree - inside)).reshape(2, -1)
    other = mended(np, rng, n, source, target, group=community, rounds=_ROUNDS)
    sides = [np.concatenate([np.delete(edges[side], edges[2]) for edges in (one, other)]) for side in (0, 1)]
    return sides[0], sides[1]
