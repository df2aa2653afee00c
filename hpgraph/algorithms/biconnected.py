"""Bridges, articulation points and biconnected components: where one edge or one vertex holds a graph together.

All of them come of one depth-first search (J. Hopcroft, R. Tarjan, "Algorithm 447: efficient algorithms for graph
manipulation", Communications of the ACM 16, 1973): a vertex whose subtree reaches nothing above its parent belongs to
another component than its parent's edge upwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hpgraph.algorithms.called import called
from hpgraph.containers.graph import Graph, as_graph
from hpgraph.core.errors import DeviceError
from hpgraph.formats import CSR


@dataclass(frozen=True)
class BiconnectedComponents:
    """The biconnected components of a graph, each a set of edges; iterating gives the vertices of each.

    Attributes
    ----------
    count : int
        How many there are.
    source, target : arrays of vertex ids, shape (m,)
        The ends of every edge but loops, by index, the lower one first; ordered by source, then target.
    label : int64 array of shape (m,)
        The component of each edge. They are numbered in the order in which a depth-first search meets them.
    names : NumPy array or None
        The names of the graph's vertices.
    """

    count: int
    source: Any
    target: Any
    label: Any
    names: Any

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Any]:
        order = np.argsort(self.label, kind="stable")
        ends = np.searchsorted(self.label[order], np.arange(1, self.count))
        for part in np.split(order, ends) if self.count else []:
            vertices = np.union1d(self.source[part], self.target[part])
            yield vertices if self.names is None else self.names[vertices]

    def __repr__(self) -> str:
        return f"<BiconnectedComponents: {self.count:,} of {len(self.source):,} edges>"


def bridges(G: Graph | Any) -> Any:
    """The edges without which a component would fall apart.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph, on the CPU. Arcs count in both directions; NetworkX refuses directed graphs. Loops are no bridges.

    Returns
    -------
    NumPy array of shape (k, 2)
        The ends of each, by name where the graph has names, else by index: the lower one first, in ascending order.

    Raises
    ------
    DeviceError
        If the graph lies on a GPU: a depth-first search is the work of one thread.

    Notes
    -----
    Takes O(n + m) time and, beside the graph, 24 bytes a vertex while ids fit 32 bits.

    References
    ----------
    R. Tarjan, "A note on finding the bridges of a graph", Information Processing Letters 2 (1974).

    Examples
    --------
    >>> import hpgraph as hpg
    >>> hpg.bridges(([0, 1, 2, 2], [1, 2, 0, 3])).tolist()
    [[2, 3]]
    """
    graph = _on_the_cpu(G, "bridges")
    forest = _searched(graph)
    # Whose subtree reaches no higher than itself.
    below = np.flatnonzero((forest.low == forest.number) & (forest.parent != np.arange(graph.n_vertices)))
    ends = np.sort(np.stack([below.astype(forest.parent.dtype), forest.parent[below]], axis=1), axis=1)
    return called(graph, ends[np.lexsort((ends[:, 1], ends[:, 0]))])


def articulation_points(G: Graph | Any) -> Any:
    """The vertices without which their component would fall apart.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph, on the CPU. Arcs count in both directions; NetworkX refuses directed graphs.

    Returns
    -------
    NumPy array of shape (k,)
        Names where the graph has names, else indices; in ascending order of index.

    Raises
    ------
    DeviceError
        If the graph lies on a GPU: a depth-first search is the work of one thread.

    Notes
    -----
    Takes O(n + m) time and, beside the graph, 24 bytes a vertex while ids fit 32 bits.

    References
    ----------
    J. Hopcroft, R. Tarjan, "Algorithm 447: efficient algorithms for graph manipulation", CACM 16 (1973).

    Examples
    --------
    >>> import hpgraph as hpg
    >>> hpg.articulation_points(([0, 1, 2, 2], [1, 2, 0, 3])).tolist()
    [2]
    """
    graph = _on_the_cpu(G, "articulation_points")
    n = graph.n_vertices
    forest = _searched(graph)
    is_root = forest.parent == np.arange(n)
    begins = _begins(forest)
    # A root holds together what hangs on it by several components, another vertex also what is above it.
    hanging = np.bincount(forest.parent[begins], minlength=n)
    return called(graph, np.flatnonzero(hanging > is_root).astype(forest.parent.dtype))


def biconnected_components(G: Graph | Any) -> BiconnectedComponents:
    """The largest parts of the graph that no vertex holds together alone: any two of their edges lie on a cycle.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph, on the CPU. Arcs count in both directions; NetworkX refuses directed graphs. Loops are left out.

    Returns
    -------
    BiconnectedComponents
        Of every edge the component that it lies in; iterating gives the vertices of each component, as NetworkX does. A
        bridge is a component of one edge, and a vertex without edges is in none.

    Raises
    ------
    DeviceError
        If the graph lies on a GPU: a depth-first search is the work of one thread.

    Notes
    -----
    Takes O(n + m) time and, beside the graph, 32 bytes a vertex and 16 an edge while ids fit 32 bits.

    References
    ----------
    J. Hopcroft, R. Tarjan, "Algorithm 447: efficient algorithms for graph manipulation", CACM 16 (1973).

    Examples
    --------
    >>> import hpgraph as hpg
    >>> found = hpg.biconnected_components(([0, 1, 2, 2], [1, 2, 0, 3]))
    >>> found, [part.tolist() for part in found]
    (<BiconnectedComponents: 2 of 4 edges>, [[0, 1, 2], [2, 3]])
    """
    # Loaded here, as it brings Numba.
    from hpgraph.kernels.structure.cpu_depth_first import number_down

    graph = _on_the_cpu(G, "biconnected_components")
    arcs, forest = graph.out_csr, _searched(graph)
    begins = _begins(forest)
    component = number_down(forest, begins)
    source = arcs.expand_rows()
    once = source < arcs.indices
    source, target = source[once], arcs.indices[once]
    # Of two ends one is above the other, and the edge lies in the component of the lower one.
    label = component[np.where(forest.number[source] > forest.number[target], source, target)]
    return BiconnectedComponents(len(begins), source, target, label, graph.names)


def _begins(forest: Any) -> Any:
    """The vertices whose edge to their parent is the first of a component."""
    is_root = forest.parent == np.arange(len(forest.parent))
    return np.flatnonzero(~is_root & (forest.low >= forest.number[forest.parent]))


def _searched(graph: Graph) -> Any:
    from hpgraph.kernels.structure.cpu_depth_first import depth_first

    arcs: CSR = graph.out_csr
    return depth_first(arcs)


def _on_the_cpu(G: Any, name: str) -> Graph:
    graph = as_graph(G)
    if graph.device != "cpu":
        raise DeviceError(f"{name} goes depth first, which is the work of one thread: call it with G.to('cpu')")
    return graph.undirected
