"""Merge of a matrix with few entries of another on the GPU; other entries are only moved: code for `splice.cuh`.

Of kron21 with 181 million arcs it reads and writes 16 bytes an arc, where ranking each arc takes 28.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.core.c_types import WORD_TYPES
from hpgraph.core.device import check_memory, cupy, prefix_sum
from hpgraph.formats import CSR
from hpgraph.formats.checks import bits_type
from hpgraph.kernels.entries.cuda_marks import TILE
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet, struct
from hpgraph.semiring import get_binary

KERNELS = KernelSet("splice.cuh", "few entries", {"<{Index}>": "locate_entries", "<{Index}, {Word}>": "splice_entries"})

# Entries of the first matrix for each of the second, at least: a tile of the first then has few of the second.
_RATIO = 8


def is_spliced(a: CSR, b: CSR, left: Any, dtype: Any, nonzero: bool) -> bool:
    """Whether the merge keeps the entries of `a` alone as they are, and `b` has few."""
    keeps = left is not None and not nonzero and a.dtype == dtype and (dtype is None or _is(left, "first", dtype))
    return keeps and _RATIO * b.nnz <= a.nnz


def _is(function: Any, operand: str, dtype: Any) -> bool:
    """Whether a function of entries is its "first" or its "second" operand, of a type."""
    of = function.x_dtype if operand == "first" else function.y_dtype
    return function.op is get_binary(operand) and not function.swapped and of == function.dtype == dtype


def splice(a: CSR, b: CSR, both: Any, right: Any, fills: tuple[Any, Any], merge: Callable[..., CSR]) -> CSR:
    """`merge` where `is_spliced`, for ids of one type; waits for the device, for the number of entries."""
    width = 1 if a.data is None else a.data.itemsize
    kernels = KERNELS.of(Index=a.indices.dtype, Word=WORD_TYPES[width])
    at, found = cupy.empty(b.nnz, np.int64), cupy.empty(b.nnz, np.bool_)
    rows, blocks = np.int64(a.shape[0]), -(-b.nnz // TILE)
    if blocks:
        where = a.indptr, a.indices, b.indptr, b.indices, rows, np.int64(b.nnz), at, found
        kernels.launch("locate_entries", blocks, *where)
    keeps = both is not None, right is not None
    shift = prefix_sum(cupy.where(found, keeps[0] - 1, int(keeps[1])))
    values = _values(a, b, both, right, at, found, merge, fills) if any(keeps) and a.data is not None else None
    nnz = a.nnz + int(shift[-1])  # waits for the device
    check_memory(nnz * a.entry_bytes, f"a result of {nnz} entries", "cuda")
    indptr, indices = cupy.empty(len(a.indptr), np.int64), cupy.empty(nnz, a.indices.dtype)
    data = None if a.data is None else cupy.empty(nnz, a.data.dtype)
    old, new, out = (None if one is None else one.view(bits_type(one.dtype)) for one in (a.data, values, data))
    kernels.launch(
        "splice_entries", a.nnz // TILE + 1,
        struct(a.indptr, a.indices, old, a.nnz), struct(b.indptr, b.indices, new, b.nnz),
        struct(at, found, shift, *map(int, keeps)), rows, indptr, indices, out,
    )  # fmt: skip
    return CSR(a.shape, indptr, indices, data, validate=False)


def _values(a: CSR, b: CSR, both: Any, right: Any, at: Any, found: Any, merge: Any, fills: Any) -> Any:
    """The result's values at the entries of `b`, in the type of `a`'s: by a merge if `b`'s values do not suffice."""
    if b.data is not None and all(function is None or _is(function, "second", a.dtype) for function in (both, right)):
        return b.data
    values = cupy.empty(b.nnz, a.data.dtype)
    same = CSR(a.shape, prefix_sum(found)[b.indptr], b.indices[found], a.data[at[found]], validate=False)
    kept = merge(same, b, both, None, right, a.dtype, fills=fills)
    values[cupy.flatnonzero(cupy.where(found, both is not None, right is not None))] = kept.data
    return values
