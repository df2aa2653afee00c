"""Contraction hierarchies: shortest paths in one road network, many times, each in a fraction of a millisecond.

R. Geisberger, P. Sanders, D. Schultes, C. Vetter, "Exact routing in large road networks using contraction hierarchies",
Transportation Science 46(3), 2012; distances to all vertices by D. Delling, A. V. Goldberg, A. Nowatzyk, R. F. Werneck,
"PHAST: hardware-accelerated shortest path trees", JPDC 73(7), 2013.
"""

import threading
from dataclasses import dataclass
from math import isnan, isqrt
from typing import Any

import numpy as np

from hpgraph.algorithms.distances import Distances, check_within_range, may_overflow
from hpgraph.algorithms.shortest_path import no_path
from hpgraph.algorithms.vertex_values import named_path, vertex_names
from hpgraph.containers.graph import Graph, as_simple, by_vertex, id, naming_arguments, real
from hpgraph.core.device import to_device
from hpgraph.engine.run import run
from hpgraph.kernels.bidirectional import without_cycles
from hpgraph.kernels.bidirectional.cpu_hierarchy import Arcs, contract
from hpgraph.kernels.bidirectional.cpu_hierarchy_queries import meet, meet_each, path_by, query_space, sweep, sweep_each
from hpgraph.kernels.runtime.cpu.threads import interruptible

# Initial capacity of a path; entries of the core's table of distances for each vertex of the graph.
_ROOM, _TABLE = 1 << 12, 8


@dataclass(frozen=True, eq=False)
class ContractionHierarchy:
    """Shortest paths in one graph, prepared by `hpgraph.contraction_hierarchy`.

    Attributes
    ----------
    graph : Graph
        The graph.
    vertices : int64 array of shape (n,)
        Indices from the most important vertex to the least.
    up, down : tuples of arrays
        Arcs from and to each vertex among those before it in `vertices`, by places there: row offsets, the other ends,
        lengths, and the middle vertex of a shortcut, else -1.
    table : float64 array of shape (k, k)
        Distances between the first k of `vertices`.
    """

    graph: Graph
    vertices: Any
    up: Any
    down: Any
    table: Any

    def distance(self, source: Any, target: Any) -> Any:
        """The length of a shortest path from one vertex to another.

        Parameters
        ----------
        source, target : vertex, or sequence or array of m vertices
            Pairs; a single vertex is paired with all of the other side.

        Returns
        -------
        float64 array of shape (m,), or a float for a single pair
            In NumPy; inf where there is no path.

        Examples
        --------
        >>> H = hpg.contraction_hierarchy(([0, 1, 0], [1, 2, 2], [1.0, 1.5, 4.0]))
        >>> H.distance(0, 2), H.distance([0, 1, 2], 2).tolist()
        (2.5, [2.5, 1.5, 0.0])
        """
        graph = self.graph
        if graph._is_one(source) and graph._is_one(target):
            s, t = self._place(source, "source"), self._place(target, "target")
            distances = meet(self.up, self.down, self.table, self._space(), s, t)[0]
            if distances == np.inf:
                self._refuse_overflow([s])
            return distances
        ends = (to_device(end, "cpu") for end in graph._pairs(source, target, ("source", "target")))
        sources, targets = (self._places[end] for end in ends)
        distances = np.empty(len(sources))
        with interruptible():
            meet_each(self.up, self.down, self.table, self._space(), sources, targets, distances)
        self._refuse_overflow(sources[np.isinf(distances)])
        return distances

    def _refuse_overflow(self, places: Any) -> None:
        """Refuse weights whose sums overflow; `places` have an infinite distance to some vertex."""
        if self.graph.weighted and may_overflow(self.graph, np.float64):
            for place in np.unique(places):
                start = id(int(self.vertices[place]))
                check_within_range(self.graph, run(Distances, self.graph, active=start).distance)

    def path(self, source: Any, target: Any) -> list[Any]:
        """The vertices of a shortest path from one vertex to another.

        Raises
        ------
        NoPathError
            If there is none.

        Examples
        --------
        >>> hpg.contraction_hierarchy(([0, 1, 0], [1, 2, 2], [1.0, 1.5, 4.0])).path(0, 2)
        [0, 1, 2]
        """
        s, t, space = self._place(source, "source"), self._place(target, "target"), self._space()
        _, middle = meet(self.up, self.down, np.empty((0, 0)), space, s, t)
        if middle < 0:
            raise no_path(self.graph, int(self.vertices[s]), int(self.vertices[t]), self.graph.weighted)
        count, room = -1, _ROOM
        while count < 0:
            path, stack = np.empty(room, np.int64), np.empty((3, room), np.int64)
            count = path_by(self.up, self.down, space, s, middle, path, stack)
            room *= 4
        # Arcs of length 0 may close cycles.
        return named_path(self.graph, without_cycles(self.vertices[path[:count]].tolist()))

    def distances(self, source: Any) -> Any:
        """Distances from one vertex to all.

        Returns
        -------
        float64 array of shape (n,)
            In NumPy, by vertex; inf where there is no path.

        Examples
        --------
        >>> hpg.contraction_hierarchy(([0, 1, 0], [1, 2, 2], [1.0, 1.5, 4.0])).distances(0).tolist()
        [0.0, 1.0, 2.5]
        """
        distance, s = np.empty(len(self.vertices)), self._place(source, "source")
        sweep(self.up, self.down, self._space(), s, distance)
        if np.isinf(distance).any():
            self._refuse_overflow([s])
        return by_vertex(distance[self._places], self.graph)

    def isochrone(self, source: Any, limit: float) -> Any:
        """The vertices to which the distance from one is at most a limit.

        Returns
        -------
        array of shape (k,)
            Names if the graph has names, else indices in ascending order, in NumPy.

        Examples
        --------
        >>> hpg.contraction_hierarchy(([0, 1, 0], [1, 2, 2], [1.0, 1.5, 4.0])).isochrone(0, 2).tolist()
        [0, 1]
        """
        if isnan(limit := real(limit, "limit")):
            raise ValueError("limit must be a number, not NaN")
        return vertex_names(self.graph, np.flatnonzero(np.asarray(self.distances(source)) <= limit))

    def __len__(self) -> int:
        return len(self.vertices)

    def __repr__(self) -> str:
        shortcuts = sum(int((arcs.middle >= 0).sum()) for arcs in (self.up, self.down))
        return f"<ContractionHierarchy: {len(self):,} vertices, {shortcuts:,} shortcuts>"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_spaces", "_place_of")}

    def _place(self, vertex: Any, argument: str) -> int:
        return int(self._places[self.graph.index_of(vertex, argument)])

    @property
    def _places(self) -> Any:
        """The place of each vertex in `vertices`."""
        places = vars(self).get("_place_of")
        if places is None:
            places = np.empty(len(self.vertices), np.int64)
            places[self.vertices] = np.arange(len(places))
            vars(self)["_place_of"] = places
        return places

    def _space(self) -> Any:
        """Work space for queries of this thread."""
        spaces = vars(self).setdefault("_spaces", threading.local())
        if not hasattr(spaces, "query"):
            spaces.query = _space_for(self.up, self.down)
        return spaces.query


def _space_for(up: Any, down: Any) -> Any:
    return query_space(len(up.indptr) - 1, max(len(up.head), len(down.head)))


@naming_arguments
def contraction_hierarchy(G: Graph | Any) -> ContractionHierarchy:
    """Preprocess a graph, especially a road network, for many shortest-path queries between two vertices.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph. Weights are lengths, not negative; without weights each arc has length 1. Arcs of infinite length are
        ignored.

    Returns
    -------
    ContractionHierarchy
        With the queries `distance`, `path`, `distances` and `isochrone`.

    Raises
    ------
    ValueError
        When a length is negative or NaN.

    Notes
    -----
    Preprocessing runs on all threads of the CPU, queries on one; a graph on the GPU is copied to it. Vertices are
    contracted one after the other, with shortcuts for the shortest paths through them. A query searches upwards only,
    from both ends, through few vertices, and ends below the most important ones, whose distances are in a table of 64
    bytes a vertex. Road networks get about as many shortcuts as arcs; networks without a hierarchy, such as social
    networks, get far more, and `hpgraph.landmarks` or `hpgraph.shortest_path` are better for them. Sums along shortcuts
    may differ from those of `hpgraph.sssp` by rounding.

    References
    ----------
    R. Geisberger, P. Sanders, D. Schultes, C. Vetter, "Exact routing in large road networks using contraction
    hierarchies", Transportation Science 46(3), 2012.

    Examples
    --------
    >>> G = hpg.datasets.grid(30, weighted=True)
    >>> H = hpg.contraction_hierarchy(G)
    >>> bool(abs(H.distance(0, 899) - hpg.sssp(G, 0).distance[899]) < 1e-9)
    True
    """
    graph = as_simple(G)
    out = graph.out_csr.to("cpu")
    if out.data is not None and out.nnz and not out.data.min() >= 0:
        raise ValueError("the weights of G must be lengths that are neither negative nor NaN")
    forward = _arcs(out, Arcs)
    order, *sides = contract(forward, _arcs(graph.in_csr.to("cpu"), Arcs) if graph.directed else forward)
    n = len(order)
    place = np.empty(n + 1, forward.head.dtype)
    # Index -1, no middle vertex, reads the last element.
    place[order], place[n] = np.arange(n)[::-1], -1
    up = _by_place(sides[0], place, Arcs)
    down = _by_place(sides[1], place, Arcs) if graph.directed else up
    return ContractionHierarchy(graph, order[::-1].copy(), up, down, _core(up, down))


def _core(up: Any, down: Any) -> Any:
    """Distances between the most important vertices."""
    n = len(up.indptr) - 1
    table = np.empty((min(isqrt(_TABLE * n), n),) * 2)
    with interruptible():
        sweep_each(up, down, _space_for(up, down), table)
    return table


def _arcs(csr: Any, kind: Any) -> Any:
    """Arcs of finite length, without loops."""
    length = np.ones(csr.nnz) if csr.data is None else csr.data.astype(np.float64)
    rows = csr.expand_rows()
    kept = (rows != csr.indices) & (length < np.inf)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[kept], minlength=csr.shape[0]))]).astype(np.int64)
    head = csr.indices[kept]
    return kind(indptr, head, length[kept], np.full(len(head), -1, head.dtype))


def _by_place(blocks: Any, place: Any, kind: Any) -> Any:
    """Arcs collected in blocks, as rows by the places of vertices."""
    n = len(place) - 1
    none = np.empty(0, place.dtype)
    columns = zip((none, none, np.empty(0), none), *blocks, strict=True)
    rows, head, length, middle = (np.concatenate(parts) for parts in columns)
    rows, head = place[rows], place[head]
    # The most important neighbours first: most searches have reached them already, and stall at once.
    order = np.lexsort((head, rows))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))]).astype(np.int64)
    return kind(indptr, head[order], length[order], place[middle[order]])
