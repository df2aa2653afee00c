"""Random graphs for measuring: Kronecker (Graph500), uniform, a road-like lattice, a social network.

All are undirected, without loops and without duplicates, and made on the device where they are to lie. A seed gives
the same graph on every machine; `kron`, `social` and `rmat` give it on either device. `uniform` and `grid` differ
between the CPU and the GPU, which draw from different random streams.
"""

import numpy as np

from hpgraph.containers.graph import Graph, real, whole
from hpgraph.core.device import prefix_sum
from hpgraph.datasets.drawing import begun, of_edges, of_rows, with_room
from hpgraph.formats import CSR, index_dtype
from hpgraph.kernels.backend import kernels, sampling
from hpgraph.kernels.sampling.recursive import recursion

_MAX_SCALE = 31


def kron(scale: int, edge_factor: int = 16, *, seed: int = 2, weighted: bool = False, device: str = "cpu") -> Graph:
    """A Kronecker graph as Graph500 specifies it: a few vertices have very many neighbours, most have few or none.

    Parameters
    ----------
    scale : int
        The graph has ``2**scale`` vertices, 1 to 31.
    edge_factor : int, optional
        Edges drawn per vertex. Loops and duplicates are dropped, so fewer remain.
    seed : int, optional
        Of the random numbers.
    weighted : bool, optional
        Give each edge a whole number from 1 to 64 as float32, the same in both directions. Otherwise the graph is
        pattern-only.
    device : {"cpu", "cuda"}, optional
        Where the graph is made and lies.

    Returns
    -------
    Graph
        Undirected, vertex ids permuted at random.

    Raises
    ------
    ValueError, TypeError
        If a number is out of range or no integer, or ``device`` unknown.
    DeviceMemoryError
        If the memory will not suffice.

    References
    ----------
    .. [1] Graph500 benchmark specification, section 3.2: initiator A = 0.57, B = C = 0.19.
    .. [2] J. Leskovec, D. Chakrabarti, J. Kleinberg, C. Faloutsos, Z. Ghahramani, "Kronecker graphs: an approach to
       modeling networks", JMLR 11 (2010).

    Examples
    --------
    >>> G = hpg.datasets.kron(10)
    >>> G.n_vertices, G.n_edges, G.directed
    (1024, 20976, False)
    """
    return _recursive(scale, edge_factor, (0.57, 0.19, 0.19), seed, weighted, device)


def social(scale: int, edge_factor: int = 16, *, seed: int = 5, weighted: bool = False, device: str = "cpu") -> Graph:
    """A recursive random graph gentler than `kron`, nearer the degrees of a social network.

    Parameters, result and errors are those of `kron`.

    References
    ----------
    .. [1] D. Chakrabarti, Y. Zhan, C. Faloutsos, "R-MAT: a recursive model for graph mining", SDM 2004; here with
       a = 0.45, b = c = 0.22.

    Examples
    --------
    >>> int(hpg.datasets.social(10).out_degree.max()), int(hpg.datasets.kron(10).out_degree.max())
    (346, 463)
    """
    return _recursive(scale, edge_factor, (0.45, 0.22, 0.22), seed, weighted, device)


def rmat(
    scale: int, edge_factor: int = 16, a: float = 0.57, b: float = 0.19, c: float = 0.19, *, seed: int = 2,
    weighted: bool = False, device: str = "cpu",
) -> Graph:  # fmt: skip
    """An R-MAT graph: each pair of bits of an edge's ends is drawn with four probabilities.

    Parameters
    ----------
    scale, edge_factor, seed, weighted, device
        As for `kron`, as are result and errors.
    a, b, c : float, optional
        Probabilities of the bits 0 and 0, 0 and 1, 1 and 0; bits 1 and 1 have the remaining probability.

    References
    ----------
    .. [1] D. Chakrabarti, Y. Zhan, C. Faloutsos, "R-MAT: a recursive model for graph mining", SDM 2004.

    Examples
    --------
    >>> hpg.datasets.rmat(10, 8, 0.25, 0.25, 0.25)
    Graph: 1,024 vertices, 16,248 arcs, undirected, no weights, cpu
    """
    given = (a, "a"), (b, "b"), (c, "c")
    a, b, c = probabilities = [real(value, name, "a probability", least=0, most=1) for value, name in given]
    if sum(probabilities) > 1:
        raise ValueError(f"a, b and c must add up to at most 1, not {sum(probabilities)}")
    return _recursive(scale, edge_factor, (a, b, c), seed, weighted, device)


def uniform(scale: int, edge_factor: int = 16, *, seed: int = 3, weighted: bool = False, device: str = "cpu") -> Graph:
    """A uniform random graph: all pairs of vertices have the same probability of an edge.

    Parameters, result and errors are those of `kron`; vertex ids are as they were drawn.

    References
    ----------
    .. [1] P. Erdős, A. Rényi, "On random graphs I", Publicationes Mathematicae 6 (1959).

    Examples
    --------
    >>> G = hpg.datasets.uniform(10, edge_factor=4, weighted=True)
    >>> float(G.weights.min()), float(G.weights.max())
    (1.0, 64.0)
    """
    n, draws = _sizes(scale, edge_factor)
    _, rng = begun(n, draws, seed, device)
    source = rng.integers(0, n, draws)
    return of_edges(n, source, rng.integers(0, n, draws), weighted=weighted)


def grid(side: int, *, removed: float = 0.3, seed: int = 4, weighted: bool = False, device: str = "cpu") -> Graph:
    """A square lattice with a share of its edges removed: like a road network, few neighbours and a large diameter.

    Parameters
    ----------
    side : int
        The lattice has ``side * side`` vertices, numbered row by row; 1 to 46340.
    removed : float, optional
        Share of the edges to remove at random, 0 to 1.
    seed, weighted, device
        As for `kron`, as are errors.

    Returns
    -------
    Graph
        Undirected; no vertex has more than four neighbours.

    Examples
    --------
    >>> hpg.datasets.grid(3, removed=0).out_degree.tolist()
    [2, 3, 2, 3, 4, 3, 2, 3, 2]
    """
    side = whole(side, "side", least=1, most=46340)
    if not 0 <= real(removed, "removed") <= 1:
        raise ValueError(f"removed must be a share from 0 to 1, not {removed}")
    n = side * side
    xp, rng = begun(n, 2 * n, seed, device)
    kept = (rng.random(2 * side * (side - 1)) >= removed).reshape(2, -1)
    right, down = xp.zeros((2, side, side), np.bool_)
    right[:, :-1], down[:-1] = kept[0].reshape(side, side - 1), kept[1].reshape(side - 1, side)
    right, down = right.ravel(), down.ravel()
    # The arcs to higher vertices, in order: nothing is sorted.
    starts = prefix_sum(right.astype(np.int64) + down)
    column = xp.empty(int(starts[-1]), index_dtype(n))
    column[starts[:-1][right]] = xp.flatnonzero(right) + 1
    column[starts[1:][down] - 1] = xp.flatnonzero(down) + side
    return of_rows(kernels(device).mirrored(CSR((n, n), starts, column, validate=False)), weighted)


def _recursive(
    scale: int, edge_factor: int, initiator: tuple[float, float, float], seed: int, weighted: bool, device: str
) -> Graph:
    """Draw edges level by level, each of which chooses a quadrant of the adjacency matrix; permute the vertices."""
    n, draws = _sizes(scale, edge_factor)
    with_room(n, draws, device)
    model = recursion(n.bit_length() - 1, initiator, seed)
    return of_edges(n, *sampling(device).recursive_edges(model, draws, index_dtype(n)), weighted=weighted)


def _sizes(scale: int, edge_factor: int) -> tuple[int, int]:
    """Vertices and edges to draw."""
    scale = whole(scale, "scale", least=1, most=_MAX_SCALE)
    edge_factor = whole(edge_factor, "edge_factor", least=0, most=1 << 20)
    return 1 << scale, edge_factor << scale
