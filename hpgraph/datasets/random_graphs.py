"""Random graphs by NetworkX's names, drawn as arrays on the device of the result.

Pairs of vertices are numbered. If all have the same probability, a binomial number of them is drawn without replacement
and in ascending order, so that no sort is needed. The same seed gives other graphs than in NetworkX, of the same
distribution. `stochastic_block_model` and `expected_degree_graph` draw the same graph on either device, the others do
not.
"""

from typing import Any

import numpy as np

from hpgraph.containers.graph import Graph, real, whole
from hpgraph.core.device import array_module, everywhere, normalize_device, prefix_sum, to_device
from hpgraph.core.number import generator
from hpgraph.datasets.drawing import (
    MAX_VERTICES,
    begun,
    drawn,
    each_with,
    of_edges,
    of_places,
    pairs_of,
    repeated,
    with_room,
)
from hpgraph.formats import index_dtype
from hpgraph.formats.duplicates import run_starts
from hpgraph.kernels.backend import sampling
from hpgraph.kernels.sampling.blocks import Blocks
from hpgraph.kernels.sampling.points import Points

# Mantissa bits of a float64; the probability above which all pairs are proposed.
_EXPONENT, _DENSE = 52, 0.5
# Distance of the keys of two columns of points: more than a column's length and 1 on each side.
_APART = 4.0


def gnp_random_graph(n: int, p: float, *, seed: int = 0, directed: bool = False, device: str = "cpu") -> Graph:
    """G(n, p), of Gilbert and of Erdős and Rényi: every pair of vertices is an edge with the same probability.

    Parameters
    ----------
    n : int
        Number of vertices, up to 94,906,265.
    p : float
        Probability of an edge, 0 to 1.
    seed : int, optional
        Random seed; the same seed gives the same graph on every machine.
    directed : bool, optional
        Whether pairs are ordered.
    device : {"cpu", "cuda"}, optional
        Device on which the graph is drawn and stored.

    Returns
    -------
    Graph
        Without loops and weights.

    Raises
    ------
    ValueError, TypeError
        If a number is out of range, an argument is not a number, or ``device`` is unknown.
    DeviceMemoryError
        If the memory does not suffice.

    References
    ----------
    E. N. Gilbert, "Random graphs", Annals of Mathematical Statistics 30 (1959). V. Batagelj, U. Brandes, "Efficient
    generation of large random networks", Physical Review E 71 (2005).

    Examples
    --------
    >>> hpg.datasets.gnp_random_graph(1000, 0.01, seed=1)
    Graph: 1,000 vertices, 9,910 arcs, undirected, no weights, cpu
    """
    n, p = whole(n, "n", least=0, most=MAX_VERTICES), real(p, "p", "a probability", least=0, most=1)
    device, rng = with_room(n, p * n * n / 2, device), generator(seed)
    return of_places(n, each_with(device, rng, pairs_of(n, directed), p), directed)


def gnm_random_graph(n: int, m: int, *, seed: int = 0, directed: bool = False, device: str = "cpu") -> Graph:
    """G(n, m) of Erdős and Rényi: a uniformly random set of m pairs of vertices.

    Parameters
    ----------
    n : int
        Number of vertices, up to 94,906,265.
    m : int
        Number of edges, up to the number of pairs.
    seed, directed, device
        As for `gnp_random_graph`, as are result and errors.

    References
    ----------
    P. Erdős, A. Rényi, "On random graphs I", Publicationes Mathematicae 6 (1959).

    Examples
    --------
    >>> hpg.datasets.gnm_random_graph(1000, 5000)
    Graph: 1,000 vertices, 10,000 arcs, undirected, no weights, cpu
    """
    n = whole(n, "n", least=0, most=MAX_VERTICES)
    m = whole(m, "m", least=0, most=pairs_of(n, directed))
    device, rng = with_room(n, m, device), generator(seed)
    return of_places(n, drawn(device, rng, pairs_of(n, directed), m), directed)


def stochastic_block_model(sizes: Any, p: Any, *, theta: Any = None, seed: int = 0, device: str = "cpu") -> Graph:
    """Stochastic block model: the probability of an edge depends on the blocks of its ends.

    Parameters
    ----------
    sizes : sequence of int
        Number of vertices of each block; vertices are numbered block by block.
    p : array of shape (k, k)
        Probability of an edge between two blocks, or within one; symmetric.
    theta : array of shape (n,), optional
        Weights of the vertices, for degrees that vary within blocks: the probability of an edge between u and v is
        theta[u] theta[v] p[i, j], at most 1.
    seed, device
        As for `gnp_random_graph`, as are result and errors.

    References
    ----------
    P. W. Holland, K. B. Laskey, S. Leinhardt, "Stochastic blockmodels: first steps", Social Networks 5 (1983). B.
    Karrer, M. E. J. Newman, "Stochastic blockmodels and community structure in networks", Physical Review E 83 (2011),
    with Bernoulli in place of Poisson edges.

    Examples
    --------
    >>> G = hpg.datasets.stochastic_block_model([50, 50], [[0.5, 0.01], [0.01, 0.5]])
    >>> hpg.louvain(G).count
    2
    """
    sizes = [whole(size, "sizes", least=0, most=MAX_VERTICES) for size in sizes]
    table = np.asarray(p, np.float64)
    if table.shape != (len(sizes),) * 2 or not ((table >= 0) & (table <= 1) & (table == table.T)).all():
        raise ValueError(f"p must be symmetric, with a probability for each two of the {len(sizes)} blocks")
    n = whole(sum(sizes), "the sum of sizes", least=0, most=MAX_VERTICES)
    if theta is not None:
        weight = _vertex_weights("theta", theta, device)
        if len(weight) != n:
            raise ValueError(f"theta must have a weight for each of the {n} vertices, not {len(weight)}")
        return _by_weight(weight, sizes, table, seed, device)
    return _of_blocks(np.array(sizes, np.int64), table, table, seed, device)


def expected_degree_graph(w: Any, *, seed: int = 0, device: str = "cpu") -> Graph:
    """Chung and Lu's graphs: the probability of an edge between u and v is w[u] w[v] / Σw, at most 1.

    Parameters
    ----------
    w : array of shape (n,)
        Expected degree of each vertex, exact if no such product exceeds 1.
    seed, device
        As for `gnp_random_graph`, as are result and errors; NetworkX's graphs may have loops.

    Notes
    -----
    Vertices are grouped by their weights. Pairs of two groups are drawn with the largest probability among them, and
    each is kept with the quotient of its own and that probability.

    References
    ----------
    F. Chung, L. Lu, "Connected components in random graphs with given expected degree sequences", Annals of
    Combinatorics 6 (2002). J. C. Miller, A. Hagberg, "Efficient generation of networks with given expected degrees",
    WAW'11.

    Examples
    --------
    >>> G = hpg.datasets.expected_degree_graph(np.full(1000, 8.0))
    >>> round(float(G.out_degree.mean()))
    8
    """
    weight = _vertex_weights("w", w, device)
    n = whole(len(weight), "the length of w", least=0, most=MAX_VERTICES)
    with np.errstate(over="ignore"):
        total = real(float(weight.sum()), "the sum of w", least=0, below=np.inf)
    return _by_weight(weight, [n], np.full((1, 1), 1 / (total or 1)), seed, device)


def random_geometric_graph(
    n: int, radius: float, dim: int = 2, *, points: Any = None, seed: int = 0, device: str = "cpu"
) -> Graph:
    """Random geometric graph: points of the unit cube, adjacent if their distance is at most a radius.

    Parameters
    ----------
    n : int
        Number of vertices.
    radius : float
        Maximum distance of neighbours.
    dim : int, optional
        Dimension of the cube: 1 to 3.
    points : float array of shape (n, dim), optional
        Points to use instead of random ones, with coordinates from 0 to 1.
    seed, device
        As for `gnp_random_graph`, as are result and errors.

    Notes
    -----
    Points are sorted by columns of cells as wide as the radius, and by the first coordinate within columns; candidates
    for neighbours are within the radius along the own column and the adjacent ones.

    References
    ----------
    M. Penrose, "Random Geometric Graphs" (2003).

    Examples
    --------
    >>> hpg.datasets.random_geometric_graph(4, 0.3, 1, points=[[0.1], [0.9], [0.2], [0.5]])
    Graph: 4 vertices, 4 arcs, undirected, no weights, cpu
    """
    n, dim = whole(n, "n", least=0, most=1 << 31), whole(dim, "dim", least=1, most=3)
    radius = real(radius, "radius", least=0, below=np.inf)
    xp, rng = begun(n, n * (1 + n * min(2 * radius, 1) ** dim) / 2, seed, device)
    place = rng.random((n, dim)) if points is None else xp.asarray(points, np.float64)
    if place.shape != (n, dim) or not everywhere((place >= 0) & (place <= 1)):
        raise ValueError(f"points must have shape ({n}, {dim}), with numbers from 0 to 1")
    # At most about as many cells as points.
    across = max(1, min(int(1 / radius) if radius > 0 else n, int(max(n, 1) ** (1 / dim))))
    cell = xp.minimum((place[:, 1:] * across).astype(np.int64), across - 1)
    stride = (across + 2) ** np.arange(dim - 1)
    # Keys order points by columns of cells, and within columns by the first coordinate.
    key = _APART * ((cell + 1) * xp.asarray(stride)).sum(axis=1) + place[:, 0]
    order = xp.argsort(key)
    key, sides = key[order], [place[order, d] for d in range(dim)]
    # Rounding of keys must not exclude candidates.
    reach = min(radius, 1) + 2 * np.spacing(float(_APART * (across + 2) ** (dim - 1)))
    shifts = [_APART * int((np.array(shift, np.int64) - 1) @ stride) for shift in np.ndindex((3,) * (dim - 1))]
    arcs = sampling(device).near_points(Points(key, order, sides, np.array(shifts), reach, radius))
    return Graph._from_csr(arcs, False, None)


def _vertex_weights(name: str, given: Any, device: str) -> Any:
    device, given = normalize_device(device), given if hasattr(given, "dtype") else np.asarray(given, np.float64)
    weight = to_device(given, device).astype(np.float64)
    if weight.ndim != 1 or not everywhere(array_module(device).isfinite(weight) & (weight >= 0)):
        raise ValueError(f"{name} must be one-dimensional, of finite numbers that are not negative")
    return weight


def _by_weight(weight: Any, sizes: list[int], p: np.ndarray, seed: int, device: str) -> Graph:
    """The graph whose edges have probability weight[u] weight[v] p[block of u, block of v], at most 1."""
    xp, bits = array_module(normalize_device(device)), weight.view(np.int64)
    block = repeated(xp.asarray(np.array(sizes, np.int64)))
    order = xp.argsort(bits, kind="stable") if len(p) == 1 else xp.lexsort(xp.stack((bits, block)))
    weight, block = weight[order], block[order]
    # Groups by exponent, and by two more bits for a single block: of finer groups more pairs are kept.
    begins = xp.flatnonzero(run_starts(block, bits[order] >> (_EXPONENT - 2 * (len(p) == 1))))
    counts = np.diff(to_device(begins, "cpu"), append=len(weight))
    own, highest = (to_device(of[begins + xp.asarray(counts) - 1], "cpu") for of in (block, weight))
    probability = p[np.ix_(own, own)]
    # In this order only products of `theta` overflow, and none exceeds the largest by its rounding.
    with np.errstate(over="ignore"):
        most = np.minimum(probability * highest[:, None] * highest, 1)
    return _of_blocks(counts, probability, most, seed, device, weight, order)


def _of_blocks(
    sizes: np.ndarray, probability: np.ndarray, most: np.ndarray, seed: int, device: str, *of_vertices: Any
) -> Graph:
    """The graph of `Blocks` of these sizes and probabilities; ``most``: largest probability of a pair of two blocks."""
    n, first = int(sizes.sum()), np.cumsum(sizes) - sizes
    i, j = np.triu_indices(len(sizes))
    used = np.flatnonzero((most[i, j] > 0) & (sizes[i] > 0) & (sizes[j] > 0))
    i, j = i[used], j[used]
    once = most[i, j] > _DENSE
    rate = np.where(once, 0, -np.log1p(-np.minimum(most[i, j], _DENSE)))
    slots = sizes[i] * sizes[j]
    # Within a block there are both orders of a pair, which share its rate.
    rng = generator(seed)
    proposals = np.where(once, slots, rng.poisson(slots * rate / np.where(i == j, 2, 1)))
    ends = prefix_sum(proposals)
    with_room(n, float(ends[-1]), device)
    starts, counts = (np.stack((table[i], table[j]), axis=1) for table in (first, sizes))
    weight, vertex = of_vertices or (None, None)
    model = Blocks(ends, starts, counts, rate, probability[i, j], weight, vertex, int(rng.integers(1 << 62)))
    return of_edges(n, *sampling(device).block_edges(model, index_dtype(n)))
