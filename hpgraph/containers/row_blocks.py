"""Rows of a graph in pages as matrices in memory: one block after another in the order of the file, or all at once."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from hpgraph.containers.graph_lookup import Edges
from hpgraph.core.config import config
from hpgraph.core.device import array_module, prefix_sum
from hpgraph.core.errors import FileFormatError
from hpgraph.core.placements import not_served
from hpgraph.formats import CSR, Bitmask, Pages
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.pages import content


class RowBlock(NamedTuple):
    """Rows from `first_row` on, valid until the next block; adjacent blocks may share the arcs of a row."""

    first_row: int
    csr: CSR

    @property
    def rows(self) -> slice:
        """The range of rows."""
        return slice(self.first_row, self.first_row + self.csr.shape[0])

    @property
    def sources(self) -> Any:
        """The row of each arc: int64 array."""
        return self.csr.expand_rows().astype(np.int64) + self.first_row

    def keep(self, flags: Any) -> "RowBlock":
        """The block with the arcs for which an array of bool is true; its arrays are its own."""
        csr = kernels(self.csr.device).keep_entries(self.csr, flags)
        if csr is self.csr:
            csr = CSR(csr.shape, csr.indptr, csr.indices.copy(), None if csr.data is None else csr.data.copy(),
                      validate=False)  # fmt: skip
        return RowBlock(self.first_row, csr)


def row_blocks(
    graph: Any, *, by_target: bool = False, weighted: bool | None = None, rows: Bitmask | None = None,
    pages: slice = slice(None), holds: Callable[[Any, Any], Any] | None = None,
) -> Iterator[RowBlock]:  # fmt: skip
    """The arcs that `holds(source, target)` selects, in blocks of rows; iterate within `graph.exclusive()`."""
    store = graph.store(by_target, weighted and graph.weighted)
    if store is None:
        raise not_served("in pages", "this gathers along arcs", where="has pages by source alone")
    chosen = None if rows is None else rows.to_bool()
    for window in store.decoded(rows, pages):
        low, high = window.rows
        indptr = (window.indptr[low : high + 1] - window.first).clip(0, len(window.indices))
        shape = high - low, graph.n_vertices
        block = RowBlock(low, CSR(shape, indptr, window.indices, window.data, validate=False))
        if chosen is not None or holds is not None:
            sources = block.sources
            flags = True if chosen is None else chosen[sources]
            block = block.keep(flags if holds is None else holds(sources, block.csr.indices) & flags)
        yield block


def arcs_that(graph: Any, rows: Bitmask | None, holds: Callable[[Any, Any], Any], *, weighted: bool = False) -> CSR:
    """The arcs of some rows, None for all, for which `holds(source, target)`, as an (n, n) matrix on the device."""
    xp, n = array_module(graph.device), graph.n_vertices
    counts, ids = xp.zeros(n, np.int64), [xp.empty(0, graph.id_dtype)]
    values: list[Any] = [] if not weighted or graph.dtype is None else [xp.empty(0, graph.dtype)]
    with graph.exclusive():
        for block in row_blocks(graph, weighted=weighted, rows=rows, holds=holds):
            counts[block.rows] += block.csr.degrees
            ids.append(block.csr.indices)
            if values:
                values.append(block.csr.data)
    indptr = prefix_sum(counts)
    return CSR((n, n), indptr, xp.concatenate(ids), xp.concatenate(values) if values else None, validate=False)


def edges_in_blocks(graph: Any, once: bool) -> Iterator[Edges]:
    """All edges, some at a time; between two blocks other runs may use the buffers."""
    pages, page = graph.pages(False), 0
    assert pages is not None
    while page < pages.n_pages:
        with graph.exclusive():
            store = graph.store(False, graph.weighted)
            assert store is not None
            # At most two windows, which are read concurrently.
            max_end = pages.first_arc[page] + 2 * store.window_arcs
            end = max(int(np.searchsorted(pages.first_arc, max_end, side="right")) - 1, page + 1)
            group = row_blocks(graph, weighted=True, pages=slice(page, end))
            blocks = [_edges_of(block, once) for block in group]
        yield from blocks
        page = end


def _edges_of(block: RowBlock, once: bool) -> Edges:
    """The ends and weights of a block's arcs, in arrays of their own; of an edge and its reverse, `once` keeps one."""
    source, target = block.sources.astype(block.csr.indices.dtype), block.csr.indices
    weight = block.csr.data
    if once:
        kept = source <= target
        return Edges(source[kept], target[kept], None if weight is None else weight[kept])
    return Edges(source, target.copy(), None if weight is None else weight.copy())


def has_edges(graph: Any, rows: Any, columns: Any) -> Any:
    """Whether there are arcs between pairs of vertices: an array of bool."""
    xp = array_module(rows)
    present, order = xp.zeros(len(rows), np.bool_), xp.argsort(rows)
    rows, columns = rows[order], columns[order]
    with graph.exclusive():
        for block in row_blocks(graph, rows=Bitmask.from_indices(rows, graph.n_vertices)):
            ends = xp.asarray([block.rows.start, block.rows.stop], rows.dtype)
            inside = slice(*xp.searchsorted(rows, ends).tolist())
            places = kernels(graph.device).positions_of(block.csr, rows[inside] - block.first_row, columns[inside])
            present[order[inside]] |= places >= 0
    return present


def joined(pages: Pages, *, symmetric: bool = False) -> CSR:
    """The whole matrix, which is checked: checksums, ids, order, and on demand symmetry."""
    indptr = pages.indptr
    ids = np.empty(pages.nnz, pages.id_dtype)
    values = None if pages.dtype is None else np.empty(pages.nnz, pages.dtype)

    def bring(page: int) -> None:
        arcs = slice(int(pages.first_arc[page]), int(pages.first_arc[page + 1]))
        ids[arcs], page_content = content(pages, page)
        if values is not None:
            values[arcs] = page_content

    with ThreadPoolExecutor(config.threads) as threads:
        for _ in threads.map(bring, range(pages.n_pages)):
            pass
    return checked(CSR(pages.shape, indptr, ids, values, validate=False), symmetric, pages.origin)


def checked(csr: CSR, symmetric: bool, origin: str) -> CSR:
    """A matrix joined from pages, after checking that its rows are sorted and in range."""
    if not (kernels(csr.device).is_symmetric(csr) if symmetric else csr.is_canonical()):
        wrong = "ids do not rise within every row"
        if csr.is_canonical():
            wrong = "it is called undirected, and some arc lacks its reverse of the same weight"
        raise FileFormatError(origin, f"{wrong}: it is damaged; save the graph again, or convert its source")
    return csr
