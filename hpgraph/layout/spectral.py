"""The spectral layout: vertices by the smoothest functions on the graph."""

from typing import Any

from hpgraph.algorithms.distances import with_weights
from hpgraph.algorithms.spectral_clustering import laplacian_parts, smooth_coordinates
from hpgraph.containers.graph import Graph, whole
from hpgraph.core.device import array_module
from hpgraph.layout.geometry import checked, rescaled


def spectral(G: Graph | Any, *, weight: Any = True, scale: float = 1, center: Any = None, dim: int = 2) -> Any:
    """The spectral layout, by eigenvectors of the Laplacian, as NetworkX's ``spectral_layout``.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. In a directed one an arc and its reverse are summed, as in NetworkX.
    weight, scale, center
        As for `hpgraph.layout.spring`; the middle is of `dim` numbers.
    dim : int
        Coordinates.

    Returns
    -------
    float64 array of shape (n, dim)
        On the graph's device; NetworkX gives a dict. Each coordinate's sign is such that its largest value is positive.

    Raises
    ------
    ValueError, TypeError
        When an argument does not fit, a weight is negative or not finite, or there are not more than `dim` vertices
        beyond two.

    Notes
    -----
    Below 200 vertices, 500 on the GPU, all eigenvectors are computed; otherwise `dim` of them, by Lanczos's method
    (SciPy's or CuPy's `eigsh`), on the graph's device. Components of a disconnected graph are drawn on top of each
    other: draw one component.

    References
    ----------
    Y. Koren, "Drawing graphs by eigenvectors: theory and practice", Computers & Mathematics with Applications 49
    (2005).

    Examples
    --------
    A path goes along the first coordinate.

    >>> hpg.layout.spectral(hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False))[:, 0].round(2).tolist()
    [1.0, 0.41, -0.41, -1.0]
    """
    graph, weighted = with_weights(G, weight, parallel="sum")
    n_vectors = whole(dim, "dim", least=1)
    size, middle = checked(scale, center, n_vectors)
    xp, n = array_module(graph.device), graph.n_vertices
    if n <= 2:
        places = xp.zeros((n, n_vectors))
        if n == 2:
            places[:, 0] = xp.asarray([-1.0, 1.0])
        return rescaled(places, size, middle)
    if n <= n_vectors:
        raise ValueError(f"dim must be below the number of vertices, {n}, not {dim}")
    vectors = smooth_coordinates(laplacian_parts(graph, weighted), n_vectors, normalized=False, seed=1)
    return rescaled(xp.ascontiguousarray(vectors), size, middle)
