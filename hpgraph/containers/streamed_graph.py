"""A graph whose topology stays in host memory or in a file, and is streamed past what belongs to vertices."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Self

import numpy as np

from hpgraph.containers.graph import Graph
from hpgraph.containers.joined_pages import joined
from hpgraph.containers.layouts import Layouts
from hpgraph.containers.names import as_names
from hpgraph.containers.page_stores import PageStores
from hpgraph.containers.streamed_lookup import StreamedLookup
from hpgraph.containers.vertex_array import by_vertex
from hpgraph.core.device import Device, array_module, normalize_device
from hpgraph.core.placements import not_served
from hpgraph.formats import CSR, Pages
from hpgraph.formats.ownership import read_only
from hpgraph.kernels.out_of_core import Store
from hpgraph.kernels.pages import ARCS_PER_PAGE, cut


class StreamedGraph(StreamedLookup):
    """A graph in pages, for a device whose memory its topology does not fit.

    Vertex programs, and the algorithms built on them, run on it as on any other graph; vertex data are on the device.
    Algorithms that need the whole topology at once raise an error.

    Parameters
    ----------
    out_pages : Pages
        The arcs by source.
    in_pages : Pages, optional
        The arcs by target, of a directed graph. Without them a program can only push along arcs, or gather
        along reversed ones.
    directed : bool
        Whether some arc lacks its reverse.
    names : sequence, optional
        A name for each vertex.
    device : {"cpu", "cuda"}
        Where to work.
    memory : int, optional
        Bytes of the device's memory for the topology: offsets, buffers, and pages that are kept. None is no limit on
        the CPU, and on the GPU half of what is free. If it has room for three times the plain arcs, algorithms load
        them all on first use, and run as in memory.
    host_memory : int, optional
        Bytes of main memory for pages that come from a file, and on the GPU for the pinned copy of any pages.

    Raises
    ------
    BudgetError
        When a budget does not suffice; it says what would.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False)
    >>> G = hpg.StreamedGraph.of(G, arcs_per_page=2)
    >>> G
    StreamedGraph: 4 vertices, 6 arcs, undirected, no weights, cpu, 3 pages
    >>> hpg.bfs(G, 0).level.tolist()
    [0, 1, 2, 3]
    """

    def __init__(
        self, out_pages: Pages, in_pages: Pages | None = None, *, directed: bool, names: Iterable[Any] | None = None,
        device: str = "cpu", memory: int | None = None, host_memory: int | None = None, **options: Any,
    ) -> None:  # fmt: skip
        self._names = None if names is None else as_names(names, out_pages.shape[0])
        self._layouts = Layouts(directed=bool(directed))
        self._out, self._in = out_pages, in_pages if directed else out_pages
        self._device: Device = normalize_device(device)
        array_module(self._device)
        sides = {out_pages} if self._in is None else {out_pages, self._in}
        budgets = {"memory": memory, "host_memory": host_memory}
        # One lock for what is built once and for runs: either may need the other.
        self._layouts.lock = self._stores = PageStores(sides, self._device, budgets, options)
        # Offsets and buffers are had at once: a budget that is too small is said before anything is read.
        self.store(False, self.weighted)

    @classmethod
    def of(
        cls, graph: Graph, *, arcs_per_page: int = ARCS_PER_PAGE, encoding: str = "none", device: str | None = None,
        memory: int | None = None, host_memory: int | None = None, **options: Any,
    ) -> StreamedGraph:  # fmt: skip
        """A graph in memory, cut into pages that lie in main memory.

        Parameters
        ----------
        graph : Graph
        arcs_per_page : int, optional
            A page holds no more.
        encoding : {"none", "gaps"}
            How ids are stored.
        device : {"cpu", "cuda"}, optional
            Where to work; by default the graph's.
        memory, host_memory : int, optional
            As for the class.

        Returns
        -------
        StreamedGraph

        Examples
        --------
        >>> import hpgraph as hpg
        >>> hpg.StreamedGraph.of(hpg.Graph.from_edges([0, 1], [1, 2]), arcs_per_page=1)
        StreamedGraph: 3 vertices, 2 arcs, directed, no weights, cpu, 2 pages
        """
        whole = graph.to("cpu")
        out = cut(whole.out_csr, arcs_per_page=arcs_per_page, encoding=encoding)
        into = cut(whole.in_csr, arcs_per_page=arcs_per_page, encoding=encoding) if whole.directed else None
        made = cls(
            out, into, directed=whole.directed, device=device or graph.device, memory=memory, host_memory=host_memory,
            **options,
        )  # fmt: skip
        made._names = graph._names
        return made

    def pages(self, by_target: bool) -> Pages | None:
        """The pages by source, or by target; None where there are none such."""
        return self._in if by_target else self._out

    def store(self, by_target: bool, weighted: bool) -> Store | None:
        """The store of the arcs by source, or by target; None without such pages. Do not keep it."""
        pages = self.pages(by_target)
        return None if pages is None else self._stores.of(pages, weighted)

    def any_store(self, by_target: bool) -> Store | None:
        """A store of the arcs, with or without weights as they are read already."""
        pages = self.pages(by_target)
        return None if pages is None else self.store(by_target, self._stores.reads_weights(pages))

    def exclusive(self) -> contextlib.AbstractContextManager[None]:
        """Context manager of a run: its buffers and kept pages serve one run at a time, and other threads wait."""
        return self._stores.exclusive()

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return int(self._out.shape[0])

    @property
    def n_edges(self) -> int:
        """Number of stored arcs: an undirected edge counts twice, a loop once."""
        return int(self._out.nnz)

    @property
    def directed(self) -> bool:
        """Whether some arc lacks a reverse of the same weight."""
        return bool(self._layouts["directed"])

    @property
    def weighted(self) -> bool:
        """Whether arcs have weights."""
        return self._out.values is not None

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """Type of the weights, or None."""
        return self._out.dtype

    @property
    def id_dtype(self) -> np.dtype[Any]:
        """Type of vertex ids."""
        return self._out.id_dtype

    @property
    def device(self) -> Device:
        """Where what belongs to vertices lies, and work is done."""
        return self._device

    @property
    def out_csr(self) -> CSR:
        """Not to be had: see `in_memory`."""
        raise not_served("in pages")

    in_csr = out_csr

    @property
    def undirected(self) -> Self:
        """Itself, if it is undirected.

        Raises
        ------
        StreamingError
            If it is not.
        """
        if self.directed:
            return self.out_csr  # type: ignore[return-value]
        return self

    @property
    def out_degree(self) -> Any:
        """Number of arcs that leave each vertex: int64 array of shape (n,), read-only."""
        return by_vertex(read_only(self._layouts.once("out_degree", lambda: self._degree(self._out))), self)

    @property
    def in_degree(self) -> Any:
        """Number of arcs that reach each vertex: int64 array of shape (n,), read-only."""
        if self._in is None:
            return self.out_csr
        pages = self._in
        return by_vertex(read_only(self._layouts.once("in_degree", lambda: self._degree(pages))), self)

    def _degree(self, pages: Pages) -> Any:
        return array_module(self._device).asarray(np.diff(pages.indptr))

    @property
    def nbytes(self) -> int:
        """Bytes that the pages store, wherever they lie."""
        return sum(pages.nbytes for pages in {id(p): p for p in (self._out, self._in) if p is not None}.values())

    def reverse(self) -> Self:
        """The graph whose arcs go the other way, in the same pages; itself if undirected.

        Returns
        -------
        StreamedGraph
            It has buffers and kept pages of its own, within the same budgets, until this one is asked for again.

        Raises
        ------
        StreamingError
            When a directed graph has pages by source alone.
        """
        if not self.directed:
            return self
        into = self._in
        if into is None:
            return self.in_csr  # type: ignore[return-value]
        return self._layouts.once("reverse", lambda: self._over(into, self._out, self._device))  # type: ignore[no-any-return]

    def once(self, name: str, build: Callable[[], Any]) -> Any:
        """The cached result of `build` under a name; built on first use."""
        return self._layouts.once(name, build)

    def weights_by_page(self, by_target: bool = False) -> Iterator[np.ndarray[Any, Any]]:
        """The weights of each page's arcs, one page after another, in main memory; none where there are no pages."""
        pages = self.pages(by_target)
        if pages is None:
            return
        for page in range(pages.n_pages):
            values = pages.values_of(page)
            if values is not None:
                pages.check(page, values, values=True)
                yield values

    def lending(self) -> contextlib.AbstractContextManager[int]:
        """For a while: bytes of the budget for arcs that are worked on in memory, and not for pages that are kept."""
        return self._stores.lending()

    @property
    def moved(self) -> int:
        """Bytes transferred so far: read, copied, or predicted to be read in place."""
        return self._stores.moved

    @property
    def at_hand(self) -> Any:
        """The graph to compute on: this one, or if `memory` has room for all of it, one in memory.

        That is if three times the size of its plain arcs fit, since products build layouts of their own. It is loaded
        on first use, and stays.
        """
        limit = self._stores.budgets["memory"]
        if limit is None or 3 * self._plain > limit:
            return self
        return self._layouts.once("in_memory", self._brought)

    @property
    def _plain(self) -> int:
        """Bytes of the graph in memory."""
        sides = [self._out] if self._in is self._out or not self.directed else [self._out, self._out]
        of_arc = self.id_dtype.itemsize + (0 if self.dtype is None else self.dtype.itemsize)
        return sum(pages.nnz * of_arc + 8 * (self.n_vertices + 1) for pages in sides)

    def _brought(self) -> Graph:
        self._stores.close()
        return self.in_memory()

    def in_memory(self) -> Graph:
        """The same graph with its topology in the memory of its device.

        Returns
        -------
        Graph

        Raises
        ------
        DeviceMemoryError
            When it will not fit.
        FileFormatError
            When pages are damaged, or contradict what was said of the graph.

        Examples
        --------
        >>> import hpgraph as hpg
        >>> hpg.StreamedGraph.of(hpg.Graph.from_edges([0, 1], [1, 2])).in_memory()
        Graph: 3 vertices, 2 arcs, directed, no weights, cpu
        """
        csr = joined(self._out, symmetric=not self.directed)
        return Graph._made(csr, self.directed, self._names).to(self._device)

    def to(self, device: str) -> Self:
        """The same pages, worked on by another device within the same budgets.

        Parameters
        ----------
        device : {"cpu", "cuda"}

        Returns
        -------
        StreamedGraph
        """
        device = normalize_device(device)
        if device == self._device:
            return self
        return self._over(self._out, self._in, device)

    def _over(self, out: Pages, into: Pages | None, device: Device) -> Self:
        made = type(self)(out, into, directed=self.directed, device=device, **self._arguments)
        made._names = self._names
        return made

    @property
    def _arguments(self) -> dict[str, Any]:
        """Budgets and options, for another graph of these pages."""
        return self._stores.budgets | self._stores.options

    def __getstate__(self) -> dict[str, Any]:
        raise not_served("in pages", "pickling writes all arcs")

    def __repr__(self) -> str:
        return f"Streamed{super().__repr__()}, {self._out.n_pages:,} pages"

    def _kind(self) -> list[str]:
        weights = f"{self.dtype} weights" if self.weighted else "no weights"
        return ["directed" if self.directed else "undirected", weights]
