"""Batches of changes of graphs in pages, which are merged as the pages are read until they are many."""

from typing import Any

import numpy as np

from hpgraph.containers import adjacency
from hpgraph.containers.graph_updates import Batch
from hpgraph.formats import CSR, Pages
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.pages.patched import Entries, changes_of, located, patched, rewritten

# Share of the arcs that may be changed before pages are written anew. Of kron18, with gaps, a thread decodes a page in
# 0.9 ms, and with changes in 2.2 to 2.7 ms; to write all anew takes 1.2 s, and 0.2 s to add 100,000 edges.
_SHARE = 1 / 16


def pages_after(graph: Any, batch: Batch) -> tuple[Pages, Pages | None]:
    """The pages by source, and by target, of a graph after a batch."""
    put, removed, dtype = _changes(graph, batch)
    out, into = _side(graph._out, put, removed, batch.n, dtype), None
    if graph.directed and graph._in is not None:
        into = _side(graph._in, _transposed(put), _transposed(removed), batch.n, dtype)
    return out, into


def _side(pages: Pages, put: CSR | None, removed: CSR | None, n: int, dtype: np.dtype[Any] | None) -> Pages:
    if put is None and removed is None and n == pages.shape[0]:
        return pages
    pages_after = patched(pages, n, _entries(put), _entries(removed), dtype)
    changed, stored = changes_of(pages_after)
    return rewritten(pages_after) if changed > _SHARE * stored else pages_after


def _changes(graph: Any, batch: Batch) -> tuple[CSR | None, CSR | None, np.dtype[Any] | None]:
    """The arcs to insert or replace, the arcs to remove, and the type of the weights afterwards."""
    sides = [None if csr is None else csr.to("cpu") for csr in (batch.insert, batch.delete, batch.weights)]
    insert, removed, changed = sides
    keep, put = kernels("cpu").keep_entries, insert
    if removed is not None:
        present = _contains(graph, removed, "delete", batch)
        removed = keep(removed, present)
    if changed is not None:
        present = _contains(graph, changed, "set", batch)
        if removed is not None:
            deleted = adjacency.places_in(changed, removed) >= 0
            if deleted.any() and not batch.passes_over:
                raise graph._not_there(changed, deleted, "set", batch.names)
            present &= ~deleted
        changed = keep(changed, present)
        put = changed if put is None else adjacency.union(changed, put, "second")
    types = [one.dtype for one in (graph, put) if one is not None and one.dtype is not None]
    dtype = np.result_type(*types) if types else None
    if put is not None and dtype is not None:
        put = put.astype(dtype)
    if put is not None and removed is not None:
        # An arc that is removed and inserted is only inserted.
        removed = keep(removed, adjacency.places_in(removed, put) < 0)
    return put, removed, dtype


def _contains(graph: Any, arcs: CSR, name: str, batch: Batch) -> Any:
    present = located(graph._out, _entries(arcs))[1]
    if not present.all() and not batch.passes_over:
        raise graph._not_there(arcs, ~present, name, batch.names)
    return present


def _entries(arcs: CSR | None) -> Entries:
    if arcs is None:
        return Entries(np.empty(0, np.int64), np.empty(0, np.int64))
    row, column = (ids.astype(np.int64, copy=False) for ids in (arcs.expand_rows(), arcs.indices))
    return Entries(row, column, arcs.data)


def _transposed(arcs: CSR | None) -> CSR | None:
    return None if arcs is None else CSR.from_coo(arcs.indices, arcs.expand_rows(), arcs.data, arcs.shape, copy=False)
