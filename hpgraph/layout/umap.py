"""UMAP's layout: neighbours attract along sampled edges, sampled vertices repel."""

import math
from typing import Any

import numpy as np

from hpgraph.algorithms.distances import with_weights
from hpgraph.algorithms.random_choice import seed_of
from hpgraph.containers.graph import Graph, naming_arguments, real, whole
from hpgraph.containers.public import matrix_of_csr
from hpgraph.core.device import array_module, check_memory
from hpgraph.formats import CSR
from hpgraph.kernels.backend import layouts
from hpgraph.kernels.layout import Sampling
from hpgraph.layout.geometry import beginning, checked, pulling, rescaled
from hpgraph.layout.spring import sfdp

# umap-learn's number of epochs for small and large graphs, and the side of its initial square.
_SMALL, _EPOCHS_OF_SMALL, _EPOCHS, _SIDE = 10_000, 500, 200, 10.0
# Maximum number of arcs that a vertex samples in an epoch. Far fewer steps suffice, and one thread takes all steps of a
# vertex, so hubs determine the time.
_FOLLOWED = 256.0


@naming_arguments
def umap(
    G: Graph | Any,
    pos: Any = None,
    *,
    min_dist: float = 0.1,
    spread: float = 1.0,
    n_epochs: int | None = None,
    negative_sample_rate: int = 5,
    repulsion_strength: float = 1.0,
    learning_rate: float = 1.0,
    weight: Any = True,
    scale: float = 1,
    center: Any = None,
    seed: int = 0,
) -> Any:
    """The UMAP layout of a weighted nearest-neighbour graph, as umap-learn's.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph; a `hpgraph.knn_graph` of points with "fuzzy" weights gives UMAP. Arcs count in both directions, and
        loops are ignored.
    pos : array of shape (n, 2), optional
        Initial positions; by default the result of `hpgraph.layout.sfdp`.
    min_dist, spread : float
        Minimum distance of neighbours, and scale on which the membership strength falls beyond it.
    n_epochs : int, optional
        Passes over the edges; by default 500, and 200 for more than 10,000 vertices.
    negative_sample_rate : int
        Vertices sampled for repulsion for each attracting edge.
    repulsion_strength : float
        Weight of the repulsion.
    learning_rate : float
        Length of the first steps; it falls to 0.
    weight, scale, center
        As for `hpgraph.layout.spring`.
    seed : int
        Random seed.

    Returns
    -------
    float64 array of shape (n, 2)
        On the graph's device. A vertex without edges keeps its initial position.

    Raises
    ------
    ValueError, TypeError
        When an argument does not fit, or weights are negative or not finite.

    Notes
    -----
    The weight of an edge over the largest weight is the share of epochs that use it. All vertices move in parallel,
    each along its own edges one after the other, relative to its neighbours' positions after the last epoch; umap-learn
    moves both ends of one edge after the other. The result therefore is the same for any number of threads. For a
    vertex with hundreds of edges an epoch uses a sample.

    References
    ----------
    L. McInnes, J. Healy, J. Melville, "UMAP: uniform manifold approximation and projection for dimension reduction",
    arXiv:1802.03426 (2018).

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 5)) + np.repeat([[0.0], [9.0]], 30, axis=0)
    >>> place = hpg.layout.umap(hpg.knn_graph(X, 10))
    >>> middles = place.reshape(2, 30, 2).mean(axis=1)
    >>> bool(np.linalg.norm(middles[0] - middles[1]) > 3 * place.reshape(2, 30, 2).std(axis=1).max())
    True
    """
    graph, weighted = with_weights(G, weight, parallel="sum")
    graph = graph.undirected
    size, middle = checked(scale, center, 2)
    n, xp = graph.n_vertices, array_module(graph.device)
    nearest = real(min_dist, "min_dist", least=0, below=math.inf)
    width = real(spread, "spread", above=0, below=math.inf)
    if nearest > width:
        raise ValueError(f"min_dist must not be above spread, and {min_dist!r} is above {spread!r}")
    push = real(repulsion_strength, "repulsion_strength", least=0, below=math.inf)
    rate = real(learning_rate, "learning_rate", least=0, below=math.inf)
    usual = _EPOCHS_OF_SMALL if n <= _SMALL else _EPOCHS
    epochs = usual if n_epochs is None else whole(n_epochs, "n_epochs", least=0)
    draws = whole(negative_sample_rate, "negative_sample_rate", least=0)
    check_memory(40 * n + 12 * graph.n_edges, f"a layout of {n:,} vertices", graph.device)
    arcs = _probabilities(pulling(graph, weighted))
    begin = beginning(graph, sfdp(graph, weight=weighted or None, seed=seed) if pos is None else pos, seed_of(seed))
    if n == 0:
        return begin
    low, side = begin.min(axis=0), begin.max(axis=0) - begin.min(axis=0)
    begin = (begin - low) * (_SIDE / xp.where(side > 0, side, 1))
    parameters = Sampling(*_curve(nearest, width), push, draws, seed_of(seed))
    steps = rate * (1 - np.arange(epochs) / max(epochs, 1))
    layout = layouts(graph.device).sampled_epochs(begin, arcs, steps, parameters)
    return rescaled(layout.astype(np.float64), size, middle)


def _probabilities(arcs: CSR) -> CSR:
    """The share of epochs that follow each arc: by weight, and less at vertices with many."""
    xp, largest = array_module(arcs.indices), float(arcs.data.max()) if arcs.nnz else 0.0
    scaled = arcs.data / (largest or 1.0)
    of_row = matrix_of_csr(arcs.with_data(scaled, copy=False)) @ xp.ones(arcs.shape[0])
    share = xp.minimum(_FOLLOWED / xp.maximum(of_row, _FOLLOWED), 1.0)
    return arcs.with_data((scaled * share[arcs.expand_rows()]).astype(np.float32), copy=False)


def _curve(nearest: float, width: float) -> tuple[float, float]:
    """Fit a and b of 1 / (1 + a d^2b) to the curve that is 1 up to the least distance, and exponential beyond."""
    from scipy.optimize import curve_fit

    at = np.linspace(0, 3 * width, 300)
    membership = np.where(at < nearest, 1.0, np.exp(-np.maximum(at - nearest, 0) / width))
    a, b = curve_fit(lambda d, a, b: 1 / (1 + a * d ** (2 * b)), at, membership)[0]
    return float(a), float(b)
