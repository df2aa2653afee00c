"""Entries of extremes on the GPU: launches of `extremes.cuh`."""

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet

EXTREMES = KernelSet("extremes.cuh", "entries of extremes", {"<{Index}, {Value}>": "extreme_entries"})
# Threads of a block, and entries of a warp: as in extremes.cuh.
THREADS, STRETCH = 256, 32


def extreme_entries(csr: CSR, x: Any, extreme: Any, first: Any) -> None:
    """`hpgraph.kernels.spmv.Products.extreme_entries`."""
    first.fill(np.iinfo(np.int64).max)
    if csr.nnz and first.size:
        kernels = EXTREMES.of(Index=csr.indices.dtype, Value=x.dtype)
        size = np.int64(csr.shape[0]), np.int64(csr.nnz)
        kernels.launch(
            "extreme_entries", -(-csr.nnz * 32 // (THREADS * STRETCH)), csr.indptr, csr.indices, csr.data, *size, x,
            np.int64(x.shape[1]), extreme, first,
        )  # fmt: skip
    first[first == np.iinfo(np.int64).max] = -1
