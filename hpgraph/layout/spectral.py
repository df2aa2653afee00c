"""The spectral layout: vertices by the smoothest functions on the graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.algorithms.lengths import with_weights
from hpgraph.containers.graph import Graph
from hpgraph.containers.public import make_matrix
from hpgraph.core.device import array_module, to_device
from hpgraph.core.number import whole
from hpgraph.layout.geometry import checked, rescaled
from hpgraph.semiring.counter_random import uniform

# Up to so many vertices all eigenvectors are worked out, as in NetworkX.
_DENSE = 500
# Of the eigenvalues; places then are right to a few hundred thousandths.
_TOLERANCE = 1e-8
# Entries from which a product is worth several threads.
_SEVERAL_THREADS = 1 << 18


def spectral(G: Graph | Any, *, weight: Any = True, scale: float = 1, center: Any = None, dim: int = 2) -> Any:
    """Places of vertices by eigenvectors of the Laplacian, as NetworkX's ``spectral_layout``.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. In a directed one an arc and its reverse are added up, as NetworkX does.
    weight : None, bool or str
        What an edge counts: True the weight that the graph holds, None 1. A string names the attribute where `G` is a
        NetworkX graph, and says the same as True elsewhere.
    scale : number
        The farthest coordinate from the middle.
    center : `dim` numbers, optional
        The middle.
    dim : int
        Coordinates.

    Returns
    -------
    float64 array of shape (n, dim)
        On the graph's device; NetworkX gives a dict. Each coordinate's sign is such that its largest value is positive.

    Raises
    ------
    ValueError, TypeError
        When an argument does not fit, or there are not more than `dim` vertices beyond two.

    Notes
    -----
    Up to 500 vertices by LAPACK; else by Lanczos's method (SciPy's or CuPy's `eigsh`) on the graph's device.
    Graphs that do not hang together are drawn one part upon the other: take a component.

    References
    ----------
    Y. Koren, "Drawing graphs by eigenvectors: theory and practice", Computers & Mathematics with Applications 49
    (2005).

    Examples
    --------
    A path goes along the first coordinate.

    >>> import hpgraph as hpg
    >>> hpg.layout.spectral(hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False))[:, 0].round(2).tolist()
    [1.0, 0.41, -0.41, -1.0]
    """
    graph, weighted = with_weights(G, weight)
    wanted = whole(dim, "dim")
    size, middle = checked(scale, center, wanted)
    xp, n = array_module(graph.device), graph.n_vertices
    if wanted < 1:
        raise ValueError(f"dim must be 1 or more, not {dim}")
    if n <= 2:
        places = xp.zeros((n, wanted))
        if n == 2:
            places[:, 0] = xp.asarray([-1.0, 1.0])
        return rescaled(places, size, middle)
    if n <= wanted:
        raise ValueError(f"dim must be below the number of vertices, {n}, not {dim}")
    laplacian = _laplacian(graph, weighted)
    vectors = _dense(laplacian, wanted) if n < _DENSE else _sparse(laplacian, wanted, graph.device)
    vectors = to_device(vectors, graph.device)
    # An eigenvector's sign is nobody's choice but ours.
    largest = abs(vectors).argmax(axis=0)
    signs = xp.sign(vectors[largest, xp.arange(wanted)])
    return rescaled(xp.ascontiguousarray(vectors * signs), size, middle)


def _laplacian(graph: Graph, weighted: bool) -> Any:
    """Degrees minus adjacency, in SciPy's or CuPy's form."""
    import scipy.sparse

    csr = graph.to("cpu").out_csr
    data = csr.data.astype(np.float64) if weighted else np.ones(csr.nnz)
    if not np.isfinite(data).all():
        raise ValueError("weight: the Laplacian takes finite weights; or weight=None")
    adjacency = scipy.sparse.csr_array((data, csr.indices, csr.indptr), shape=csr.shape)
    if graph.directed:
        adjacency = adjacency + adjacency.T
    degrees = adjacency.sum(axis=1)
    return scipy.sparse.csr_array(scipy.sparse.diags_array(degrees) - adjacency)


def _dense(laplacian: Any, dim: int) -> Any:
    _, vectors = np.linalg.eigh(laplacian.toarray())
    return vectors[:, 1 : dim + 1]


def _sparse(laplacian: Any, dim: int, device: str) -> Any:
    """By Lanczos's method, of a multiple of the identity minus the Laplacian: its largest eigenvalues are sought."""
    import scipy.sparse

    n = laplacian.shape[0]
    # No eigenvalue of a Laplacian is above twice its largest degree.
    turned = scipy.sparse.csr_array(scipy.sparse.diags_array(np.full(n, 2 * laplacian.diagonal().max())) - laplacian)
    how = {"which": "LA", "tol": _TOLERANCE, "v0": to_device(uniform(1, np.arange(n)) + 0.5, device)}
    matrix: Any = turned
    if device == "cuda":
        from cupyx.scipy.sparse import csr_matrix
        from cupyx.scipy.sparse.linalg import eigsh

        matrix = csr_matrix(turned)
    else:
        from scipy.sparse.linalg import eigsh

        if turned.nnz > _SEVERAL_THREADS:
            matrix = make_matrix(turned)
    values, vectors = eigsh(matrix, dim + 1, **how)
    return vectors[:, (-values).argsort()[1:]]
