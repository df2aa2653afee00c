"""Connected components, weak and strong, and the condensation: the strong ones and the arcs between them."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from hpgraph.algorithms.array_result import ArrayResult
from hpgraph.algorithms.bfs import bfs
from hpgraph.algorithms.random_choice import random_order
from hpgraph.containers.graph import Graph, as_simple, id, named, naming_arguments, one_of, whole
from hpgraph.containers.result_table import ResultTable
from hpgraph.core.device import Array, anywhere, array_module, everywhere, fits, to_device
from hpgraph.core.errors import DeviceMemoryError
from hpgraph.engine.multi_gpu import apart, divides_components
from hpgraph.engine.multi_gpu import components as divided_components
from hpgraph.engine.program import Property, VertexProgram, run
from hpgraph.formats import CSR, occurrences
from hpgraph.kernels.backend import kernels, windows
from hpgraph.kernels.runtime.techniques import techniques
from hpgraph.kernels.structure.numbering import numbered
from hpgraph.placement.hub_cache import hub_cache_of

# The lower half of a color: a vertex's number. The upper half is the part of the graph in which it lies.
_NUMBER = (1 << 32) - 1
# Minimum number of arcs, and mean degree, for the search of a hub's component: small graphs, and graphs of many thin
# levels, do not profit.
_MIN_ARCS, _MIN_DEGREE = 1 << 19, 4
# Maximum bytes an arc for trimming: source, values of both ends, a flag, and a copy of the target.
_TRIMMING = 48


@dataclass(frozen=True, eq=False)
class ComponentsResult(ArrayResult, array="label", groups=True):
    """The connected components of a graph. ``numpy.asarray`` takes it for the labels.

    Attributes
    ----------
    count : int
        Number of components.
    label : int32 or int64 array of length n
        The component of each vertex; components are numbered by their smallest vertex.
    """

    count: int
    label: Array

    def __repr__(self) -> str:
        return f"<ComponentsResult: {self.count:,} of {len(self.label):,} vertices>"


class Label(VertexProgram):
    """The smallest label propagated to a vertex, including its own."""

    weighted = False
    reduce = "min"
    label = Property("int32", initial=0, start="id")

    def gather(source, weight, target):  # noqa: D102
        return source.label


class WideLabel(Label):
    """`Label` for ids that need 64 bits."""

    label = Property("int64", initial=0, start="id")


class Color(VertexProgram):
    """The largest number that an ancestor has inside the same part of the graph: the part is in the upper 32 bits."""

    weighted = False
    reduce = "max"
    color = Property("int64")

    def edge_cond(source, weight, target):  # noqa: D102
        return source.color >> 32 == target.color >> 32  # type: ignore[operator]

    def gather(source, weight, target):  # noqa: D102
        return source.color


class Ancestors(VertexProgram):
    """Backward search from the active vertices along arcs inside one color."""

    weighted = False
    edges = "out"
    reduce = "any"
    parent = Property("int64", initial=-1, start="id")
    steps = Property("int32", initial=-1, start=0)
    color = Property("int64")

    def edge_cond(source, weight, target):  # noqa: D102
        return source.color == target.color

    def gather(source, weight, target):  # noqa: D102
        return source.id  # type: ignore[attr-defined]

    def update(vertex, message, world):  # noqa: D102
        return message, world.superstep, vertex.color


@naming_arguments
def connected_components(G: Graph | Any, *, connection: Literal["weak", "strong"] = "weak") -> ComponentsResult:
    """The component of every vertex.

    Parameters
    ----------
    connection : {"weak", "strong"}
        Whether paths may follow arcs in either direction, or two vertices must reach each other along arcs. In an
        undirected graph both are the same.

    Returns
    -------
    ComponentsResult
        On the graph's device.

    References
    ----------
    M. Sutton, T. Ben-Nun, A. Barak, "Optimizing parallel graph connectivity computation via subgraph sampling",
    IPDPS'18. G. M. Slota, S. Rajamanickam, K. Madduri, "BFS and coloring-based parallel algorithms for strongly
    connected components and related problems", IPDPS'14. D. J. Pearce, "A space-efficient algorithm for finding
    strongly connected components", Inf. Process. Lett. 116, 2016.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1, 3], [1, 0, 1], n_vertices=5)
    >>> hpg.connected_components(G).label.tolist()
    [0, 0, 1, 0, 2]
    >>> hpg.connected_components(G, connection="strong").label.tolist()
    [0, 0, 1, 2, 3]
    """
    one_of(connection, "connection", ("weak", "strong"))
    graph = as_simple(G)
    strong = connection == "strong" and graph.directed
    return named(ComponentsResult(*(numbered(_strong(graph)) if strong else _weak(graph))), graph)


def _weak(graph: Graph) -> tuple[int, Any]:
    """Number of weak components, and the component of each vertex."""
    if graph.in_pages:
        return _in_pages(graph)
    if graph.on_cluster:
        return numbered(_by_labels(graph))
    divided: Any = graph if graph.on_devices and techniques.multi_gpu else None
    if divided is not None and apart(divided) is not None:
        divided = None
    if divided is not None and divides_components(divided):
        return divided_components(divided)
    try:
        arcs = graph.out_csr
    except DeviceMemoryError:
        if divided is None:
            raise
        return divided_components(divided)
    # The graph's direction is read only if it is known: computing it costs as much as the components.
    return kernels(graph.device).components(arcs, graph.known_undirected)


def _in_pages(graph: Any) -> tuple[int, Any]:
    with graph.exclusive():
        store = graph.store(False, False)
        assert store is not None
        head = None if graph.directed else hub_cache_of(store, graph)
        return windows(graph.device).components(store, head, not graph.directed)


def _by_labels(graph: Graph) -> Any:
    """The smallest vertex of each vertex's weak component, by label propagation along arcs and against them."""
    forwards = Label if graph.id_dtype == np.int32 else WideLabel
    label = run(forwards, graph).label
    backwards = type(forwards.__name__, (forwards,), {"edges": "out"})
    while graph.directed:
        before = label
        for program in (backwards, forwards):
            label = run(program, graph, label=label).label
        if everywhere(label == before):
            break
    return label


def _strong(graph: Graph) -> Any:
    """The smallest vertex of each vertex's strong component.

    In many graphs most vertices lie in the component of a hub, which a forward and a backward search find (FW-BW),
    unless two searches would cost more than they save. On the CPU one depth-first search finds the others; elsewhere
    vertices on no cycle are trimmed, and colors find the rest, by one kernel if they are few.
    """
    n, xp = graph.n_vertices, array_module(graph.device)
    smallest = xp.arange(n, dtype=graph.id_dtype)
    if n == 0:
        return smallest
    if _is_apart(graph):
        _color_parts(graph, _around_hub(graph, smallest), smallest)
        return smallest
    arcs, on_cpu = graph.out_csr, graph.device == "cpu"
    small = arcs.nnz < max(_MIN_ARCS, _MIN_DEGREE * n if on_cpu else 0)
    part = None if small else _around_hub(graph, smallest)
    if on_cpu:
        # Imported here, since it imports Numba.
        from hpgraph.kernels.structure.cpu_depth_first import strong_components

        strong_components(arcs, part, smallest)
        return smallest
    from hpgraph.kernels.structure.cuda_components import color_few

    part = _trimmed(graph, part)
    if not color_few(arcs, part, smallest):
        _color_parts(graph, part, smallest)
    return smallest


def _trimmed(graph: Graph, part: Any) -> Any:
    """The parts of vertices on a cycle, or on a path between two cycles of a part; -1 for others."""
    generations = kernels(graph.device).generations
    left = generations(graph.in_csr, graph.out_degree) < 0
    if part is None:
        left &= generations(graph.out_csr, graph.in_degree) < 0
        return left.astype(np.int64) - 1
    part[~left] = -1
    part[~_behind_cycles(graph.out_csr, part)] = -1
    return part


def _is_apart(graph: Graph) -> bool:
    """Whether the arcs do not lie in one memory."""
    return graph.in_pages or graph.on_devices


def _around_hub(graph: Graph, smallest: Any) -> Any:
    """Find the strong component of a hub; returns the part of every other vertex (FW-BW), -1 inside the component.

    Lisa Fleischer, Bruce Hendrickson and Ali Pınar, "On identifying strongly connected components in parallel",
    IPDPS'00: no component has vertices in two of these parts.
    """
    xp = array_module(graph.device)
    hub = int((graph.out_degree * graph.in_degree).argmax())
    ahead = bfs(graph, id(hub)).level >= 0
    behind = run(Ancestors, graph, active=id(hub), color=xp.zeros(graph.n_vertices, np.int64)).steps >= 0
    part = ahead.astype(np.int64) + 2 * behind
    inside = xp.flatnonzero(part == 3)
    smallest[inside] = inside[0]
    part[inside] = -1
    return part


def _color_parts(graph: Graph, part: Any, smallest: Any) -> None:
    """Find the components inside the parts of the graph that are not negative, by rounds of coloring.

    Every vertex takes the largest number among its ancestors as its color, and a vertex that kept its own is a root:
    the vertices of its color that reach it are its component. Remaining vertices form parts by color. Numbers are
    pseudo-random, so that even a long path takes about log n rounds.
    """
    n, device, xp = graph.n_vertices, graph.device, array_module(graph.device)
    number = random_order(graph, 0)
    left = part >= 0
    color = xp.where(left, part << 32 | number, -1)
    while anywhere(left):
        own = color
        color = run(Color, graph, active=left, color=own).color
        component = run(Ancestors, graph, active=left & (color == own), color=color).steps >= 0
        members = xp.flatnonzero(component)
        root_number = color[members] & _NUMBER
        smallest_of_root = xp.full(n, n, dtype=np.int64)
        kernels(device).minimum_at(smallest_of_root, root_number, members)
        smallest[members] = smallest_of_root[root_number]
        color[members] = -1
        left &= ~component
        others = xp.flatnonzero(left)
        _, places = xp.unique(color[others], return_inverse=True)
        color[others] = places << 32 | number[others]
        if not _is_apart(graph):
            left = _behind_cycles(graph.out_csr, color >> 32)
            color[~left] = -1


def _behind_cycles(arcs: CSR, part: Any) -> Any:
    """Whether a cycle inside its part reaches each vertex; others are components by themselves ("trimming").

    W. McLendon III, B. Hendrickson, S. Plimpton, L. Rauchwerger, "Finding strongly connected components in distributed
    graphs", J. Parallel Distrib. Comput. 65 (2005). It only saves rounds, so it is skipped if memory is short.
    """
    left = part >= 0
    if not fits(_TRIMMING * arcs.nnz, arcs.device):
        return left
    source, backend = arcs.expand_rows(), kernels(arcs.device)
    within = backend.keep_entries(arcs.pattern, (part[source] == part[arcs.indices]) & left[source])
    return left & (backend.generations(within, occurrences(within.indices, len(part))) < 0)


@dataclass(frozen=True, eq=False)
class Condensation(ResultTable, columns=("label",), groups=True):
    """The condensation of a graph; as a table, the component of each vertex.

    Attributes
    ----------
    graph : Graph
        Directed, without cycles, without weights and names: vertex i is component i.
    label : integer array of shape (n,)
        The component of each vertex of the graph that was condensed, on its device; components are numbered by their
        smallest vertex.
    names : NumPy array or None
        The names of those vertices.
    """

    graph: Graph
    label: Array
    names: Any

    def members(self, component: int) -> Any:
        """The vertices of a component: names if the graph has names, else indices, on its device.

        Parameters
        ----------
        component : int
            Number of the component.

        Returns
        -------
        array
            In ascending order of index.

        Examples
        --------
        >>> hpg.condensation(([0, 1, 1], [1, 0, 2])).members(0).tolist()
        [0, 1]
        """
        component, count = whole(component, "component"), self.graph.n_vertices
        if not 0 <= component < count:
            raise IndexError(f"component {component} is not in 0..{count - 1}")
        vertices = array_module(self.label).flatnonzero(self.label == component)
        return vertices if self.names is None else self.names[to_device(vertices, "cpu")]

    def __repr__(self) -> str:
        count, arcs = self.graph.n_vertices, self.graph.n_edges
        return f"<Condensation: {count:,} components of {len(self.label):,} vertices, {arcs:,} arcs>"


@naming_arguments
def condensation(G: Graph | Any) -> Condensation:
    """The condensation: a graph with a vertex for each strong component, and an arc if one joins two components.

    In an undirected graph these are the connected components, without arcs between them.

    Returns
    -------
    Condensation
        Its `graph` is acyclic, as required by `topological_sort` and `dag_longest_path`.

    References
    ----------
    G. M. Slota, S. Rajamanickam, K. Madduri, "BFS and coloring-based parallel algorithms for strongly connected
    components and related problems", IPDPS'14.

    Examples
    --------
    >>> found = hpg.condensation(([0, 1, 1, 2], [1, 0, 2, 3]))
    >>> found, found.label.tolist()
    (<Condensation: 3 components of 4 vertices, 2 arcs>, [0, 0, 1, 2])
    """
    graph = as_simple(G)
    components = connected_components(graph, connection="strong")
    source, target = components.label[graph.out_csr.expand_rows()], components.label[graph.out_csr.indices]
    between = source != target
    arcs = Graph.from_edges(source[between], target[between], n_vertices=components.count)
    return Condensation(arcs, components.label, graph.names)
