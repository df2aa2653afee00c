"""Directed acyclic graphs: whether a graph is one, its vertices in topological order, and its longest path."""

from typing import Any

import numpy as np

from hpgraph.containers.graph import Graph, as_simple, naming_arguments, vertex_names
from hpgraph.core.device import Array, anywhere, array_module, count, everywhere, to_device
from hpgraph.engine.program import Property, VertexProgram, run
from hpgraph.formats import CSR
from hpgraph.kernels.backend import kernels


class Longest(VertexProgram):
    """The weight of the heaviest path that ends at each vertex; no path weighs 0."""

    reduce = "max"
    length = Property("float64", initial=0.0)

    def gather(source, weight, target):  # noqa: D102
        return source.length + weight


@naming_arguments
def is_dag(G: Graph | Any) -> bool:
    """Whether a graph has no cycles along its arcs.

    An undirected edge is an arc and its reverse, which make a cycle, and so does a loop.

    Returns
    -------
    bool
        On CUDA this waits for the stream.

    Notes
    -----
    Also available by NetworkX's name, `is_directed_acyclic_graph`. Memory beside the graph: 16 bytes a vertex while ids
    fit 32 bits.

    References
    ----------
    A. B. Kahn, "Topological sorting of large networks", Communications of the ACM 5 (1962).

    Examples
    --------
    >>> hpg.is_dag(([0, 0, 1], [1, 2, 2])), hpg.is_dag(([0, 1, 2], [1, 2, 0]))
    (True, False)
    """
    return everywhere(_generations(as_simple(G)) >= 0)


is_directed_acyclic_graph = is_dag


@naming_arguments
def topological_sort(G: Graph | Any) -> Array:
    """A topological order of the vertices: every arc leads to a later vertex.

    Returns
    -------
    array of shape (n,)
        Names if the graph has names, else indices, on the graph's device. Vertices are ordered by how many arcs the
        longest path to them has, then by index: the same on every device.

    Raises
    ------
    ValueError
        If the graph has a cycle.

    Notes
    -----
    Of the many topological orders it is the one of NetworkX's topological_generations, one after the other. On the GPU
    one kernel goes from generation to generation.

    References
    ----------
    A. B. Kahn, "Topological sorting of large networks", Communications of the ACM 5 (1962).

    Examples
    --------
    >>> hpg.topological_sort(([2, 2, 1], [1, 0, 0])).tolist()
    [2, 1, 0]
    """
    graph = as_simple(G)
    generation, n = generations_of(graph), graph.n_vertices
    # Vertices by generation, as rows of a transpose: this counting sort takes a fifth of a stable argsort's time.
    every = array_module(graph.device).arange(n + 1)
    column = CSR((n, int(generation.max()) + 1 if n else 0), every, generation, validate=False)
    return vertex_names(graph, kernels(graph.device).transpose(column).indices.astype(np.int64, copy=False))


@naming_arguments
def dag_longest_path(G: Graph | Any, weight: Any = "weight") -> Array:
    """The longest path along the arcs of a graph without cycles.

    Parameters
    ----------
    weight : "weight", True or None
        Length of an arc: its weight, 1 in a graph without weights; None counts arcs.

    Returns
    -------
    NumPy array of shape (k,)
        Its vertices from the first to the last: names if the graph has names, else indices. Of several longest
        paths, the one with the smallest last vertex, then the smallest predecessor at each step. Empty if there are
        no vertices.

    Raises
    ------
    ValueError
        If the graph has a cycle, or a weight is NaN.

    Notes
    -----
    A path of a single vertex has weight 0, so a path never starts with arcs of negative total weight. Sums are float64.

    References
    ----------
    R. Sedgewick, K. Wayne, "Algorithms", 4th edition (2011), section 4.4.

    Examples
    --------
    >>> hpg.dag_longest_path(([0, 0, 1, 2], [1, 2, 3, 3], [1.0, 5.0, 2.0, 1.0])).tolist()
    [0, 2, 3]
    """
    if weight is not None and weight is not True and not (isinstance(weight, str) and weight == "weight"):
        raise TypeError(f'weight must be "weight", True or None, not {weight!r}')
    graph = as_simple(G, "max")
    generation, xp = generations_of(graph), array_module(graph.device)
    if graph.n_vertices == 0:
        return vertex_names(graph, np.empty(0, np.int64))
    if graph.weighted and weight is not None:
        length = _heaviest(graph)
        counted = graph.in_csr.data.astype(np.float64, copy=False)
    else:
        length, counted = generation.astype(np.int64), 1
    # Predecessor of each vertex on a longest path: the smallest among the tight in-arcs; n if none.
    arcs, n = graph.in_csr, graph.n_vertices
    target = arcs.expand_rows()
    tight = xp.flatnonzero((length[arcs.indices] + counted == length[target]) & (length[target] > 0))
    before = xp.full(n, n, np.int64)
    kernels(graph.device).minimum_at(before, target[tight], arcs.indices[tight].astype(np.int64))
    steps, v = to_device(before, "cpu"), int(length.argmax())
    path = [v]
    while steps[v] < n:
        v = int(steps[v])
        path.append(v)
    return vertex_names(graph, np.array(path[::-1]))


def _heaviest(graph: Graph) -> Any:
    xp = array_module(graph.device)
    if graph.weights.dtype.kind == "f" and anywhere(xp.isnan(graph.weights)):
        raise ValueError("weight: a longest path has no weights that are NaN: see G.filter")
    length = run(Longest, graph).length
    if anywhere(xp.isinf(length)) and not anywhere(xp.isinf(graph.weights)):
        raise ValueError("weight: weights add up to more than float64 holds: divide them by their largest")
    return length


def generations_of(graph: Graph) -> Any:
    """Number of arcs of the longest path to each vertex; a graph with a cycle is refused."""
    generation = _generations(graph)
    if graph.n_vertices and int(generation.min()) < 0:
        raise ValueError(
            f"G has a cycle: {count(generation < 0):,} vertices lie on cycles or behind them. "
            "hpgraph.condensation(G) has none: it makes one vertex of each strong component"
        )
    return generation


def _generations(graph: Graph) -> Any:
    return kernels(graph.device).generations(graph.out_csr, graph.in_degree)
