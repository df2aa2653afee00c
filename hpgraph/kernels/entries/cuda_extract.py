"""Parts of a matrix on the GPU: the functions of `hpgraph.kernels.entries.cpu_extract`."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from hpgraph.core.c_types import ID_TYPES, WORD_TYPES
from hpgraph.core.device import check_memory, require_cupy
from hpgraph.formats import CSR, index_dtype, occurrences
from hpgraph.formats.checks import bits_type
from hpgraph.kernels.runtime.cuda.compile import Module, load

SOURCE = "extract.cuh"
THREADS = 256
TILE = THREADS * 4


def kernel_names(index: str, word: str) -> tuple[str, ...]:
    """Name expressions of the kernels of the source, for ids and values of C++ types."""
    of_ids = [f"{name}<{index}>" for name in ("column_counts", "find_places")]
    of_both = [f"find_stretches<{index}, {other}>" for other in ID_TYPES.values()]
    filling = [f"fill_columns<{index}, {other}, {word}>" for other in ID_TYPES.values()]
    return tuple(f"hpgraph::{name}" for name in (*of_ids, *of_both, f"copy_rows<{index}, {word}>", *filling))


def rows_of(csr: CSR, rows: Any, low: int, high: int) -> CSR:
    """`hpgraph.kernels.entries.cpu_extract.rows_of` on the GPU; waits for it, for the number of entries."""
    import cupy

    rows = cupy.ascontiguousarray(rows)
    count, kind = len(rows), ID_TYPES[rows.itemsize]
    begin, lengths = cupy.empty(count, np.int64), cupy.empty(count + 1, np.int64)
    _launch(
        csr, f"find_stretches<{{I}}, {kind}>", max(count, 1),
        csr.indptr, csr.indices, rows, count, low, high, np.bool_((low, high) == (0, csr.shape[1])), begin, lengths,
    )  # fmt: skip
    indptr = cupy.cumsum(lengths)
    nnz = int(indptr[-1])
    ids = index_dtype(max(len(rows), high - low))
    check_memory(nnz * _entry_bytes(csr), f"a part of {nnz} entries", "cuda")
    indices = cupy.empty(nnz, dtype=csr.indices.dtype)
    data = None if csr.data is None else cupy.empty(nnz, dtype=csr.data.dtype)
    _launch(
        csr, "copy_rows<{I}, {V}>", -(-nnz // TILE) * THREADS,
        indptr, len(rows), nnz, begin, csr.indices, _bits(csr.data), low, indices, _bits(data),
    )  # fmt: skip
    return CSR((len(rows), high - low), indptr, indices.astype(ids, copy=False), data, validate=False)


def columns_of(csr: CSR, columns: Any) -> CSR:
    """`columns_of` of `cpu_extract` on the GPU; waits for it, for the number of entries."""
    import cupy

    rows, width = csr.shape
    first = _offsets(occurrences(columns, width))
    order = columns.argsort(kind="stable").astype(np.int64, copy=False)
    check_memory(16 * csr.nnz, "the columns of a matrix", "cuda")
    count = cupy.empty(csr.nnz, dtype=np.int64)
    _launch(csr, "column_counts<{I}>", csr.nnz, csr.indices, csr.nnz, first, count)
    end = _offsets(count)
    indptr = end[csr.indptr]
    nnz = int(indptr[-1])
    ids = index_dtype(max(rows, len(columns)))
    check_memory(nnz * _entry_bytes(csr), f"a part of {nnz} entries", "cuda")
    indices = cupy.empty(nnz, dtype=ids)
    data = None if csr.data is None else cupy.empty(nnz, dtype=csr.data.dtype)
    _launch(
        csr, f"fill_columns<{{I}}, {ID_TYPES[ids.itemsize]}, {{V}}>", csr.nnz,
        csr.indices, _bits(csr.data), csr.nnz, first, order, end[1:], indices, _bits(data),
    )  # fmt: skip
    return CSR((rows, len(columns)), indptr, indices, data, validate=False)


def positions_of(csr: CSR, rows: Any, columns: Any) -> Any:
    """`hpgraph.kernels.entries.cpu_extract.positions_of` on the GPU."""
    import cupy

    found = cupy.empty(len(rows), dtype=np.int64)
    rows, columns = (cupy.ascontiguousarray(ids, dtype=np.int64) for ids in (rows, columns))
    _launch(csr, "find_places<{I}>", len(rows), csr.indptr, csr.indices, rows, columns, len(rows), found)
    return found


def _offsets(lengths: Any) -> Any:
    import cupy

    offsets = cupy.zeros(len(lengths) + 1, dtype=np.int64)
    cupy.cumsum(lengths, dtype=np.int64, out=offsets[1:])
    return offsets


def _entry_bytes(csr: CSR) -> int:
    return int(csr.indices.itemsize) + (0 if csr.data is None else int(csr.data.itemsize))


def _bits(data: Any) -> Any:
    return None if data is None else data.view(bits_type(data.dtype))


@functools.lru_cache(maxsize=64)
def _module(gpu: int, index: str, word: str) -> Module:
    return load(SOURCE, names=kernel_names(index, word), title="extraction")


def _launch(csr: CSR, kernel: str, items: int, *arguments: Any) -> None:
    """Launch a kernel with a thread for each item, on ids and values of the matrix's types."""
    if not items:
        return
    index, word = ID_TYPES[csr.indices.itemsize], WORD_TYPES[1 if csr.data is None else csr.data.itemsize]
    module = _module(require_cupy().cuda.runtime.getDevice(), index, word)
    function = module.function("hpgraph::" + kernel.format(I=index, V=word))
    given = tuple(np.int64(value) if isinstance(value, int) else value for value in arguments)
    function((-(-items // THREADS),), (THREADS,), given)
