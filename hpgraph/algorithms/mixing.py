"""Correlation of attributes along edges: degrees, categories, reverse arcs.

M. E. J. Newman, "Mixing patterns in networks", Physical Review E 67 (2003). Sums over the arcs are products of the
adjacency matrix with vectors, or reductions over arrays of the arcs, on the device of the graph.
"""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from hpgraph.algebra.elementwise import ewise_mult
from hpgraph.algorithms.distances import with_weights
from hpgraph.algorithms.out_strength import scaled_arcs
from hpgraph.algorithms.vertex_values import as_array, vertex_names, vertex_values
from hpgraph.containers.graph import Graph, as_graph, as_simple, by_vertex, naming_arguments, one_of
from hpgraph.containers.public import matrix_of_csr
from hpgraph.core.device import Array, array_module, to_device
from hpgraph.formats import CSR
from hpgraph.kernels.backend import kernels

_ENDS = "in", "out", "in+out"


@naming_arguments
def density(G: Graph | Any) -> float:
    """The density: the number of edges divided by the number of pairs of vertices.

    Returns
    -------
    float
        Loops count as edges, as in NetworkX. 0 for fewer than two vertices.

    References
    ----------
    S. Wasserman, K. Faust, "Social Network Analysis" (1994).

    Examples
    --------
    >>> hpg.density(hpg.Graph.from_edges([0, 1], [1, 2], directed=False))
    0.6666666666666666
    """
    graph = as_graph(G)
    pairs = graph.n_vertices * (graph.n_vertices - 1)
    ends = (lambda: graph.n_edges) if graph.directed else (lambda: int(graph.degree.sum()))
    return float(graph._layouts.once("density", lambda: ends() / pairs if pairs else 0.0))


@naming_arguments
def isolates(G: Graph | Any) -> Array:
    """The vertices without edges.

    Returns
    -------
    array of shape (k,)
        Names if the graph has names, else indices, on the graph's device; in ascending order of index. A vertex with a
        loop is not isolated.

    References
    ----------
    R. Diestel, "Graph Theory", 5th edition (2017), section 1.2.

    Examples
    --------
    >>> hpg.isolates(hpg.Graph.from_edges([0], [2], n_vertices=4)).tolist()
    [1, 3]
    """
    graph = as_graph(G)
    return vertex_names(graph, array_module(graph.device).flatnonzero(graph.degree == 0))


@naming_arguments
def reciprocity(G: Graph | Any, vertices: Any = None) -> Any:
    """The share of the arcs whose reverse is in the graph.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        A directed graph.
    vertices : sequence of vertices, names or hpgraph.id, optional
        Vertices to compute it for: the share of the arcs at a vertex, of both directions, that are reciprocated.

    Returns
    -------
    float, or float64 array of shape (k,)
        On the graph's device, in the order of `vertices`; NaN without arcs. As in NetworkX, a loop is reciprocated for
        its vertex, but not for the whole graph.

    References
    ----------
    D. Garlaschelli, M. I. Loffredo, "Patterns of link reciprocity in directed networks", Phys. Rev. Lett. 93 (2004).

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1, 1], [1, 0, 2])
    >>> round(hpg.reciprocity(G), 3), hpg.reciprocity(G, [0, 2]).tolist()
    (0.667, [1.0, 0.0])
    """
    graph = as_simple(G)
    xp, arcs = array_module(graph.device), graph.out_csr
    if vertices is None:
        mutual, loops = mutual_arcs(graph)
        return (mutual - loops) / arcs.nnz if arcs.nnz else float("nan")
    both = _both_ways(graph)
    at = to_device(graph.indices_of(vertices), graph.device)
    ends = (arcs.degrees + graph.in_degree)[at]
    return xp.where(ends > 0, 2 * both.degrees[at] / xp.maximum(ends, 1), np.nan)


def _both_ways(graph: Graph) -> CSR:
    """The arcs whose reverse is in the graph."""
    return ewise_mult(matrix_of_csr(graph.out_csr.pattern), matrix_of_csr(graph.in_csr.pattern), "pair").csr


def mutual_arcs(graph: Graph) -> tuple[int, int]:
    """The number of reciprocated arcs of a simple graph, loops included, and the number of loops."""
    if graph.device == "cpu":
        # Imported here, since it imports Numba.
        from hpgraph.kernels.structure.cpu_mixing import mutual_arcs as meet

        return meet(graph.out_csr, graph.in_csr)
    both = _both_ways(graph)
    return both.nnz, both.nnz - both.without_diagonal().nnz


def _matrix(arcs: CSR, weighted: bool) -> Any:
    """The adjacency matrix in double precision, with scaled weights or ones."""
    return matrix_of_csr(scaled_arcs(arcs).astype(np.float64) if weighted else arcs.pattern)


def _degrees(graph: Graph, ends: str, weighted: bool) -> Any:
    """Degrees, or sums of weights; loops of an undirected graph count twice, as in NetworkX."""
    if not weighted:
        return getattr(graph, f"{ends}_degree") if graph.directed and ends in ("in", "out") else graph.degree
    degree = _around(graph, ends, array_module(graph.device).ones(graph.n_vertices), weighted)
    return degree if graph.directed else degree + _matrix(graph.out_csr, weighted).diagonal()


def _checked_ends(**ends: str) -> None:
    for name, value in ends.items():
        one_of(value, name, _ENDS)


def _around(graph: Graph, ends: str, of: Any, weighted: bool) -> Any:
    """For each vertex, the sum over its neighbours of their values times the weights of the arcs."""
    matrix, of = _matrix(graph.out_csr, weighted), of.astype(np.float64)
    if not graph.directed:
        return matrix @ of
    return sum(side @ of for name, side in (("out", matrix), ("in", matrix.T)) if name in ends.split("+"))


@naming_arguments
def average_neighbor_degree(
    G: Graph | Any, source: str = "out", target: str = "out", vertices: Any = None, *, weight: Any = None
) -> Array:
    """The mean degree of the neighbours of each vertex.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph.
    source, target : {"out", "in", "in+out"}
        In a directed graph, the direction of the neighbours, and the kind of their degree.
    vertices : sequence of vertices, names or hpgraph.id, optional
        Vertices to compute it for; by default all.
    weight : None, bool or str
        Whether to weight the mean by the weights of the arcs; as for `hpgraph.pagerank`.

    Returns
    -------
    float64 array of shape (n,), or (k,) if `vertices` is given
        On the graph's device; 0 for a vertex without neighbours.

    References
    ----------
    A. Barrat et al., "The architecture of complex weighted networks", PNAS 101 (2004).

    Examples
    --------
    >>> hpg.average_neighbor_degree(hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False)).tolist()
    [2.0, 1.5, 1.5, 2.0]
    """
    graph, weighted = with_weights(G, weight, parallel="keep")
    _checked_ends(source=source, target=target)
    total = _around(graph, source, _degrees(graph, target, False), weighted)
    norm = _degrees(graph, source, weighted)
    xp = array_module(graph.device)
    found = xp.where(norm == 0, 0.0, total / xp.where(norm == 0, 1, norm))
    return by_vertex(found, graph) if vertices is None else found[to_device(graph.indices_of(vertices), graph.device)]


@naming_arguments
def average_degree_connectivity(
    G: Graph | Any, source: str = "in+out", target: str = "in+out", vertices: Any = None, *, weight: Any = None
) -> Array:
    """The mean degree of the neighbours of the vertices of each degree: also called k nearest neighbours.

    Parameters
    ----------
    G, vertices, weight
        As for `average_neighbor_degree`.
    source, target : {"in+out", "out", "in"}
        In a directed graph, the kind of degree of a vertex, and of its neighbours. Neighbours are successors, but
        predecessors if `source` is "in", as in NetworkX.

    Returns
    -------
    float64 array of shape (largest degree + 1,)
        On the graph's device. Element k is the mean for vertices of degree k: NaN if there are none; if weights sum to
        0, the sum itself. NetworkX returns a dict of the elements other than NaN.

    References
    ----------
    A. Barrat et al., "The architecture of complex weighted networks", PNAS 101 (2004).

    Examples
    --------
    >>> hpg.average_degree_connectivity(hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False)).tolist()
    [nan, 2.0, 1.5]
    """
    graph, weighted = with_weights(G, weight, parallel="keep")
    _checked_ends(source=source, target=target)
    xp = array_module(graph.device)
    total = _around(graph, "in" if source == "in" else "out", _degrees(graph, target, False), weighted)
    number, norm = _degrees(graph, source, False), _degrees(graph, source, weighted)
    if vertices is not None:
        at = to_device(graph.indices_of(vertices), graph.device)
        number, norm, total = number[at], norm[at], total[at]
    total, norm = xp.bincount(number, total), xp.bincount(number, norm)
    found = xp.where(norm == 0, total, total / xp.where(norm == 0, 1, norm))
    return xp.where(xp.bincount(number) == 0, np.nan, found)


@naming_arguments
def degree_assortativity_coefficient(G: Graph | Any, x: str = "out", y: str = "in", *, weight: Any = None) -> float:
    """The correlation of the degrees at both ends of the arcs.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph.
    x, y : {"out", "in", "in+out"}
        In a directed graph, the kind of degree at the source of an arc, and at its target.
    weight : None, bool or str
        Whether degrees are sums of weights; as for `hpgraph.pagerank`.

    Returns
    -------
    float
        Pearson's coefficient, from -1 to 1; NaN without arcs, or if all degrees at one end are equal.

    References
    ----------
    M. E. J. Newman, "Mixing patterns in networks", Physical Review E 67 (2003), equation 21. J. G. Foster et al., "Edge
    direction and the structure of networks", PNAS 107 (2010).

    Examples
    --------
    >>> round(hpg.degree_assortativity_coefficient(hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False)), 3)
    -0.5
    """
    graph, weighted = with_weights(G, weight, parallel="keep")
    _checked_ends(x=x, y=y)
    sent, received = _degrees(graph, x, weighted), graph.in_degree if graph.directed else None
    return correlation(graph.out_csr, received, sent, sent if received is None else _degrees(graph, y, weighted))


@naming_arguments
def numeric_assortativity_coefficient(G: Graph | Any, attribute: Any) -> float:
    """The correlation of a numeric attribute at both ends of the arcs.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph.
    attribute : array of length n, or dict
        A number for each vertex, by index or by vertex.

    Returns
    -------
    float
        As of `degree_assortativity_coefficient`.

    References
    ----------
    M. E. J. Newman, "Mixing patterns in networks", Physical Review E 67 (2003), equation 21.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False)
    >>> round(hpg.numeric_assortativity_coefficient(G, [1, 2, 8, 9]), 3)
    0.441
    """
    graph = as_graph(G)
    value = vertex_values(graph, attribute, "attribute", np.dtype(np.float64))
    return correlation(graph.out_csr, graph.in_degree if graph.directed else None, value, value)


def correlation(arcs: CSR, received: Any, x: Any, y: Any) -> float:
    """Pearson's coefficient of x at sources, y at targets; ``received``: in-degrees, None if undirected and y is x."""
    if not arcs.nnz:
        return float("nan")
    if arcs.device == "cpu":
        # Imported here, since it imports Numba.
        from hpgraph.kernels.structure.cpu_mixing import correlation as by_passes

        return by_passes(arcs, received, x, y)
    return by_products(arcs, received, x, y)


def by_products(arcs: CSR, received: Any, x: Any, y: Any) -> float:
    """`correlation` by a product with the adjacency matrix, on either device."""
    x, x_spread = first = _centred(x, arcs.degrees, arcs.nnz)
    y, y_spread = first if received is None else _centred(y, received, arcs.nnz)
    spread = (x_spread * y_spread) ** 0.5
    if not spread:
        return float("nan")
    product = _matrix(arcs, False) @ y
    product *= x
    return float(product.sum()) / spread


def _centred(value: Any, times: Any, arcs: int) -> tuple[Any, float]:
    """Values in units of their range minus their mean over arcs, and the sum of their squares; 0 if all are equal."""
    idle = times == 0 if int(times.min()) == 0 else None
    held = value if idle is None else value[~idle]
    least, largest = float(held.min()), float(held.max())
    # Equal sums of weights may differ by rounding.
    if not 1e-14 * max(-least, largest) < largest - least < np.inf:
        return value, 0.0
    # In place: allocation would take half of the time of these passes.
    value = value - least
    value /= largest - least
    if idle is not None:
        # 0 times NaN, at a vertex without arcs, would be NaN.
        value[idle] = 0
    share = times * value
    value -= float(share.sum()) / arcs
    share = array_module(value).multiply(times, value, out=share)
    share *= value
    return value, float(share.sum())


@naming_arguments
def attribute_assortativity_coefficient(G: Graph | Any, attribute: Any) -> float:
    """Assortativity by an attribute: the excess, over chance, of arcs between vertices with equal values.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph.
    attribute : array or sequence of length n, or dict
        The value of each vertex, by index or by vertex: numbers, strings, or other hashable objects. Vertices missing
        from the dict share an additional value.

    Returns
    -------
    float
        1 if all arcs join equal values; NaN if all values at arcs are equal, or without arcs.

    References
    ----------
    M. E. J. Newman, "Mixing patterns in networks", Physical Review E 67 (2003), equation 2.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False)
    >>> round(hpg.attribute_assortativity_coefficient(G, ["a", "a", "b", "b"]), 3)
    0.333
    """
    graph = as_graph(G)
    return excess_of_equal(graph.out_csr, _codes(graph, attribute), graph.in_degree if graph.directed else None)


def _codes(graph: Graph, attribute: Any) -> Any:
    """The values of the vertices as codes from 0, on the graph's device."""
    if isinstance(attribute, Mapping):
        at = to_device(graph.indices_of(list(attribute), "attribute"), "cpu")
        listed = np.full(graph.n_vertices, None, object)
        listed[at] = np.fromiter(attribute.values(), object, len(at))
        attribute = listed
    elif not hasattr(attribute, "dtype"):  # arrays of CuPy are no Collection
        if not isinstance(attribute, Collection):
            raise TypeError(f"attribute must be an array or a list of values, or a dict by vertex, not {attribute!r}")
        attribute = np.fromiter(attribute, object, len(attribute))
    values, n = as_array(attribute, "attribute"), graph.n_vertices
    if values.shape != (n,):
        raise ValueError(f"attribute must have one value for each of the {n} vertices, not shape {values.shape}")
    if values.dtype.kind == "O":
        numbers: dict[Any, int] = {}
        codes = [numbers.setdefault(value, len(numbers)) for value in values]
        return to_device(np.array(codes, np.int64), graph.device)
    if values.dtype.kind in "iu" and n and 0 <= int(values.min()) <= int(values.max()) <= n:
        return to_device(values.astype(np.int64), graph.device)
    return to_device(array_module(values).unique(values, return_inverse=True)[1].reshape(-1), graph.device)


def excess_of_equal(arcs: CSR, code: Any, received: Any) -> float:
    """Newman's coefficient of an attribute, of values 0, 1, ...; ``received``: in-degrees, None if undirected."""
    if not arcs.nnz:
        return float("nan")
    xp, kinds = array_module(code), int(code.max()) + 1
    sent = xp.bincount(code, arcs.degrees, kinds) / arcs.nnz
    reached = sent if received is None else xp.bincount(code, received, kinds) / arcs.nnz
    apart = kernels(arcs.device).weight_between(arcs.pattern, code.astype(arcs.indices.dtype))
    same, expected = (arcs.nnz - apart) / arcs.nnz, float((sent * reached).sum())
    return (same - expected) / (1 - expected) if expected != 1 else float("nan")
