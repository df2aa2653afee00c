"""The arcs of a graph in each layout that algorithms read, built on first use."""

import contextlib
import functools
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from hpgraph.containers import adjacency
from hpgraph.containers.layouts import Layouts
from hpgraph.containers.names import Names
from hpgraph.containers.vertex_array import by_vertex
from hpgraph.core.device import Device, array_module
from hpgraph.core.devices import device_index, require_current
from hpgraph.core.number import one_of
from hpgraph.formats import CSR, HYB, ROW_FORMATS, RowFormat, index_dtype, occurrences
from hpgraph.formats.interchange import read_only
from hpgraph.kernels.backend import kernels


class _Layout(functools.cached_property[Any]):
    """A cached property that is stored among the graph's `Layouts`, and built under their lock."""

    def __get__(self, graph: Any, owner: type | None = None) -> Any:
        if graph is None:
            return self
        layout = graph.__dict__[self.attrname] = graph.once(self.attrname, lambda: self.func(graph))
        return layout


class GraphLayouts:
    """The arcs of a graph, their layouts, and properties that follow from the arcs alone."""

    n_vertices: int
    n_edges: int
    weighted: bool
    dtype: np.dtype[Any] | None
    id_dtype: np.dtype[Any]
    device: Device
    out_csr: CSR
    _names: Names | None
    _layouts: Layouts
    # Whether parallel edges were kept; then a row of `out_csr` may hold a target more than once.
    multigraph = False
    # The GPU that holds the arcs, or the first of several; -1 on the CPU.
    _index = -1
    # Where the arcs are: in pages or on a cluster's workers, without an `out_csr`; divided between devices; or in one
    # memory.
    in_pages, on_devices, on_cluster, in_one_memory = False, False, False, True

    def _set(self, csr: CSR, directed: bool | None, names: Names | None, multigraph: bool = False) -> Self:
        self._names = names
        layouts = Layouts(out_csr=csr)
        if multigraph:
            layouts["multigraph"] = True
        if directed is not None:
            layouts["directed"] = directed
        return self._hold(layouts)

    def _hold(self, layouts: Layouts) -> Self:
        self._layouts, self.out_csr = layouts, layouts["out_csr"]
        self.multigraph = bool(layouts.get("multigraph"))
        csr = self.out_csr
        self._index = device_index(csr.indptr)
        return self._take_facts(csr, csr.nnz, csr.indices.dtype, csr.device)

    def _take_facts(self, arcs: Any, n_edges: int, ids: np.dtype[Any], device: Device) -> Self:
        """Store the basic facts of a graph; `arcs` has n columns, and the type of the weights."""
        self.n_vertices, self.n_edges = int(arcs.shape[1]), int(n_edges)
        self.weighted, self.dtype = arcs.dtype is not None, arcs.dtype
        self.id_dtype, self.device = ids, device
        return self

    @classmethod
    def _from_csr(cls, csr: CSR, directed: bool | None, names: Names | None, multigraph: bool = False) -> Self:
        """A graph of valid arrays, unchecked."""
        return object.__new__(cls)._set(csr, directed, names, multigraph)

    @property
    def arc_parts(self) -> list[CSR]:
        """The arcs by source in memory: one matrix, or rows on each of several devices."""
        return [self.out_csr]

    @property
    def replicas(self) -> list[Any]:
        """The whole graph on each device that it is divided between."""
        return [self]

    def alike(self, graph: Any) -> Any:
        """Another graph on the devices of this one."""
        return graph

    def once(self, name: str, build: Callable[[], Any]) -> Any:
        """The cached result of `build` under a name; built on first use."""
        return self._layouts.once(name, build)

    @property
    def directed(self) -> bool:
        """Whether some arc lacks a reverse of the same weight; computed on first use unless given."""
        return bool(self._layouts.once("directed", lambda: not adjacency.is_symmetric(self.out_csr, self.multigraph)))

    def simple(self, weight: str = "min") -> Self:
        """The graph with parallel edges merged; itself if none were kept.

        Parameters
        ----------
        weight : {"min", "max", "sum", "count"}
            Weight of merged edges: the minimum, the maximum or the sum of their weights, or their number. In a graph
            without weights, "min" and "max" result in none, and "sum" is "count".

        Returns
        -------
        Graph
            On the same device, with the same names; cached. Columns of edges: for "min" and "max" those of the edge
            whose weight is kept, the first of several; for "sum" and "count" sums of numbers, without columns of text,
            dates and bool.

        Raises
        ------
        ValueError
            For another `weight`.

        Examples
        --------
        >>> G = hpg.from_edges([("ann", "bob", 5), ("ann", "bob", 3)], duplicates="keep")
        >>> G.n_edges, G.simple("min").weights.tolist(), G.simple("sum").weights.tolist()
        (2, [3], [8])
        """
        one_of(weight, "weight", ("min", "max", "sum", "count"))
        if not self.multigraph:
            return self

        def build() -> Any:
            merged = adjacency.merge_parallel(self.out_csr, weight)
            return self._from_csr(merged, self._layouts.get("directed"), self._names)

        return self._carrying(self._layouts.once(f"simple_{weight}", build), weight)

    def _carrying(self, made: Self, duplicates: Any, both_ways: bool = False) -> Self:
        """A graph of these arcs, each once or with its reverse, with their columns."""
        return made

    def places_in_simple(self) -> Any:
        """Index of each arc among the arcs of `simple`: int64 array of shape (n_edges,)."""
        return adjacency.places_in(self.out_csr, self.simple().out_csr)

    def require_simple(self, where: str) -> None:
        """Refuse a multigraph, where parallel edges cannot be kept."""
        if self.multigraph:
            raise ValueError(
                f'{where} cannot keep parallel edges: G.simple(weight) has each once, of weight "min", "max", "sum" '
                'or "count"'
            )

    @property
    def known_undirected(self) -> bool:
        """Whether the graph is undirected, if that follows without reading its arcs."""
        return self._layouts.get("directed") is False

    @property
    def at_hand(self) -> Self:
        """The graph to compute on: this one, if it is on the current device.

        Raises
        ------
        DeviceError
            If it, or the first part of a divided one, lies on another GPU than CuPy's current one.
        """
        if self._index >= 0:
            require_current(self._index, "the graph")
        return self

    def exclusive(self) -> contextlib.AbstractContextManager[None]:
        """Context manager of a run: arcs in memory serve several at a time, those in pages one."""
        return contextlib.nullcontext()

    @_Layout
    def in_csr(self) -> CSR:
        """The arcs by target: row v holds the sources of the arcs that reach v; `out_csr` itself if undirected."""
        return kernels(self.device).transpose(self.out_csr) if self.directed else self.out_csr

    def pulled(self, name: str, weighted: bool) -> RowFormat:
        """`in_csr` in one of `ROW_FORMATS`, with weights if there are any and `weighted`."""
        kind = ROW_FORMATS[name]
        if not (weighted and self.weighted):
            return self._layouts.once(name, lambda: kind.of(self.in_csr.pattern))

        def build() -> RowFormat:
            layout = kind.of(self.in_csr)
            # Both layouts share one array of ids.
            self._layouts[name] = layout.pattern
            return layout

        return self._layouts.once(f"weighted_{name}", build)

    @property
    def hyb(self) -> HYB:
        """`in_csr` in HYB, without weights."""
        return self.pulled("hyb", False)  # type: ignore[return-value]

    @property
    def weighted_hyb(self) -> HYB:
        """`in_csr` in HYB, with weights where there are any; `hyb` then is its pattern, over the same ids."""
        return self.pulled("hyb", True)  # type: ignore[return-value]

    @property
    def undirected(self) -> Self:
        """The graph with the reverse of every arc, of the lighter of two weights; itself if undirected.

        In a multigraph an arc and an opposite one become two parallel edges. Columns come from the arc whose weight is
        kept; of equal weights, or without weights, from the arc that leaves the lower index.
        """
        if not self.directed:
            return self
        graph = self._layouts.once("undirected", self._build_undirected)
        return self._carrying(graph, "keep" if self.multigraph else "min", both_ways=True)

    def _build_undirected(self) -> Self:
        if self.multigraph:
            return self._from_csr(adjacency.add_reverses(self.out_csr, "keep"), False, self._names, True)
        transposed = self._layouts.get("in_csr") or kernels(self.device).transpose(self.out_csr)
        return self._from_csr(adjacency.union(self.out_csr, transposed, "min"), False, self._names)

    @_Layout
    def numbered_out_csr(self) -> CSR:
        """`out_csr` with each arc's number, 0, 1, ..., for its weight."""
        numbers = array_module(self.device).arange(self.n_edges, dtype=index_dtype(self.n_edges))
        return self.out_csr.with_data(numbers, copy=False)

    @_Layout
    def numbered_in_csr(self) -> CSR:
        """`in_csr` with the number that each arc has in `out_csr` for its weight."""
        transposed = kernels(self.device).transpose(self.numbered_out_csr)
        known = self.out_csr if self.known_undirected else self._layouts.get("in_csr")
        # Shares row pointers and columns with `in_csr` if that exists.
        return transposed if known is None else known.with_data(transposed.data, copy=False)

    @property
    def reverse_arcs(self) -> Any:
        """The number in `out_csr` of each arc's reverse, -1 where there is none: integer array of shape (n_edges,)."""
        # Of an undirected graph, in-arc k of a vertex is the reverse of its out-arc k.
        build = self._reverses if self.directed else lambda: self.numbered_in_csr.data
        return self._layouts.once("reverse_arcs", build)

    def _reverses(self) -> Any:
        self.require_simple("a program that reads edge.reverse of a directed graph")
        csr = self.out_csr
        places = kernels(self.device).positions_of(csr, csr.indices, csr.expand_rows())
        return places.astype(index_dtype(csr.nnz), copy=False)

    @property
    def out_degree(self) -> Any:
        """Number of arcs that leave each vertex: int64 array of shape (n,), read-only."""
        return by_vertex(read_only(self._layouts.once("out_degree", self._build_out_degree)), self)

    def _build_out_degree(self) -> Any:
        return self.out_csr.degrees

    def of_out_degrees(self, make: Callable[[Any], Any]) -> Any:
        """An array by vertex, made of the out-degrees: on a cluster by each block, of those of its own vertices."""
        return make(self.out_degree)

    @property
    def in_degree(self) -> Any:
        """Number of arcs that reach each vertex: int64 array of shape (n,), read-only."""
        return by_vertex(read_only(self._layouts.once("in_degree", self._build_in_degree)), self)

    def _build_in_degree(self) -> Any:
        if self.known_undirected:
            return self._layouts.once("out_degree", self._build_out_degree)
        if "in_csr" in self._layouts:
            return self.in_csr.degrees
        # Counting needs no transpose.
        return occurrences(self.out_csr.indices, self.n_vertices)

    @property
    def weights(self) -> Any:
        """Weight of each arc in the order of `out_csr`: array of shape (n_edges,), read-only; or None."""
        return read_only(self.out_csr.data)
