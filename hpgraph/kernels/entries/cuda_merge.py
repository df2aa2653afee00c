"""Union, intersection and difference of two matrices on the GPU: code for `merge.cuh`, and launches.

Where few entries join many, the others are only moved, by `splice.cuh`: of kron21 with 181 million arcs that reads and
writes 16 bytes an arc, where ranking each arc takes 28.
"""

import functools
from typing import Any

import numpy as np

from hpgraph.core.c_types import WORD_TYPES
from hpgraph.core.device import check_memory, cupy, prefix_sum
from hpgraph.formats import CSR
from hpgraph.formats.checks import bits_type
from hpgraph.kernels.entries.cuda import branches
from hpgraph.kernels.entries.cuda_marks import THREADS, TILE, Marks
from hpgraph.kernels.runtime.cuda.compile import Module, load
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet
from hpgraph.kernels.runtime.cuda.structs import struct, traits
from hpgraph.semiring import get_binary
from hpgraph.semiring.cuda import INCLUDE, LinkedCode

SOURCE = "merge.cuh"
MERGE_KERNELS = tuple(
    f"hpgraph::{name}<Merge>" for name in ("rank_left", "rank_right", "merge_rows", "merge_left", "merge_right")
)


@functools.lru_cache(maxsize=512)
def merge_code(
    both: Any, left: Any, right: Any, x_dtype: np.dtype[Any] | None, y_dtype: np.dtype[Any] | None,
    index_dtype: np.dtype[Any], dtype: np.dtype[Any] | None, nonzero: bool = False,
) -> tuple[str, tuple[LinkedCode, ...]]:  # fmt: skip
    """The C++ text before `merge.cuh`, and the code to link with it; dtypes are None for patterns."""
    source, ltoir, members = branches(both, left, right, dtype is not None)
    values = {"X": x_dtype, "Y": y_dtype, "R": dtype}
    types = {"Index": index_dtype, **{name: "bool" if given is None else given for name, given in values.items()}}
    flags = {**{f"{name.lower()}_pattern": given is None for name, given in values.items()}, "nonzero": nonzero}
    return INCLUDE + source + traits("Merge", types, flags, members), ltoir


def merge(
    a: CSR, b: CSR, both: Any, left: Any, right: Any, dtype: Any, *, fills: tuple[Any, Any] = (True, True),
    nonzero: bool = False,
) -> CSR:  # fmt: skip
    """`hpgraph.kernels.entries.cpu_merge.merge` on the GPU.

    Waits for the device, for the number of entries. Besides the result it takes some 5 bytes an entry of `a`, and of
    `b` if `right` is given; 9 with 64-bit ids; where few entries of `b` are put among those of `a`, 17 bytes for each.
    """
    ids = np.result_type(a.indices.dtype, b.indices.dtype)
    dtype = None if dtype is None else np.dtype(dtype)
    nonzero = nonzero and dtype is not None
    if a.nnz and a.indices.dtype == ids == b.indices.dtype and is_spliced(a, b, left, dtype, nonzero):
        return _splice(a, b, both, right, fills)
    rows = a.shape[0]
    check_memory((ids.itemsize + 1) * (a.nnz + (b.nnz if right is not None else 0)), "merging two matrices", "cuda")
    prologue, ltoir = merge_code(both, left, right, a.dtype, b.dtype, ids, dtype, nonzero)
    title = next((function.name for function in (both, left, right) if function is not None), "nothing")
    module = load(SOURCE, prologue=prologue, ltoir=ltoir, names=MERGE_KERNELS, title=f"the merge by {title}")
    first, second = (csr.indices.astype(ids, copy=False) for csr in (a, b))
    x, y = (np.dtype(bool) if csr.dtype is None else csr.dtype for csr in (a, b))
    operands = (struct(a.indptr, first, a.data, a.nnz), struct(b.indptr, second, b.data, b.nnz), np.int64(rows))
    run = functools.partial(_run, module)
    left_rank, left_marks = cupy.empty(a.nnz, ids), Marks.empty(a.nnz)
    left_fill, right_fill = y.type(fills[1]), x.type(fills[0])
    run("rank_left", left_marks.blocks, *operands, left_fill, left_rank, left_marks.argument)
    left_marks = left_marks.add_up()
    right_rank, right_marks = None, left_marks
    if right is not None:
        right_rank, right_marks = cupy.empty(b.nnz, ids), Marks.empty(b.nnz)
        run("rank_right", right_marks.blocks, *operands, right_fill, right_rank, right_marks.argument)
        right_marks = right_marks.add_up() if nonzero else right_marks
    marked = struct(left_marks.words, left_marks.before, right_marks.words, right_marks.before)
    indptr = cupy.empty(rows + 1, np.int64)
    run("merge_rows", -(-(rows + 1) // THREADS), *operands, marked, indptr)
    nnz = int(indptr[-1])  # waits for the device
    check_memory(nnz * (ids.itemsize + (0 if dtype is None else dtype.itemsize)), f"a result of {nnz} entries", "cuda")
    indices = cupy.empty(nnz, ids)
    data = None if dtype is None else cupy.empty(nnz, dtype)
    place = indices, data
    if nnz and (both is not None or left is not None):
        run("merge_left", -(-a.nnz // TILE), *operands, left_rank, marked, left_fill, *place)
    if nnz and right_rank is not None:
        run("merge_right", -(-b.nnz // TILE), *operands, right_rank, marked, right_fill, *place)
    return CSR(a.shape, indptr, indices, data, validate=False)


def _run(module: Module, name: str, blocks: int, *arguments: Any) -> None:
    if blocks:
        module.function(f"hpgraph::{name}<Merge>")((blocks,), (THREADS,), arguments)


SPLICE = KernelSet("splice.cuh", "few entries", {"<{Index}>": "locate_entries", "<{Index}, {Word}>": "splice_entries"})

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


def _splice(a: CSR, b: CSR, both: Any, right: Any, fills: tuple[Any, Any]) -> CSR:
    """`merge` where `is_spliced`, for ids of one type; waits for the device, for the number of entries."""
    width = 1 if a.data is None else a.data.itemsize
    kernels = SPLICE.of(Index=a.indices.dtype, Word=WORD_TYPES[width])
    at, found = cupy.empty(b.nnz, np.int64), cupy.empty(b.nnz, np.bool_)
    rows, blocks = np.int64(a.shape[0]), -(-b.nnz // TILE)
    if blocks:
        where = a.indptr, a.indices, b.indptr, b.indices, rows, np.int64(b.nnz), at, found
        kernels.launch("locate_entries", blocks, *where)
    keeps = both is not None, right is not None
    shift = prefix_sum(cupy.where(found, keeps[0] - 1, int(keeps[1])))
    values = _values(a, b, both, right, at, found, fills) if any(keeps) and a.data is not None else None
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


def _values(a: CSR, b: CSR, both: Any, right: Any, at: Any, found: Any, fills: Any) -> Any:
    """The result's values at the entries of `b`, in the type of `a`'s: by a merge if `b`'s values do not suffice."""
    if b.data is not None and all(function is None or _is(function, "second", a.dtype) for function in (both, right)):
        return b.data
    values = cupy.empty(b.nnz, a.data.dtype)
    same = CSR(a.shape, prefix_sum(found)[b.indptr], b.indices[found], a.data[at[found]], validate=False)
    kept = merge(same, b, both, None, right, a.dtype, fills=fills)
    values[cupy.flatnonzero(cupy.where(found, both is not None, right is not None))] = kept.data
    return values
