"""Induced submatrix on the GPU: the algorithm of `hpgraph.kernels.entries.cpu_induced`."""

import functools
from typing import Any

import numpy as np

from hpgraph.core.c_types import ID_TYPES, WORD_TYPES
from hpgraph.core.device import check_memory
from hpgraph.formats import CSR, Bitmask, index_dtype
from hpgraph.formats.checks import bits_type
from hpgraph.kernels.entries.cuda_marks import THREADS, Marks
from hpgraph.kernels.runtime.cuda.compile import Module, load

SOURCE = "induced.cuh"


def kernel_names(index: str, word: str) -> tuple[str, ...]:
    """Name expressions of the kernels of the source, for C++ types of ids and values."""
    names = "count_words", f"list_chosen<{index}>", f"mark_induced<{index}>", f"keep_induced<{index}, {word}>"
    return tuple(f"hpgraph::{name}" for name in names)


@functools.lru_cache(maxsize=64)
def _module(gpu: int, index: str, word: str) -> Module:
    return load(SOURCE, names=kernel_names(index, word), title="induced part")


def induced(csr: CSR, chosen: Bitmask) -> tuple[CSR, Any]:
    """`hpgraph.kernels.entries.cpu_induced.induced` on the GPU; waits three times, for sizes."""
    import cupy

    n, words, width = csr.shape[0], chosen.words.view(np.uint32), 1 if csr.data is None else csr.data.itemsize
    if n == 0:
        return csr, csr.indices
    index = ID_TYPES[csr.indices.itemsize], WORD_TYPES[width]
    counting, listing, marking, keeping = map(
        _module(cupy.cuda.runtime.getDevice(), *index).function, kernel_names(*index)
    )
    members = Marks(words, cupy.empty(len(words) + 1, np.int64), n)
    _run(counting, len(words), len(words), members.argument)
    members = members.add_up()
    rows = members.count()
    if rows == 0:
        nothing = csr.indices[:0].astype(index_dtype(0)), None if csr.data is None else csr.data[:0].copy()
        return CSR((0, 0), cupy.zeros(1, np.int64), *nothing, validate=False), cupy.empty(0, index_dtype(n))
    ids, lengths = cupy.empty(rows, csr.indices.dtype), cupy.empty(rows + 1, np.int64)
    _run(listing, n, csr.indptr, n, members.argument, ids, lengths)
    offsets = cupy.cumsum(lengths)
    entries = int(offsets[-1])
    stays = Marks.empty(entries)
    part = ids, offsets, rows, entries, members.argument, stays.argument
    _run(marking, stays.blocks * THREADS, csr.indptr, csr.indices, *part)
    stays = stays.add_up()
    nnz = stays.count()
    check_memory(nnz * (csr.indices.itemsize + width), f"a part of {nnz} entries", "cuda")
    indptr, indices = cupy.empty(rows + 1, np.int64), cupy.empty(nnz, csr.indices.dtype)
    data = None if csr.data is None else cupy.empty(nnz, csr.data.dtype)
    given, kept = (None if values is None else values.view(bits_type(values.dtype)) for values in (csr.data, data))
    part = *part[:-1], stays.argument
    _run(keeping, stays.blocks * THREADS, csr.indptr, csr.indices, given, *part, indptr, indices, kept)
    ids = ids.astype(index_dtype(n), copy=False)
    return CSR((rows, rows), indptr, indices.astype(index_dtype(rows), copy=False), data, validate=False), ids


def _run(kernel: Any, items: int, *arguments: Any) -> None:
    given = tuple(np.int64(value) if isinstance(value, int) else value for value in arguments)
    kernel((-(-items // THREADS),), (THREADS,), given)
