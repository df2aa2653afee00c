"""Parts of a matrix on the GPU: the functions of `hpgraph.kernels.entries.cpu_extract`."""

import functools
from typing import Any

import numpy as np

from hpgraph.core.c_types import ID_TYPES
from hpgraph.core.device import check_memory
from hpgraph.formats import CSR, index_dtype, occurrences
from hpgraph.formats.convert_cuda import expand_rows, gather_segments
from hpgraph.formats.lengths import prefix_sum
from hpgraph.kernels.runtime.cuda.compile import Module, load

SOURCE = "extract.cuh"
THREADS = 256


def kernel_names(index: str) -> tuple[str, ...]:
    """Name expressions of the kernels of the source, for ids of a C++ type."""
    stretches = (f"hpgraph::find_stretches<{index}, {other}>" for other in ID_TYPES.values())
    return f"hpgraph::find_places<{index}>", *stretches


def rows_of(csr: CSR, rows: Any, low: int, high: int) -> CSR:
    """`hpgraph.kernels.entries.cpu_extract.rows_of` on the GPU; waits for it, for the number of entries."""
    import cupy

    rows = cupy.ascontiguousarray(rows)
    count, kind = len(rows), ID_TYPES[rows.itemsize]
    begin, lengths = cupy.empty(count, np.int64), cupy.empty(count + 1, np.int64)
    _launch(
        csr, f"find_stretches<{{}}, {kind}>", max(count, 1),
        rows, count, low, high, np.bool_((low, high) == (0, csr.shape[1])), begin, lengths,
    )  # fmt: skip
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
    import cupy

    found = cupy.empty(len(rows), dtype=np.int64)
    rows, columns = (cupy.ascontiguousarray(ids, dtype=np.int64) for ids in (rows, columns))
    _launch(csr, "find_places<{}>", len(rows), rows, columns, len(rows), found)
    return found


@functools.lru_cache(maxsize=64)
def _module(gpu: int, index: str) -> Module:
    return load(SOURCE, names=kernel_names(index), title="extraction")


def _launch(csr: CSR, kernel: str, items: int, *arguments: Any) -> None:
    """Launch a kernel with a thread for each item, on a matrix with ids of its type."""
    import cupy

    if items:
        index = ID_TYPES[csr.indices.itemsize]
        function = _module(cupy.cuda.runtime.getDevice(), index).function("hpgraph::" + kernel.format(index))
        given = tuple(np.int64(value) if isinstance(value, int) else value for value in arguments)
        function((-(-items // THREADS),), (THREADS,), (csr.indptr, csr.indices, *given))
