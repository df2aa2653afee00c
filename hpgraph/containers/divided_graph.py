"""A graph whose vertices are divided into ranges, each with its arcs on a device of its own."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Self

import numpy as np

from hpgraph.containers.cyclic_partition import GRAIN, dealt, renumbered
from hpgraph.containers.divided_array import DividedArray
from hpgraph.containers.graph import Graph
from hpgraph.containers.layouts import Layouts
from hpgraph.containers.shards import Shard, arcs_among, joined, loops_of, rows_on, stacked
from hpgraph.containers.vertex_array import by_vertex
from hpgraph.core.device import Device, array_module, check_memory, free_memory
from hpgraph.core.devices import Devices, bring, even_ranges, reach_each_other
from hpgraph.core.errors import DeviceMemoryError
from hpgraph.formats import CSR, Bitmask
from hpgraph.formats.ownership import read_only

# Ratio of the largest to the mean range above which vertices are repartitioned round-robin: vertex work and exchange
# would otherwise wait for one device.
UNEVEN = 1.5


class DividedGraph(Graph):
    """A graph on several GPUs: ``G.to("cuda:0,1")``, or ``hpgraph.Graph(..., device="cuda:all")``, makes one.

    Vertices are divided into ranges of about equally many arcs. Algorithms and vertex programs take it as any other
    graph; results lie on the first device, in the order of the graph's own ids. Other algorithms run on
    the whole graph, which is gathered on the first device on first use.

    Attributes
    ----------
    shards : tuple of Shard
        One a device.
    devices : Devices
    order : array of vertex ids, or None
        If vertices were repartitioned for even ranges: the id of the vertex at each number of the shards' numbering. On
        the first device.
    place : array of vertex ids, or None
        Its inverse: the number of each vertex in the shards' numbering.
    memory : int or None
        Bytes of each device for its shard and vertex data; None for what is free.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> from hpgraph.containers.divided_graph import divide
    >>> G = divide(hpg.datasets.kron(8), ["cpu", "cpu"])
    >>> G
    DividedGraph: 256 vertices, 4,264 arcs, undirected, no weights, cpu, cpu
    >>> int(hpg.bfs(G, 0).level.max())
    3
    """

    shards: tuple[Shard, ...]
    order: Any
    place: Any
    memory: int | None

    @classmethod
    def of(cls, graph: Graph, devices: Devices) -> DividedGraph:
        """`divide`, for what cannot import it."""
        return divide(graph, devices)

    @classmethod
    def _made(cls, csr: CSR, directed: bool | None, names: Any) -> Any:
        """Parts of the graph and the like, which lie on the first device."""
        return Graph._made(csr, directed, names)

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return self.shards[-1].last

    @property
    def n_edges(self) -> int:
        """Number of stored arcs: an undirected edge counts twice, a loop once."""
        return sum(shard.out_csr.nnz for shard in self.shards)

    @property
    def directed(self) -> bool:
        """Whether some arc lacks a reverse of the same weight."""
        return bool(self._layouts["directed"])

    @property
    def weighted(self) -> bool:
        """Whether arcs have weights."""
        return self.shards[0].out_csr.data is not None

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """Type of the weights, or None."""
        return self.shards[0].out_csr.dtype

    @property
    def id_dtype(self) -> np.dtype[Any]:
        """Type of vertex ids."""
        dtype: np.dtype[Any] = self.shards[0].out_csr.indices.dtype
        return dtype

    @property
    def device(self) -> Device:
        """What kind of devices it lies on, the first of which has the results."""
        return self.shards[0].device.kind

    @property
    def devices(self) -> Devices:
        """The devices, in the order of the shards."""
        return Devices(self.device, tuple(index for shard in self.shards for index in shard.device.indices))

    @property
    def bounds(self) -> tuple[int, ...]:
        """Where ranges begin, and n."""
        return (*(shard.first for shard in self.shards), self.n_vertices)

    @property
    def whole(self) -> Graph:
        """The same graph on the first device, with the graph's own ids; put together when first asked for, and kept.

        Raises
        ------
        DeviceMemoryError
            When it will not fit there.
        """
        graph: Graph = self._layouts.once("whole", self._build_whole)
        return graph

    def _build_whole(self) -> Graph:
        first, what = self.shards[0], "the whole of a divided graph, which this is not made without,"
        nbytes = sum(shard.out_csr.nbytes for shard in self.shards)
        if self.memory is not None and nbytes + first.nbytes > self.memory:
            raise DeviceMemoryError(what, nbytes + first.nbytes, self.memory, self.device, "is the memory it was given")
        with first.device.here:
            check_memory(nbytes, what, first.device.kind)
        return self._put_together(first.device)

    def _put_together(self, device: Devices) -> Graph:
        csr = stacked([shard.out_csr for shard in self.shards], self.order, device)
        with device.here:
            return Graph._made(csr, self.directed, self._names)

    def _whole_somewhere(self) -> Graph:
        """`whole`; where it will not fit the first device, in main memory."""
        try:
            return self.whole
        except DeviceMemoryError:
            return self._put_together(Devices("cpu"))

    @property
    def replicas(self) -> list[Graph]:
        """`whole` on the device of each shard, made when first asked for, and kept: for work that starts divide.

        Raises
        ------
        DeviceMemoryError
            When it will not fit on one of them.
        """
        graphs: list[Graph] = self._layouts.once("replicas", self._build_replicas)
        return graphs

    def _build_replicas(self) -> list[Graph]:
        made: dict[Devices, Graph] = {self.shards[0].device: self.whole}
        for shard in self.shards:
            if shard.device not in made:
                made[shard.device] = self.whole.to(shard.device)
        return [made[shard.device] for shard in self.shards]

    def arcs_among(self, chosen: Bitmask) -> CSR:
        """The arcs of which both ends are among some vertices, on the first device; of no others than these.

        Parameters
        ----------
        chosen : Bitmask
            By the graph's own ids, on the first device.

        Returns
        -------
        CSR of shape (n, n)

        Raises
        ------
        DeviceMemoryError
            When they will not fit there.
        """
        return arcs_among(self.shards, self.in_order_of_shards(chosen.to_bool()), self.order)

    def _arcs_among(self, chosen: Bitmask) -> CSR:
        whole = self._layouts.get("whole")
        return self.arcs_among(chosen) if whole is None else whole.out_csr

    def loops(self) -> Any:
        """Arcs of each vertex that lead nowhere else: int64 array of shape (n,), on the first device."""
        return self.in_own_order(joined([loops_of(shard) for shard in self.shards], self.shards[0].device))

    @contextlib.contextmanager
    def lending(self) -> Iterator[int]:
        """As that of a `StreamedGraph`: for a while, bytes of the first device for arcs that are worked on there.

        Yields
        ------
        int
        """
        first = self.shards[0]
        with first.device.here:
            free = free_memory(first.device.kind)
        if self.memory is not None:
            free = min(free, self.memory - first.nbytes)
        # The other half is for what belongs to vertices.
        yield max(free, 0) // 2

    @property
    def out_csr(self) -> CSR:
        """That of `whole`."""
        return self.whole.out_csr

    @property
    def in_csr(self) -> CSR:
        """That of `whole`."""
        return self.whole.in_csr

    @property
    def undirected(self) -> Self:
        """The graph with each arc in both directions, divided in the same way; itself if undirected."""
        if not self.directed:
            return self
        scatter = self.order is not None
        graph: Self = self._layouts.once("undirected", lambda: self.alike(self._whole_somewhere().undirected, scatter))
        return graph

    @property
    def by_own_ids(self) -> Self:
        """The same graph, divided without dealing out vertices anew: for programs that read them."""
        if self.order is None:
            return self
        graph: Self = self._layouts.once("by_own_ids", lambda: self.alike(self._whole_somewhere(), False))
        return graph

    def alike(self, graph: Graph, scatter: bool | None = None) -> Any:
        """A graph divided between the devices of this one; `scatter` as for `divide`."""
        return divide(graph, [shard.device for shard in self.shards], scatter=scatter, memory=self.memory)

    @property
    def out_degree(self) -> Any:
        """Number of arcs that leave each vertex: int64 array of shape (n,), read-only, on the first device."""
        return by_vertex(read_only(self._layouts.once("out_degree", lambda: self._degrees("out_csr"))), self)

    @property
    def in_degree(self) -> Any:
        """Number of arcs that reach each vertex: int64 array of shape (n,), read-only, on the first device."""
        return by_vertex(read_only(self._layouts.once("in_degree", lambda: self._degrees("in_csr"))), self)

    def _degrees(self, of: str) -> Any:
        return self.in_own_order(self.degrees_of_shards(of))

    def degrees_of_shards(self, of: str) -> Any:
        """Row lengths of "out_csr" or "in_csr", in the shards' numbering, on the first device."""
        lengths = []
        for shard in self.shards:
            with shard.device.here:
                lengths.append(getattr(shard, of).degrees)
        return joined(lengths, self.shards[0].device)

    def in_own_order(self, values: Any) -> Any:
        """Values in the shards' numbering, on the first device, reordered by the graph's ids."""
        return values if self.place is None else values[self.place]

    def apart(self, values: Any) -> DividedArray:
        """Values by the graph's ids, each copied to the device of its vertex.

        Parameters
        ----------
        values : array of length n

        Returns
        -------
        DividedArray
        """
        return DividedArray.of(values, self.bounds, [shard.device for shard in self.shards], self.order, self.place)

    def in_pieces(self, pieces: Sequence[Any]) -> DividedArray:
        """Arrays of the values of each shard's vertices, on their devices, as one."""
        return DividedArray(pieces, self.order, self.place)

    def in_order_of_shards(self, values: Any) -> Any:
        """Values by the graph's ids, on the first device, reordered by the shards' numbering."""
        return values if self.order is None else values[self.order]

    def once(self, name: str, build: Callable[[], Any]) -> Any:
        """The cached result of `build` under a name; built on first use."""
        return self._layouts.once(name, build)

    @property
    def nbytes(self) -> int:
        """Bytes of the shards, on all devices together."""
        return sum(shard.nbytes for shard in self.shards)

    def to(self, device: Any) -> Any:
        """The graph on another device, or on others.

        Parameters
        ----------
        device : str or list of str
            As for `Graph.to`.

        Returns
        -------
        Graph
        """
        wanted = Devices.of(device)
        return self if len(wanted) > 1 and wanted == self.devices else self.whole.to(wanted)

    def __getstate__(self) -> dict[str, Any]:
        # GPUs may be others where it is read: the graph comes back whole, on the CPU.
        return self.whole.to("cpu").__getstate__()

    def __reduce__(self) -> Any:
        return _undivided, (self.__getstate__(),)

    def __repr__(self) -> str:
        own = super().__repr__().rsplit(f", {self.device}", 1)
        return f"Divided{own[0]}, {', '.join(str(shard.device) for shard in self.shards)}{own[1]}"

    def _kind(self) -> list[str]:
        weights = f"{self.dtype} weights" if self.weighted else "no weights"
        return ["directed" if self.directed else "undirected", weights]


def divide(
    graph: Graph, devices: Iterable[Any], *, scatter: bool | None = None, memory: int | None = None
) -> DividedGraph:
    """A graph divided between devices; `memory`: bytes of each for its shard and vertex data."""
    places = [Devices.of(one) for one in devices]
    csr, both = graph.out_csr, graph.directed
    xp = array_module(csr.indptr)
    load = csr.indptr if not both else csr.indptr + graph.in_csr.indptr
    bounds = even_ranges(load, len(places), GRAIN)
    order = place = None
    if scatter is None:
        scatter = int(np.diff(bounds).max()) > UNEVEN * csr.shape[0] / len(places) + GRAIN
    if scatter:
        order, place, bounds = dealt(xp.diff(load), len(places), graph.id_dtype)
        out = renumbered(csr, place)
        into = renumbered(graph.in_csr, place) if both else out
    else:
        out, into = csr, graph.in_csr
    shards = []
    for device, first, last in zip(places, bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        own = rows_on(out, first, last, device)
        shards.append(Shard(device, first, last, own, rows_on(into, first, last, device) if both else own))
    made = object.__new__(DividedGraph)
    made._names, made._layouts, made.shards = graph._names, Layouts(directed=both), tuple(shards)
    made.order, made.place, made.memory = bring(order, places[0]), bring(place, places[0]), memory
    distinct = Devices(places[0].kind, tuple(dict.fromkeys(index for one in places for index in one.indices)))
    if len(distinct.indices) > 1:
        reach_each_other(distinct)
    return made


def _undivided(state: dict[str, Any]) -> Graph:
    graph = object.__new__(Graph)
    graph.__setstate__(state)
    return graph
