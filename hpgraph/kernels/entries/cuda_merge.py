"""Union, intersection and difference of two matrices on the GPU: code for `merge.cuh`, and launches."""

import functools
from typing import Any

import numpy as np

from hpgraph.core.device import check_memory, cupy
from hpgraph.formats import CSR
from hpgraph.kernels.entries.cuda import branches
from hpgraph.kernels.entries.cuda_marks import THREADS, TILE, Marks
from hpgraph.kernels.entries.cuda_splice import is_spliced, splice
from hpgraph.kernels.runtime.cuda.compile import Module, load
from hpgraph.kernels.runtime.cuda.structs import struct, traits
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
        return splice(a, b, both, right, fills, merge)
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
