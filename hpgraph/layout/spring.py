"""Springs: neighbours pull each other by the square of their distance, all vertices push away by its inverse.

T. M. J. Fruchterman, E. M. Reingold, "Graph drawing by force-directed placement", Software: Practice and Experience 21
(1991); on several levels Y. Hu, "Efficient, high-quality force-directed graph drawing", The Mathematica Journal 10
(2005), whose repulsion is by a tree as here.
"""

import math
from typing import Any

import numpy as np

from hpgraph.algorithms.distances import with_weights
from hpgraph.algorithms.random_choice import hashes, seed_of
from hpgraph.containers.graph import Graph, naming_arguments, real, whole
from hpgraph.core.device import array_module, check_memory
from hpgraph.formats import CSR, occurrences
from hpgraph.kernels.backend import kernels, layouts
from hpgraph.kernels.layout import SQUARE
from hpgraph.layout.geometry import beginning, checked, pulling, rescaled

# Minimum distance, and minimum force, that a step divides by, as in NetworkX.
_MIN_LENGTH = 0.01
# Maximum size of the coarsest level; coarsening stops if a level keeps more than this share of the vertices.
_COARSEST, _SHRINK = 50, 0.9
# Steps at the coarsest level; at finer ones as many as vertices and arcs allow, in these bounds.
_FIRST, _MAX_STEPS, _MIN_STEPS, _WORK = 300, 100, 15, 40_000_000
# Factor of the step length after each step, and its initial value on a finer level, in lengths of springs.
_COOLING, _WARM = 0.93, 3.0
# Forces have the square of a spring's length, and float64 holds the squares of forces up to 1e308.
_MAX_SPRING = 1e70


@naming_arguments
def spring(
    G: Graph | Any,
    k: float | None = None,
    pos: Any = None,
    *,
    fixed: Any = None,
    iterations: int = 50,
    threshold: float = 1e-4,
    weight: Any = True,
    scale: float = 1,
    center: Any = None,
    theta: float = 0.8,
    seed: int = 0,
) -> Any:
    """The Fruchterman–Reingold layout, as NetworkX's ``spring_layout`` with ``method="force"``.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. Arcs count in both directions, and loops are ignored.
    k : float, optional
        Equilibrium length of a single edge; by default 1 / √n.
    pos : array of shape (n, 2), optional
        Initial positions; by default random, in a square of side 1.
    fixed : sequence of vertices, optional
        Vertices whose positions in `pos` do not change; the result is not scaled then.
    iterations : int
        Number of steps, of decreasing length.
    threshold : float
        Steps stop when the mean movement is below it.
    weight : None, bool or str
        Attraction of an edge: 1 for None, its weight for True. A string names the attribute of a NetworkX graph, and
        "weight" means True otherwise.
    scale : number
        Largest distance of a coordinate from the center.
    center : two numbers, optional
        The center.
    theta : float
        Vertices count as one whose cell is smaller than so many times its distance; 0 counts each, as NetworkX does, in
        n² steps. On the CPU, where cells act on cells, more than 0.9 counts as 0.9.
    seed : int
        Of the beginning.

    Returns
    -------
    float64 array of shape (n, 2)
        On the graph's device; NetworkX gives a dict.

    Raises
    ------
    ValueError, TypeError
        When an argument does not fit, or weights are negative or not finite.

    Notes
    -----
    50 steps do not suffice for thousands of vertices: `hpgraph.layout.sfdp` starts from a coarser graph.

    References
    ----------
    T. M. J. Fruchterman, E. M. Reingold, "Graph drawing by force-directed placement", Software: Practice and Experience
    21 (1991). J. Barnes, P. Hut, Nature 324 (1986), for the sums of what pushes.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3], directed=False)
    >>> place = hpg.layout.spring(G)
    >>> place.shape, bool(abs(place[0] - place[1]).sum() < abs(place[0] - place[5]).sum())
    ((6, 2), True)
    """
    graph, arcs = _springs(G, weight)
    xp, n = array_module(graph.device), graph.n_vertices
    size, middle = checked(scale, center, 2)
    for name, number in (("threshold", threshold), ("theta", theta)):
        real(number, name, least=0, below=math.inf)
    if k is not None:
        real(k, "k", least=1 / _MAX_SPRING, most=_MAX_SPRING)
    steps = whole(iterations, "iterations", least=0)
    if fixed is not None and pos is None:
        raise ValueError("fixed vertices have places: give pos")
    place = beginning(graph, pos, seed_of(seed))
    place = (place + 1) / 2 if pos is None else place
    side = float((place.max(axis=0) - place.min(axis=0)).max()) if n else 0.0
    # NetworkX's extent of the domain if some vertices are fixed.
    domain = (float(place.max()) or 1.0) if fixed is not None and n else 1.0
    natural = float(k) if k is not None else abs(domain) / math.sqrt(max(n, 1))
    moves = xp.ones(n)
    if fixed is not None:
        moves[graph.indices_of(fixed, "fixed")] = 0
    heat, work = 0.1 * side, layouts(graph.device)
    # Pairs push by the product of their masses.
    mass, arcs = xp.full(n, natural), arcs.with_data(arcs.data / natural, copy=False)
    for step in range(steps if n else 0):
        force = work.repulsion(place, mass, float(theta))
        force += work.attraction(arcs, place, SQUARE, _MIN_LENGTH)
        place, squares = work.displaced(place, force, moves, heat * (1 - step / (steps + 1)), _MIN_LENGTH)
        if math.sqrt(squares) < threshold * n:
            break
    return place if fixed is not None else rescaled(place, size, middle)


@naming_arguments
def sfdp(
    G: Graph | Any, *, weight: Any = True, scale: float = 1, center: Any = None, theta: float = 1.0, seed: int = 0
) -> Any:
    """A multilevel force-directed layout, as Graphviz's and graph-tool's ``sfdp``.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. Arcs count in both directions, and loops are ignored.
    weight, scale, center, theta
        As for `spring`.
    seed : int
        Random seed of the coarsening and of the initial positions.

    Returns
    -------
    float64 array of shape (n, 2)
        On the graph's device.

    Raises
    ------
    ValueError, TypeError
        When an argument does not fit, or weights are negative or not finite.

    Notes
    -----
    Vertices are merged with neighbours until some ten are left; these are placed first, and each level starts from the
    positions of the coarser one. A merged vertex has the repulsion and attraction of all its vertices, so that lengths
    agree between levels. Memory: about 60 bytes an arc and 300 a vertex.

    References
    ----------
    Y. Hu, "Efficient, high-quality force-directed graph drawing", The Mathematica Journal 10 (2005).

    Examples
    --------
    >>> G = hpg.datasets.grid(30, removed=0)
    >>> place = hpg.layout.sfdp(G)
    >>> bool(abs(place[0] - place[31]).sum() < abs(place[0] - place[899]).sum() / 5)
    True
    """
    graph, arcs = _springs(G, weight)
    xp, n, counter = array_module(graph.device), graph.n_vertices, seed_of(seed)
    size, middle = checked(scale, center, 2)
    real(theta, "theta", least=0, below=math.inf)
    if n == 0:
        return xp.zeros((0, 2))
    check_memory(300 * n + 60 * arcs.nnz, f"a layout of {n:,} vertices", graph.device)
    levels, merged = [(arcs, xp.ones(n))], []
    while (count := levels[-1][0].shape[0]) > _COARSEST:
        label, *coarser = _coarser(*levels[-1], counter + len(levels))
        if coarser[0].shape[0] > _SHRINK * count:
            break
        merged.append(label)
        levels.append((coarser[0], coarser[1]))
    arcs, mass = levels.pop()
    place = _random_positions(len(mass), counter, graph.device) * math.sqrt(n)
    place = _relaxed(arcs, mass, place, _FIRST, 0.1 * math.sqrt(n), float(theta))
    while levels:
        (arcs, mass), label = levels.pop(), merged.pop()
        place = place[label] + _random_positions(len(mass), counter + len(levels), graph.device)
        steps = int(np.clip(_WORK // (arcs.nnz + 20 * len(mass)), _MIN_STEPS, _MAX_STEPS))
        place = _relaxed(arcs, mass, place, steps, _WARM * math.sqrt(n / len(mass)), float(theta))
    return rescaled(place, size, middle)


def _springs(G: Any, weight: Any) -> tuple[Graph, CSR]:
    graph, weighted = with_weights(G, weight, parallel="sum")
    graph = graph.undirected
    return graph, pulling(graph, weighted)


def _random_positions(n: int, seed: int, device: str) -> Any:
    """Random positions in a square of side 1 around the origin."""
    return hashes(2 * n, seed, device).reshape(n, 2).astype(np.float64) * 2.0**-64 - 0.5


def _coarser(arcs: CSR, mass: Any, seed: int) -> tuple[Any, CSR, Any]:
    """The cluster of each vertex, the first of it and its neighbours in random order; coarser arcs, and masses."""
    device, n = arcs.device, arcs.shape[0]
    xp, rows = array_module(device), arcs.expand_rows()
    keys = hashes(n, seed, device) >> np.uint64(1) | (arcs.degrees <= 1).astype(np.uint64) << np.uint64(63)
    order, rank = xp.argsort(keys, kind="stable"), xp.empty(n, np.int64)
    rank[order] = xp.arange(n)
    first = rank.copy()
    kernels(device).minimum_at(first, rows.astype(np.int64), rank[arcs.indices])
    used = xp.zeros(n, np.int64)
    used[first] = 1
    number = xp.cumsum(used) - 1
    label, count = number[first], int(number[-1]) + 1
    ends = label[rows], label[arcs.indices]
    coarse = CSR.from_coo(*ends, arcs.data, (count, count), duplicates="sum", copy=False).without_diagonal()
    return label, coarse, occurrences(label, count, mass)


def _relaxed(arcs: CSR, mass: Any, place: Any, steps: int, bound: float, theta: float) -> Any:
    """Positions after some steps along the forces on a unit of mass, with a decreasing bound on their length."""
    work, share = layouts(arcs.device), 1 / mass
    cooling = max(_COOLING, 0.02 ** (1 / steps))
    for _step in range(steps):
        force = work.repulsion(place, mass, theta)
        force += work.attraction(arcs, place, SQUARE)
        place, _ = work.displaced(place, force, share, bound, max(bound, np.finfo(np.float64).tiny))
        bound *= cooling
    return place
