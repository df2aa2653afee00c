"""How good communities are: modularity, coverage, performance; and how much two partitions have in common."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.algorithms.communities import as_labels, checked, modularity_of
from hpgraph.containers.graph import Graph, as_graph
from hpgraph.core.device import native, to_device
from hpgraph.core.suggestions import naming_arguments
from hpgraph.formats import occurrences
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.communities.level import level_of


@naming_arguments
def modularity(G: Graph | Any, communities: Any, weight: Any = "weight", resolution: float = 1) -> float:
    """The modularity of communities: what lies within them, less what chance would put there.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph; in a directed one the measure is that of Leicht and Newman.
    communities : Communities, integer array of length n, dict, or list of collections of vertices
        What `hpgraph.louvain` returns; a whole number for each vertex, by index or by vertex; or as NetworkX takes
        them.
    weight : None, bool or str
        As for `hpgraph.louvain`.
    resolution : float
        What chance would put there counts so many times.

    Returns
    -------
    float
        NaN where there is no edge, or all weights are 0, where NetworkX raises an error.

    References
    ----------
    M. E. J. Newman, M. Girvan, "Finding and evaluating community structure in networks", Physical Review E 69 (2004).

    Examples
    --------
    >>> import hpgraph as hpg
    >>> G = hpg.Graph.from_edges([0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5], directed=False)
    >>> round(hpg.modularity(G, [{0, 1, 2}, {3, 4, 5}]), 4), hpg.modularity(G, [0] * 6)
    (0.3571, 0.0)
    """
    graph, level, resolution = checked(G, weight, resolution, positive=False)
    count, label = as_labels(graph, communities)
    return modularity_of(level, label, count, resolution, kernels(graph.device).weight_between(level, label))


@naming_arguments
def partition_quality(G: Graph | Any, partition: Any) -> tuple[float, float]:
    """The coverage and the performance of communities.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph; weights are not read.
    partition : Communities, integer array of length n, dict, or list of collections of vertices
        As for `modularity`.

    Returns
    -------
    coverage : float
        The share of the edges that lie within a community; NaN where there is none.
    performance : float
        The share of the pairs of vertices that are joined within a community or not joined between two; NaN where there
        are fewer than two vertices. A loop counts as an edge, as in NetworkX.

    References
    ----------
    S. Fortunato, "Community detection in graphs", Physics Reports 486 (2010).

    Examples
    --------
    >>> import hpgraph as hpg
    >>> G = hpg.Graph.from_edges([0, 0, 1, 2, 3], [1, 2, 2, 3, 4], directed=False)
    >>> hpg.partition_quality(G, [{0, 1, 2}, {3, 4}])
    (0.8, 0.9)
    """
    graph = as_graph(G)
    n, directed, arcs = graph.n_vertices, graph.directed, graph.out_csr
    count, label = as_labels(graph, partition, "partition")
    level = level_of(arcs, directed, weighted=False)
    # Loops count twice in an undirected graph's total, and each edge otherwise too.
    edges = level.total // (1 if directed else 2)
    between = kernels(graph.device).weight_between(level, label) // 2
    size = occurrences(label, count)
    apart = (n * n - int((size * size).sum())) // (1 if directed else 2)
    pairs = n * (n - 1) // (1 if directed else 2)
    coverage = (edges - between) / edges if edges else float("nan")
    performance = (edges - between + apart - between) / pairs if pairs else float("nan")
    return coverage, performance


@naming_arguments
def normalized_mutual_information(first: Any, second: Any) -> float:
    """Normalized mutual information of two partitions of the same vertices: 1 if equal, 0 if independent.

    Parameters
    ----------
    first, second : Communities or integer array of length n
        A label for each vertex; which labels does not matter.

    Returns
    -------
    float
        Their mutual information over the mean of their entropies; 1 where both have a single community.

    References
    ----------
    L. Danon, A. Díaz-Guilera, J. Duch, A. Arenas, "Comparing community structure identification", J. Stat. Mech.
    (2005).

    Examples
    --------
    >>> import hpgraph as hpg
    >>> hpg.normalized_mutual_information([0, 0, 1, 1], [5, 5, 2, 2])
    1.0
    """
    a, b = (_numbers(labels, name) for labels, name in ((first, "first"), (second, "second")))
    if len(a) != len(b):
        raise ValueError(f"first and second must have a label for each of the same vertices, not {len(a)} and {len(b)}")
    if len(a) == 0:
        return 1.0
    both = np.unique(a * (int(b.max()) + 1) + b, return_counts=True)[1]
    entropies = [_entropy(np.bincount(labels)) for labels in (a, b)]
    mean = sum(entropies) / 2
    return float((sum(entropies) - _entropy(both)) / mean) if mean > 0 else 1.0


def _numbers(labels: Any, name: str) -> Any:
    given = native(getattr(labels, "label", labels))
    given = to_device(given if hasattr(given, "dtype") else np.asarray(given), "cpu")
    if given.ndim != 1 or (len(given) and given.dtype.kind not in "iub"):
        raise TypeError(f"{name} must hold a whole number for each vertex, not {given.dtype} in shape {given.shape}")
    return np.unique(given, return_inverse=True)[1].reshape(-1)


def _entropy(counts: Any) -> float:
    share = counts[counts > 0] / counts.sum()
    return float(-(share * np.log(share)).sum())
