"""Bridges, articulation points and biconnected components: where one edge or one vertex holds a graph together.

On the CPU one depth-first search finds all of them (J. Hopcroft, R. Tarjan, "Algorithm 447: efficient algorithms for
graph manipulation", Communications of the ACM 16, 1973): the tree edge from parent to child begins a new component if
the child's subtree reaches no vertex above the parent. That search is sequential, so the GPU uses any spanning forest
instead, with array operations only.

There the skeleton is the graph without the back edges, and without the tree edges from a parent to a child with a
subtree that reaches no vertex outside the parent's subtree. Its connected components are the biconnected components,
each without its top vertex (X. Dong, L. Wang, Y. Gu, Y. Sun, "Provably fast and space-efficient parallel
biconnectivity", PPoPP'23, after R. E. Tarjan, U. Vishkin, "An efficient parallel biconnectivity algorithm", SIAM
Journal on Computing 14, 1985). The forest is rooted by the Euler tour technique of the latter: the Euler tour of a tree
is a list of its arcs in both directions. List ranking by pointer doubling (J. C. Wyllie, "The complexity of parallel
computations", Cornell 1979) gives the position of each arc: the first of the two arcs of an edge leads from parent to
child, and its position orders the vertices.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hpgraph.containers.graph import Graph, as_graph, as_simple, naming_arguments, vertex_names
from hpgraph.containers.result_table import ResultTable
from hpgraph.core.device import Array, array_module, check_memory, device_of, to_device
from hpgraph.formats import CSR, occurrences
from hpgraph.kernels.backend import kernels


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
        The component of each edge. On the CPU they are numbered in the order of a depth-first search, on the GPU by
        their smallest vertex, apart from the one that is the top in a spanning forest.
    names : NumPy array or None
        The names of the graph's vertices.
    """

    count: int
    source: Array
    target: Array
    label: Array
    names: Any

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

    Arcs count in both directions; NetworkX refuses directed graphs. Loops and parallel edges are not bridges.

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
    >>> hpg.bridges(([0, 1, 2, 2], [1, 2, 0, 3])).tolist()
    [[2, 3]]
    """
    original = as_graph(G)
    graph = original.simple().undirected
    xp, arcs = array_module(graph.device), graph.out_csr
    if graph.device == "cpu":
        forest = _searched(arcs)
        # Bridges: vertices whose subtree reaches no vertex above its root (low == number).
        below = np.flatnonzero((forest.low == forest.number) & ~_is_root(forest))
        ends = np.stack([below, forest.parent[below]], axis=1)
    else:
        ends = bridge_ends(arcs)
    if original.multigraph:
        ends = ends[~_are_parallel(original.simple("count").out_csr, ends)]
    ends = xp.sort(ends, axis=1)
    order = xp.argsort(ends[:, 0] * graph.n_vertices + ends[:, 1])
    return vertex_names(graph, ends[order].astype(arcs.indices.dtype))


def _are_parallel(counts: CSR, ends: Any) -> Any:
    """Whether the arcs between two vertices are parallel, for each pair."""
    xp, parallel = array_module(counts.device), False
    u, v = (xp.ascontiguousarray(one, dtype=np.int64) for one in ends.T)
    for pair in ((u, v), (v, u)):
        place = kernels(counts.device).positions_of(counts, *pair)
        parallel = parallel | (place >= 0) & (counts.data[place] > 1)
    return parallel


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
    >>> hpg.articulation_points(([0, 1, 2, 2], [1, 2, 0, 3])).tolist()
    [2]
    """
    graph = as_simple(G).undirected
    xp, arcs = array_module(graph.device), graph.out_csr
    if graph.device == "cpu":
        forest = _searched(arcs)
        top = forest.parent[_begins(forest)]
    else:
        forest, components = blocks(arcs)
        top = components.top
    # A root is an articulation point if it is the top of several components, another vertex if it is the top of one.
    hanging = occurrences(top, graph.n_vertices)
    return vertex_names(graph, xp.flatnonzero(hanging > _is_root(forest)).astype(arcs.indices.dtype))


@naming_arguments
def biconnected_components(G: Graph | Any) -> BiconnectedComponents:
    """The maximal subgraphs without an articulation point: any two of their edges lie on a common cycle.

    Arcs count in both directions; NetworkX refuses directed graphs. Loops are left out.

    Returns
    -------
    BiconnectedComponents
        The component of every edge; iterating gives the vertices of each component, as in NetworkX. A bridge is a
        component of one edge, and a vertex without edges is in none.

    Notes
    -----
    On the CPU it takes O(n + m) time and, beside the graph, 32 bytes a vertex and 16 an edge while ids fit 32 bits. On
    the GPU it takes O(m + n log n), and some 150 bytes a vertex and 30 an arc.

    References
    ----------
    J. Hopcroft, R. Tarjan, "Algorithm 447: efficient algorithms for graph manipulation", CACM 16 (1973).

    Examples
    --------
    >>> found = hpg.biconnected_components(([0, 1, 2, 2], [1, 2, 0, 3]))
    >>> found, [part.tolist() for part in found]
    (<BiconnectedComponents: 2 of 4 edges>, [[0, 1, 2], [2, 3]])
    """
    graph = as_simple(G).undirected
    arcs = graph.out_csr
    if graph.device == "cpu":
        # Imported here, since it imports Numba.
        from hpgraph.kernels.structure.cpu_depth_first import number_down

        forest = _searched(arcs)
        tops = _begins(forest)
        count, component = len(tops), number_down(forest, tops)
    else:
        forest, components = blocks(arcs)
        count, component = len(components.top), components.label
    source = arcs.expand_rows()
    once = source < arcs.indices
    source, target = source[once], arcs.indices[once]
    # The edge is in the component of the end with the greater preorder number, which is the descendant.
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


class Reach(NamedTuple):
    """The least and the greatest preorder number that non-tree edges reach from each vertex's subtree, or in it."""

    low: Any
    high: Any


class Blocks(NamedTuple):
    """Biconnected components by their vertices, in int64 arrays."""

    label: Any  # the component of the edge from each vertex to its parent; -1 for roots
    top: Any  # the top vertex of each component


def searched(arcs: CSR) -> "tuple[RootedForest, Any, Reach]":
    """A spanning forest of symmetric arcs in ascending rows, a mask of its arcs, and the reach of each vertex."""
    check_memory(150 * arcs.shape[0] + 30 * arcs.nnz, "a rooted spanning forest", arcs.device)
    xp, last = array_module(arcs.device), arcs.shape[0] - 1
    forest, source, target = rooted_forest(arcs), arcs.expand_rows(), arcs.indices
    of_tree = (forest.parent[target] == source) | (forest.parent[source] == target)
    # The vertex beside the first end, across an arc that is not of the tree.
    beside = xp.where(of_tree, source, target)
    low = _least(forest.number, source, beside, forest)
    # The greatest is the least of the numbers from the other end, by the same kernels.
    high = last - _least(last - forest.number, source, beside, forest)
    return forest, of_tree, Reach(low, high)


def _least(values: Any, source: Any, beside: Any, forest: "RootedForest") -> Any:
    """The least value in or beside each vertex's subtree: a range query by two intervals of a sparse table."""
    xp, least = array_module(values), values.copy()
    kernels(device_of(values)).minimum_at(least, source, values[beside])
    table, extremes = xp.empty_like(values), xp.empty_like(values)
    table[forest.number] = least
    rest, width = xp.arange(len(values)), 1
    while len(rest):
        size = forest.size[rest]
        done = size < 2 * width
        segments, begin = rest[done], forest.number[rest[done]]
        extremes[segments] = xp.minimum(table[begin], table[begin + size[done] - width])
        table, rest = xp.minimum(table[:-width], table[width:]), rest[~done]
        width *= 2
    return extremes


def bridge_ends(arcs: CSR) -> Any:
    """The child and the parent of each bridge, shape (k, 2)."""
    xp = array_module(arcs.device)
    forest, _, reach = searched(arcs)
    below = reach.high < forest.number + forest.size
    ends = xp.flatnonzero((reach.low >= forest.number) & below & (forest.parent != xp.arange(arcs.shape[0])))
    return xp.stack([ends, forest.parent[ends]], axis=1)


def blocks(arcs: CSR) -> "tuple[RootedForest, Blocks]":
    """The biconnected components."""
    backend, xp = kernels(arcs.device), array_module(arcs.device)
    forest, of_tree, reach = searched(arcs)
    parent, number, size = forest
    above = parent
    plain = (reach.low < number[above]) | (reach.high >= number[above] + size[above])
    source, target = arcs.expand_rows(), arcs.indices
    lower = xp.where(number[source] > number[target], source, target)
    apart = (number[lower] >= number[source] + size[source]) | (number[lower] >= number[target] + size[target])
    tops = xp.where(of_tree, plain[lower], apart)
    count, part = backend.components(backend.keep_entries(arcs.with_data(None, copy=False), tops), True)
    has_parent = parent != xp.arange(arcs.shape[0])
    used = xp.zeros(count, np.int64)
    used[part[has_parent]] = 1
    label = xp.where(has_parent, (xp.cumsum(used) - 1)[part], -1)
    top = xp.empty(int(used.sum()), np.int64)
    hangs = xp.flatnonzero(has_parent & (label != label[parent]))
    top[label[hangs]] = parent[hangs]
    return forest, Blocks(label, top)


class RootedForest(NamedTuple):
    """A spanning forest, in int64 arrays of shape (n,) on the graph's device."""

    parent: Any  # the vertex above each; itself where it is a root, which is the least vertex of its component
    number: Any  # preorder number from 0: the descendants of a vertex follow it contiguously
    size: Any  # number of descendants, the vertex itself included


def rooted_forest(arcs: CSR) -> RootedForest:
    """A rooted spanning forest with its preorder, of symmetric arcs in canonical order."""
    n, backend, xp = arcs.shape[0], kernels(arcs.device), array_module(arcs.device)
    plain = arcs.with_data(None, copy=False)
    tail, at, root = backend.spanning_forest(plain)
    tail, head = tail.astype(np.int64), plain.indices[at].astype(np.int64)
    root, vertices, least = root.astype(np.int64), xp.arange(n, dtype=np.int64), xp.full(n, n, np.int64)
    backend.minimum_at(least, root, vertices)
    root = least[root]
    roots = xp.flatnonzero(root == vertices)
    count, tree = len(roots), xp.searchsorted(roots, root)

    # Both arcs of each edge, sorted by source, then target; sorted by target, then source, they give the reverses.
    source, target = xp.concatenate([tail, head]), xp.concatenate([head, tail])
    sorted_ = xp.argsort(source * n + target)
    source, target = source[sorted_], target[sorted_]
    back = xp.argsort(target * n + source)
    first = xp.searchsorted(source, xp.arange(n + 1, dtype=np.int64))
    # By sorting rather than atomic counters: often one tree has most vertices, which would contend for one counter.
    ends = xp.searchsorted(xp.sort(tree), xp.arange(count + 1)).astype(np.int64, copy=False)
    place = _tour(source, back, first, roots[tree], tree, ends, xp)

    down = xp.flatnonzero(place < place[back])
    parent, number, size = vertices, xp.empty(n, np.int64), xp.empty(n, np.int64)
    child, leads = target[down], xp.zeros(len(source), np.int64)
    leads[place[down]] = 1
    sizes = ends[1:] - ends[:-1]
    number[roots], size[roots] = ends[:-1], sizes
    # The tour contains no arc to a root, so the number of preceding roots is added.
    number[child] = xp.cumsum(leads)[place[down]] + tree[child]
    size[child] = (place[back[down]] - place[down] + 1) // 2
    parent[child] = source[down]
    return RootedForest(parent, number, size)


def _tour(source: Any, back: Any, first: Any, root: Any, tree: Any, ends: Any, xp: Any) -> Any:
    """Position of each arc in the concatenated Euler tours of the trees; `ends`: number of vertices before each."""
    arcs = len(source)
    if arcs == 0:
        return xp.empty(0, np.int64)
    arc = xp.arange(arcs, dtype=np.int64)
    # The successor of an arc is the arc after its reverse in the order around the vertex.
    following = arc + 1
    last = following == first[source + 1]
    following[last] = first[source[last]]
    following = following[back]
    closed = (following == first[source[following]]) & (source[following] == root[source[following]])
    following[closed] = arc[closed]
    steps = (~closed).astype(np.int64)
    for _ in range(arcs.bit_length()):
        steps += steps[following]
        following = following[following]
    tree = tree[source]
    # A tree of k vertices has 2 k - 2 arcs.
    return 2 * (ends[tree + 1] - tree - 1) - 1 - steps
