"""SDDMM on the GPU: launches of `sddmm.cuh`."""

from typing import Any

import numpy as np

from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet

SDDMM = KernelSet("sddmm.cuh", "sampled dense products", {"<{Index}, {Value}, {group}, {width}>": "sample_dense"})
EXTREMES = KernelSet("sddmm.cuh", "entries of extremes", {"<{Index}, {Value}>": "extreme_entries"})
# Threads of a block and entries of a group: as in sddmm.cuh. Most bytes of one load.
THREADS, STRETCH, LOAD = 256, 32, 16


def sample_dense(csr: CSR, x: Any, y: Any, out: Any) -> None:
    """`hpgraph.kernels.spmv.Products.sample_dense`."""
    if not out.size:
        return
    _, heads, columns = x.shape
    width = LOAD // x.itemsize if columns % (LOAD // x.itemsize) == 0 else 1
    group = min(32, 1 << max(0, (columns // width - 1).bit_length()))
    kernels = SDDMM.of(Index=csr.indices.dtype, Value=x.dtype, group=str(group), width=str(width))
    size = np.int64(csr.shape[0]), np.int64(csr.nnz)
    kernels.launch(
        "sample_dense", -(-csr.nnz * group // (THREADS * STRETCH)), csr.indptr, csr.indices, *size, x, y,
        np.int64(heads), np.int64(columns), out,
    )  # fmt: skip


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
