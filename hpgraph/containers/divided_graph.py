"""A graph whose vertices are divided into ranges, each with its arcs on a device of its own."""

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np

from hpgraph.containers.divided_array import DividedVertices
from hpgraph.containers.graph import Graph
from hpgraph.containers.layouts import Layouts
from hpgraph.containers.shards import (
    GRAIN,
    Shard,
    arcs_among,
    joined,
    loops_of,
    renumbered,
    round_robin,
    rows_on,
    stacked,
)
from hpgraph.core.device import array_module, check_memory, free_memory
from hpgraph.core.devices import Devices, device_index, even_ranges, move_array
from hpgraph.core.errors import DeviceMemoryError
from hpgraph.formats import CSR, Bitmask

# Ratio of the largest to the mean range above which vertices are repartitioned round-robin: vertex work and exchange
# would otherwise wait for one device.
UNEVEN = 1.5


class DividedGraph(DividedVertices, Graph):
    """A graph on several GPUs: ``G.to("cuda:0,1")``, or ``hpgraph.Graph(..., device="cuda:all")``, makes one.

    Vertices are divided into ranges of about equally many arcs, one of `shards` a device; where they were repartitioned
    for even ranges, `order` has the id of the vertex at each number of the shards' numbering, and `place` is its
    inverse, both on the first device. `memory`: bytes of each device for its shard and vertex data, None for what is
    free. Results lie on the first device, in the order of the graph's own ids. What does not work on shards runs on
    `whole`.

    >>> from hpgraph.containers.divided_graph import divide
    >>> G = divide(hpg.datasets.kron(8), ["cpu", "cpu"])
    >>> G
    DividedGraph: 256 vertices, 4,304 arcs, undirected, no weights, cpu, cpu
    >>> int(hpg.bfs(G, 0).level.max())
    3
    """

    on_devices, in_one_memory = True, False
    shards: tuple[Shard, ...]
    memory: int | None

    @classmethod
    def of(cls, graph: Graph, devices: Devices) -> "DividedGraph":
        """`divide`, for lower layers, which cannot import it."""
        return divide(graph, devices)

    @classmethod
    def _from_csr(cls, csr: CSR, directed: bool | None, names: Any, multigraph: bool = False) -> Any:
        """A graph derived from this one, on the first device."""
        return Graph._from_csr(csr, directed, names)

    @property
    def arc_parts(self) -> list[CSR]:
        """The rows of each device."""
        return [shard.out_csr for shard in self.shards]

    @property
    def whole(self) -> Graph:
        """The same graph on the first device, with the graph's own ids, if it fits there; cached."""
        return self._layouts.once("whole", self._build_whole)

    def _build_whole(self) -> Graph:
        first, what = self.shards[0], "the whole of a divided graph, which this is not made without,"
        nbytes = sum(shard.out_csr.nbytes for shard in self.shards)
        if self.memory is not None and nbytes + first.nbytes > self.memory:
            raise DeviceMemoryError(what, nbytes + first.nbytes, self.memory, self.device, "is the memory it was given")
        with first.device.here:
            check_memory(nbytes, what, first.device.kind)
        return self.put_together(first.device)

    def put_together(self, device: Devices) -> Graph:
        """The same graph on one device, with the graph's own ids; `whole` is one that is kept."""
        csr = stacked([shard.out_csr for shard in self.shards], self.order, device)
        with device.here:
            return Graph._from_csr(csr, self.directed, self._names)

    def _whole_on_any_device(self) -> Graph:
        """`whole`; where it will not fit the first device, in main memory."""
        try:
            return self.whole
        except DeviceMemoryError:
            return self.put_together(Devices("cpu"))

    @property
    def replicas(self) -> list[Graph]:
        """`whole` on the device of each shard, if it fits: for work that starts divide; cached."""
        return self._layouts.once("replicas", self._build_replicas)

    def _build_replicas(self) -> list[Graph]:
        replicas: dict[Devices, Graph] = {self.shards[0].device: self.whole}
        for shard in self.shards:
            if shard.device not in replicas:
                replicas[shard.device] = self.whole.to(shard.device)
        return [replicas[shard.device] for shard in self.shards]

    def arcs_among(self, chosen: Bitmask, *, weighted: bool = True) -> CSR:
        """As `StreamedGraph.arcs_among`; the matrix lies on the first device."""
        arcs = arcs_among(self.shards, self.in_order_of_shards(chosen.to_bool()), self.order)
        return arcs if weighted else arcs.pattern

    def _arcs_among(self, chosen: Bitmask) -> CSR:
        whole = self._layouts.get("whole")
        return self.arcs_among(chosen) if whole is None else whole.out_csr

    def loops(self) -> Any:
        """Number of self-loops of each vertex: int64 array of shape (n,), on the first device."""
        return self.in_own_order(joined([loops_of(shard) for shard in self.shards], self.shards[0].device))

    @contextlib.contextmanager
    def memory_for_arcs(self) -> Iterator[int]:
        """As `StreamedGraph.memory_for_arcs`: bytes of the first device for arcs, during the context."""
        first = self.shards[0]
        with first.device.here:
            free = free_memory(first.device.kind)
        if self.memory is not None:
            free = min(free, self.memory - first.nbytes)
        # The other half is for vertex data.
        yield max(free, 0) // 2

    @property
    def out_csr(self) -> CSR:  # type: ignore[override]
        """`out_csr` of `whole`."""
        return self.whole.out_csr

    @property
    def in_csr(self) -> CSR:
        """`in_csr` of `whole`."""
        return self.whole.in_csr

    def _build_undirected(self) -> Any:
        return self.alike(self._whole_on_any_device().undirected, self.order is not None)

    @property
    def by_own_ids(self) -> Self:
        """The same graph, divided without renumbering vertices: for programs that read ids."""
        if self.order is None:
            return self
        return self._layouts.once("by_own_ids", lambda: self.alike(self._whole_on_any_device(), False))

    def alike(self, graph: Graph, scatter: bool | None = None) -> Any:
        """A graph divided between the devices of this one; `scatter` as for `divide`."""
        return divide(graph, [shard.device for shard in self.shards], scatter=scatter, memory=self.memory)

    def update(self, *args: Any, **options: Any) -> Any:
        """As `Graph.update`: the graph is gathered on the first device, changed, and divided again."""
        return self.alike(self._whole_on_any_device().update(*args, **options), self.order is not None)

    def _build_out_degree(self) -> Any:
        return self.in_own_order(self.degrees_of_shards("out_csr"))

    def _build_in_degree(self) -> Any:
        return self.in_own_order(self.degrees_of_shards("in_csr"))

    def degrees_of_shards(self, of: str) -> Any:
        """Row lengths of "out_csr" or "in_csr", in the shards' numbering, on the first device."""
        lengths = []
        for shard in self.shards:
            with shard.device.here:
                lengths.append(getattr(shard, of).degrees)
        return joined(lengths, self.shards[0].device)

    @property
    def nbytes(self) -> int:
        """Bytes of the shards, on all devices together."""
        return sum(shard.nbytes for shard in self.shards)

    def to(self, device: Any) -> Any:
        """The graph on another device, or on others, as `Graph.to`."""
        devices = Devices.of(device)
        return self if len(devices) > 1 and devices == self.devices else self.whole.to(devices)

    def __reduce__(self) -> Any:
        # The reading machine may have other GPUs: the graph is restored undivided, on the CPU.
        return object.__new__, (Graph,), self.whole.to("cpu").__getstate__()

    def __repr__(self) -> str:
        own = super().__repr__().rsplit(f", {self.device}", 1)
        return f"Divided{own[0]}, {', '.join(str(shard.device) for shard in self.shards)}{own[1]}"


def divide(
    graph: Graph, devices: Iterable[Any], *, scatter: bool | None = None, memory: int | None = None
) -> DividedGraph:
    """A graph divided between devices; `memory`: bytes of each for its shard and vertex data."""
    graph.require_simple("a graph on several devices")
    places = [Devices.of(name) for name in devices]
    csr, both = graph.out_csr, graph.directed
    xp = array_module(csr.indptr)
    load = csr.indptr if not both else csr.indptr + graph.in_csr.indptr
    bounds = even_ranges(load, len(places), GRAIN)
    order = place = None
    if scatter is None:
        scatter = int(np.diff(bounds).max()) > UNEVEN * csr.shape[0] / len(places) + GRAIN
    if scatter:
        order, place, bounds = round_robin(xp.diff(load), len(places), graph.id_dtype)
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
    first = shards[0].out_csr
    made._take_facts(first, csr.nnz, first.indices.dtype, shards[0].device.kind)
    made._index = device_index(first.indptr)
    made.order, made.place, made.memory = move_array(order, places[0]), move_array(place, places[0]), memory
    made._divide(places, bounds.tolist())
    return made
