"""Neighbours drawn at random, hop by hop: what graph neural networks learn from, a batch of seeds at a time.

A loader makes each batch while the one before it is used.
"""

import contextlib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from hpgraph.algorithms.distances import with_weights
from hpgraph.algorithms.hop_sampling import Drawable, Draws, checked_draws, sample_hops
from hpgraph.algorithms.random_choice import chances, seed_of
from hpgraph.algorithms.temporal_rows import limits_of, rows_by_time
from hpgraph.algorithms.vertex_values import vertex_names
from hpgraph.containers.graph import Graph
from hpgraph.containers.temporal import TemporalGraph
from hpgraph.containers.vertices import id
from hpgraph.core.arrays import Array
from hpgraph.core.device import array_module, to_device
from hpgraph.core.number import whole
from hpgraph.core.suggestions import naming_arguments
from hpgraph.kernels.backend import sampling
from hpgraph.semiring.counter_random import random_bits

# Hops and draws share a counter's bits: more than these would overlap.
_MAX_HOPS, _MAX_DRAWS = 1 << 22, 1 << 39

# Of the draws here: random walks of the same seed would begin alike.
_STREAM = 0x9E3779B97F4A7C15


@dataclass(frozen=True, eq=False)
class NeighborSample:
    """A part of a graph drawn at random around some seeds; vertices are numbered in order of discovery, seeds first.

    Arrays are int64, on the graph's device, and not shared: ``torch.from_dlpack(sample.edge_index)`` takes their memory
    without a copy. Edges are ordered by the vertex that they were drawn for.

    Attributes
    ----------
    vertex : array of shape (n,)
        Index in the graph of each vertex of the sample.
    edge_index : array of shape (2, m)
        The neighbour drawn, and the vertex that it was drawn for, in the sample's numbers: along them messages flow
        towards the seeds, as PyTorch Geometric has it.
    edge : array of shape (m,)
        The number of each edge's arc in the order of ``G.edges(both_ways=True)``; its row in a TemporalGraph.
    seeds : array of shape (k,)
        The sample's number of each seed given: 0, 1, ..., unless a seed was given twice.
    vertices_of_hop : list of int
        Vertices that are new at each hop, those of the seeds first.
    edges_of_hop : list of int
        Edges drawn at each hop.
    graph : Graph or TemporalGraph
        Where they were drawn.
    batch : array of shape (n,), or None
        Of a disjoint sample, the number of the seed in whose tree each vertex is.
    features : array of shape (n, ...), or dict of such, or None
        What `NeighborLoader.attach` fetched for each vertex.
    """

    vertex: Array
    edge_index: Array
    edge: Array
    seeds: Any
    vertices_of_hop: list[int]
    edges_of_hop: list[int]
    graph: Any = field(repr=False)
    batch: Any = None
    features: Any = None

    def __len__(self) -> int:
        return len(self.vertex)

    @cached_property
    def indptr(self) -> Any:
        """Where the edges of each vertex begin and end: with ``edge_index[0]`` the sample by rows."""
        xp = array_module(self.vertex)
        return xp.searchsorted(self.edge_index[1], xp.arange(len(self.vertex) + 1))

    @property
    def weight(self) -> Any:
        """The weight of each edge, or None where the graph has none."""
        arcs = self.graph.weight if isinstance(self.graph, TemporalGraph) else self.graph.out_csr.data
        return None if arcs is None else arcs[self.edge]

    @property
    def names(self) -> Any:
        """Each vertex as the graph calls it."""
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
    seed: int = 0,
) -> NeighborSample:
    """Draw neighbours of some vertices, of those drawn again neighbours, and so on.

    Parameters
    ----------
    seeds : vertex, sequence or array of vertices, names or hpgraph.id
        Where to begin.
    fanouts : sequence of int, or int
        How many arcs to draw for each vertex at each hop; -1 takes all. Neighbours of a vertex are drawn once, at the
        hop after its discovery.
    replace : bool
        Whether an arc may be drawn more than once; then each vertex that has arcs gets as many as asked for.
    weight : None, bool or str
        None draws each arc of a vertex alike, True by the weight that the graph holds: one after the other, each by its
        share among those that are left. An arc of weight 0 is not drawn. A string names the attribute where `G` is a
        NetworkX graph, and "weight" means True elsewhere.
    incoming : bool
        Whether to draw among arcs that reach a vertex rather than among those that leave it.
    disjoint : bool
        Whether each seed gets a tree of its own, in which a vertex of another tree occurs once more.
    time : number or datetime, or array of shape (k,), optional
        Of a `TemporalGraph`: draw only arcs whose time is not later than that of the seed, however many hops away.
        Samples are disjoint then.
    window : number or timedelta, optional
        Draw only arcs of so long a time before the seed's, too.
    strategy : {"uniform", "last"}
        Whether to draw among these arcs alike, or to take the latest of them.
    seed : int
        Another seed, another sample; the same seed gives the same, on every device.

    Notes
    -----
    What is drawn for a vertex follows from `seed`, the vertex and the hop. By weight, running sums of the weights are
    computed once and cached with the graph, 8 bytes an arc; their last bits may differ on the GPU.

    References
    ----------
    W. Hamilton, R. Ying, J. Leskovec, "Inductive representation learning on large graphs", NIPS'17.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 4])
    >>> sample = hpg.sample_neighbors(G, [0], [2, 1])
    >>> sample
    <NeighborSample: 5 vertices, 4 edges around 1 seeds, 2 hops>
    >>> sample.vertex.tolist(), sample.edge_index.tolist()
    ([0, 1, 2, 3, 4], [[1, 2, 3, 4], [0, 0, 1, 2]])

    What was known at time 4 of each vertex's latest contact:

    >>> T = hpg.TemporalGraph([(0, 1, 3), (0, 2, 5), (1, 3, 4), (1, 4, 6)])
    >>> hpg.sample_neighbors(T, [0], [1, 1], time=4, strategy="last").vertex.tolist()
    [0, 1, 3]
    """
    how = checked_draws(replace, disjoint, window, strategy, time is not None)
    if isinstance(G, TemporalGraph):
        return _of_times(G, seeds, fanouts, weight, bool(incoming), time, how, seed)
    if time is not None:
        raise TypeError("time is for a hpgraph.TemporalGraph, whose arcs have times")
    graph, weighted = with_weights(G, weight, parallel="keep")
    hops = fanouts_of(fanouts)
    arcs = graph.in_csr if incoming else graph.out_csr
    starts = to_device(graph.indices_of(seeds, "seeds"), graph.device).astype(np.int64, copy=False)
    sums, chance = chances(graph, arcs, weighted), seed_of(seed, _STREAM)
    entry = graph.numbered_in_csr.data if incoming and graph.directed else None
    if disjoint:
        return _one_relation(graph, Drawable(None, None, arcs, entry, sums), starts, None, hops, how, chance)
    drawn = sampling(graph.device).sample(arcs, sums, starts, hops, bool(replace), chance)
    edge = drawn.place if entry is None else entry[drawn.place].astype(np.int64, copy=False)
    return NeighborSample(
        drawn.vertex, drawn.edge_index, edge, drawn.seeds, drawn.vertices_of_hop, drawn.edges_of_hop, graph
    )


def _of_times(
    T: TemporalGraph, seeds: Any, fanouts: Any, weight: Any, incoming: bool, time: Any, how: Draws, seed: int
) -> NeighborSample:
    if weight not in (None, False):
        raise ValueError("weight must be None for a TemporalGraph: its arcs are drawn alike, or the latest of them")
    starts = to_device(T.indices_of(seeds, "seeds"), T.device).astype(np.int64, copy=False)
    limits = None if time is None else limits_of(T, time, len(starts))
    if how.window is not None:
        how = how._replace(window=T._span(how.window, "window"))
    chance = seed_of(seed, _STREAM)
    return _one_relation(T, rows_by_time(T, incoming), starts, limits, fanouts_of(fanouts), how, chance)


def _one_relation(
    graph: Any, arcs: Drawable, starts: Any, limits: Any, hops: list[int], how: Draws, chance: int
) -> NeighborSample:
    """A sample over one relation of vertices of one kind, both called None."""
    times = {} if limits is None else {None: limits}
    drawn = sample_hops(
        {None: arcs}, {None: graph.n_vertices}, {None: starts}, times, {None: hops}, how, chance, graph.device
    )
    batch = None if drawn.batch is None else drawn.batch[None]
    return NeighborSample(
        drawn.vertex[None], drawn.edge_index[None], drawn.edge[None], drawn.seeds[None], drawn.vertices_of_hop[None],
        drawn.edges_of_hop[None], graph, batch,
    )  # fmt: skip


def fanouts_of(fanouts: Any) -> list[int]:
    """How many to draw at each hop, checked."""
    given = [fanouts] if not hasattr(fanouts, "__iter__") else list(fanouts)
    hops = [whole(one, "fanouts", "whole numbers") for one in given]
    if not hops or len(hops) > _MAX_HOPS or not all(-1 <= one < _MAX_DRAWS for one in hops):
        raise ValueError(f"fanouts must be numbers of neighbours from 0 on, or -1 for all, a hop each, not {fanouts!r}")
    return hops


class NeighborLoader:
    """Samples around seeds in batches; iterating prefetches the next batch.

    Parameters
    ----------
    fanouts : sequence of int, or int
        As for `hpgraph.sample_neighbors`.
    seeds : sequence or array of vertices, names or hpgraph.id, optional
        Seeds of all batches; by default all vertices.
    batch_size : int
        Seeds of a batch; the last may have fewer.
    shuffle : bool
        Whether to draw a new order of the seeds in each epoch.
    drop_last : bool
        Whether to drop a last batch that has fewer seeds.
    prefetch : int
        Batches made ahead by a background thread; 0 makes each on request.
    replace, weight, incoming, disjoint
        As for `hpgraph.sample_neighbors`.
    seed : int
        Seed of order and draws. Same seed, same sequence; each epoch differs.

    Notes
    -----
    On the GPU batches are made on the stream that is current when iteration begins; use them there.

    Examples
    --------
    >>> G = hpg.datasets.grid(30)
    >>> loader = hpg.NeighborLoader(G, [4, 4], batch_size=256, shuffle=True)
    >>> len(loader), [batch.vertices_of_hop[0] for batch in loader]
    (4, [256, 256, 256, 132])
    """

    def __init__(
        self,
        G: Graph | Any,
        fanouts: Sequence[int] | int,
        seeds: Any = None,
        *,
        batch_size: int = 1024,
        shuffle: bool = False,
        drop_last: bool = False,
        prefetch: int = 1,
        replace: bool = False,
        weight: Any = None,
        incoming: bool = False,
        disjoint: bool = False,
        seed: int = 0,
    ) -> None:
        self.graph, weighted = with_weights(G, weight, parallel="keep")
        self.fanouts = fanouts_of(fanouts)
        self.batch_size, self.prefetch = whole(batch_size, "batch_size"), whole(prefetch, "prefetch")
        if self.batch_size < 1 or self.prefetch < 0:
            raise ValueError(f"batch_size must be 1 or more, prefetch 0 or more, not {batch_size} and {prefetch}")
        if seeds is None:
            self._seeds = array_module(self.graph.device).arange(self.graph.n_vertices)
        else:
            self._seeds = to_device(self.graph.indices_of(seeds, "seeds"), self.graph.device)
        self.shuffle, self.drop_last, self.seed = bool(shuffle), bool(drop_last), seed_of(seed)
        self._how: dict[str, Any] = {"replace": replace, "weight": weighted, "incoming": incoming, "disjoint": disjoint}
        self._epoch = 0
        self._features: Any = None

    def attach(self, features: Any) -> Self:
        """Have each batch bring the rows of its vertices: they are fetched ahead with it, while the last one is used.

        Parameters
        ----------
        features : array of shape (n, ...), or dict of such
            NumPy arrays, also those mapped from a file (`numpy.memmap`), or CPU tensors, whose memory is read.

        Returns
        -------
        NeighborLoader
            Itself. ``batch.features`` are arrays on the graph's device; ``torch.from_dlpack`` takes their memory.

        Examples
        --------
        >>> import numpy as np
        >>> loader = hpg.NeighborLoader(hpg.datasets.grid(5), [2], batch_size=10).attach(np.arange(25.0))
        >>> all((batch.features == batch.vertex).all() for batch in loader)
        True
        """
        n = self.graph.n_vertices
        self._features = (
            {name: _matrix(one, f"features[{name!r}]", n) for name, one in features.items()}
            if isinstance(features, Mapping) else _matrix(features, "features", n)
        )  # fmt: skip
        return self

    def _with_features(self, sample: NeighborSample) -> NeighborSample:
        vertex, device = to_device(sample.vertex, "cpu"), self.graph.device
        rows = (
            {name: to_device(one[vertex], device) for name, one in self._features.items()}
            if isinstance(self._features, dict) else to_device(self._features[vertex], device)
        )  # fmt: skip
        return replace(sample, features=rows)

    def __len__(self) -> int:
        whole_batches, left = divmod(len(self._seeds), self.batch_size)
        return whole_batches + (left > 0 and not self.drop_last)

    def __repr__(self) -> str:
        return (
            f"<NeighborLoader: {len(self):,} batches of {self.batch_size:,} seeds, fanouts "
            f"{', '.join(map(str, self.fanouts))}, {self.graph.device}>"
        )

    def __iter__(self) -> Iterator[NeighborSample]:
        epoch, self._epoch = self._epoch, self._epoch + 1
        batches = self._batches(epoch)
        return batches if self.prefetch == 0 else _ahead(batches, self.prefetch, self.graph.device)

    def _batches(self, epoch: int) -> Iterator[NeighborSample]:
        """The samples of one epoch."""
        seeds = self._seeds
        if self.shuffle:
            order = np.random.default_rng([self.seed % 2**64, epoch]).permutation(len(seeds))
            seeds = seeds[to_device(order, self.graph.device)]
        for batch in range(len(self)):
            part = seeds[batch * self.batch_size : (batch + 1) * self.batch_size]
            chance = int(random_bits(self.seed, epoch, batch))
            sample = sample_neighbors(self.graph, id(part), self.fanouts, seed=chance, **self._how)
            yield sample if self._features is None else self._with_features(sample)


def _matrix(given: Any, name: str, n: int) -> Any:
    """A matrix with a row for each vertex, as an array over the same memory."""
    if not (hasattr(given, "__array__") or hasattr(given, "__dlpack__")) or hasattr(given, "__cuda_array_interface__"):
        raise TypeError(f"{name} must be a NumPy array or a CPU tensor, not {type(given).__name__}")
    made = np.asarray(given.detach() if hasattr(given, "detach") else given)
    if not made.ndim or len(made) != n:
        raise ValueError(f"{name} must have a row for each of {n} vertices, not shape {made.shape}")
    return made


def _ahead(batches: Iterator[NeighborSample], prefetch: int, device: str) -> Iterator[NeighborSample]:
    """The batches, `prefetch` of them made ahead by a thread."""
    # The memory of a released batch is reused for the next: on one stream all its reads come before.
    gpu, stream = contextlib.nullcontext(), contextlib.nullcontext()
    if device == "cuda":
        cuda = array_module(device).cuda
        gpu, stream = cuda.Device(), cuda.get_current_stream()

    def make() -> NeighborSample | None:
        with gpu, stream:
            return next(batches, None)

    maker = ThreadPoolExecutor(1, "hpgraph-batches")
    try:
        ready = deque(maker.submit(make) for _ in range(prefetch))
        while True:
            batch = ready.popleft().result()
            if batch is None:
                return
            ready.append(maker.submit(make))
            yield batch
    finally:
        maker.shutdown(cancel_futures=True)
