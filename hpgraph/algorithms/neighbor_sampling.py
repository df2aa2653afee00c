"""Neighbours drawn at random, hop by hop: input of graph neural networks, a batch of seeds at a time."""

import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from hpgraph.algorithms.distances import with_weights
from hpgraph.algorithms.hop_sampling import Drawable, Draws, checked_draws, checked_times, sample_hops
from hpgraph.algorithms.layer_sampling import draw_layers
from hpgraph.algorithms.random_choice import running_weights, seed_of
from hpgraph.containers.adjacency import with_reverses
from hpgraph.containers.graph import Graph, id, naming_arguments, one_of, vertex_names, whole
from hpgraph.containers.temporal import TemporalGraph
from hpgraph.core.device import Array, array_module, to_device
from hpgraph.formats import CSR
from hpgraph.kernels.backend import sampling

# Hops and draws share a counter's bits: more than these would overlap.
_MAX_HOPS, _MAX_DRAWS = 1 << 22, 1 << 39

# Stream of this module's draws, so that random walks of the same seed differ from them.
_STREAM = 0x9E3779B97F4A7C15


@dataclass(frozen=True, eq=False)
class NeighborSample:
    """A random subgraph around some seeds; vertices are numbered in order of discovery, seeds first.

    Arrays are int64, on the graph's device, and not shared: ``torch.from_dlpack(sample.edge_index)`` takes their memory
    without a copy. Edges are ordered by the vertex that they were drawn for.

    Attributes
    ----------
    vertex : array of shape (n,)
        Index in the graph of each vertex of the sample.
    edge_index : array of shape (2, m)
        The neighbour drawn, and the vertex that it was drawn for, in the sample's numbering: messages flow towards the
        seeds, as in PyTorch Geometric.
    edge : array of shape (m,)
        The number of each edge's arc in the order of ``G.edges(both_ways=True)``; its row in a TemporalGraph.
    seeds : array of shape (k,), or (k, ends)
        The sample's number of each seed: 0, 1, ..., unless a seed is repeated.
    vertices_of_hop : list of int
        Number of new vertices of each hop, the seeds first.
    edges_of_hop : list of int
        Number of edges of each hop.
    graph : Graph or TemporalGraph
        The sampled graph.
    batch : array of shape (n,), or None
        In a disjoint sample, the number of the seed whose tree contains each vertex.
    edge_factor, vertex_factor : float64 array of shape (m,) and (n,), or None
        Importance weights that make sums over the sample unbiased: from `sample_neighbors` with a `method`, and from
        `SubgraphLoader`.
    features : array of shape (n, ...), or dict of such, or None
        Features of each vertex that `NeighborLoader.attach` fetched.
    """

    vertex: Array
    edge_index: Array
    edge: Array
    seeds: Any
    vertices_of_hop: list[int]
    edges_of_hop: list[int]
    graph: Any = field(repr=False)
    batch: Any = None
    edge_factor: Any = None
    vertex_factor: Any = None
    features: Any = None

    def __len__(self) -> int:
        return len(self.vertex)

    @cached_property
    def indptr(self) -> Any:
        """Offsets of each vertex's edges: with ``edge_index[0]``, the sample in CSR form."""
        xp = array_module(self.vertex)
        return xp.searchsorted(self.edge_index[1], xp.arange(len(self.vertex) + 1))

    def of_hop(self, hop: int) -> slice:
        """The slice of a hop's edges in ``edge_index`` and ``edge``."""
        begin = sum(self.edges_of_hop[:hop])
        return slice(begin, begin + self.edges_of_hop[hop])

    @property
    def weight(self) -> Any:
        """The weight of each edge, or None where the graph has none."""
        arcs = self.graph.weight if isinstance(self.graph, TemporalGraph) else self.graph.out_csr.data
        return None if arcs is None else arcs[self.edge]

    @property
    def names(self) -> Any:
        """The name of each vertex, or its index in a graph without names."""
        return vertex_names(self.graph, self.vertex)

    def __repr__(self) -> str:
        seeds, hops = self.vertices_of_hop[0], len(self.edges_of_hop)
        return (
            f"<NeighborSample: {len(self):,} vertices, {self.edge_index.shape[1]:,} edges around {seeds:,} seeds, "
            f"{hops} {'hop' if hops == 1 else 'hops'}>"
        )


@naming_arguments
def sample_neighbors(
    G: Graph | TemporalGraph | Any,
    seeds: Any,
    fanouts: Sequence[int] | int,
    *,
    replace: bool = False,
    weight: Any = None,
    incoming: bool = False,
    disjoint: bool = False,
    time: Any = None,
    window: Any = None,
    strategy: str = "uniform",
    method: str = "neighbors",
    seed: int = 0,
) -> NeighborSample:
    """Sample neighbours of some vertices, hop by hop.

    Parameters
    ----------
    seeds : vertex, sequence or array of vertices, names or hpgraph.id
        The seeds. Each row of an array of shape (k, 2) or (k, 3) is a link or a triangle, with one tree in a disjoint
        sample, and one `time`.
    fanouts : sequence of int, or int
        Number of arcs to draw for each vertex at each hop; -1 takes all. A vertex's neighbours are drawn once, at the
        hop after its discovery.
    replace : bool
        Whether to draw with replacement; then every vertex with arcs gets the full number.
    weight : None, bool or str
        None draws the arcs of a vertex uniformly, True by weight: one after the other, each in proportion to its weight
        among the remaining ones. An arc of weight 0 is not drawn. A string names the attribute of a NetworkX graph, and
        "weight" means True otherwise.
    incoming : bool
        Whether to draw in-arcs rather than out-arcs.
    disjoint : bool
        Whether each seed gets its own tree; a vertex may then occur in several trees.
    time : number or datetime, or array of shape (k,), optional
        In a `TemporalGraph`: draw only arcs not later than the seed's time, at any hop. Samples then are disjoint.
    window : number or timedelta, optional
        Draw only arcs at most this long before the seed's time.
    strategy : {"uniform", "last"}
        Whether to draw uniformly among these arcs, or to take the latest.
    method : {"neighbors", "ladies", "fastgcn"}
        "ladies" and "fastgcn" draw layers: `fanouts` are numbers of vertices, drawn with replacement for the whole
        previous layer, by the squares of their entries in the row-normalized adjacency matrix: "ladies" in the rows of
        that layer, "fastgcn" in all rows. The arcs between the layers are the edges of the hop; their ``edge_factor``
        makes a sum over them an unbiased estimate of the (weighted) mean over all neighbours.
    seed : int
        Random seed; the same seed gives the same sample on every device.

    Notes
    -----
    The draws of a vertex depend on `seed`, the vertex and the hop only. For draws by weight, running sums of the
    weights are cached with the graph, 8 bytes an arc; their last bits may differ on the GPU.

    References
    ----------
    W. Hamilton, R. Ying, J. Leskovec, "Inductive representation learning on large graphs", NIPS'17. D. Zou et al.,
    "Layer-dependent importance sampling for training deep and large graph convolutional networks", NeurIPS'19. J. Chen,
    T. Ma, C. Xiao, "FastGCN", ICLR'18.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 4])
    >>> sample = hpg.sample_neighbors(G, [0], [2, 1])
    >>> sample
    <NeighborSample: 5 vertices, 4 edges around 1 seeds, 2 hops>
    >>> sample.vertex.tolist(), sample.edge_index.tolist()
    ([0, 1, 2, 3, 4], [[1, 2, 3, 4], [0, 0, 1, 2]])

    The latest contact of each vertex up to time 4:

    >>> T = hpg.TemporalGraph([(0, 1, 3), (0, 2, 5), (1, 3, 4), (1, 4, 6)])
    >>> hpg.sample_neighbors(T, [0], [1, 1], time=4, strategy="last").vertex.tolist()
    [0, 1, 3]
    """
    draws = checked_draws(replace, disjoint, window, strategy, time is not None, ends_of(seeds))
    checked_method(method, draws)
    if isinstance(G, TemporalGraph):
        return _of_times(G, seeds, fanouts, weight, bool(incoming), time, draws, seed)
    if time is not None:
        raise TypeError("time is for a hpgraph.TemporalGraph, whose arcs have times")
    graph, weighted = with_weights(G, weight, parallel="keep")
    starts = to_device(graph.indices_of(seeds, "seeds"), graph.device)
    return draw_sample(graph, starts, fanouts_of(fanouts), weighted, bool(incoming), draws, method, seed)


def checked_method(method: Any, draws: Draws) -> str:
    """The method, checked against the options of drawing."""
    one_of(method, "method", ("neighbors", "ladies", "fastgcn"))
    if method != "neighbors" and (draws.disjoint or draws.replace):
        raise ValueError(f"method={method!r} draws one layer for all seeds: without disjoint=, replace= and time=")
    return str(method)


def ends_of(seeds: Any) -> int:
    """Number of vertices of a seed: 1, or the row length for links and triangles."""
    given = seeds.index if isinstance(seeds, id) else seeds
    return max(int(given.shape[1]), 1) if getattr(given, "ndim", 1) == 2 else 1


def draw_sample(
    graph: Graph, starts: Any, hops: list[int], weighted: bool, incoming: bool, draws: Draws, method: str, seed: int
) -> NeighborSample:
    """`sample_neighbors` of checked arguments; `starts` are indices on the graph's device."""
    starts = starts.astype(np.int64, copy=False).reshape(-1)
    arcs = graph.in_csr if incoming else graph.out_csr
    sums, draw_seed = running_weights(graph, arcs, weighted), seed_of(seed, _STREAM)
    entry = graph.numbered_in_csr.data if incoming and graph.directed else None
    if draws.disjoint:
        return _one_relation(graph, Drawable(None, None, arcs, entry, sums), starts, None, hops, draws, draw_seed)
    factor = None
    if method == "neighbors":
        drawn = sampling(graph.device).sample(arcs, sums, starts, hops, draws.replace, draw_seed)
    else:
        drawn, factor = draw_layers(arcs, weighted, starts, hops, method == "ladies", draw_seed)
    edge = drawn.place if entry is None else entry[drawn.place].astype(np.int64, copy=False)
    return NeighborSample(
        drawn.vertex, drawn.edge_index, edge, _in_rows(drawn.seeds, draws), drawn.vertices_of_hop, drawn.edges_of_hop,
        graph, edge_factor=factor,
    )  # fmt: skip


def _in_rows(seeds: Any, draws: Draws) -> Any:
    return seeds if draws.ends == 1 else seeds.reshape(-1, draws.ends)


def _of_times(
    T: TemporalGraph, seeds: Any, fanouts: Any, weight: Any, incoming: bool, time: Any, draws: Draws, seed: int
) -> NeighborSample:
    if weight not in (None, False):
        raise ValueError("weight must be None for a TemporalGraph: its arcs are drawn alike, or the latest of them")
    starts = to_device(T.indices_of(seeds, "seeds"), T.device).astype(np.int64, copy=False)
    limits = None if time is None else _limits_of(T, time, len(starts) // draws.ends)
    if draws.window is not None:
        draws = draws._replace(window=T._span(draws.window, "window"))
    draw_seed = seed_of(seed, _STREAM)
    return _one_relation(T, _rows_by_time(T, incoming), starts, limits, fanouts_of(fanouts), draws, draw_seed)


def _one_relation(
    graph: Any, arcs: Drawable, starts: Any, limits: Any, hops: list[int], draws: Draws, draw_seed: int
) -> NeighborSample:
    """A sample over one relation of vertices of one kind, both called None."""
    times = {} if limits is None else {None: limits}
    drawn = sample_hops(
        {None: arcs}, {None: graph.n_vertices}, {None: starts}, times, {None: hops}, draws, draw_seed, graph.device
    )
    batch = None if drawn.batch is None else drawn.batch[None]
    return NeighborSample(
        drawn.vertex[None], drawn.edge_index[None], drawn.edge[None], _in_rows(drawn.seeds[None], draws),
        drawn.vertices_of_hop[None],
        drawn.edges_of_hop[None], graph, batch,
    )  # fmt: skip


def fanouts_of(fanouts: Any) -> list[int]:
    """Number of neighbours to draw at each hop, checked."""
    alone = not hasattr(fanouts, "__iter__") or getattr(fanouts, "ndim", 1) == 0
    listed = [fanouts] if alone else list(fanouts)
    hops = [whole(fanout, "fanouts", "whole numbers") for fanout in listed]
    if not hops or len(hops) > _MAX_HOPS or not all(-1 <= fanout < _MAX_DRAWS for fanout in hops):
        raise ValueError(f"fanouts must be numbers of neighbours from 0 on, or -1 for all, a hop each, not {fanouts!r}")
    return hops


# The arcs of temporal graphs for sampling: rows by vertex, each sorted by time.
_MADE: weakref.WeakKeyDictionary[TemporalGraph, dict[bool, Drawable]] = weakref.WeakKeyDictionary()


def _rows_by_time(T: TemporalGraph, incoming: bool) -> Drawable:
    """The out-arcs, or in-arcs, of each vertex, numbered by their rows in `T`; cached."""
    cached = _MADE.setdefault(T, {})
    if incoming not in cached:
        xp, n = array_module(T.device), T.n_vertices
        source, target, number = T.source, T.target, xp.arange(T.n_edges)
        if not T.directed:
            source, target, number = with_reverses(source, target, number)
        row, column = (target, source) if incoming else (source, target)
        csr = CSR.from_coo(row, column, number, (n, n), duplicates="keep")
        cached[incoming] = Drawable.of_times(None, None, csr.pattern, csr.data, T._time[csr.data])
    return cached[incoming]


def _limits_of(T: TemporalGraph, time: Any, count: int) -> Any:
    """The time of each seed as a number of the graph's own unit; one between two of them is rounded down."""
    if T._unit is None:
        return checked_times(time, count, T.device)
    if np.ndim(time) == 0:
        return checked_times(np.int64(T._time_of(time, "time", up=False)), count, T.device)
    limits = np.asarray(time)
    if limits.dtype.kind != "M":
        raise TypeError(f"time must be datetimes, as the times of the graph are, not of type {limits.dtype}")
    if np.isnat(limits).any():
        raise ValueError("time must not be NaT")
    return checked_times(to_device(limits.astype(T._unit).view(np.int64), T.device), count, T.device)
