"""Bridges, articulation points and biconnected components: where one edge or one vertex holds a graph together.

On the CPU one depth-first search finds all of them (J. Hopcroft, R. Tarjan, "Algorithm 447: efficient algorithms for
graph manipulation", Communications of the ACM 16, 1973): the tree edge from parent to child begins a new component if
the child's subtree reaches no vertex above the parent. That search is sequential, so the GPU uses any spanning forest
instead (`hpgraph.algorithms.skeleton`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hpgraph.algorithms.skeleton import blocks, bridge_ends
from hpgraph.algorithms.vertex_values import vertex_names
from hpgraph.containers.graph import Graph, as_graph
from hpgraph.containers.names import Names
from hpgraph.containers.result_table import ResultTable
from hpgraph.core.arrays import Array
from hpgraph.core.device import array_module, to_device
from hpgraph.core.suggestions import naming_arguments
from hpgraph.formats import CSR, occurrences


@dataclass(frozen=True, eq=False)
class BiconnectedComponents(
    ResultTable, columns=("label", "source", "target"), ends=("source", "target"), edges=True, groups=True
):
    """The biconnected components of a graph, each a set of edges; iterating gives the vertices of each.

    Attributes
    ----------
    count : int
        Number of components.
    source, target : arrays of vertex ids, shape (m,)
        The ends of every edge but loops, by index, the lower one first; ordered by source, then target.
    label : int64 array of shape (m,)
        The component of each edge. On the CPU they are numbered in the order of a depth-first search,
        on the GPU by the least of their vertices, where that which is above the others in a spanning forest is left
        out.
    names : NumPy array or None
        The names of the graph's vertices.
    """

    count: int
    source: Array
    target: Array
    label: Array
    names: Any

    @property
    def _names(self) -> Any:  # type: ignore[override]
        return None if self.names is None else Names(self.names)

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Any]:
        label, source, target = (to_device(array, "cpu") for array in (self.label, self.source, self.target))
        order = np.argsort(label, kind="stable")
        ends = np.searchsorted(label[order], np.arange(1, self.count))
        for part in np.split(order, ends) if self.count else []:
            vertices = np.union1d(source[part], target[part])
            yield vertices if self.names is None else self.names[vertices]

    def __repr__(self) -> str:
        return f"<BiconnectedComponents: {self.count:,} of {len(self.source):,} edges>"


@naming_arguments
def bridges(G: Graph | Any) -> Array:
    """The edges whose removal disconnects a component.

    Arcs count in both directions; NetworkX refuses directed graphs. Loops are no bridges.

    Returns
    -------
    array of shape (k, 2)
        The ends of each, by name, in NumPy, where the graph has names, else by index, on its device: the lower one
        first, in ascending order.

    Notes
    -----
    On the CPU it takes O(n + m) time and, beside the graph, 24 bytes a vertex while ids fit 32 bits. On the GPU it
    takes O(m + n log n), and some 150 bytes a vertex and 30 an arc.

    References
    ----------
    R. Tarjan, "A note on finding the bridges of a graph", Information Processing Letters 2 (1974).

    Examples
    --------
    >>> import hpgraph as hpg
    >>> hpg.bridges(([0, 1, 2, 2], [1, 2, 0, 3])).tolist()
    [[2, 3]]
    """
    graph = as_graph(G).undirected
    xp, arcs = array_module(graph.device), graph.out_csr
    if graph.device == "cpu":
        forest = _searched(arcs)
        # Bridges: vertices whose subtree reaches no vertex above its root (low == number).
        below = np.flatnonzero((forest.low == forest.number) & ~_is_root(forest))
        ends = np.stack([below, forest.parent[below]], axis=1)
    else:
        ends = bridge_ends(arcs)
    ends = xp.sort(ends, axis=1)
    order = xp.argsort(ends[:, 0] * graph.n_vertices + ends[:, 1])
    return vertex_names(graph, ends[order].astype(arcs.indices.dtype))


@naming_arguments
def articulation_points(G: Graph | Any) -> Array:
    """The vertices whose removal disconnects their component.

    Parameters, time and memory are those of `bridges`.

    Returns
    -------
    array of shape (k,)
        Names, in NumPy, where the graph has names, else indices on its device; in ascending order of index.

    References
    ----------
    J. Hopcroft, R. Tarjan, "Algorithm 447: efficient algorithms for graph manipulation", CACM 16 (1973).

    Examples
    --------
    >>> import hpgraph as hpg
    >>> hpg.articulation_points(([0, 1, 2, 2], [1, 2, 0, 3])).tolist()
    [2]
    """
    graph = as_graph(G).undirected
    xp, arcs = array_module(graph.device), graph.out_csr
    if graph.device == "cpu":
        forest = _searched(arcs)
        top = forest.parent[_begins(forest)]
    else:
        forest, components = blocks(arcs)
        top = components.top
    # A root holds together what hangs on it by several components, another vertex also what is above it.
    hanging = occurrences(top, graph.n_vertices)
    return vertex_names(graph, xp.flatnonzero(hanging > _is_root(forest)).astype(arcs.indices.dtype))


@naming_arguments
def biconnected_components(G: Graph | Any) -> BiconnectedComponents:
    """The largest parts of the graph that no vertex holds together alone: any two of their edges lie on a cycle.

    Arcs count in both directions; NetworkX refuses directed graphs. Loops are left out.

    Returns
    -------
    BiconnectedComponents
        Of every edge the component that it lies in; iterating gives the vertices of each component, as NetworkX does. A
        bridge is a component of one edge, and a vertex without edges is in none.

    Notes
    -----
    On the CPU it takes O(n + m) time and, beside the graph, 32 bytes a vertex and 16 an edge while ids fit 32 bits. On
    the GPU it takes O(m + n log n), and some 150 bytes a vertex and 30 an arc.

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
    graph = as_graph(G).undirected
    arcs = graph.out_csr
    if graph.device == "cpu":
        # Imported here, since it imports Numba.
        from hpgraph.kernels.structure.cpu_depth_first import number_down

        forest = _searched(arcs)
        begins = _begins(forest)
        count, component = len(begins), number_down(forest, begins)
    else:
        forest, components = blocks(arcs)
        count, component = len(components.top), components.label
    source = arcs.expand_rows()
    once = source < arcs.indices
    source, target = source[once], arcs.indices[once]
    # The edge lies in the component of its end of the greater number, which in a depth-first search is the lower one.
    later = array_module(graph.device).where(forest.number[source] > forest.number[target], source, target)
    return BiconnectedComponents(count, source, target, component[later], graph.names)


def _is_root(forest: Any) -> Any:
    return forest.parent == array_module(forest.parent).arange(len(forest.parent))


def _begins(forest: Any) -> Any:
    """The vertices whose edge to their parent is the first of a component, in a depth-first search."""
    return np.flatnonzero(~_is_root(forest) & (forest.low >= forest.number[forest.parent]))


def _searched(arcs: CSR) -> Any:
    from hpgraph.kernels.structure.cpu_depth_first import depth_first

    return depth_first(arcs)
