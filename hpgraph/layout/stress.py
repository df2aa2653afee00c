"""Stress majorization: distances in the picture approximate those in the graph, to all vertices or to pivots.

E. R. Gansner, Y. Koren, S. North, "Graph drawing by stress majorization", GD'04; with pivots M. Ortmann, M. Klimenta,
U. Brandes, "A sparse stress model", JGAA 21 (2017).
"""

from typing import Any

import numpy as np

from hpgraph.algorithms.distance_blocks import blocks_from
from hpgraph.algorithms.distances import with_lengths
from hpgraph.algorithms.random_choice import random_order
from hpgraph.containers.graph import Graph, naming_arguments, whole
from hpgraph.core.device import array_module, check_memory, to_device
from hpgraph.formats import CSR, occurrences
from hpgraph.kernels.backend import layouts
from hpgraph.kernels.layout import CONSTANT
from hpgraph.layout.geometry import beginning, checked, rescaled

# Number of pivots for the initial positions by classical scaling.
_BASIS = 50
# Distance of unreachable pairs, as a multiple of the largest.
_APART = 1.5
# Distances are scaled into [1 / _LONGEST, _LONGEST], in which sums of fourth powers are finite.
_LONGEST = 1e70
# Iterations stop when no vertex moves by more than this share of the picture's size.
_STILL = 1e-4


@naming_arguments
def kamada_kawai(
    G: Graph | Any,
    pos: Any = None,
    *,
    pivots: int = 200,
    max_iter: int = 200,
    weight: Any = True,
    scale: float = 1,
    center: Any = None,
    seed: int = 0,
) -> Any:
    """The Kamada–Kawai layout: distances approximate those of paths, as NetworkX's ``kamada_kawai_layout``.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. Arcs count in both directions.
    pos : array of shape (n, 2), optional
        Initial positions; by default classical scaling of the distances to the pivots.
    pivots : int
        Number of random vertices to which each vertex preserves its distances, in addition to its neighbours; all
        vertices if there are no more.
    max_iter : int
        Number of steps.
    weight, scale, center
        As for `hpgraph.layout.spring`; a weight is the length of an edge.
    seed : int
        Random seed of the pivots.

    Returns
    -------
    float64 array of shape (n, 2)
        On the graph's device; NetworkX gives a dict.

    Raises
    ------
    ValueError, TypeError
        When an argument does not fit, or a length is negative, NaN, or beyond all measure (above 1e70, say).
    DeviceMemoryError
        When the distances will not fit.

    Notes
    -----
    Minimizes Kamada and Kawai's energy, the sum of squared relative errors of distances, by majorization: each step
    moves all vertices at once, and never increases the energy if all are pivots. The distance of components is one and
    a half times the largest one within a component. Memory: 8 bytes for each vertex and pivot.

    References
    ----------
    T. Kamada, S. Kawai, "An algorithm for drawing general undirected graphs", Information Processing Letters 31 (1989).
    E. R. Gansner, Y. Koren, S. North, "Graph drawing by stress majorization", GD'04. M. Ortmann, M. Klimenta,
    U. Brandes, "A sparse stress model", JGAA 21 (2017). U. Brandes, C. Pich, "Eigensolver methods for progressive
    multidimensional scaling of large data", GD'06, for the beginning.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False)
    >>> abs(np.diff(hpg.layout.kamada_kawai(G), axis=0) ** 2).sum(axis=1).round(2).tolist()
    [0.44, 0.44, 0.44]
    """
    graph, weighted = with_lengths(G, weight)
    graph = graph.undirected
    size, middle = checked(scale, center, 2)
    wanted, steps = whole(pivots, "pivots", least=1), whole(max_iter, "max_iter", least=0)
    xp, n = array_module(graph.device), graph.n_vertices
    chosen = random_order(graph, seed)[: min(wanted, n)]
    chosen = xp.arange(n) if len(chosen) == n else xp.sort(chosen)
    distance = _distances(graph, chosen, weighted)
    if pos is None and n > 2:
        place = _scaled(distance[:: -(-len(chosen) // _BASIS)])
        place = beginning(graph, place / max(float(abs(place).max()), 1e-300), 1) * float(distance.max()) / 2
    else:
        place = beginning(graph, pos, 1)
    step = _step_of(graph, chosen, distance, weighted)
    for _ in range(steps if n > 1 else 0):
        last, place = place, (place + step(place)) / 2
        if float(abs(place - last).max()) < _STILL * float(abs(place - place.mean(axis=0)).max()):
            break
    return rescaled(place, size, middle)


def _distances(graph: Graph, chosen: Any, weighted: bool) -> Any:
    """Distances from some vertices, of shape (k, n), with a finite number where there is no path."""
    xp, n = array_module(graph.device), graph.n_vertices
    check_memory(8 * len(chosen) * n, f"distances of {n:,} vertices to {len(chosen)} pivots", graph.device)
    distance = xp.empty((len(chosen), n))
    for rows, block in blocks_from(graph, to_device(chosen, "cpu"), weighted=weighted):
        distance[rows] = block
    far = (distance < 0) | ~xp.isfinite(distance)
    finite = distance[~far & (distance > 0)]
    nearest, farthest = (float(finite.min()), float(finite.max())) if finite.size else (1.0, 1.0)
    if farthest > _LONGEST or nearest < 1 / _LONGEST:
        raise ValueError(f"weight: distances must lie from {1 / _LONGEST:g} to {_LONGEST:g}; scale the weights")
    distance[far] = _APART * farthest
    return distance


def _scaled(distance: Any) -> Any:
    """Positions by classical scaling of the distances to the pivots."""
    xp, squares = array_module(distance), distance**2
    centered = squares.mean(axis=0) + squares.mean(axis=1)[:, None] - squares - squares.mean()
    vectors = xp.linalg.eigh(centered @ centered.T)[1][:, ::-1][:, :2]
    positions = xp.zeros((distance.shape[1], 2))
    positions[:, : vectors.shape[1]] = centered.T @ vectors
    return positions


def _step_of(graph: Graph, chosen: Any, distance: Any, weighted: bool) -> Any:
    """One iteration: the optimal position of each vertex with all others fixed, along the current directions."""
    xp, n, k = array_module(graph.device), graph.n_vertices, len(chosen)
    weight = xp.where(distance > 0, 1 / xp.where(distance > 0, distance, 1) ** 2, 0)
    total = xp.zeros(n)
    arcs: CSR | None = None
    if k < n:
        # A pivot represents the vertices that are nearest to it.
        weight *= occurrences(distance.argmin(axis=0), k)[:, None]
        csr = graph.out_csr.without_diagonal()
        length = csr.data.astype(np.float64) if weighted else xp.ones(csr.nnz)
        arcs = csr.with_data(xp.where(length > 0, 1 / xp.where(length > 0, length, 1) ** 2, 0), copy=False)
        outward = csr.with_data(arcs.data * length, copy=False)
        total = occurrences(csr.expand_rows(), n, arcs.data)
    total = total + weight.sum(axis=0)
    total = xp.where(total > 0, total, 1)
    numerator = weight * distance
    work = layouts(graph.device)

    def step(place: Any) -> Any:
        moved = work.stress_moves(place, chosen, numerator, weight)
        if arcs is not None:
            moved += work.attraction(arcs, place) - work.attraction(outward, place, CONSTANT)
        return place + moved / total[:, None]

    return step
