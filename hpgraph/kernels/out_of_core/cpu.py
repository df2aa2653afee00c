"""Pages on the CPU: their stores, and the components of a graph in pages, by at most one pass over them."""

from typing import Any

import numpy as np

from hpgraph.formats import Bitmask
from hpgraph.kernels.out_of_core import HubCache, Store
from hpgraph.kernels.out_of_core.cpu_store import PageStore as PageStore
from hpgraph.kernels.out_of_core.cpu_store import least_memory as least_memory
from hpgraph.kernels.runtime.cpu.kernel import LOOPS, is_stopped, njit, prange, team
from hpgraph.kernels.runtime.sampling import most_frequent
from hpgraph.kernels.spmv.cpu import plain
from hpgraph.kernels.structure.cpu_components import CHUNK, flatten, hook, link_rows
from hpgraph.kernels.structure.numbering import numbered


def components(store: Store, hub_cache: HubCache | None, symmetric: bool) -> tuple[int, Any]:
    """The number of components, and that of each vertex's component.

    If every arc has its reverse, arcs that start in the largest tree are skipped: they are linked from the other end.

    M. Sutton, T. Ben-Nun, A. Barak, "Optimizing parallel graph connectivity computation via subgraph sampling",
    IPDPS'18.
    """
    n, ids = store.pages.shape[0], store.pages.id_dtype
    label, rows, largest = np.arange(n, dtype=ids), None, -1
    if n == 0:
        return 0, label
    if hub_cache is not None:
        with team():
            link_hub_cache(plain(hub_cache.neighbour), label)
            flatten(label)
        if symmetric:
            largest = most_frequent(label)
            rows = Bitmask.from_bool(label != largest)
    for window in store.windows(store.survey(rows, None if rows is None or hub_cache is None else hub_cache.more)):
        with team():
            span = *window.rows, window.first
            link_rows(plain(window.indptr), plain(window.indices), span, 0, largest, label)
            if symmetric and largest < 0:
                flatten(label)
                largest = most_frequent(label)
    with team():
        flatten(label)
    return numbered(label)


@njit(parallel=LOOPS, cache=True)
def link_hub_cache(neighbour, label):
    """Link every vertex to its resident neighbour."""
    n = label.size
    for chunk in prange((n + CHUNK - 1) // CHUNK):
        for v in range(chunk * CHUNK, chunk * CHUNK if is_stopped() else min(n, (chunk + 1) * CHUNK)):
            if neighbour[v] >= 0:
                hook(label, v, neighbour[v])
