"""Random graphs with given or growing degrees, by NetworkX's names: all edges are drawn and corrected together."""

from types import ModuleType
from typing import Any

import numpy as np

from hpgraph.containers.graph import Graph, real, whole
from hpgraph.core.device import anywhere, array_module, normalize_device, prefix_sum, to_device
from hpgraph.core.number import generator
from hpgraph.datasets.drawing import (
    MAX_VERTICES,
    begun,
    each_with,
    of_edges,
    of_places,
    pairs_of,
    repeated,
    with_room,
)
from hpgraph.formats import index_dtype
from hpgraph.kernels.backend import sampling
from hpgraph.kernels.sampling.draws import first_pairs

# Size of a table of flags that fits L2.
_TABLE = 1 << 18
# Rounds of exchanges at most; one round in so many keeps all exchanges.
_ROUNDS, _FREE = 200, 8
# Rounds after which fewer than this share of more than so many edges must be left, or the exchanges have stalled: with
# hubs that are adjacent to nearly all vertices, nearly no exchange is kept. A few edges may take all rounds.
_STEADY, _STALLED, _MANY = 4, 0.7, 64
# Exchanges tried, an edge, of a graph that is not random at first (R. Milo et al., 2003).
_TRIES = 10


def barabasi_albert_graph(n: int, m: int, *, seed: int = 0, device: str = "cpu") -> Graph:
    """Preferential attachment: each new vertex has edges to m earlier ones, drawn in proportion to their degrees.

    Parameters
    ----------
    n, m : int
        Number of vertices, and edges of each new one; 1 <= m < n. The first m + 1 vertices are a star, as in NetworkX.
    seed, device
        As for `gnp_random_graph`, as are result and errors.

    Notes
    -----
    Each draw is an end of an earlier edge; repeated edges are redrawn. On the GPU, chains of drawn ends are followed
    for all edges in parallel, again until none changes: the graph of a seed is that of the CPU.

    References
    ----------
    A.-L. Barabási, R. Albert, "Emergence of scaling in random networks", Science 286 (1999). P. Sanders, C. Schulz,
    "Scalable generation of scale-free graphs", Information Processing Letters 116 (2016).

    Examples
    --------
    >>> hpg.datasets.barabasi_albert_graph(1000, 3)
    Graph: 1,000 vertices, 5,982 arcs, undirected, no weights, cpu
    """
    n = whole(n, "n", least=2, most=MAX_VERTICES)
    m = whole(m, "m", least=1, most=n - 1)
    device, rng = with_room(n, m * (n - m), device), generator(seed)
    return of_edges(n, *sampling(device).attachments(rng, n, m))


def watts_strogatz_graph(n: int, k: int, p: float, *, seed: int = 0, device: str = "cpu") -> Graph:
    """Small world: a ring lattice with k neighbours a vertex, whose edges are rewired with a probability.

    Parameters
    ----------
    n, k : int
        Number of vertices, and neighbours of each, at most (n - 1) / 2; an odd k counts as k - 1, as in NetworkX.
    p : float
        Probability that the other end of an edge is replaced by a random vertex that is not a neighbour yet.
    seed, device
        As for `gnp_random_graph`, as are result and errors.

    References
    ----------
    D. J. Watts, S. H. Strogatz, "Collective dynamics of 'small-world' networks", Nature 393 (1998).

    Examples
    --------
    >>> hpg.datasets.watts_strogatz_graph(1000, 6, 0.1)
    Graph: 1,000 vertices, 6,000 arcs, undirected, no weights, cpu
    """
    n, p = whole(n, "n", least=1, most=MAX_VERTICES), real(p, "p", "a probability", least=0, most=1)
    k = whole(k, "k", least=0, most=(n - 1) // 2) // 2
    device, draws, ids = with_room(n, n * k, device), generator(seed), index_dtype(n)
    again = moved = each_with(device, draws, n * k, p)
    xp, rng = begun(n, n * k, int(draws.integers(1 << 62)), device)
    vertex, moves = xp.arange(n, dtype=ids), xp.zeros(n * k, np.bool_)
    source, target = xp.tile(vertex, k), (vertex + xp.arange(1, k + 1, dtype=ids)[:, None]).ravel()
    target -= (target >= n) * ids.type(n)
    moves[moved] = True
    while len(again):
        target[again] = rng.integers(0, n, len(again))
        one, other = (side[moved].astype(np.int64) for side in (source, target))
        # On the ring, edge (gap - 1) n + v joins v to the vertex so far ahead.
        ahead = (other - one) % n
        gap = xp.minimum(ahead, n - ahead)
        near = (gap > 0) & (gap <= k)
        edge = xp.where(near, (gap - 1) * n + xp.where(gap == ahead, one, other), 0)
        pair = xp.minimum(one, other) * n + xp.maximum(one, other)
        again = moved[_repeated(xp, pair, xp.sort(pair)) | (gap == 0) | (near & ~moves[edge])]
    return of_edges(n, source, target)


def configuration_model(deg_sequence: Any, *, exact: bool = False, seed: int = 0, device: str = "cpu") -> Graph:
    """The configuration model: a random graph with given degrees, by random pairing of edge ends.

    Parameters
    ----------
    deg_sequence : integer array of shape (n,)
        The degree of each vertex, with an even sum.
    exact : bool, optional
        By default loops and repeated edges are left out, which lowers some degrees (the erased model). With True their
        ends are exchanged with those of random edges until the graph is simple, with the given degrees.
    seed, device
        As for `gnp_random_graph`, as are result and errors; in addition, a ValueError if no simple graph has these
        degrees.

    Notes
    -----
    Where hubs with nearly all vertices as neighbours leave no random exchange, an exact graph is that of Havel and
    Hakimi, after ten tries an edge to exchange ends; it is made on one thread of the CPU.

    References
    ----------
    M. E. J. Newman, "The structure and function of complex networks", SIAM Review 45 (2003), section IV B. P. Erdős, T.
    Gallai, "Gráfok előírt fokú pontokkal", Matematikai Lapok 11 (1960). S. L. Hakimi, "On realizability of a set of
    integers as degrees of the vertices of a linear graph", SIAM Journal 10 (1962).

    Examples
    --------
    >>> hpg.datasets.configuration_model([3, 2, 2, 1, 1, 1], exact=True).out_degree.tolist()
    [3, 2, 2, 1, 1, 1]
    """
    device, given = normalize_device(device), deg_sequence
    degree = to_device(given if hasattr(given, "dtype") else np.asarray(given), device)
    most = np.iinfo(np.int64).max // max(degree.size, 1)  # their sum is below 2**63
    if degree.ndim != 1 or (degree.size and degree.dtype.kind not in "iu") or anywhere((degree < 0) | (degree > most)):
        raise ValueError(f"deg_sequence must be one-dimensional, of whole numbers from 0 to {most}")
    degree = degree.astype(np.int64, copy=False)
    total, n = int(degree.sum()), whole(len(degree), "the length of deg_sequence", least=0, most=MAX_VERTICES)
    if total % 2:
        raise ValueError(f"deg_sequence must have an even sum, as each edge has two ends, not {total}")
    if exact:
        _check_realizable(degree)
    if exact and total > (n * (n - 1)) // 2:
        return _without(configuration_model(n - 1 - degree, exact=True, seed=seed, device=device))
    with_room(n, total // 2, device)
    ends = repeated(degree)
    key = int(generator(seed).integers(1 << 62))
    source, target = sampling(device).shuffled(ends, key).reshape(2, -1)
    if exact:
        xp, rng = begun(n, total // 2, seed, device)
        source, target, bad = mended(xp, rng, n, source, target, until_stalled=True)
        if len(bad):
            from hpgraph.kernels.sampling.cpu_swaps import realized, swap_ends

            source, target = realized(to_device(degree, "cpu"))
            swap_ends(source, target, n, len(source) * _TRIES, len(source) * _TRIES, seed=key)
            source, target = xp.asarray(source), xp.asarray(target)
    return of_edges(n, source, target)


def _check_realizable(degree: Any) -> None:
    """Raise ValueError if no simple graph has these degrees, by the inequalities of Erdős and Gallai."""
    xp, n = array_module(degree), len(degree)
    rising = xp.sort(degree)
    k, sums = xp.arange(1, n + 1), prefix_sum(rising[::-1])
    # Of the vertices after the first k, so many have a degree of k or more.
    large = xp.maximum(n - xp.searchsorted(rising, k), k)
    excess = sums[1:] - k * (k - 1) - k * (large - k) - (sums[n] - sums[large])
    if n and int(excess.max()) > 0:
        most = int(xp.argmax(excess > 0)) + 1
        raise ValueError(
            f"deg_sequence: no graph without loops and repeated edges has these degrees: the {most} largest have "
            f"{int(excess[most - 1])} ends of edges more than such a graph has for them; exact=False leaves edges out"
        )


def _without(few: Graph) -> Graph:
    """The complement of a graph."""
    n, (lower, upper, _) = few.n_vertices, few.edges()
    xp = array_module(few.device)
    missing = xp.ones(pairs_of(n, False), np.bool_)
    missing[first_pairs(xp, n, False)[lower] + upper - lower - 1] = False
    return of_places(n, xp.flatnonzero(missing), False)


def random_regular_graph(d: int, n: int, *, seed: int = 0, device: str = "cpu") -> Graph:
    """A random graph in which every vertex has the same degree.

    Parameters
    ----------
    d, n : int
        The degree, below n, and the number of vertices; their product is even.
    seed, device
        As for `gnp_random_graph`, as are result and errors.

    Notes
    -----
    `configuration_model` with ``exact=True``; for degrees above n / 2 the complement of such a graph.

    References
    ----------
    A. Steger, N. C. Wormald, "Generating random regular graphs quickly", Combinatorics, Probability and Computing 8
    (1999).

    Examples
    --------
    >>> sorted(set(hpg.datasets.random_regular_graph(3, 1000).out_degree.tolist()))
    [3]
    """
    n = whole(n, "n", least=0, most=MAX_VERTICES)
    d = whole(d, "d", least=0, most=max(n - 1, 0))
    if d * n % 2:
        raise ValueError(f"d * n must be even, as each edge has two ends, not {d} * {n}")
    degree = array_module(normalize_device(device)).full(n, d)
    return configuration_model(degree, exact=True, seed=seed, device=device)


def _repeated(xp: ModuleType, key: Any, ordered: Any) -> Any:
    """Flags of the elements that occur more than once; `ordered`: the same elements, ascending."""
    several = xp.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    # There are few: a table of their last bits excludes nearly all others.
    marked, repeated = xp.zeros(_TABLE, np.bool_), xp.zeros(len(key), np.bool_)
    marked[several & (_TABLE - 1)] = True
    at = xp.flatnonzero(marked[key & (_TABLE - 1)])
    repeated[at] = _among(xp, key[at], several)
    return repeated


def _among(xp: ModuleType, key: Any, ordered: Any) -> Any:
    """Whether each key is among the elements of `ordered`, which is ascending."""
    if not len(ordered):
        return xp.zeros(len(key), np.bool_)
    return ordered[xp.minimum(xp.searchsorted(ordered, key), len(ordered) - 1)] == key


def _pairs(xp: ModuleType, n: int, one: Any, other: Any) -> Any:
    """The number of each unordered pair of vertices."""
    pair = xp.minimum(one, other).astype(np.int64, copy=False)
    pair *= n
    pair += xp.maximum(one, other)
    return pair


def _unfit(source: Any, target: Any, group: Any) -> Any:
    """Whether each edge is a loop or, with groups, within one."""
    return source == target if group is None else group[source] == group[target]


def mended(
    xp: ModuleType, rng: Any, n: int, source: Any, target: Any, *, group: Any = None, inside: bool = False,
    rounds: int = _ROUNDS, until_stalled: bool = False,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Remove loops and repeated edges, with the same degrees: they exchange ends with random edges.

    An exchange is kept if it yields neither; to leave dead ends, one round in `_FREE` keeps all. ``group``, of each
    vertex: with `inside`, edges are within groups, in their order, and exchange ends within them; otherwise edges join
    different groups. With `until_stalled`, rounds end once they leave too many. Returns sources, targets, and the edges
    that are still bad.
    """
    of_edge: Any = group[source] if inside else None
    apart = None if inside else group
    pair = _pairs(xp, n, source, target)
    ordered = xp.sort(pair)
    bad = _repeated(xp, pair, ordered)
    # One edge of equal pairs is kept.
    at = xp.flatnonzero(bad)
    bad[at[xp.unique(pair[at], return_index=True)[1]]] = False
    which = xp.flatnonzero(bad | _unfit(source, target, apart))
    # Pairs removed and added by exchanges so far, ascending: few compared with all.
    gone = came = pair[:0]
    before = np.inf
    for turn in range(rounds):
        if turn % _STEADY == 0:
            if until_stalled and max(before * _STALLED, _MANY) < len(which):
                break
            before = len(which)
        if not len(which):
            break
        one, other = _drawn_pairs(xp, rng, which, len(source), of_edge)
        swapped = rng.random(len(one)) < 0.5
        first, second = xp.where(swapped, target[one], source[one]), xp.where(swapped, source[one], target[one])
        kept = of_edge[one] == of_edge[other] if inside else xp.ones(len(one), np.bool_)
        begins, ends = xp.concatenate([first, source[other]]), xp.concatenate([target[other], second])
        pairs = _pairs(xp, n, begins, ends)
        if (turn + 1) % _FREE:
            occupied = _copies(xp, pairs, ordered) - _copies(xp, pairs, gone) + _copies(xp, pairs, came) > 0
            fits = ~(_repeated(xp, pairs, xp.sort(pairs)) | occupied | _unfit(begins, ends, apart))
            kept &= fits.reshape(2, -1).all(axis=0)
        changed = xp.concatenate([one[kept], other[kept]])
        gone = xp.sort(xp.concatenate([gone, pair[changed]]))
        pair[changed] = pairs[xp.tile(kept, 2)]
        came = xp.sort(xp.concatenate([came, pair[changed]]))
        source[one[kept]], target[one[kept]] = first[kept], target[other[kept]]
        target[other[kept]] = second[kept]
        at = xp.unique(xp.concatenate([which, changed]))
        # One edge of equal pairs is kept, unless another is beyond `at`.
        _, begin, count = xp.unique(pair[at], return_index=True, return_counts=True)
        copies = _copies(xp, pair[at], ordered) - _copies(xp, pair[at], gone) + _copies(xp, pair[at], came)
        bad = copies > 1
        bad[begin[count == copies[begin]]] = False
        which = at[bad | _unfit(source[at], target[at], apart)]
    return source, target, which


def _drawn_pairs(xp: ModuleType, rng: Any, which: Any, edges: int, of_edge: Any) -> Any:
    """Random pairs among bad edges and as many others; with `of_edge`, which ascends, mostly of the same group."""
    if of_edge is not None:
        low, high = (xp.searchsorted(of_edge, of_edge[which], side=side) for side in ("left", "right"))
        others = low + (rng.random(len(which)) * (high - low)).astype(np.int64)
    else:
        others = rng.integers(0, edges, len(which) + 1)
    at = xp.unique(xp.concatenate([which, others]))
    at = at[xp.argsort(rng.random(len(at)))]
    if of_edge is not None:
        at = at[xp.argsort(of_edge[at], kind="stable")]
    return at[: len(at) // 2 * 2].reshape(-1, 2).T


def _copies(xp: ModuleType, key: Any, ordered: Any) -> Any:
    """How often each key occurs in `ordered`, which is ascending."""
    return xp.searchsorted(ordered, key, side="right") - xp.searchsorted(ordered, key)
