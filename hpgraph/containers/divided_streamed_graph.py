"""A graph larger than the memory of several devices together: each streams the pages of its own vertices."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from hpgraph.containers.divided_array import DividedVertices
from hpgraph.containers.graph import Graph
from hpgraph.containers.shards import GRAIN
from hpgraph.containers.streamed_graph import StreamedGraph
from hpgraph.core.device import Device
from hpgraph.core.devices import Devices, even_ranges
from hpgraph.formats import Pages
from hpgraph.formats.pages import excerpt
from hpgraph.kernels.out_of_core import Store
from hpgraph.kernels.pages import ARCS_PER_PAGE


class PageShard(NamedTuple):
    """Vertices `first` to before `last`, on a device, and the pages that hold their rows."""

    device: Devices
    first: int
    last: int
    graph: StreamedGraph


class DividedStreamedGraph(DividedVertices, StreamedGraph):
    """A graph in pages for several GPUs: ``hpgraph.open("web.hpg", device="cuda:0,1", memory="20GiB")`` makes one.

    Each GPU loads the pages of a range of vertices, with about equally many arcs, over its own link, and caches as many
    as fit. Vertex programs run on all GPUs, other algorithms on the first, which also holds the results.
    """

    on_devices = True

    def __init__(
        self, out_pages: Pages, in_pages: Pages | None = None, *, directed: bool, devices: Iterable[Any],
        names: Iterable[Any] | None = None, memory: int | None = None, host_memory: int | None = None, **options: Any,
    ) -> None:  # fmt: skip
        places = [Devices.of(one) for one in devices]
        self._shards: tuple[PageShard, ...] = ()
        with places[0].here:
            super().__init__(
                out_pages, in_pages, directed=directed, names=names, device=places[0].kind, memory=memory,
                host_memory=host_memory, **options,
            )  # fmt: skip
        out, into = self._out, self._in
        load = out.indptr if into is None or into is out else out.indptr + into.indptr
        self._divide(places, even_ranges(np.asarray(load), len(places), GRAIN).tolist())
        # Raises before anything is read if the budget is too small.
        _ = self.shards

    @classmethod
    def of_graph(
        cls, graph: Graph, devices: Iterable[Any], *, arcs_per_page: int = ARCS_PER_PAGE, **options: Any
    ) -> "DividedStreamedGraph":
        """A graph in memory, cut into pages that lie in main memory."""
        return cls._cut(graph, arcs_per_page, "none", devices=devices, **options)

    @property
    def shards(self) -> tuple[PageShard, ...]:
        """One a device; frees what the first device holds of the whole graph."""
        self._stores.close_own()
        if not self._shards:
            self._shards = tuple(self._made_shards())
            self._stores.parts = [shard.graph._stores for shard in self._shards]
        return self._shards

    def _made_shards(self) -> list[PageShard]:
        out, into = self._out, self._in
        budgets = self._arguments
        if budgets["host_memory"] is not None:
            budgets["host_memory"] //= len(self.places)
        shards = []
        for device, first, last in zip(self.places, self.bounds[:-1], self.bounds[1:], strict=True):
            with device.here:
                rows = _rows(out, first, last)
                back = rows if into is out else None if into is None else _rows(into, first, last)
                graph = StreamedGraph(rows, back, directed=self.directed, device=device.kind, **budgets)
            shards.append(PageShard(device, first, last, graph))
        return shards

    def store(self, by_target: bool, weighted: bool | None) -> Store | None:
        """The store of the whole graph on the first device; frees the stores of the shards."""
        if not self._stores.opened:
            for part in self._stores.parts:
                part.close_own()
        return super().store(by_target, weighted)

    def _over(self, out: Pages, into: Pages | None, device: Device) -> Any:
        same = device == self.device
        graph: Any = (
            DividedStreamedGraph(out, into, directed=self.directed, devices=self.places, **self._arguments)
            if same
            else StreamedGraph(out, into, directed=self.directed, device=device, **self._arguments)
        )
        graph._names = self._names
        return graph

    def __repr__(self) -> str:
        return f"Divided{super().__repr__()}, on {', '.join(map(str, self.places))}"


def _rows(pages: Pages, first: int, last: int) -> Pages:
    """The pages that hold arcs of a range of rows."""
    begin, end = int(pages.indptr[first]), int(pages.indptr[last])
    if begin == end:
        return excerpt(pages, 0, 0)
    page = int(np.searchsorted(pages.first_arc, begin, side="right")) - 1
    return excerpt(pages, page, int(np.searchsorted(pages.first_arc, end, side="left")))
