"""Parts of a matrix on the GPU: the functions of `hpgraph.kernels.entries.cpu_extract`."""

from typing import Any

import numpy as np

from hpgraph.core.c_types import WORD_TYPES
from hpgraph.core.device import check_memory, cupy, prefix_sum
from hpgraph.formats import CSR, Bitmask, index_dtype, occurrences
from hpgraph.formats.checks import bits_type
from hpgraph.formats.convert_cuda import expand_rows, gather_segments
from hpgraph.kernels.entries.cuda_marks import THREADS, Marks
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet

KERNELS = KernelSet("extract.cuh", "extraction", {"<{Index}>": "find_places", "<{Index}, {Row}>": "find_stretches"})


def rows_of(csr: CSR, rows: Any, low: int, high: int) -> CSR:
    """`hpgraph.kernels.entries.cpu_extract.rows_of` on the GPU; waits for it, for the number of entries."""
    rows = cupy.ascontiguousarray(rows)
    count = len(rows)
    begin, lengths = cupy.empty(count, np.int64), cupy.empty(count + 1, np.int64)
    whole = np.bool_((low, high) == (0, csr.shape[1]))
    KERNELS.of(Index=csr.indices.dtype, Row=rows.dtype).each(
        "find_stretches", max(count, 1), csr.indptr, csr.indices, rows, count, low, high, whole, begin, lengths
    )
    indptr = cupy.cumsum(lengths)
    nnz = int(indptr[-1])
    check_memory(nnz * csr.entry_bytes, f"a part of {nnz} entries", "cuda")
    indices, data = gather_segments(indptr, begin, csr.indices, csr.data)
    if low:
        indices -= low
    ids = index_dtype(max(count, high - low))
    return CSR((count, high - low), indptr, indices.astype(ids, copy=False), data, validate=False)


def columns_of(csr: CSR, columns: Any) -> CSR:
    """`columns_of` of `cpu_extract` on the GPU; waits for it, for the number of entries."""
    rows, width = csr.shape
    check_memory(24 * csr.nnz, "the columns of a matrix", "cuda")
    # Column c of the matrix becomes the columns order[first[c]:first[c + 1]] of the result.
    first = prefix_sum(occurrences(columns, width))
    order = columns.argsort(kind="stable").astype(np.int64, copy=False)
    end = prefix_sum((first[1:] - first[:-1])[csr.indices])
    indptr = end[csr.indptr]
    nnz = int(indptr[-1])
    check_memory(nnz * (16 + csr.entry_bytes), f"a part of {nnz} entries", "cuda")
    indices = gather_segments(end, first[csr.indices], order, None)[0].astype(index_dtype(max(rows, len(columns))))
    data = None if csr.data is None else csr.data[expand_rows(end, nnz, np.int64)]
    return CSR((rows, len(columns)), indptr, indices, data, validate=False)


def positions_of(csr: CSR, rows: Any, columns: Any) -> Any:
    """`hpgraph.kernels.entries.cpu_extract.positions_of` on the GPU."""
    found = cupy.empty(len(rows), dtype=np.int64)
    rows, columns = (cupy.ascontiguousarray(ids, dtype=np.int64) for ids in (rows, columns))
    what = csr.indptr, csr.indices, rows, columns, len(rows), found
    KERNELS.of(Index=csr.indices.dtype, Row=rows.dtype).each("find_places", len(rows), *what)
    return found


INDUCED = KernelSet(
    "induced.cuh", "induced part",
    {"": "count_words", "<{Index}>": "list_chosen mark_induced", "<{Index}, {Word}>": "keep_induced"},
)  # fmt: skip


def induced(csr: CSR, chosen: Bitmask) -> tuple[CSR, Any]:
    """`hpgraph.kernels.entries.cpu_induced.induced` on the GPU; waits three times, for sizes."""
    n, words, width = csr.shape[0], chosen.words.view(np.uint32), 1 if csr.data is None else csr.data.itemsize
    if n == 0:
        return csr, csr.indices
    kernels = INDUCED.of(Index=csr.indices.dtype, Word=WORD_TYPES[width])
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
