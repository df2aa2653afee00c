"""Communities by labels that vertices take from their neighbours."""

from typing import Any

import numpy as np

from hpgraph.algorithms.communities import Communities, as_labels, by_smallest, checked, found
from hpgraph.algorithms.cores import both_ways
from hpgraph.algorithms.random_choice import scattered
from hpgraph.containers.graph import Graph, as_simple, by_vertex, naming_arguments, whole
from hpgraph.core.device import Array, array_module
from hpgraph.kernels.backend import kernels

# A round that moves no more than this share of the vertices is the last: a few may change to and fro for long (C. L.
# Staudt, H. Meyerhenke, "Engineering parallel algorithms for community detection in massive networks", TPDS 27, 2016).
_FEW = 1e-5


@naming_arguments
def label_propagation_communities(
    G: Graph | Any, weight: Any = None, seed: int = 0, *, max_iteration: int = 100
) -> Communities:
    """Communities by label propagation: each vertex takes the label of most of its neighbours.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. Arcs count in both directions.
    weight : None, bool or str
        As for `hpgraph.louvain`; by default all neighbours count equally.
    seed : int
        Random seed; the same seed gives the same communities on one device.
    max_iteration : int
        Maximum number of rounds; each visits the vertices with a changed neighbour.

    Notes
    -----
    The asynchronous method, NetworkX's asyn_lpa_communities: batches drawn anew in each round update their labels one
    after the other; on the CPU a batch is of blocks of vertices, each of which is updated vertex by vertex. Among
    labels of the same weight a vertex keeps its own, else the choice is random; labels with at least an eighth of the
    weight around a vertex are chosen by one random order that all vertices share, so that communities merge where ties
    are the rule, as on roads. It ends when almost no vertex changes its label. The synchronous method of LDBC
    Graphalytics is `cdlp`; `hpgraph.label_propagation` is semi-supervised. It needs the memory of `louvain`'s first
    level.

    References
    ----------
    U. N. Raghavan, R. Albert, S. Kumara, "Near linear time algorithm to detect community structures in large-scale
    networks", Physical Review E 76 (2007).

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5], directed=False)
    >>> hpg.label_propagation_communities(G).communities()
    [{0, 1, 2}, {3, 4, 5}]
    """
    rounds = min(whole(max_iteration, "max_iteration", least=0), np.iinfo(np.int64).max)
    graph, level, _ = checked(G, weight, 0.0)
    label = kernels(graph.device).asynchronous_labels(level, scattered(seed), rounds, _FEW)
    return found(graph, level, [by_smallest(graph.device, label)], 1.0)


@naming_arguments
def cdlp(G: Graph | Any, max_iteration: int = 10, labels: Any = None) -> Array:
    """Community detection by label propagation, as defined by LDBC Graphalytics: synchronous and deterministic.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. In a directed one out- and in-neighbours both count, and a neighbour in both directions counts
        twice; weights and loops are ignored.
    max_iteration : int
        Maximum number of iterations. In each, all vertices take the most frequent label among their neighbours; ties go
        to the smallest. It stops earlier if no label changes.
    labels : integer array of length n, optional
        Initial labels, not negative; by default the index of each vertex.

    Returns
    -------
    integer array of length n
        The label of each vertex, on the graph's device; of the type of its ids, or of the labels given. A vertex
        without neighbours keeps its own.

    Notes
    -----
    A vertex none of whose neighbours changed in a round is skipped in the next. Where names are numbers, Graphalytics
    begins with them: ``labels=G.names``. Takes some 12 bytes a vertex.

    References
    ----------
    A. Iosup et al., "LDBC Graphalytics: a benchmark for large-scale graph analysis on parallel and distributed
    platforms", VLDB'16; the specification, section 2.3.4.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3], directed=False)
    >>> hpg.cdlp(G).tolist()
    [0, 0, 0, 2, 2, 2]
    """
    rounds = whole(max_iteration, "max_iteration", least=0)
    graph = as_simple(G)
    xp = array_module(graph.device)
    values = None
    label = xp.arange(graph.n_vertices, dtype=graph.id_dtype)
    if labels is not None:
        # Ranks of the labels, which keep their order and equality.
        as_labels(graph, labels, "labels")
        values, ranks = xp.unique(xp.asarray(labels), return_inverse=True)
        if len(values) and int(values[0]) < 0:
            raise ValueError(f"labels must not be negative, and there is {int(values[0])}")
        label = ranks.reshape(-1).astype(graph.id_dtype)
    arcs, backend = both_ways(graph), kernels(graph.device)
    if values is None and rounds and not graph.directed:
        # In the first round all labels are distinct.
        label, rounds = backend.first_neighbours(arcs), rounds - 1
    label = backend.frequent_labels(arcs, label, rounds)
    return by_vertex(label if values is None else values[label], graph)
