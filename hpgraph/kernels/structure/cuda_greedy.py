"""Greedy choices on the GPU; `hpgraph.kernels.structure.cpu_greedy` describes them."""

from typing import Any

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet, multiprocessors
from hpgraph.kernels.structure.cuda_degree_order import rows_before

KERNELS = KernelSet(
    "greedy.cuh", "greedy choices", {"<{Index}>": "take_independent take_colors prefer prefer_listed match"}
)
THREADS = 256
# As in the CUDA source: a block handles longer rows.
WARP_ARCS = 4096


def independent_set(arcs: CSR, order: Any) -> Any:
    """`hpgraph.kernels.structure.cpu_greedy.independent_set` on the GPU."""
    return _in_order("take_independent", arcs, order) == 1


def greedy_colors(arcs: CSR, order: Any) -> Any:
    """`hpgraph.kernels.structure.cpu_greedy.greedy_colors` on the GPU."""
    return _in_order("take_colors", arcs, order)


def _in_order(name: str, arcs: CSR, order: Any) -> Any:
    n, ids = arcs.shape[0], arcs.indices.dtype
    if arcs.nnz == 0:
        return cupy.full(n, name == "take_independent", ids)
    rank = cupy.empty(n, ids)
    rank[order] = cupy.arange(n, dtype=ids)
    before, state = rows_before(arcs, rank), cupy.full(n, -1, ids)
    # The number of resident blocks.
    blocks = min(-(-n // (THREADS // 32)), multiprocessors() * (2048 // THREADS))
    KERNELS.of(Index=ids).launch(name, blocks, *before, np.int64(n), state, cupy.zeros(1, np.uint64))
    return state[rank]


def matching(arcs: CSR, seed: int) -> Any:
    """`hpgraph.kernels.structure.cpu_greedy.matching` on the GPU; waits for it once a round."""
    n, ids = arcs.shape[0], arcs.indices.dtype
    mate, preferred = cupy.full(n, -1, ids), cupy.full(n, -2, ids)
    if n == 0:
        return mate
    listed, counts = cupy.empty(arcs.nnz // WARP_ARCS + 1, ids), cupy.empty(2, np.uint64)
    size, key, rows = np.int64(n), np.uint64(seed), (arcs.indptr, arcs.indices)
    tail, waiting = counts[:1], counts[1:]
    blocks = min(-(-n // (THREADS // 32)), 16 * multiprocessors())
    kernels = KERNELS.of(Index=ids)
    while True:
        counts.fill(0)
        kernels.launch("prefer", blocks, *rows, size, key, mate, preferred, listed, tail, waiting)
        kernels.launch("prefer_listed", 2 * multiprocessors(), *rows, key, mate, preferred, listed, tail)
        if not int(waiting[0]):
            return mate
        kernels.each("match", n, size, preferred, mate)
