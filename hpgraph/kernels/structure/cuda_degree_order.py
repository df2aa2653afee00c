"""Vertex orders of a graph on CUDA: keys made by kernels, sorted by CuPy's radix sort, decoded into rows."""

from typing import Any

import numpy as np

from hpgraph.core.device import check_memory, cupy
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet
from hpgraph.kernels.structure.orientation import DegreeOrder

KERNELS = KernelSet(
    "degree_order.cuh", "the degree order",
    {"": "degree_sums vertex_keys row_starts", "<{Index}>": "read_order arc_keys targets"},
)  # fmt: skip
THREADS = 256
# Arcs that a block of arc_keys reads.
TILE = THREADS * 8


def degree_sums(graph: CSR) -> tuple[int, int, int]:
    """Vertices with arcs, Σd² and the largest degree d. Waits for the stream."""
    n = graph.shape[0]
    sums = cupy.zeros(3, np.uint64)
    if n:
        blocks = min(-(-n // THREADS), 1024)
        KERNELS.of(Index=graph.indices.dtype).launch("degree_sums", blocks, graph.indptr, np.int64(n), sums)
    used, squares, largest = sums.get().tolist()
    return used, squares, largest


def order_by_degree(graph: CSR, largest: int) -> DegreeOrder:
    """Vertices by falling degree, and the arcs towards higher degree. Waits for the stream."""
    n, ids = graph.shape[0], graph.indices.dtype
    _check_size(graph)
    keys = cupy.empty(n, np.uint64)
    kernels = KERNELS.of(Index=ids)
    kernels.each("vertex_keys", n, graph.indptr, np.int64(n), np.int64(largest), keys)
    keys.sort()
    order, rank = cupy.empty(n, ids), cupy.empty(n, ids)
    kernels.each("read_order", n, keys, np.int64(n), order, rank)
    return DegreeOrder(order, rank, *rows_before(graph, rank))


def rows_before(graph: CSR, rank: Any) -> tuple[Any, Any]:
    """Rows of the neighbours that come before each vertex in an order of ranks; waits for the stream."""
    n, arcs, ids = graph.shape[0], graph.nnz, graph.indices.dtype
    _check_size(graph)
    edges = arcs // 2
    keys, kept = cupy.empty(edges, np.uint64), cupy.zeros(1, np.uint64)
    sizes = np.int64(n), np.int64(arcs), np.int64(edges)
    kernels = KERNELS.of(Index=ids)
    kernels.launch("arc_keys", -(-arcs // TILE), graph.indptr, graph.indices, rank, *sizes, keys, kept)
    # Half of the arcs that are not loops: fewer than allocated if there are loops.
    edges = int(kept[0])
    keys = keys[:edges]
    keys.sort()
    row_start, lower = cupy.empty(n + 1, np.int64), cupy.empty(edges, ids)
    kernels.each("row_starts", n + 1, keys, np.int64(edges), np.int64(n), row_start)
    kernels.each("targets", edges, keys, np.int64(edges), lower)
    return row_start, lower


def _check_size(graph: CSR) -> None:
    n, width = graph.shape[0], graph.indices.itemsize
    if n > 1 << 32:
        raise ValueError(f"graphs are ordered on CUDA where they have up to 2**32 vertices, not {n}: use the CPU")
    # Keys, the sort's second copy of them, and the rows.
    check_memory(graph.nnz // 2 * (16 + width) + n * (24 + 2 * width), "the arcs of a graph in an order", "cuda")
