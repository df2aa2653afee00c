"""Induced submatrix on the GPU: the algorithm of `hpgraph.kernels.entries.cpu_induced`."""

from typing import Any

import numpy as np

from hpgraph.core.c_types import WORD_TYPES
from hpgraph.core.device import check_memory, cupy
from hpgraph.formats import CSR, Bitmask, index_dtype
from hpgraph.formats.checks import bits_type
from hpgraph.kernels.entries.cuda_marks import THREADS, Marks
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet

KERNELS = KernelSet(
    "induced.cuh", "induced part",
    {"": "count_words", "<{Index}>": "list_chosen mark_induced", "<{Index}, {Word}>": "keep_induced"},
)  # fmt: skip


def induced(csr: CSR, chosen: Bitmask) -> tuple[CSR, Any]:
    """`hpgraph.kernels.entries.cpu_induced.induced` on the GPU; waits three times, for sizes."""
    n, words, width = csr.shape[0], chosen.words.view(np.uint32), 1 if csr.data is None else csr.data.itemsize
    if n == 0:
        return csr, csr.indices
    kernels = KERNELS.of(Index=csr.indices.dtype, Word=WORD_TYPES[width])
    members = Marks(words, cupy.empty(len(words) + 1, np.int64), n)
    kernels.each("count_words", len(words), len(words), members.argument)
    members = members.add_up()
    rows = members.count()
    if rows == 0:
        empty = csr.indices[:0].astype(index_dtype(0)), None if csr.data is None else csr.data[:0].copy()
        return CSR((0, 0), cupy.zeros(1, np.int64), *empty, validate=False), cupy.empty(0, index_dtype(n))
    ids, lengths = cupy.empty(rows, csr.indices.dtype), cupy.empty(rows + 1, np.int64)
    kernels.each("list_chosen", n, csr.indptr, n, members.argument, ids, lengths)
    offsets = cupy.cumsum(lengths)
    entries = int(offsets[-1])
    stays = Marks.empty(entries)
    part = ids, offsets, rows, entries, members.argument, stays.argument
    kernels.each("mark_induced", stays.blocks * THREADS, csr.indptr, csr.indices, *part)
    stays = stays.add_up()
    nnz = stays.count()
    check_memory(nnz * (csr.indices.itemsize + width), f"a part of {nnz} entries", "cuda")
    indptr, indices = cupy.empty(rows + 1, np.int64), cupy.empty(nnz, csr.indices.dtype)
    data = None if csr.data is None else cupy.empty(nnz, csr.data.dtype)
    given, kept = (None if values is None else values.view(bits_type(values.dtype)) for values in (csr.data, data))
    where = csr.indptr, csr.indices, given, *part[:-1], stays.argument, indptr, indices, kept
    kernels.each("keep_induced", stays.blocks * THREADS, *where)
    ids = ids.astype(index_dtype(n), copy=False)
    return CSR((rows, rows), indptr, indices.astype(index_dtype(rows), copy=False), data, validate=False), ids
