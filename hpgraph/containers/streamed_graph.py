"""A graph whose arcs stay in host memory or in a file, and are streamed to the device that holds vertex data."""

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np

from hpgraph.containers.graph import Graph
from hpgraph.containers.graph_lookup import Edges
from hpgraph.containers.graph_updates import Batch
from hpgraph.containers.layouts import Layouts
from hpgraph.containers.names import Names, as_names
from hpgraph.containers.page_stores import PageStores
from hpgraph.containers.page_updates import pages_after
from hpgraph.containers.row_blocks import arcs_that, checked, edges_in_blocks, has_edges, joined, row_blocks
from hpgraph.core.device import Device, array_module, normalize_device
from hpgraph.core.devices import current_index
from hpgraph.core.placements import not_served
from hpgraph.formats import CSR, Bitmask, Pages
from hpgraph.kernels.out_of_core import Store
from hpgraph.kernels.pages import ARCS_PER_PAGE, cut


class StreamedGraph(Graph):
    """A graph in pages, for a device whose memory its topology does not fit.

    Vertex programs, and the algorithms built on them, run on it as on any other graph; vertex data are on the device.
    Algorithms that need the whole topology at once raise an error.

    Parameters
    ----------
    out_pages, in_pages : Pages
        The arcs by source; and, of a directed graph, by target. Without these a program can only push along arcs, or
        gather along reversed ones.
    directed : bool
        Whether some arc lacks its reverse.
    names : sequence, optional
        A name for each vertex.
    device : {"cpu", "cuda"}
        Device of computations.
    memory : int, optional
        Bytes of the device's memory for the topology: offsets, buffers, and cached pages. None means no limit on the
        CPU, and half of the free memory on the GPU. If three times the plain arcs fit, algorithms load them on first
        use, and run as in memory.
    host_memory : int, optional
        Bytes of main memory for pages of a file, and on the GPU for the pinned copy of any pages. If a budget is too
        small, a BudgetError names the required one.

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False)
    >>> G = hpg.StreamedGraph.of(G, arcs_per_page=2)
    >>> G
    StreamedGraph: 4 vertices, 6 arcs, undirected, no weights, cpu, 3 pages
    >>> hpg.bfs(G, 0).level.tolist()
    [0, 1, 2, 3]
    """

    in_pages, in_one_memory = True, False

    def __init__(
        self, out_pages: Pages, in_pages: Pages | None = None, *, directed: bool, names: Iterable[Any] | None = None,
        device: str = "cpu", memory: int | None = None, host_memory: int | None = None, **options: Any,
    ) -> None:  # fmt: skip
        self._names = None if names is None else as_names(names, out_pages.shape[0])
        self._layouts = Layouts(directed=bool(directed))
        self._out, self._in = out_pages, in_pages if directed else out_pages
        self._take_facts(out_pages, out_pages.nnz, out_pages.id_dtype, normalize_device(device))
        self._index = current_index(self.device)
        sides = {out_pages} if self._in is None else {out_pages, self._in}
        budgets = {"memory": memory, "host_memory": host_memory}
        # One lock for cached values and for runs, since each may need the other.
        self._layouts.lock = self._stores = PageStores(sides, self.device, budgets, options)
        # Allocates offsets and buffers: raises before anything is read if the budget is too small.
        self.store(False, self.weighted)

    @classmethod
    def of(
        cls, graph: Graph, *, arcs_per_page: int = ARCS_PER_PAGE, encoding: str = "none", device: str | None = None,
        memory: int | None = None, host_memory: int | None = None, **options: Any,
    ) -> "StreamedGraph":  # fmt: skip
        """A graph in memory, cut into pages that lie in main memory.

        Parameters
        ----------
        graph : Graph
        arcs_per_page : int, optional
            Maximum number of arcs of a page.
        encoding : {"none", "gaps"}
            Encoding of ids.
        device, memory, host_memory
            As for the class; by default the graph's device.

        Examples
        --------
        >>> hpg.StreamedGraph.of(hpg.Graph.from_edges([0, 1], [1, 2]), arcs_per_page=1)
        StreamedGraph: 3 vertices, 2 arcs, directed, no weights, cpu, 2 pages
        """
        return cls._cut(
            graph, arcs_per_page, encoding, device=device or graph.device, memory=memory, host_memory=host_memory,
            **options,
        )  # fmt: skip

    @classmethod
    def _cut(cls, graph: Graph, arcs_per_page: int, encoding: str, **options: Any) -> Self:
        graph.require_simple("a graph in pages")
        whole = graph.to("cpu")
        sides = [whole.out_csr, whole.in_csr] if whole.directed else [whole.out_csr]
        made = cls(
            *(cut(side, arcs_per_page=arcs_per_page, encoding=encoding) for side in sides),
            directed=whole.directed,
            **options,
        )
        made._names = graph._names
        return made

    def pages(self, by_target: bool) -> Pages | None:
        """The pages by source, or by target; None if there are none."""
        return self._in if by_target else self._out

    def store(self, by_target: bool, weighted: bool | None) -> Store | None:
        """The store of the arcs by source, or by target; None without such pages. Do not keep it."""
        pages = self.pages(by_target)
        return None if pages is None else self._stores.of(pages, weighted)

    def exclusive(self) -> contextlib.AbstractContextManager[None]:
        """Context manager of a run: its buffers and kept pages serve one run at a time, and other threads wait."""
        return self._stores.exclusive()

    @property
    def out_csr(self) -> CSR:  # type: ignore[override]
        """Raises: see `in_memory`."""
        raise not_served("in pages")

    in_csr = out_csr

    def _build_undirected(self) -> Any:
        return self.out_csr  # raises

    def _build_out_degree(self) -> Any:
        return array_module(self.device).asarray(np.diff(self._out.indptr))

    def _build_in_degree(self) -> Any:
        return self.in_csr if self._in is None else array_module(self.device).asarray(np.diff(self._in.indptr))

    @property
    def nbytes(self) -> int:
        """Bytes that the pages store, wherever they lie."""
        return sum(pages.nbytes for pages in {id(p): p for p in (self._out, self._in) if p is not None}.values())

    def _reversed(self) -> Any:
        """The reverse over the same pages, with its own buffers and cached pages within the same budgets."""
        into = self._in
        if into is None:
            return self.in_csr
        return self._layouts.once("reverse", lambda: self._over(into, self._out, self.device))

    def _ids_of_row(self, row: int, by_target: bool) -> Any:
        xp = array_module(self.device)
        chosen = Bitmask.from_indices(xp.asarray([row]), self.n_vertices)
        with self.exclusive():
            parts = [block.csr.indices for block in row_blocks(self, by_target=by_target, rows=chosen)]
        return xp.concatenate([*parts, xp.empty(0, self.id_dtype)])

    def _have_edges(self, rows: Any, columns: Any) -> Any:
        return has_edges(self, rows, columns)

    def arcs_among(self, chosen: Bitmask, *, weighted: bool = True) -> CSR:
        """The arcs of which both ends are among some vertices, as a square matrix in memory, and no others."""
        flags = chosen.to_bool()
        return arcs_that(self, chosen, lambda source, target: flags[target], weighted=weighted)

    _arcs_among = arcs_among

    def _edges_in_blocks(self, once: bool) -> Iterator[Edges]:
        return edges_in_blocks(self, once)

    @classmethod
    def _from_csr(cls, csr: CSR, directed: bool | None, names: Names | None, multigraph: bool = False) -> Any:
        """A part of the graph, in memory; the order of its rows is checked."""
        return Graph._from_csr(checked(csr, directed is False, "the pages"), directed, names)

    def _after(self, batch: Batch) -> Self:
        """The updated graph, in pages: changes are merged on reading; pages are rewritten when changes are many."""
        graph = self._over(*pages_after(self, batch), self.device)
        graph._names = batch.names
        return graph

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

    def memory_for_arcs(self) -> contextlib.AbstractContextManager[int]:
        """For a while: bytes of the budget for arcs that are worked on in memory, and not for pages that are kept."""
        return self._stores.memory_for_arcs()

    @property
    def moved(self) -> int:
        """Bytes transferred so far: read, copied, or predicted to be read in place."""
        return self._stores.moved

    @property
    def at_hand(self) -> Any:
        """The graph to compute on: this one, or one in memory, if `memory` has room for three times its plain arcs.

        The factor leaves room for further layouts. The graph is loaded on first use, and stays.
        """
        arrays, limit = super().at_hand, self._stores.budgets["memory"]
        if limit is None or 3 * plain_bytes(self._out, self.directed) > limit:
            return arrays
        return self._layouts.once("in_memory", self._loaded)

    def _loaded(self) -> Graph:
        self._stores.close()
        return self.in_memory()

    def in_memory(self) -> Graph:
        """The same graph with its topology in the memory of its device.

        Raises
        ------
        DeviceMemoryError, FileFormatError
            If the graph does not fit; if pages are damaged, or contradict the graph's declared properties.

        Examples
        --------
        >>> hpg.StreamedGraph.of(hpg.Graph.from_edges([0, 1], [1, 2])).in_memory()
        Graph: 3 vertices, 2 arcs, directed, no weights, cpu
        """
        csr = joined(self._out, symmetric=not self.directed)
        return Graph._from_csr(csr, self.directed, self._names).to(self.device)

    def to(self, device: str) -> Self:
        """The same pages, for computation on "cpu" or "cuda", within the same budgets."""
        device = normalize_device(device)
        if device == self.device:
            return self
        return self._over(self._out, self._in, device)

    def _over(self, out: Pages, into: Pages | None, device: Device) -> Self:
        graph = type(self)(out, into, directed=self.directed, device=device, **self._arguments)
        graph._names = self._names
        return graph

    @property
    def _arguments(self) -> dict[str, Any]:
        """Budgets and options, for another graph of these pages."""
        return self._stores.budgets | self._stores.options

    def __getstate__(self) -> dict[str, Any]:
        raise not_served("in pages", "pickling writes all arcs")

    def __repr__(self) -> str:
        return f"Streamed{super().__repr__()}, {self._out.n_pages:,} pages"


def plain_bytes(pages: Pages, directed: bool) -> int:
    """Bytes of the arcs of a graph in memory: by source, and if it is directed by target."""
    of_arc = pages.id_dtype.itemsize + (0 if pages.dtype is None else pages.dtype.itemsize)
    return (2 if directed else 1) * (pages.nnz * of_arc + 8 * (pages.shape[0] + 1))
