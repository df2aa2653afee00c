"""Results of community detection, partitions as arguments, modularity, and similarity of two partitions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hpgraph.algorithms.array_result import ArrayResult
from hpgraph.algorithms.distances import with_weights
from hpgraph.algorithms.vertex_values import as_array
from hpgraph.containers.graph import Graph, as_simple, named, naming_arguments, real, whole
from hpgraph.core.device import Array, array_module, device_of, everywhere, to_device
from hpgraph.formats import occurrences
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.communities.level import Level, level_of
from hpgraph.kernels.structure.numbering import numbered


@dataclass(frozen=True, eq=False)
class Communities(ArrayResult, array="label", groups=True):
    """The communities of a graph. ``numpy.asarray`` converts it to the labels.

    Attributes
    ----------
    label : integer array of length n
        By index, the community of each vertex, on the graph's device; communities are numbered by their smallest
        vertex.
    count : int
        Number of communities.
    modularity : float
        Modularity of these communities at the resolution of the search, or at 1 for objectives other than modularity;
        NaN if the total weight is 0.
    hierarchy : list of integer arrays of length n
        The communities of each level, from the smallest parts to `label`; each is a union of those of the level before.
    names : NumPy array or None
        The names of the vertices.
    quality : float
        Quality by the objective of the search, as by `hpgraph.community_quality`.
    """

    label: Array
    count: int
    modularity: float
    hierarchy: list[Any] = field(repr=False)
    names: Any = field(default=None, repr=False)
    quality: float = field(default=float("nan"), repr=False)

    def communities(self) -> list[set[Any]]:
        """The vertices of each community, by name if they have names, in NetworkX's form.

        Returns
        -------
        list of sets
            In ascending order of labels.

        Examples
        --------
        >>> hpg.louvain(([0, 1, 2, 3], [1, 0, 3, 2])).communities()
        [{0, 1}, {2, 3}]
        """
        label = to_device(self.label, "cpu")
        order = np.argsort(label, kind="stable")
        ends = np.cumsum(np.bincount(label, minlength=self.count))
        vertices = order if self.names is None else self.names[order]
        return [set(part.tolist()) for part in np.split(vertices, ends[:-1])] if self.count else []

    def __repr__(self) -> str:
        levels = f"{len(self.hierarchy)} level{'s' if len(self.hierarchy) != 1 else ''}"
        return f"<Communities: {self.count:,} of {len(self):,} vertices, modularity {self.modularity:.4f}, {levels}>"


def found(graph: Graph, level: Level, hierarchy: list[Any], resolution: float, quality_by: Any = None) -> Communities:
    """The result of a search, from its partitions, the finest first; none means singletons."""
    xp = array_module(graph.device)
    label = hierarchy[-1] if hierarchy else xp.arange(graph.n_vertices, dtype=graph.id_dtype)
    count = int(label.max()) + 1 if len(label) else 0
    quality = quality_of(level, label, count, resolution)
    own = quality if quality_by is None else quality_by(label, count)
    return named(Communities(label, count, quality, hierarchy or [label], graph.names, own), graph)


def by_smallest(device: str, label: Any) -> Any:
    """Communities, from labels below n, numbered by their smallest vertices."""
    return numbered(kernels(device).represented(label))[1]


def quality_of(level: Level, label: Any, count: int, resolution: float, between: int | None = None) -> float:
    """Weight within communities minus the expected weight, as a share of the total; NaN if all weights are 0."""
    within, shares = quality_terms(level, label, count, between)
    return float(within - resolution * shares)


def quality_terms(level: Level, label: Any, count: int, between: int | None = None) -> tuple[float, float]:
    """The share of the total weight within communities, and its expected value at a resolution of 1."""
    if level.total == 0:
        return float("nan"), float("nan")
    between, shares = kernels(device_of(label)).quality_terms(level, label, count, between)
    return 1 - between / (level.total * (2 if level.directed else 1)), shares


def checked(G: Any, weight: Any, resolution: Any, *, positive: bool = True) -> tuple[Graph, Level, float]:
    """Checked arguments of community detection and of modularity."""
    resolution = real(resolution, "resolution", least=0, below=np.inf)
    graph, weighted = with_weights(G, weight, parallel="sum")
    level = level_of(graph.out_csr, graph.directed, weighted)
    if positive and level.total == 0 and graph.n_edges:
        raise ValueError("weight: all weights are 0, and communities need some that are positive; see weight=None")
    return graph, level, resolution


def least_gain(threshold: Any) -> float:
    """Gain in modularity of a level below which no further level follows."""
    gain = real(threshold, "threshold")
    if np.isnan(gain):
        raise ValueError("threshold must be a number, not NaN")
    return gain


def level_limit(max_level: Any) -> float:
    """Maximum number of levels of a search."""
    if max_level is None:
        return float("inf")
    limit = whole(max_level, "max_level", "a whole number or None", least=1)
    return limit


def as_labels(graph: Graph, communities: Any, name: str = "communities") -> tuple[int, Any]:
    """The number of communities in any accepted form, and each vertex's, int64 from 0, on the graph's device."""
    n, communities = graph.n_vertices, getattr(communities, "label", communities)
    if isinstance(communities, Mapping):
        at = to_device(graph.indices_of(list(communities), name), "cpu")
        _require_partition(at, n, name)
        label = np.empty(n, np.int64)
        label[at] = np.unique(np.array(list(communities.values())), return_inverse=True)[1]
    elif _holds_collections(communities):
        parts = [
            to_device(graph.indices_of(list(part), name), "cpu").astype(np.int64) for part in communities if len(part)
        ]
        _require_partition(np.concatenate(parts) if parts else np.empty(0, np.int64), n, name)
        label = np.empty(n, np.int64)
        for number, part in enumerate(parts):
            label[part] = number
    else:
        given = as_array(communities, name)
        if given.shape != (n,) or (n and given.dtype.kind not in "iub"):
            raise ValueError(
                f"{name} must be a whole number for each of the {n} vertices, a dict of them, or a list of sets of "
                f"vertices, not an array of {given.dtype} and shape {given.shape}"
            )
        label = given
    return _ranked(to_device(label, graph.device))


def _ranked(labels: Any) -> tuple[int, Any]:
    """The number of distinct labels, and the rank of each label; int64."""
    xp, n = array_module(labels), len(labels)
    least, most = (int(labels.min()), int(labels.max())) if n else (0, 0)
    if most - least > 4 * n or most >= 2**63:
        values, ranks = xp.unique(labels, return_inverse=True)
        return len(values), ranks.reshape(-1).astype(np.int64, copy=False)
    labels = labels.astype(np.int64, copy=False) - least if least else labels.astype(np.int64, copy=False)
    occurs = xp.zeros(most - least + 1, np.bool_)
    occurs[labels] = True
    if n and everywhere(occurs):
        return len(occurs), labels
    before = xp.cumsum(occurs, dtype=np.int64)
    return int(before[-1]) if n else 0, before[labels] - 1


def _holds_collections(communities: Any) -> bool:
    if hasattr(communities, "dtype") or not hasattr(communities, "__iter__"):
        return False
    first = next(iter(communities), None)
    return isinstance(first, list | tuple | set | frozenset) or (
        hasattr(first, "dtype") and getattr(first, "ndim", 0) == 1
    )


def _require_partition(vertices: Any, n: int, name: str) -> None:
    if len(vertices) != n or len(np.unique(vertices)) != n:
        raise ValueError(f"{name} must have each of the {n} vertices once, and {len(vertices)} are given")


@naming_arguments
def modularity(G: Graph | Any, communities: Any, weight: Any = "weight", resolution: float = 1) -> float:
    """The modularity of communities: the share of edges within them, minus its expected value.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph; for directed graphs the modularity is that of Leicht and Newman.
    communities : Communities, integer array of length n, dict, or list of collections of vertices
        The result of `hpgraph.louvain`; an integer for each vertex, by index or by vertex; or NetworkX's form.
    weight : None, bool or str
        As for `hpgraph.louvain`.
    resolution : float
        Factor of the expected value.

    Returns
    -------
    float
        NaN if there is no edge, or all weights are 0; NetworkX raises an error then.

    References
    ----------
    M. E. J. Newman, M. Girvan, "Finding and evaluating community structure in networks", Physical Review E 69 (2004).

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5], directed=False)
    >>> round(hpg.modularity(G, [{0, 1, 2}, {3, 4, 5}]), 4), hpg.modularity(G, [0] * 6)
    (0.3571, 0.0)
    """
    graph, level, resolution = checked(G, weight, resolution, positive=False)
    count, label = as_labels(graph, communities)
    return quality_of(level, label, count, resolution)


@naming_arguments
def partition_quality(G: Graph | Any, partition: Any) -> tuple[float, float]:
    """The coverage and the performance of communities.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph; weights are ignored.
    partition : Communities, integer array of length n, dict, or list of collections of vertices
        As for `modularity`.

    Returns
    -------
    coverage : float
        The share of the edges within communities; NaN if there is no edge.
    performance : float
        The share of the pairs of vertices that are adjacent and in one community, or neither; NaN for fewer than two
        vertices. A loop counts as an edge, as in NetworkX.

    References
    ----------
    S. Fortunato, "Community detection in graphs", Physics Reports 486 (2010).

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 2, 3], [1, 2, 2, 3, 4], directed=False)
    >>> hpg.partition_quality(G, [{0, 1, 2}, {3, 4}])
    (0.8, 0.9)
    """
    graph = as_simple(G)
    n, directed, arcs = graph.n_vertices, graph.directed, graph.out_csr
    count, label = as_labels(graph, partition, "partition")
    level = level_of(arcs, directed, weighted=False)
    # Loops count twice in an undirected graph's total, and each edge otherwise too.
    edges = level.total // (1 if directed else 2)
    between = kernels(graph.device).weight_between(level.arcs, label) // 2
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
        A label for each vertex; only equality of labels matters.

    Returns
    -------
    float
        Mutual information over the mean of the entropies; 1 if both have a single community.

    References
    ----------
    L. Danon, A. Díaz-Guilera, J. Duch, A. Arenas, "Comparing community structure identification", J. Stat. Mech.
    (2005).

    Examples
    --------
    >>> hpg.normalized_mutual_information([0, 0, 1, 1], [5, 5, 2, 2])
    1.0
    """
    both, *each = counts_of_two(first, second)
    if len(both) == 0:
        return 1.0
    entropies = [_entropy(counts) for counts in each]
    mean = sum(entropies) / 2
    return float((sum(entropies) - _entropy(both)) / mean) if mean > 0 else 1.0


def counts_of_two(first: Any, second: Any) -> tuple[Any, Any, Any]:
    """Contingency table: the counts of each pair of labels, and of each label of the first and of the second."""
    a, b = (_numbers(labels, name) for labels, name in ((first, "first"), (second, "second")))
    if len(a) != len(b):
        raise ValueError(f"first and second must have a label for each of the same vertices, not {len(a)} and {len(b)}")
    pairs = _ranked(a * (int(b.max(initial=0)) + 1) + b)[1]
    return np.bincount(pairs), np.bincount(a), np.bincount(b)


def _numbers(labels: Any, name: str) -> Any:
    given = to_device(as_array(getattr(labels, "label", labels), name), "cpu")
    if given.ndim != 1 or (len(given) and given.dtype.kind not in "iub"):
        raise TypeError(f"{name} must hold a whole number for each vertex, not {given.dtype} in shape {given.shape}")
    return _ranked(given)[1]


def _entropy(counts: Any) -> float:
    share = counts[counts > 0] / counts.sum()
    return float(-(share * np.log(share)).sum())
