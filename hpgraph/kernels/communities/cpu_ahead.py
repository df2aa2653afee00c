"""Rows that come next, fetched ahead on the CPU: those of a batch, or of a community, are far apart in memory."""

from __future__ import annotations

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import peek, prefetch, vertex
from hpgraph.kernels.runtime.cpu.weights import prefetch_entry

# How many vertices ahead; ids in a line of memory; the most arcs of a row that are fetched before its turn comes. Of
# longer rows the ids come as a stream, and loops fetch labels so many arcs ahead, in place: a call costs more.
AHEAD, LINE, MAX, ON_THE_WAY = 4, 16, 128, 24


def pays(arcs: CSR, joined: int) -> bool:
    """Whether rows are longer than a line of memory.

    Of shorter ones the processor reads several at a time by itself.
    """
    return arcs.nnz > LINE * joined


@part(whole=True)
def fetch(rows, label, listed, i, end):
    """Fetches what stands behind ``listed[i]``: first row pointers, later rows, then the labels of neighbours."""
    if i + 2 * AHEAD < end:
        prefetch(rows.indptr, vertex(listed, i + 2 * AHEAD))
    if i + AHEAD < end:
        v = vertex(listed, i + AHEAD)
        first = peek(rows.indptr, v)
        for at in range(first, min(peek(rows.indptr, v + 1), first + MAX) + LINE - 1, LINE):
            prefetch(rows.indices, at)
            prefetch_entry(rows.data, at)
            prefetch_entry(rows.data, at + LINE // 2)
    if i + 1 < end:
        v = vertex(listed, i + 1)
        first = peek(rows.indptr, v)
        for at in range(first, min(peek(rows.indptr, v + 1), first + MAX)):
            prefetch(label, vertex(rows.indices, at))
