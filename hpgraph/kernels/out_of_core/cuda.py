"""Pages on the GPU: their stores, and the weakly connected components of a graph in pages."""

from typing import Any

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.formats import Bitmask
from hpgraph.kernels.out_of_core import HubCache, Store
from hpgraph.kernels.out_of_core.cuda_ring import least_memory as least_memory
from hpgraph.kernels.out_of_core.cuda_store import PageStore as PageStore
from hpgraph.kernels.out_of_core.cuda_visits import visit
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet
from hpgraph.kernels.structure import cuda_components as whole
from hpgraph.semiring.c_types import c_type

SOURCE = "spread_components.cuh"
KERNELS = KernelSet(SOURCE, "connected components", {"<{Index}>": "link_heads mark_outside"})


def components(store: Store, hub_cache: HubCache | None, symmetric: bool) -> tuple[int, Any]:
    """The number of components, and that of each vertex's component.

    If every arc has its reverse, arcs that leave the largest tree are skipped: in a graph with hubs few vertices are
    outside it once the resident neighbours have been linked.

    M. Sutton, T. Ben-Nun, A. Barak, "Optimizing parallel graph connectivity computation via subgraph sampling",
    IPDPS'18.
    """
    n, ids = store.pages.shape[0], store.pages.id_dtype
    if n == 0:
        return 0, cupy.empty(0, ids)
    kernels, size = KERNELS.of(Index=ids), np.int64(n)
    label, rows = cupy.arange(n, dtype=ids), None
    if hub_cache is not None:
        kernels.each("link_heads", n, size, hub_cache.neighbour, label)
        if symmetric:
            largest, outside = cupy.empty(1, ids), Bitmask.zeros(n, "cuda")
            whole.run("most_frequent_root", ids, 1, np.int64(0), size, label, largest)
            kernels.each("mark_outside", n, size, largest, label, outside.words)
            rows = outside
    wanted = store.survey(rows, None if rows is None or hub_cache is None else hub_cache.more, spread=True)
    for part in store.visits(wanted):
        visit(f"hpgraph::Hook<{c_type(ids)}>", (label,), part._replace(source=SOURCE), None)
    return whole.numbered_trees(label)
