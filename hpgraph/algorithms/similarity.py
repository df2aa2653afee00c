"""Similarity of two vertices by their common neighbours, and prediction of links.

L. Lü, T. Zhou, "Link prediction in complex networks: a survey", Physica A 390 (2011), section 3, has all of these
measures. Each is computed for given pairs, for all pairs two arcs apart, or for the best of each vertex.
"""

from typing import Any

import numpy as np

from hpgraph.algorithms.distances import with_weights
from hpgraph.algorithms.similar_pairs import (
    SimilarPairs,
    counting,
    degree_of_common,
    inverse,
    inverse_log,
    measure_of,
    neighbours_apart,
    similar,
)
from hpgraph.containers.graph import Graph, as_simple, naming_arguments, vertex_names
from hpgraph.core.device import array_module, to_device
from hpgraph.kernels.similarity import COMMON, COSINE, JACCARD, OVERLAP, SORENSEN


@naming_arguments
def jaccard(
    G: Graph | Any,
    pairs: Any = None,
    *,
    top: int | None = None,
    vertices: Any = None,
    joined: bool = False,
    weight: Any = None,
    incoming: bool = False,
) -> Any:
    """The share of the neighbours of two vertices that are neighbours of both: ``|A ∩ B| / |A ∪ B|``.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. In a directed one out-neighbours are compared, where NetworkX refuses.
    pairs : (source, target), sequence of pairs, or array of shape (k, 2), optional
        The pairs, by name or index: a tuple of two arrays or lists, or a list of pairs ``(u, v)``. By default all pairs
        with a common neighbour; NetworkX also returns all others, with coefficient 0.
    top : int, optional
        Only the `top` most similar of each vertex.
    vertices : sequence or array of vertices, names or hpgraph.id, optional
        Instead of all, only pairs of these with any vertex.
    joined : bool
        Whether to include adjacent pairs, which NetworkX leaves out. It has no effect on `pairs`.
    weight : None, bool or str
        Value of an arc: 1 for None, its weight for True, so that a common neighbour counts the lesser of two weights
        and the size of a row is their sum. A string names the attribute of a NetworkX graph, and "weight" means True
        otherwise.
    incoming : bool
        Whether to compare in-neighbours rather than out-neighbours.

    Returns
    -------
    float64 array of shape (k,)
        For each pair given, on the graph's device; 0 where neither vertex has neighbours.
    SimilarPairs
        Without `pairs`: `source`, `target` and `score`, each pair once, from the lower index; with `vertices` in their
        order, with `top` in descending order of score for each vertex.

    Notes
    -----
    As in NetworkX, a loop makes a vertex its own neighbour, which counts in its size, but never as a common neighbour.
    A pair takes time by its shorter row, or less where several share a long one. With `top` the CPU keeps no pairs but
    the best of each vertex; on a GPU, or with loops, rows are worked on in blocks of an eighth of the free memory.

    References
    ----------
    P. Jaccard, "Étude comparative de la distribution florale dans une portion des Alpes et des Jura", 1901. With
    weights it is the measure of M. Ružička (1958).

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 1, 2], [2, 3, 2, 3, 4], directed=False)
    >>> hpg.jaccard(G, [(0, 1), (0, 4)]).tolist()
    [1.0, 0.5]
    >>> hpg.jaccard(G, top=1)
    <SimilarPairs: 5 of 5 vertices>
    >>> list(hpg.jaccard(G, vertices=[4]))
    [(4, 0, 0.5), (4, 1, 0.5)]
    """
    return _by_weights(G, JACCARD, weight, incoming, pairs, top, vertices, joined)


jaccard_coefficient = jaccard


def _by_weights(G: Any, kind: int, weight: Any, incoming: bool, *what: Any) -> Any:
    """Shared body of `jaccard` and the like, which differ in the formula over two rows' sums and their intersection."""
    graph, weighted = with_weights(G, weight)
    return similar(graph, measure_of(graph, kind, weighted=weighted, incoming=incoming), *what)


@naming_arguments
def overlap(
    G: Graph | Any,
    pairs: Any = None,
    *,
    top: int | None = None,
    vertices: Any = None,
    joined: bool = False,
    weight: Any = None,
    incoming: bool = False,
) -> Any:
    """The common neighbours of two vertices as a share of the smaller neighbourhood: ``|A ∩ B| / min(|A|, |B|)``.

    Parameters and result are those of `jaccard`.

    References
    ----------
    D. Szymkiewicz (1934), G. G. Simpson (1943): the overlap coefficient.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 1, 2], [2, 3, 2, 3, 4], directed=False)
    >>> hpg.overlap(G, [(0, 1), (0, 4)]).round(3).tolist()
    [1.0, 1.0]
    """
    return _by_weights(G, OVERLAP, weight, incoming, pairs, top, vertices, joined)


@naming_arguments
def sorensen(
    G: Graph | Any,
    pairs: Any = None,
    *,
    top: int | None = None,
    vertices: Any = None,
    joined: bool = False,
    weight: Any = None,
    incoming: bool = False,
) -> Any:
    """Twice the common neighbours over the sizes of both neighbourhoods: 2 ``|A ∩ B| / (|A| + |B|)``.

    Parameters and result are those of `jaccard`.

    References
    ----------
    T. Sørensen (1948), L. R. Dice (1945): the Sørensen–Dice coefficient.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 1, 2], [2, 3, 2, 3, 4], directed=False)
    >>> hpg.sorensen(G, [(0, 1), (0, 4)]).round(3).tolist()
    [1.0, 0.667]
    """
    return _by_weights(G, SORENSEN, weight, incoming, pairs, top, vertices, joined)


@naming_arguments
def cosine(
    G: Graph | Any,
    pairs: Any = None,
    *,
    top: int | None = None,
    vertices: Any = None,
    joined: bool = False,
    weight: Any = None,
    incoming: bool = False,
) -> Any:
    """The cosine of the angle between two rows of the adjacency matrix: ``|A ∩ B| / √(|A| |B|)``.

    The result is that of `jaccard`.

    Parameters
    ----------
    G, pairs, top, vertices, joined, incoming
        As for `jaccard`.
    weight : None, bool or str
        As for `jaccard`, but common neighbours count the product of two weights.

    References
    ----------
    G. Salton, M. J. McGill, "Introduction to modern information retrieval" (1983).

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 1, 2], [2, 3, 2, 3, 4], directed=False)
    >>> hpg.cosine(G, [(0, 1), (0, 4)]).round(3).tolist()
    [1.0, 0.707]
    """
    return _by_weights(G, COSINE, weight, incoming, pairs, top, vertices, joined)


@naming_arguments
def adamic_adar(
    G: Graph | Any,
    pairs: Any = None,
    *,
    top: int | None = None,
    vertices: Any = None,
    joined: bool = False,
    incoming: bool = False,
) -> Any:
    """The sum of 1 / log(degree) over common neighbours.

    Parameters are those of `jaccard`.

    Returns
    -------
    float64 array of shape (k,), or SimilarPairs
        As for `jaccard`; infinity for a vertex and itself where a neighbour has no other.

    Notes
    -----
    Weights have no part. In a directed graph a common neighbour's degree is the number of arcs that reach it, or with
    `incoming` of those that leave it.

    References
    ----------
    L. A. Adamic, E. Adar, "Friends and neighbors on the web", Social Networks 25 (2003).

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 1, 2], [2, 3, 2, 3, 4], directed=False)
    >>> hpg.adamic_adar(G, [(0, 1), (0, 4)]).round(3).tolist()
    [2.353, 0.91]
    """
    graph = as_simple(G)
    values = graph._layouts.once(f"adamic_adar_{incoming}", lambda: inverse_log(degree_of_common(graph, incoming)))
    return similar(graph, counting(graph, values, incoming=incoming), pairs, top, vertices, joined)


adamic_adar_index = adamic_adar


@naming_arguments
def resource_allocation(
    G: Graph | Any,
    pairs: Any = None,
    *,
    top: int | None = None,
    vertices: Any = None,
    joined: bool = False,
    incoming: bool = False,
) -> Any:
    """The sum of 1 / degree over common neighbours.

    Parameters and result are those of `jaccard`.

    Notes
    -----
    Weights have no part. In a directed graph a common neighbour's degree is the number of arcs that reach it, or with
    `incoming` of those that leave it.

    References
    ----------
    T. Zhou, L. Lü, Y.-C. Zhang, "Predicting missing links via local information", European Physical
    Journal B 71 (2009).

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 1, 2], [2, 3, 2, 3, 4], directed=False)
    >>> hpg.resource_allocation(G, [(0, 1), (0, 4)]).round(3).tolist()
    [0.833, 0.333]
    """
    graph = as_simple(G)
    values = graph._layouts.once(f"resource_allocation_{incoming}", lambda: inverse(degree_of_common(graph, incoming)))
    return similar(graph, counting(graph, values, incoming=incoming), pairs, top, vertices, joined)


resource_allocation_index = resource_allocation


@naming_arguments
def common_neighbors(
    G: Graph | Any,
    pairs: Any = None,
    v: Any = None,
    *,
    top: int | None = None,
    vertices: Any = None,
    joined: bool = False,
    incoming: bool = False,
) -> Any:
    """The number of common neighbours of two vertices, or these neighbours.

    Parameters
    ----------
    G, top, vertices, joined, incoming
        As for `jaccard`.
    pairs : as for `jaccard`, or vertex, name or hpgraph.id
        Which pairs; or, where `v` is given, one vertex of the pair, as in NetworkX.
    v : vertex, name or hpgraph.id, optional
        The other vertex.

    Returns
    -------
    int64 array of shape (k,), or SimilarPairs
        As for `jaccard`, where `v` is not given. The two of a pair do not count.
    array
        Where `v` is given: the common neighbours, by name in NumPy, or by index on the graph's device; in order of
        index. NetworkX gives a set.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 1, 2], [2, 3, 2, 3, 4], directed=False)
    >>> hpg.common_neighbors(G, [(0, 1), (0, 4)]).tolist(), hpg.common_neighbors(G, 0, 1).tolist()
    ([2, 1], [2, 3])
    """
    graph = as_simple(G)
    if v is not None:
        return _shared_neighbours(graph, graph.index_of(pairs, "u"), graph.index_of(v, "v"), incoming)
    result = similar(graph, measure_of(graph, COMMON, incoming=incoming), pairs, top, vertices, joined)
    if isinstance(result, SimilarPairs):
        return SimilarPairs(result.source, result.target, result.score.astype(np.int64), graph)
    return result.astype(np.int64)


def _shared_neighbours(graph: Graph, u: int, v: int, incoming: bool) -> Any:
    xp, rows = array_module(graph.device), neighbours_apart(graph.in_csr if incoming else graph.out_csr)
    begin, end = (to_device(rows.indptr[[w, w + 1]], "cpu").tolist() for w in (u, v))
    first, second = rows.indices[begin[0] : begin[1]], rows.indices[end[0] : end[1]]
    return vertex_names(graph, xp.intersect1d(first, second, assume_unique=True))
