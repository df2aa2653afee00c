"""Diffusion: heat at the vertices after a time t, the exponential of a Laplacian times a vector.

F. Chung, "The heat kernel as the pagerank of a graph", PNAS 104 (2007). Every Laplacian here is L = c (I − M) with a
matrix M whose powers stay small, so that exp(−tL) is a series in M that is cut where the rest is below the tolerance.
With all arcs both ways M has its eigenvalues in [−1, 1], and Chebyshev polynomials need some √(2ct log 1/tol) products:
D. K. Hammond, P. Vandergheynst, R. Gribonval, "Wavelets on graphs via spectral graph theory", Applied and Computational
Harmonic Analysis 30 (2011). In a directed graph M moves heat and loses none: powers of it weighted by a Poisson
distribution, of mean ct, are all positive (uniformization).
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from hpgraph.algorithms.adjacency_operator import ArcSums, arc_sums, inverse
from hpgraph.algorithms.distances import with_weights
from hpgraph.algorithms.power_iteration import checked
from hpgraph.algorithms.vertex_values import as_array, vertex_values
from hpgraph.containers.graph import Graph, by_vertex, naming_arguments, one_of, real
from hpgraph.core.device import Array, array_module, check_memory, everywhere, to_device
from hpgraph.kernels.backend import kernels

Step = Callable[..., Any]  # `Runtime.three_term_step`

# Limit of the products, for run time only: Bessel functions are exact at far longer times.
MAX_TERMS = 1 << 16

LAPLACIANS = ("combinatorial", "normalized", "random-walk")


@naming_arguments
def heat_kernel(
    G: Graph | Any,
    heat: Any,
    t: float = 1.0,
    *,
    laplacian: str = "combinatorial",
    tol: float = 1e-8,
    weight: str | bool | None = "weight",
    dtype: Any = np.float64,
) -> Array:
    """Heat at each vertex after a time: ``exp(−t L) @ heat``.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. In a directed one heat flows along arcs to their targets.
    heat : number, array of shape (n,) or (n, k), or dict
        Initial heat; a dict has values by vertex, and 0 for others; columns are computed together.
    t : float
        Time.
    laplacian : {"combinatorial", "normalized", "random-walk"}
        With A the adjacency matrix and D the total weights of arcs that leave: ``D − Aᵀ``; ``I − D^-½ A D^-½``, for
        undirected graphs only; or ``I − Aᵀ D⁻¹``, for which heat that sums to 1 is the distribution of a random walk,
        and the result Chung's heat kernel PageRank. A vertex without out-arcs keeps its heat.
    tol : float
        Error allowed, relative to `heat`, column by column; rounding comes on top. In an undirected graph it is of
        Euclidean norms, where "random-walk" divides values by the square roots of D; in a directed one of sums of
        absolute values.
    weight : None, bool or str
        Whether weights count, if there are any, as for `hpgraph.pagerank`.
    dtype : float32 or float64
        Type of the result.

    Returns
    -------
    float array of shape (n,) or (n, k)
        By index, on the graph's device.

    Notes
    -----
    The sum of all heat is preserved, except for "normalized". Let s be `t`, times the largest total weight for
    "combinatorial": undirected graphs take about √(2s log(1/tol)) products with the adjacency matrix, directed ones
    s + √(2s log(1/tol)). Memory: five numbers for each vertex and column.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1], [1, 2], directed=False)
    >>> hpg.heat_kernel(G, [1, 0, 0], t=0.5).round(3).tolist()
    [0.674, 0.259, 0.067]
    >>> hpg.heat_kernel(G, {0: 1}, t=100, laplacian="random-walk").round(3).tolist()
    [0.25, 0.5, 0.25]
    """
    graph, weighted = with_weights(G, weight, parallel="sum")
    tol, _, dtype = checked(real(tol, "tol", above=0, below=1), 0, dtype)
    t = real(t, "t", least=0, below=math.inf)
    one_of(laplacian, "laplacian", LAPLACIANS)
    if laplacian == "normalized" and graph.directed:
        raise ValueError(
            'laplacian="normalized" is that of undirected graphs: give G.undirected, or laplacian="random-walk"'
        )
    columns = _columns(graph, heat, dtype)
    if t == 0 or not columns.size:
        return by_vertex(columns, graph)
    arcs = arc_sums(graph, weighted=weighted, loops=laplacian != "combinatorial", dtype=dtype)
    speed, *factors = _motion(arcs, laplacian, graph.directed)
    gain, stay, scale = (factor if columns.ndim == 1 else factor[:, None] for factor in factors)
    expand, weights = (_powers, _poisson) if graph.directed else (_chebyshev, _skellam)
    columns /= scale
    step = kernels(graph.device).three_term_step
    columns = expand(step, arcs.matrix, gain, stay, columns, weights(t * speed, tol))
    columns *= scale
    return by_vertex(columns, graph)


def _columns(graph: Graph, heat: Any, dtype: np.dtype[Any]) -> Any:
    """A copy of the heat as an array of one or two dimensions."""
    n = graph.n_vertices
    if not isinstance(heat, Mapping):
        heat = as_array(heat, "heat")
        if heat.ndim == 2:
            if len(heat) != n:
                raise ValueError(f"heat must have one row for each of the {n} vertices, not shape {heat.shape}")
            if heat.dtype.kind not in "biuf":
                raise TypeError(f"heat must hold numbers, not {heat.dtype}")
            check_memory(5 * heat.size * dtype.itemsize, "columns of heat", graph.device)
            xp = array_module(graph.device)
            with np.errstate(over="ignore"):
                array = xp.array(to_device(heat, graph.device), dtype, order="C")
            if not everywhere(xp.isfinite(array)):
                raise ValueError(f"heat must be finite, in {dtype}")
            return array
    return vertex_values(graph, heat, "heat", dtype)


def _motion(arcs: ArcSums, laplacian: str, directed: bool) -> tuple[float, Any, Any, Any]:
    """Of L = c (I − M) the number c, and for heat S z: gain, stay and S of S⁻¹ M S z = gain · Aᵀ z + stay · z."""
    total, xp = arcs.sent, array_module(arcs.sent)
    if laplacian == "combinatorial":
        # Eigenvalues of M must be -1 or more, so those of L at most 2 c. In directed graphs no entry may be negative.
        speed = float(total.max())
        if not directed:
            speed = min(speed, float((total + inverse(total) * (arcs.matrix @ total)).max()) / 2)
        factor = total.dtype.type(1 / speed if speed > 0 else 0)
        return speed, factor * xp.ones_like(total), 1 - total * factor, xp.ones_like(total)
    leaving = xp.where(total > 0, total, 1).astype(total.dtype, copy=False)
    stay = (total == 0).astype(total.dtype)
    return 1.0, 1 / leaving, stay, xp.sqrt(leaving) if laplacian == "normalized" else leaving


def _powers(step: Step, matrix: Any, gain: Any, stay: Any, held: Any, weights: list[float]) -> Any:
    """The sum of M^k x, weighted."""
    total = weights[0] * held
    for weight in weights[1:]:
        held = step(matrix @ held, gain, stay, held, 0.0, weight, total)
    return total


def _chebyshev(step: Step, matrix: Any, gain: Any, stay: Any, held: Any, weights: list[float]) -> Any:
    """The sum of T_k(M) x, weighted."""
    total, before, now = weights[0] * held, 0.0, held
    for number, weight in enumerate(weights[1:]):
        before, now = now, step(matrix @ now, gain, stay, now, before, weight, total)
        if number == 0:
            # T_1 is x, and T_k+1 is 2 x T_k - T_k-1.
            gain, stay = 2 * gain, 2 * stay
    return total


def _tail_bound(variance: float, tol: float) -> int:
    """Bernstein's bound of a Poisson's or Skellam's distance from its mean with a probability of at least tol / 2."""
    log = math.log(4 / tol)
    return _terms(2 * log / 3 + math.sqrt(2 * variance * log) + 1)


def _terms(terms: float) -> int:
    """The number of terms, unless it exceeds `MAX_TERMS`."""
    if not terms < MAX_TERMS:
        raise ValueError(f"t must be smaller: it would take more than {MAX_TERMS:,} products with the graph")
    return math.ceil(terms)


def _truncated(weights: np.ndarray[Any, Any], tol: float) -> list[float]:
    """The first terms, such that the others sum to at most tol / 2."""
    left = np.cumsum(weights[::-1])[::-1]
    return weights[: max(1, int(np.searchsorted(-left, -tol / 2)))].tolist()


def _poisson(mean: float, tol: float) -> list[float]:
    """The weights of exp(mean (x − 1)) by powers of x."""
    from scipy.special import gammaln, xlogy

    k = np.arange(_terms(mean + _tail_bound(mean, tol)))
    weights = np.exp(xlogy(k, mean) - mean - gammaln(k + 1))
    # Rounding of large logarithms multiplies all weights by about the same factor, which normalization removes.
    return _truncated(weights / weights.sum(), tol)


def _skellam(time: float, tol: float) -> list[float]:
    """The weights of exp(time (x − 1)) by Chebyshev polynomials of x: exp(−time) I_k(time), twice except the first."""
    from scipy.special import ive

    weights = ive(np.arange(_tail_bound(time, tol)), time)
    weights[1:] *= 2
    return _truncated(weights, tol)
