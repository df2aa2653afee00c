"""Prefetching of the next rows on the CPU: rows of a batch, or of a community, are scattered in memory."""

from __future__ import annotations

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.runtime.cpu.prefetch import peek, prefetch, vertex
from hpgraph.kernels.runtime.cpu.weights import prefetch_entry

# Prefetch distance, in vertices; ids in a cache line; most arcs of a row that are prefetched before its turn. Ids of
# longer rows stream, and loops prefetch labels this many arcs ahead, inline: a call costs more.
AHEAD, LINE, MAX, ON_THE_WAY = 4, 16, 128, 24


def pays(arcs: CSR, joined: int) -> bool:
    """Whether rows are longer than a cache line; out-of-order execution overlaps shorter ones by itself."""
    return arcs.nnz > LINE * joined


@part(whole=True)
def fetch(rows, label, listed, i, end):
    """Prefetch for the vertices after ``listed[i]``: row pointers first, then rows, then the neighbours' labels."""
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
