"""Spanning forests: of least or largest weight, by Borůvka's rounds, and drawn at random."""

import operator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hpgraph.algorithms.components import connected_components
from hpgraph.algorithms.distances import with_weights
from hpgraph.algorithms.random_choice import running_weights, seed_of
from hpgraph.containers.graph import Graph, as_simple, naming_arguments, undirected_only
from hpgraph.containers.result_table import ResultTable
from hpgraph.core.device import Array, anywhere, array_module, to_device, total
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.sampling.cpu_spanning_tree import walk_trees

_STREAM = 0x5851F42D4C957F2D


@dataclass(frozen=True, eq=False)
class SpanningForest(ResultTable, columns=("source", "target", "weight"), ends=("source", "target"), edges=True):
    """The edges of a spanning forest, in arrays on the graph's device.

    Attributes
    ----------
    source, target : arrays of vertex ids, shape (k,)
        The ends of each edge, by index, the lower one first.
    weight : array of shape (k,) or None
        Their weights, where the graph has any.
    n_vertices : int
        Number of vertices of the graph.
    names : NumPy array or None
        Their names.
    """

    source: Array
    target: Array
    weight: Any
    n_vertices: int
    names: Any

    @property
    def count(self) -> int:
        """Number of trees, that of the graph's connected components."""
        return self.n_vertices - len(self.source)

    @property
    def total(self) -> float | int:
        """Sum of the weights, or the number of edges where there are none; on CUDA this waits for the stream."""
        if self.weight is None:
            return len(self.source)
        near = float(total(self.weight, np.float64))
        if self.weight.dtype.kind not in "iu":
            return near
        # Python integers if the sum may exceed 64 bits.
        return int(total(self.weight, np.int64)) if abs(near) < 1 << 62 else sum(self.weight.tolist())

    @property
    def graph(self) -> Graph:
        """The forest as an undirected graph of all vertices, with the same names."""
        edges = self.source, self.target, self.weight
        return Graph.from_edges(*edges, self.n_vertices, directed=False, names=self.names)

    def __repr__(self) -> str:
        return f"<SpanningForest: {len(self.source):,} edges, {self.count:,} trees, total weight {self.total:,}>"


@naming_arguments
def minimum_spanning_forest(G: Graph | Any) -> SpanningForest:
    """A minimum spanning forest: a spanning tree of least weight for every connected component.

    Arcs count in both directions, with the lighter of two weights; NetworkX refuses directed graphs. Without weights
    every spanning forest is minimum. Loops are ignored.

    Returns
    -------
    SpanningForest
        Edges of equal weight are ordered by their lower end, then by the other, so that there is only one such forest:
        the same edges on every device and at every call, in an order that is not defined. Its `graph` is what
        NetworkX's minimum_spanning_tree returns.

    Raises
    ------
    ValueError
        If the forest needs an edge of weight NaN.

    Notes
    -----
    Borůvka's algorithm: in each of about log n rounds, every tree selects its lightest arc to another. Memory beside
    the graph: 28 to 52 bytes a vertex while ids fit 32 bits.

    References
    ----------
    O. Borůvka, "O jistém problému minimálním", Práce Moravské přírodovědecké společnosti 3 (1926). On GPUs: A. Fallin,
    A. Gonzalez, J. Seo, M. Burtscher, "A high-performance MST implementation for GPUs", SC'23.

    Examples
    --------
    >>> hpg.minimum_spanning_forest(([0, 1, 2, 2], [1, 2, 0, 3], [3.0, 1.0, 2.0, 4.0]))
    <SpanningForest: 3 edges, 1 trees, total weight 7.0>
    """
    graph = as_simple(G).undirected
    xp, arcs = array_module(graph.device), graph.out_csr
    one, arc, _ = kernels(graph.device).spanning_forest(arcs)
    other, weight = arcs.indices[arc], None if arcs.data is None else arcs.data[arc]
    if weight is not None and weight.dtype.kind == "f" and anywhere(xp.isnan(weight)):
        raise ValueError("the weights of G must not be NaN where a spanning forest needs the edge: see G.filter")
    return SpanningForest(xp.minimum(one, other), xp.maximum(one, other), weight, graph.n_vertices, graph.names)


@naming_arguments
def maximum_spanning_forest(G: Graph | Any) -> SpanningForest:
    """A maximum spanning forest: a spanning tree of largest weight for every connected component.

    The larger of the two weights of opposite arcs counts; otherwise as `minimum_spanning_forest` of negated weights.

    Returns
    -------
    SpanningForest
        Its `graph` is what NetworkX's maximum_spanning_tree returns.

    References
    ----------
    O. Borůvka, "O jistém problému minimálním", Práce Moravské přírodovědecké společnosti 3 (1926).

    Examples
    --------
    >>> hpg.maximum_spanning_forest(([0, 1, 2, 2], [1, 2, 0, 3], [3.0, 1.0, 2.0, 4.0]))
    <SpanningForest: 3 edges, 1 trees, total weight 9.0>
    """
    graph = as_simple(G, "max")
    arcs = graph.out_csr
    if arcs.data is None:
        return minimum_spanning_forest(graph)
    # The complement of an integer reverses the order like its negative, and never overflows.
    turned = operator.neg if arcs.data.dtype.kind == "f" else operator.invert
    forest = minimum_spanning_forest(
        Graph._from_csr(arcs.with_data(turned(arcs.data), copy=False), graph.directed, graph._names)
    )
    return replace(forest, weight=turned(forest.weight))


@naming_arguments
def random_spanning_tree(G: Graph | Any, weight: Any = None, *, seed: int = 0) -> SpanningForest:
    """A random spanning forest, with probability proportional to the product of its weights.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        An undirected graph. Loops, and edges of weight 0, are passed over.
    weight : None, bool or str
        Whether forests are as likely as the product of their edges' weights; by default all are equally likely. As for
        `hpgraph.pagerank`.
    seed : int
        Of the random numbers; the same seed gives the same forest on every machine.

    Returns
    -------
    SpanningForest
        Its `graph` is what NetworkX's random_spanning_tree returns with ``multiplicative=True``.

    Raises
    ------
    ValueError
        If the graph is directed, or a weight is negative or not finite.

    Notes
    -----
    Runs on one thread of the CPU; a graph on the GPU is copied to it. Random walks from each vertex to the tree so far,
    without their cycles; the time is that in which a walk meets a vertex of many edges.

    References
    ----------
    D. B. Wilson, "Generating random spanning trees more quickly than the cover time", STOC'96.

    Examples
    --------
    >>> hpg.random_spanning_tree(hpg.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False))
    <SpanningForest: 3 edges, 1 trees, total weight 3>
    """
    # Imported here, since it imports Numba.
    weighted_graph, weighted = with_weights(G, weight, parallel="sum")
    graph = undirected_only(weighted_graph, "sum")[0].to("cpu")
    arcs = graph.out_csr.without_diagonal()
    sums = running_weights(graph, arcs, weighted)
    one, other = arcs.expand_rows(), arcs.indices
    if weighted:
        likely = arcs.data > 0
        one, other = one[likely], other[likely]
    joined = Graph.from_edges(one, other, n_vertices=graph.n_vertices, directed=False, names=False)
    label = connected_components(joined).label
    # Walks reach a root of high degree soon.
    order = np.argsort(-joined.out_degree, kind="stable")
    roots = order[np.unique(label[order], return_index=True)[1]]
    arc = walk_trees(arcs, None if sums is None else sums.running, roots, seed_of(seed, _STREAM))
    v = np.flatnonzero(arc >= 0)
    ends = np.sort(np.stack([v.astype(graph.id_dtype), arcs.indices[arc[v]]]), axis=0)
    low, high = (to_device(end, weighted_graph.device) for end in ends)
    weight_of_edge = None if arcs.data is None else to_device(arcs.data[arc[v]], weighted_graph.device)
    return SpanningForest(low, high, weight_of_edge, graph.n_vertices, graph.names)
